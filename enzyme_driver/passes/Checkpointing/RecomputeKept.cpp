// Where a loop keeps some of the numbers that its iterations compute (the K nearest, the two largest),
//   for (i...) { d = f(i); if (d < worst) { put d into the list } } use(list);
// Enzyme reverses all iterations, although the cotangent of all but K numbers is zero. Beside each place in which a
// number is kept goes its origin, the iteration that it comes from, and moves with it; behind the loop, which becomes a
// function without derivative that works on a copy of the list, these iterations are computed again:
//   for (k...) if (origin[k] >= 0) list[k] = f(origin[k]); else list[k] = what the place -1 - origin[k] held before.
#include "Checkpointing/KeptIterations.h"
#include "Checkpointing/KeptPlaces.h"
#include "Checkpointing/OutlineInactive.h"

#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/IR/Dominators.h"
#include "llvm/Transforms/Utils/Local.h"
#include "llvm/Transforms/Utils/ValueMapper.h"

#include <map>

using namespace llvm;

namespace adgen {
namespace {

// For each place that is computed again: with less, all of them cost as much as the loop.
constexpr unsigned FewestIterations = 4;
constexpr uint64_t MostPlaces = 128;

void markInactive(Instruction &I) { I.setMetadata(InactiveMark, MDNode::get(I.getContext(), {})); }

AllocaInst *makeVariable(Function &F, Type *T, uint64_t Count, const Twine &Name) {
  IRBuilder<> B(&*F.getEntryBlock().getFirstInsertionPt());
  AllocaInst *Made = B.CreateAlloca(ArrayType::get(T, Count), nullptr, Name);
  Made->setAlignment(std::max(Made->getAlign(), Align(8)));
  return Made;
}

Value *elementOf(IRBuilder<> &B, Value *Array, Type *T, uint64_t Index) {
  return B.CreateConstInBoundsGEP1_64(T, Array, Index);
}

// Where numbers go that are computed again.
struct Column {
  const Value *Group;
  AllocaInst *Numbers;
  Type *Number;
  SmallVector<PHINode *> Left = {}; // behind the loop, in whose stead they are
};

// Places of one origin each, and of a number in each column.
struct Places {
  AllocaInst *Origins;
  uint64_t Count;
  AllocaInst *Used; // holds how many count; null for all
  SmallVector<Column> Columns;
};

class Recomputed {
public:
  Recomputed(Loop &L, ScalarEvolution &SE, const KeptPlaces &Kept)
      : L(L), SE(SE), Kept(Kept), F(*L.getHeader()->getParent()), Entering(*L.getLoopPreheader()),
        Iterations(L, SE, Kept) {}

  void make() {
    decideWidth();
    Iterations.findSteps();
    keepBefore();
    beginOrigins();
    storeOrigins();
    for (PHINode *Phi : Kept.left())
      originOf(Phi);
    makePlaces();
    redirect();
    leave();
  }

private:
  // Of an origin: the iteration's number, times the number of sources.
  void decideWidth() {
    uint64_t Most = 1;
    for (Instruction *Each : Kept.kept())
      Most = std::max<uint64_t>(Most, Kept.sourcesOf(Each).size());
    const SCEV *Count = SE.getConstantMaxBackedgeTakenCount(&L);
    const SCEV *Symbolic = SE.getSymbolicMaxBackedgeTakenCount(&L);
    auto IsSmall = [&](const SCEV *S) {
      return !isa<SCEVCouldNotCompute>(S) && SE.getUnsignedRangeMax(S).ult((uint64_t(1) << 31) / Most - 1);
    };
    bool Small = IsSmall(Count) || IsSmall(Symbolic) || (Most == 1 && isCountedInWords());
    Origin = Type::getIntNTy(F.getContext(), Small ? 32 : 64);
  }

  // A number of 32 bits counts the iterations from one that is not negative.
  bool isCountedInWords() {
    return any_of(L.getHeader()->phis(), [&](PHINode &Phi) {
      auto *Steps = Phi.getType()->isIntegerTy(32) ? dyn_cast<SCEVAddRecExpr>(SE.getSCEV(&Phi)) : nullptr;
      return Steps && Steps->getLoop() == &L && Steps->isAffine() && Steps->hasNoSignedWrap() &&
             SE.isKnownPositive(Steps->getStepRecurrence(SE)) && SE.isKnownNonNegative(Steps->getStart());
    });
  }

  // What was in the places before the loop, where that is not the same everywhere.
  void keepBefore() {
    IRBuilder<> B(Entering.getTerminator());
    auto To = [&](const Value *V, Type *Number) {
      AllocaInst *&Memory = Before[Kept.groupOf(V)];
      const KeptPlaces::Before &Group = Kept.beforeOf(V);
      if (!Memory)
        Memory = makeVariable(F, Number, Group.Count, "before");
      return elementOf(B, Memory, Number, Group.First.lookup(V));
    };
    for (PHINode *Phi : Kept.carried())
      if (Kept.beforeOf(Phi).Count)
        B.CreateStore(Phi->getIncomingValueForBlock(&Entering), To(Phi, Phi->getType()));
    for (const KeptArray &Each : Kept.arrays())
      if (Each.HasContents)
        copy(Each, To(Each.Memory, Each.Number), false);
  }

  // The numbers of an array, before the loop.
  void copy(const KeptArray &From, Value *To, bool Inactive) {
    IRBuilder<> B(Entering.getTerminator());
    for (uint64_t I = 0; I < From.Count; ++I) {
      auto *Number = B.CreateLoad(From.Number, elementOf(B, From.Memory, From.Number, I));
      if (Inactive)
        markInactive(*Number);
      B.CreateStore(Number, elementOf(B, To, From.Number, I));
    }
  }

  // The origin of what is kept now: that of nothing but what was there before.
  void beginOrigins() {
    BasicBlock &Header = *L.getHeader();
    IRBuilder<> B(&Header, Header.begin());
    PHINode *Number = B.CreatePHI(Origin, 2, "iteration");
    IRBuilder<> AtEnd(L.getLoopLatch()->getTerminator());
    Number->addIncoming(ConstantInt::get(Origin, 0), &Entering);
    Number->addIncoming(AtEnd.CreateAdd(Number, ConstantInt::get(Origin, 1), "iteration.next", true, true),
                        L.getLoopLatch());
    Iteration = Number;
    B.SetInsertPoint(Entering.getTerminator());
    for (const KeptArray &Each : Kept.arrays()) {
      if (Kept.leaderOf(Each.Memory) != Each.Memory)
        continue;
      AllocaInst *Made = Origins[Each.Memory] = makeVariable(F, Origin, Each.Count, Each.Memory->getName() + ".origin");
      if (Each.Count > MostAtOnce) {
        Used[Each.Memory] = makeVariable(F, B.getInt64Ty(), 1, Each.Memory->getName() + ".used");
        B.CreateStore(B.getInt64(0), Used[Each.Memory]);
        B.CreateMemSet(Made, B.getInt8(-1), Each.Count * F.getDataLayout().getTypeStoreSize(Origin), Made->getAlign());
        continue;
      }
      for (uint64_t I = 0; I < Each.Count; ++I)
        B.CreateStore(fromBefore(Each.Memory, I), elementOf(B, Made, Origin, I));
    }
  }

  Constant *fromBefore(const Value *V, uint64_t Place = 0) {
    const KeptPlaces::Before &Group = Kept.beforeOf(V);
    auto First = Group.First.find(V);
    return ConstantInt::getSigned(Origin, First == Group.First.end() ? -1 : -1 - int64_t(First->second + Place));
  }

  AllocaInst *originsOf(const KeptArray &Array) { return Origins.lookup(Kept.leaderOf(Array.Memory)); }

  // Beside a number that is kept.
  Value *originOf(Instruction *V) {
    if (Value *Known = OriginOf.lookup(V))
      return Known;
    if (auto *Load = dyn_cast<LoadInst>(V)) {
      IRBuilder<> B(Load);
      LoadInst *Made = B.CreateLoad(Origin, originAt(B, Load->getPointerOperand()), "origin");
      markInactive(*Made);
      return OriginOf[V] = Made;
    }
    if (auto *Choice = dyn_cast<SelectInst>(V)) {
      Value *Then = originOf(V, Choice->getTrueValue()), *Else = originOf(V, Choice->getFalseValue());
      return OriginOf[V] = IRBuilder<>(Choice).CreateSelect(Choice->getCondition(), Then, Else, "origin");
    }
    auto *Join = cast<PHINode>(const_cast<Value *>(Kept.leaderOf(V)));
    if (Join != V)
      return originOf(Join);
    PHINode *Made = PHINode::Create(Origin, Join->getNumIncomingValues(), "origin", Join->getIterator());
    OriginOf[V] = Made;
    for (auto [From, Block] : zip(Join->incoming_values(), Join->blocks()))
      Made->addIncoming(Block == &Entering && Join->getParent() == L.getHeader() ? fromBefore(Join) : originOf(V, From),
                        Block);
    return Made;
  }

  // Of a number that goes into a place of the group.
  Value *originOf(const Value *Group, Value *V) {
    if (Kept.isKept(V))
      return originOf(cast<Instruction>(V));
    unsigned Count = Kept.sourcesOf(Group).size(), Index = Kept.sourceOf(Group, V);
    Value *&Known = Numbers[{Count, Index}];
    if (!Known) {
      IRBuilder<> B(L.getHeader(), L.getHeader()->getFirstInsertionPt());
      Known = Iteration;
      if (Count > 1)
        Known =
            B.CreateAdd(B.CreateMul(Known, ConstantInt::get(Origin, Count)), ConstantInt::get(Origin, Index), "origin");
    }
    return Known;
  }

  // Where the origin of an array's element is.
  Value *originAt(IRBuilder<> &B, Value *Address) {
    const KeptArray &Array = *Kept.arrayOf(Address);
    Value *Index = indexOf(B, Address, Array);
    return B.CreateInBoundsGEP(Origin, originsOf(Array), Index);
  }

  Value *indexOf(IRBuilder<> &B, Value *Address, const KeptArray &Array) {
    const DataLayout &Layout = F.getDataLayout();
    Value *Offset = B.getInt64(0);
    for (auto *Step = dyn_cast<GetElementPtrInst>(Address); Step; Step = dyn_cast<GetElementPtrInst>(Address)) {
      Offset = B.CreateAdd(Offset, B.CreateSExtOrTrunc(emitGEPOffset(&B, Layout, Step, true), B.getInt64Ty()));
      Address = Step->getPointerOperand();
    }
    return B.CreateExactSDiv(Offset, B.getInt64(Layout.getTypeStoreSize(Array.Number)));
  }

  void storeOrigins() {
    for (BasicBlock *Block : L.blocks())
      for (Instruction &I : make_early_inc_range(*Block))
        if (auto *Store = dyn_cast<StoreInst>(&I))
          if (const KeptArray *To = Kept.arrayOf(Store->getPointerOperand()); To && Origins.count(To->Memory)) {
            IRBuilder<> B(Store);
            B.CreateStore(originOf(To->Memory, Store->getValueOperand()), originAt(B, Store->getPointerOperand()));
            if (AllocaInst *Count = Used.lookup(To->Memory)) {
              Value *Behind = B.CreateAdd(indexOf(B, Store->getPointerOperand(), *To), B.getInt64(1));
              LoadInst *SoFar = B.CreateLoad(B.getInt64Ty(), Count, "used");
              markInactive(*SoFar);
              B.CreateStore(B.CreateBinaryIntrinsic(Intrinsic::umax, SoFar, Behind), Count);
            }
          }
  }

  // The loop works on copies of the arrays.
  void redirect() {
    for (const KeptArray &Each : Kept.arrays()) {
      AllocaInst *Copy = makeVariable(F, Each.Number, Each.Count, Each.Memory->getName() + ".compared");
      if (Each.HasContents)
        copy(Each, Copy, true);
      Written.insert(Copy);
      Written.insert(originsOf(Each));
      if (AllocaInst *Count = Used.lookup(Kept.leaderOf(Each.Memory)))
        Written.insert(Count);
      SmallVector<Instruction *> Accesses;
      for (BasicBlock *Block : L.blocks())
        for (Instruction &I : *Block)
          if (Value *Address = getLoadStorePointerOperand(&I); Address && Kept.arrayOf(Address) == &Each)
            Accesses.push_back(&I);
      for (Instruction *Access : Accesses) {
        unsigned At = isa<LoadInst>(Access) ? 0 : StoreInst::getPointerOperandIndex();
        Value *Address = Access->getOperand(At);
        Access->setOperand(At, moved(Address, *Access, *Copy));
        RecursivelyDeleteTriviallyDeadInstructions(Address);
      }
    }
    for (const AllocaInst *Each : Kept.written())
      if (!Kept.arrayOf(Each))
        Written.insert(Each);
  }

  static Value *moved(Value *Address, Instruction &Before, AllocaInst &To) {
    auto *Step = dyn_cast<GetElementPtrInst>(Address);
    if (!Step)
      return &To;
    Value *From = moved(Step->getPointerOperand(), Before, To);
    auto *Made = cast<GetElementPtrInst>(Step->clone());
    Made->insertBefore(Before.getIterator());
    Made->setOperand(0, From);
    return Made;
  }

  void makePlaces() {
    MapVector<const Value *, SmallVector<const KeptArray *>> Arrays;
    for (const KeptArray &Each : Kept.arrays())
      if (Each.IsRead)
        Arrays[Kept.leaderOf(Each.Memory)].push_back(&Each);
    for (auto &[Leader, Together] : Arrays) {
      All.push_back({Origins[Leader], Together[0]->Count, Used.lookup(Leader), {}});
      for (const KeptArray *Each : Together)
        All.back().Columns.push_back({Kept.groupOf(Each->Memory), Each->Memory, Each->Number});
    }
    MapVector<const Value *, SmallVector<PHINode *>> Rows;
    for (PHINode *Phi : Kept.left())
      Rows[Kept.leaderOf(Phi)].push_back(Phi);
    std::map<SmallVector<const Value *>, SmallVector<SmallVector<PHINode *>>> Alike;
    SmallVector<SmallVector<const Value *>> Order;
    for (auto &[Leader, Row] : Rows) {
      SmallVector<const Value *> Groups;
      for (PHINode *Phi : Row)
        Groups.push_back(Kept.groupOf(Phi));
      if (!Alike.count(Groups))
        Order.push_back(Groups);
      Alike[Groups].push_back(Row);
    }
    for (auto &Groups : Order)
      makePlaces(Alike[Groups]);
  }

  // Of values behind the loop.
  void makePlaces(ArrayRef<SmallVector<PHINode *>> Rows) {
    All.push_back({makeVariable(F, Origin, Rows.size(), "left.origin"), Rows.size(), nullptr, {}});
    for (auto [Index, First] : enumerate(Rows[0])) {
      Type *Number = First->getType();
      Column Made{Kept.groupOf(First), makeVariable(F, Number, Rows.size(), "left"), Number};
      for (const auto &Row : Rows)
        Made.Left.push_back(Row[Index]);
      All.back().Columns.push_back(std::move(Made));
    }
  }

  // The loop becomes a function, behind which the numbers are computed again.
  void leave() {
    BasicBlock *First = block("kept");
    Open = First;
    for (const Places &Each : All)
      compute(Each);
    DenseMap<PHINode *, PHINode *> OfLeft;
    for (PHINode *Phi : Kept.left())
      OfLeft[Phi] = cast<PHINode>(originOf(Phi));
    SeenBehind Seen = outline(L, Written);
    BasicBlock *Rest = Entering.splitBasicBlock(Entering.getTerminator(), "kept.end");
    IRBuilder<> Before(Entering.getTerminator()), Behind(Rest, Rest->begin());
    for (const Places &Each : All)
      for (const Column &Of : Each.Columns)
        for (auto [Index, Phi] : enumerate(Of.Left)) {
          if (&Of == &Each.Columns[0])
            Before.CreateStore(Seen[OfLeft[Phi]], elementOf(Before, Each.Origins, Origin, Index));
          Seen[Phi]->replaceAllUsesWith(
              Behind.CreateLoad(Of.Number, elementOf(Behind, Of.Numbers, Of.Number, Index), "kept"));
        }
    Entering.getTerminator()->setSuccessor(0, First);
    BranchInst::Create(Rest, Open);
  }

  BasicBlock *block(const Twine &Name) { return BasicBlock::Create(F.getContext(), Name, &F, L.getHeader()); }

  // Each place gets what has been put there, computed again.
  void compute(const Places &Of) {
    BasicBlock *Outside = Open, *Place = block("place"), *Put = block("put"), *Next = block("place.next");
    IRBuilder<> B(Outside);
    Open = block("kept");
    Value *Count = B.getInt64(Of.Count);
    if (Of.Used) {
      Count = B.CreateLoad(B.getInt64Ty(), Of.Used, "used");
      B.CreateCondBr(B.CreateICmpNE(Count, B.getInt64(0)), Place, Open);
    } else {
      B.CreateBr(Place);
    }
    B.SetInsertPoint(Place);
    PHINode *Index = B.CreatePHI(B.getInt64Ty(), 2, "index");
    Index->addIncoming(B.getInt64(0), Outside);
    Value *From = B.CreateLoad(Origin, B.CreateInBoundsGEP(Origin, Of.Origins, Index), "origin");
    BasicBlock *Again = block("again"), *Held = block("held");
    B.CreateCondBr(B.CreateICmpSLT(From, ConstantInt::get(Origin, 0)), Held, Again);
    B.SetInsertPoint(Put);
    SmallVector<PHINode *> Numbers;
    for (const Column &Each : Of.Columns)
      Numbers.push_back(B.CreatePHI(Each.Number, 2, "kept"));
    for (auto [Each, Number] : zip(Of.Columns, Numbers))
      B.CreateStore(Number, B.CreateInBoundsGEP(Each.Number, Each.Numbers, Index));
    B.CreateBr(Next);
    B.SetInsertPoint(Next);
    Value *Following = B.CreateAdd(Index, B.getInt64(1), "index.next", true, true);
    Index->addIncoming(Following, Next);
    B.CreateCondBr(B.CreateICmpULT(Following, Count), Place, Open);
    hold(Of, From, *Held, Numbers, *Next);
    again(Of, From, *Again, Numbers);
  }

  // What no iteration has put there. Elements that nothing was in stay as they are.
  void hold(const Places &Of, Value *From, BasicBlock &Held, ArrayRef<PHINode *> Numbers, BasicBlock &Next) {
    IRBuilder<> B(&Held);
    if (all_of(Of.Columns, [&](const Column &Each) {
          const KeptPlaces::Before &Group = Kept.beforeOf(Each.Group);
          return Each.Left.empty() && !Group.Count && !Group.Everywhere;
        })) {
      B.CreateBr(&Next);
      return;
    }
    for (auto [Each, Number] : zip(Of.Columns, Numbers)) {
      const KeptPlaces::Before &Group = Kept.beforeOf(Each.Group);
      Value *V = Group.Everywhere ? Group.Everywhere : Constant::getNullValue(Each.Number);
      if (Group.Count)
        V = B.CreateLoad(Each.Number, B.CreateInBoundsGEP(Each.Number, Before[Each.Group],
                                                          B.CreateSExt(B.CreateNot(From), B.getInt64Ty())));
      Number->addIncoming(V, &Held);
    }
    B.CreateBr(Numbers[0]->getParent());
  }

  void again(const Places &Of, Value *From, BasicBlock &Again, ArrayRef<PHINode *> Numbers) {
    size_t Sources = Kept.sourcesOf(Of.Columns[0].Group).size();
    IRBuilder<> B(&Again);
    if (!Sources)
      B.CreateUnreachable();
    if (Sources < 2) {
      if (Sources)
        copyAll(Of, 0, From, Again, Numbers);
      return;
    }
    Constant *Count = ConstantInt::get(Origin, Sources);
    Value *Iteration = B.CreateUDiv(From, Count);
    BasicBlock *First = block("again");
    SwitchInst *Which = B.CreateSwitch(B.CreateURem(From, Count), First, Sources - 1);
    copyAll(Of, 0, Iteration, *First, Numbers);
    for (unsigned Source = 1; Source < Sources; ++Source) {
      BasicBlock *One = block("again");
      Which->addCase(cast<ConstantInt>(ConstantInt::get(Origin, Source)), One);
      copyAll(Of, Source, Iteration, *One, Numbers);
    }
  }

  // The numbers of an iteration in all columns.
  void copyAll(const Places &Of, unsigned Source, Value *Iteration, BasicBlock &Begin, ArrayRef<PHINode *> Numbers) {
    SmallVector<Value *> Copies;
    ValueToValueMapTy Map;
    BasicBlock *End = &Begin;
    for (const Column &Each : Of.Columns) {
      auto [V, Behind] = Iterations.copy(Kept.sourcesOf(Each.Group)[Source], Iteration, *End, Map);
      Copies.push_back(V);
      End = Behind;
    }
    BranchInst::Create(Numbers[0]->getParent(), End);
    for (auto [Number, V] : zip(Numbers, Copies))
      Number->addIncoming(V, End);
  }

  Loop &L;
  ScalarEvolution &SE;
  const KeptPlaces &Kept;
  Function &F;
  BasicBlock &Entering;
  KeptIterations Iterations;
  Type *Origin = nullptr;
  Value *Iteration = nullptr;
  DenseMap<const Value *, AllocaInst *> Before; // by group
  DenseMap<const Value *, AllocaInst *> Origins, Used;
  DenseMap<Instruction *, Value *> OriginOf;
  std::map<std::pair<unsigned, unsigned>, Value *> Numbers;
  SmallSetVector<const AllocaInst *, 8> Written;
  SmallVector<Places> All;
  BasicBlock *Open = nullptr; // where what is computed behind the loop goes on
};

} // namespace

bool recomputeKept(Loop &L, unsigned Most, const LoopInfo &LI, ScalarEvolution &SE, AAResults &AA) {
  if (!L.getLoopPreheader() || !L.getLoopLatch() || !L.hasDedicatedExits())
    return false;
  KeptPlaces Kept(L, LI, SE);
  auto IsTooLong = [](const KeptArray &Each) { return Each.HasContents && Each.Count > MostAtOnce; };
  if (!Kept.find() || Kept.places() > MostPlaces || any_of(Kept.arrays(), IsTooLong) ||
      (Most && Most < FewestIterations * Kept.places()) || !Kept.canBeComputedAgain(AA))
    return false;
  SmallVector<Instruction *> Marked;
  for (Instruction *Each : Kept.kept())
    if (!Each->hasMetadata(InactiveMark)) {
      markInactive(*Each);
      Marked.push_back(Each);
    }
  if (!canBeOutlined(L, Kept.written())) {
    for (Instruction *Each : Marked)
      Each->setMetadata(InactiveMark, nullptr);
    return false;
  }
  Recomputed(L, SE, Kept).make();
  return true;
}

} // namespace adgen
