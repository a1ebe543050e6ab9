// What a loop adds to several places of one array, of which each iteration has its own,
//   for (i = 0; i < n; ++i) { a[i - 1] += x(i); a[i + 1] += y(i); }
// is added place after place, from what some iterations have computed before:
//   for (i = 0; i < n; ++i) { xs[i] = x(i); ys[i] = y(i); }
//   for (i = 0; i < n; ++i) a[i - 1] += xs[i];
//   for (i = 0; i < n; ++i) a[i + 1] += ys[i];
// although the places may be the same: additions may change places with each other. What all iterations add to one
// element is summed up first. Each of the loops can be vectorised, which the first one cannot. Nothing else in the loop
// may see the array; where that is not known, it is asked before the loop. If it is so, and where there are few
// iterations, the old loop runs.
#include "Analysis/Additions.h"
#include "Support/Pass.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/Analysis/AliasAnalysis.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/MemoryLocation.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "llvm/Transforms/Utils/ScalarEvolutionExpander.h"

#define DEBUG_TYPE "adgen-distribute-additions"

using namespace llvm;

STATISTIC(NumRows, "Number of loops distributed");

namespace adgen {
namespace {

constexpr unsigned AtATime = 256; // iterations: what they have computed stays in the nearest cache
constexpr unsigned Fewest = 16;
constexpr unsigned FewBytes = 64; // the largest vector

// A loop of one block.
bool isRow(const Loop &L) {
  BasicBlock *Exit = L.getUniqueExitBlock();
  return L.getNumBlocks() == 1 && L.getLoopPreheader() && Exit && Exit->getSinglePredecessor();
}

// Memory of a function for the terms of one loop after the other.
class Room {
public:
  explicit Room(Function &F) : F(F) {}

  AllocaInst *forTerms(Type *T, unsigned Number) {
    SmallVector<AllocaInst *> &Known = Pieces[T];
    while (Known.size() <= Number) {
      BasicBlock &Entry = F.getEntryBlock();
      Known.push_back(
          IRBuilder<>(&Entry, Entry.getFirstInsertionPt()).CreateAlloca(ArrayType::get(T, AtATime), nullptr, "terms"));
      Known.back()->setAlignment(Align(64));
    }
    return Known[Number];
  }

private:
  Function &F;
  DenseMap<Type *, SmallVector<AllocaInst *>> Pieces;
};

// Scopes that tell memory apart for one call of a function of the user, in one iteration. The arguments of a function
// of ours are the same in all iterations.
SmallPtrSet<const Metadata *, 4> passingScopes(const BasicBlock &Block) {
  SmallPtrSet<const Metadata *, 4> Found;
  for (const Instruction &I : Block)
    if (auto *Begin = dyn_cast<NoAliasScopeDeclInst>(&I))
      for (const MDOperand &Scope : Begin->getScopeList()->operands()) {
        const MDNode *Domain = AliasScopeNode(cast<MDNode>(Scope)).getDomain();
        auto *Of = Domain && Domain->getNumOperands() > 1 ? dyn_cast<MDString>(Domain->getOperand(1)) : nullptr;
        if (!Of || !Of->getString().starts_with("adgen_"))
          Found.insert(Scope);
      }
  return Found;
}

AtomicOrdering orderingOf(const Instruction &I) {
  if (auto *Load = dyn_cast<LoadInst>(&I))
    return Load->getOrdering();
  auto *Store = dyn_cast<StoreInst>(&I);
  return Store ? Store->getOrdering() : AtomicOrdering::SequentiallyConsistent;
}

// A count that has to be divided for, by a number that might be zero elsewhere, is made of the quotient that is there.
class KnownQuotients : public SCEVRewriteVisitor<KnownQuotients> {
public:
  KnownQuotients(ScalarEvolution &SE, const DominatorTree &DT, const Instruction &Place)
      : SCEVRewriteVisitor(SE), DT(DT), Place(Place) {}

  const SCEV *visitUDivExpr(const SCEVUDivExpr *Quotient) {
    for (const Instruction &I : instructions(Place.getFunction()))
      if (I.getType() == Quotient->getType() && DT.dominates(&I, &Place) &&
          SE.getSCEV(const_cast<Instruction *>(&I)) == Quotient)
        return SE.getUnknown(const_cast<Instruction *>(&I));
    return Quotient;
  }

private:
  const DominatorTree &DT;
  const Instruction &Place;
};

class Row {
public:
  Row(Loop &L, AAResults &AA, ScalarEvolution &SE, const DominatorTree &DT, Room &Kept)
      : L(L), AA(AA), SE(SE), DT(DT), Block(*L.getHeader()), Before(*L.getLoopPreheader()),
        Passing(passingScopes(Block)), Found(L, DT), Kept(Kept), Expander(SE, "row") {}

  bool make() {
    const SCEV *Count = KnownQuotients(SE, DT, *Before.getTerminator()).visit(SE.getBackedgeTakenCount(&L));
    if (isa<SCEVCouldNotCompute>(Count) || !Expander.isSafeToExpand(Count))
      return false;
    const SCEV *Iterations = SE.getTripCountFromExitCount(Count, Type::getInt64Ty(Block.getContext()), &L);
    findParted();
    if ((Parted.empty() && Summed.empty()) || SE.getUnsignedRangeMax(Iterations).ult(Fewest))
      return false;
    part(Iterations);
    return true;
  }

private:
  // Where an access is in the loop: the same number of bytes further in each iteration.
  struct Line {
    Value *Place;
    int64_t Step;
    uint64_t Bytes; // of an element
  };

  std::optional<Line> lineOf(const Instruction &I) {
    auto *Place = const_cast<Value *>(getLoadStorePointerOperand(&I));
    const uint64_t Bytes = Block.getDataLayout().getTypeStoreSize(getLoadStoreType(&I)).getFixedValue();
    const SCEV *Known = SE.getSCEV(Place);
    auto *Affine = dyn_cast<SCEVAddRecExpr>(Known);
    auto *Step = Affine && Affine->getLoop() == &L && Affine->isAffine()
                     ? dyn_cast<SCEVConstant>(Affine->getStepRecurrence(SE))
                     : nullptr;
    if ((!Step && !SE.isLoopInvariant(Known, &L)) || !canBeHadBefore(Place))
      return std::nullopt;
    return Line{Place, Step ? Step->getAPInt().getSExtValue() : 0, Bytes};
  }

  bool isOnePlace(const Addition &Each) { return lineOf(*Each.New)->Step == 0; }

  bool isOnePlaceOrElementAfterElement(const Addition &Each) {
    std::optional<Line> Known = lineOf(*Each.New);
    return Known && (Known->Step == 0 || uint64_t(std::abs(Known->Step)) == Known->Bytes) &&
           !Each.Sum->getType()->isVectorTy();
  }

  // Whether the loop's first iteration computes it of what is there before, from numbers alone.
  bool canBeHadBefore(const Value *V) const {
    auto *I = dyn_cast<Instruction>(V);
    if (!I || I->getParent() != &Block || isa<PHINode>(I))
      return true;
    return isa<GetElementPtrInst, CastInst, BinaryOperator, SelectInst, ICmpInst>(I) && !I->isIntDivRem() &&
           all_of(I->operands(), [&](const Value *Operand) { return canBeHadBefore(Operand); });
  }

  // Its value in the first iteration, before the loop.
  Value *before(Value *V) {
    auto *I = dyn_cast<Instruction>(V);
    if (!I || I->getParent() != &Block)
      return V;
    if (auto *Phi = dyn_cast<PHINode>(I))
      return Phi->getIncomingValueForBlock(&Before);
    Value *&Known = AtStart[I];
    if (Known)
      return Known;
    Instruction *Copy = I->clone();
    for (Use &Operand : Copy->operands())
      Operand.set(before(Operand));
    Copy->insertBefore(Before.getTerminator()->getIterator());
    return AtStart[I] = Copy;
  }

  // That two arrays do not overlap, as far as it has to be asked.
  struct Question {
    SmallVector<Line> Array, Others;
  };

  void findParted() {
    MapVector<const Value *, SmallVector<Addition>> Arrays;
    for (const Addition &Each : Found)
      Arrays[getUnderlyingObject(Each.New->getPointerOperand(), 0)].push_back(Each);
    for (const auto &[Array, Theirs] : Arrays) {
      if (!all_of(Theirs, [&](const Addition &Each) { return isOnePlaceOrElementAfterElement(Each); }))
        continue;
      SmallVector<Addition> Places, Lines;
      for (const Addition &Each : Theirs)
        (isOnePlace(Each) ? Places : Lines).push_back(Each);
      const bool AreClose = mayMeetSoon(Lines);
      std::optional<Question> Open = AreClose || !Places.empty() ? whetherSeen(Theirs) : std::nullopt;
      if (!Open)
        continue;
      append_range(Summed, Places);
      if (AreClose)
        append_range(Parted, Lines);
      if (!Open->Others.empty())
        Questions.push_back(*Open);
    }
  }

  // Whether an iteration may meet an element that one a few iterations before it has met: else LLVM vectorises the loop
  // as it is.
  bool mayMeetSoon(ArrayRef<Addition> Theirs) {
    auto AreFarApart = [&](const Addition &One, const Addition &Other) {
      const SCEV *Place = SE.getSCEV(One.New->getPointerOperand());
      auto *Distance = dyn_cast<SCEVConstant>(SE.getMinusSCEV(Place, SE.getSCEV(Other.New->getPointerOperand())));
      return Distance && Distance->getAPInt().abs().uge(FewBytes);
    };
    for (unsigned I = 0; I < Theirs.size(); ++I)
      if (!all_of(Theirs.drop_front(I + 1), [&](const Addition &Other) { return AreFarApart(Theirs[I], Other); }))
        return true;
    return false;
  }

  // By another instruction, in any iteration; nothing where it is, or that cannot be asked. Another addition may be to
  // the same place.
  std::optional<Question> whetherSeen(ArrayRef<Addition> Theirs) {
    Question Open;
    for (const Addition &Each : Theirs)
      Open.Array.push_back(*lineOf(*Each.New));
    MemoryLocation Array = arrayOf(*Theirs.front().New);
    for (const Instruction &I : Block) {
      if (Found.have(I) || I.hasMetadata(LLVMContext::MD_invariant_load) || !I.mayReadOrWriteMemory() ||
          isa<NoAliasScopeDeclInst>(I))
        continue;
      const bool IsOrdered = I.isAtomic() && isStrongerThanMonotonic(orderingOf(I));
      if (!isa<LoadInst, StoreInst>(I) || IsOrdered) {
        if (IsOrdered || isModOrRefSet(AA.getModRefInfo(&I, Array.getWithoutAATags())))
          return std::nullopt;
      } else if (!AA.isNoAlias(arrayOf(I), Array)) {
        std::optional<Line> Other = lineOf(I);
        const bool IsSame = getUnderlyingObject(getLoadStorePointerOperand(&I), 0) == getUnderlyingObject(Array.Ptr, 0);
        if (!Other || IsSame)
          return std::nullopt;
        Open.Others.push_back(*Other);
      }
    }
    return Open;
  }

  // All that a pointer may lead to, told apart from other memory as far as that holds for all iterations.
  MemoryLocation arrayOf(const Instruction &I) const {
    return MemoryLocation::getBeforeOrAfter(getLoadStorePointerOperand(&I), tagsOfAll(I));
  }

  AAMDNodes tagsOfAll(const Instruction &I) const {
    AAMDNodes Tags = I.getAAMetadata();
    Tags.Scope = withoutPassing(Tags.Scope);
    Tags.NoAlias = withoutPassing(Tags.NoAlias);
    return Tags;
  }

  MDNode *withoutPassing(MDNode *Scopes) const {
    SmallVector<Metadata *> Left;
    for (unsigned I = 0; Scopes && I < Scopes->getNumOperands(); ++I)
      if (!Passing.contains(Scopes->getOperand(I)))
        Left.push_back(Scopes->getOperand(I));
    return Left.empty() ? nullptr : MDNode::get(Block.getContext(), Left);
  }

  BasicBlock *create(const Twine &Name, BasicBlock *Follower) const {
    return BasicBlock::Create(Block.getContext(), Name, Block.getParent(), Follower);
  }

  // The loop becomes one over some iterations at a time, and after these come the loops that add.
  void part(const SCEV *Count) {
    BasicBlock *Exit = L.getUniqueExitBlock(), *Some = create("some", &Block);
    Instruction *End = Before.getTerminator();
    IRBuilder<> B(End);
    Value *Iterations = Expander.expandCodeFor(Count, B.getInt64Ty(), End->getIterator());
    SmallVector<Line> Lines;
    SmallVector<Value *> Starts;
    for (const Addition &Each : Parted) {
      Lines.push_back(*lineOf(*Each.New));
      Starts.push_back(before(Lines.back().Place));
    }
    SmallVector<Value *> Places;
    for (const Addition &Each : Summed)
      Places.push_back(before(Each.New->getPointerOperand()));
    Value *IsOld = B.CreateICmpULT(Iterations, B.getInt64(Fewest));
    for (const Question &Open : Questions)
      IsOld = B.CreateOr(IsOld, overlap(B, Open, Iterations));
    B.CreateCondBr(IsOld, createCopy(*Exit), Some);
    End->eraseFromParent();
    B.SetInsertPoint(Some);
    PHINode *First = B.CreatePHI(B.getInt64Ty(), 2, "first");
    First->addIncoming(B.getInt64(0), &Before);
    Value *These = B.CreateBinaryIntrinsic(Intrinsic::umin, B.CreateNUWSub(Iterations, First), B.getInt64(AtATime));
    BasicBlock *Last = create("added", Exit);
    const SmallVector<std::pair<PHINode *, Value *>> Carried = carryOn(*Some);
    const DenseMap<Value *, AllocaInst *> Terms = keepTerms(repeat(*Some, *Last, These));
    for (auto [Each, Place] : zip(Summed, Places))
      sumUp(Each, Place, *Some, *Last);
    for (auto [Each, Start, Line] : zip(Parted, Starts, Lines))
      Last = add(*Last, Each, Start, Line.Step < 0, Terms.at(Each.term()), First, These);
    for (const Addition &Each : Parted)
      erase(Each);
    B.SetInsertPoint(Last);
    Value *Next = B.CreateNUWAdd(First, These);
    First->addIncoming(Next, Last);
    for (auto [Phi, Value] : Carried)
      Phi->addIncoming(Value, Last);
    B.CreateCondBr(B.CreateICmpULT(Next, Iterations), Some, Exit);
    Exit->replacePhiUsesWith(&Block, Last);
  }

  Value *overlap(IRBuilder<> &B, const Question &Open, Value *Iterations) {
    auto [ArrayFirst, ArrayEnd] = around(B, Open.Array, Iterations);
    Value *Any = B.getFalse();
    for (const Line &Other : Open.Others) {
      auto [First, End] = around(B, Other, Iterations);
      Any = B.CreateOr(Any, B.CreateAnd(B.CreateICmpULT(First, ArrayEnd), B.CreateICmpULT(ArrayFirst, End)));
    }
    return Any;
  }

  // The addresses of the first and behind the last byte that the accesses meet in the loop.
  std::pair<Value *, Value *> around(IRBuilder<> &B, ArrayRef<Line> All, Value *Iterations) {
    Value *First = nullptr, *End = nullptr;
    for (const Line &Each : All) {
      Value *Start = B.CreatePtrToInt(before(Each.Place), B.getInt64Ty());
      Value *Last = B.CreateAdd(Start, B.CreateMul(B.CreateSub(Iterations, B.getInt64(1)), B.getInt64(Each.Step)));
      Value *Here = Each.Step < 0 ? Last : Start,
            *There = B.CreateAdd(Each.Step < 0 ? Start : Last, B.getInt64(Each.Bytes));
      First = First ? B.CreateBinaryIntrinsic(Intrinsic::umin, First, Here) : Here;
      End = End ? B.CreateBinaryIntrinsic(Intrinsic::umax, End, There) : There;
    }
    return {First, End};
  }

  // The old loop.
  BasicBlock *createCopy(BasicBlock &Exit) const {
    ValueToValueMapTy Map;
    BasicBlock *Copy = CloneBasicBlock(&Block, Map, ".few", Block.getParent());
    Map[&Block] = Copy;
    for (Instruction &I : *Copy)
      RemapInstruction(&I, Map, RF_NoModuleLevelChanges | RF_IgnoreMissingLocals);
    for (PHINode &Phi : Exit.phis()) {
      Value *Of = Phi.getIncomingValueForBlock(&Block);
      Value *Copied = Map.lookup(Of);
      Phi.addIncoming(Copied ? Copied : Of, Copy);
    }
    return Copy;
  }

  // What the old loop hands from iteration to iteration, it hands on from the last one of a round to the first of the
  // next: with its value there.
  SmallVector<std::pair<PHINode *, Value *>> carryOn(BasicBlock &Some) const {
    SmallVector<std::pair<PHINode *, Value *>> All;
    for (PHINode &Phi : Block.phis()) {
      PHINode *Carried = PHINode::Create(Phi.getType(), 2, Phi.getName() + ".carried", Some.begin());
      Carried->addIncoming(Phi.getIncomingValueForBlock(&Before), &Before);
      Phi.setIncomingValueForBlock(&Before, Carried);
      Phi.replaceIncomingBlockWith(&Before, &Some);
      All.emplace_back(Carried, Phi.getIncomingValueForBlock(&Block));
    }
    return All;
  }

  // The number of an iteration in a block that is repeated, which one reaches from `From`.
  static PHINode *beginCount(BasicBlock &Repeated, BasicBlock &From) {
    IRBuilder<> B(&Repeated, Repeated.begin());
    PHINode *Number = B.CreatePHI(B.getInt64Ty(), 2, "number");
    Number->addIncoming(B.getInt64(0), &From);
    return Number;
  }

  static void endCount(PHINode *Number, Value *Count, BasicBlock &Behind) {
    BasicBlock *Repeated = Number->getParent();
    IRBuilder<> B(Repeated);
    Value *Next = B.CreateNUWAdd(Number, B.getInt64(1));
    Number->addIncoming(Next, Repeated);
    B.CreateCondBr(B.CreateICmpULT(Next, Count), Repeated, &Behind);
  }

  // The old loop does so many iterations; their number in the round.
  Value *repeat(BasicBlock &Some, BasicBlock &Behind, Value *These) const {
    BranchInst::Create(&Block, &Some);
    Block.getTerminator()->eraseFromParent();
    PHINode *Number = beginCount(Block, Some);
    endCount(Number, These, Behind);
    return Number;
  }

  // The terms, where the loops that add find them.
  DenseMap<Value *, AllocaInst *> keepTerms(Value *Number) const {
    DenseMap<Value *, AllocaInst *> Terms;
    DenseMap<Type *, unsigned> Count;
    for (const Addition &Each : Parted) {
      AllocaInst *&Term = Terms[Each.term()];
      if (Term)
        continue;
      Type *T = Each.Sum->getType();
      Term = Kept.forTerms(T, Count[T]++);
      IRBuilder<> B(Each.Sum);
      B.CreateStore(Each.term(), B.CreateInBoundsGEP(T, Term, Number));
    }
    return Terms;
  }

  // What a round adds to one place.
  void sumUp(const Addition &Each, Value *Place, BasicBlock &Some, BasicBlock &Behind) {
    auto [Old, Sum, New] = Each;
    Type *T = Sum->getType();
    IRBuilder<> B(&Block, Block.begin());
    PHINode *SoFar = B.CreatePHI(T, 2, "sum");
    SoFar->addIncoming(ConstantFP::getNegativeZero(T), &Some);
    SoFar->addIncoming(Sum, &Block);
    Sum->replaceUsesOfWith(Old, SoFar);
    B.SetInsertPoint(&Behind);
    addTo(B, Place, Sum, Each);
    Found.erase(Each);
  }

  void addTo(IRBuilder<> &B, Value *Place, Value *Term, const Addition &As) const {
    auto *Old = cast<LoadInst>(B.Insert(As.Old->clone()));
    Old->setOperand(0, Place);
    Old->setAAMetadata(tagsOfAll(*As.Old));
    Value *Sum = B.CreateFAddFMF(Old, Term, As.Sum);
    auto *New = cast<StoreInst>(B.Insert(As.New->clone()));
    New->setOperand(0, Sum);
    New->setOperand(1, Place);
    New->setAAMetadata(tagsOfAll(*As.New));
  }

  // Adds the terms of a round to the places from `Start` on; where the code goes on.
  BasicBlock *add(BasicBlock &Last, const Addition &Each, Value *Start, bool Down, Value *Terms, Value *First,
                  Value *These) const {
    Type *T = Each.Sum->getType();
    BasicBlock *Repeat = create("add", Last.getNextNode()), *Behind = create("added", Repeat->getNextNode());
    IRBuilder<> B(&Last);
    auto Follow = [&](Value *From, Value *Number) { return B.CreateGEP(T, From, Down ? B.CreateNeg(Number) : Number); };
    Value *From = Follow(Start, First);
    B.CreateBr(Repeat);
    B.SetInsertPoint(Repeat);
    PHINode *Number = beginCount(*Repeat, Last);
    Value *To = Follow(From, Number);
    addTo(B, To, B.CreateLoad(T, B.CreateInBoundsGEP(T, Terms, Number)), Each);
    endCount(Number, These, *Behind);
    return Behind;
  }

  void erase(const Addition &Each) {
    BinaryOperator *Sum = Each.Sum;
    Sum->replaceUsesOfWith(Each.Old, PoisonValue::get(Sum->getType()));
    Found.erase(Each);
    Sum->eraseFromParent();
  }

  Loop &L;
  AAResults &AA;
  ScalarEvolution &SE;
  const DominatorTree &DT;
  BasicBlock &Block, &Before;
  const SmallPtrSet<const Metadata *, 4> Passing;
  Additions Found;
  SmallVector<Addition> Parted, Summed;
  SmallVector<Question> Questions;
  DenseMap<const Instruction *, Value *> AtStart;
  Room &Kept;
  SCEVExpander Expander;
};

} // namespace

ADGEN_DECLARE_PASS(DistributeAdditions);

PreservedAnalyses DistributeAdditions::run(Module &M, ModuleAnalysisManager &MAM) {
  auto &FAM = MAM.getResult<FunctionAnalysisManagerModuleProxy>(M).getManager();
  bool Changed = false;
  for (Function &F : M) {
    if (F.isDeclaration())
      continue;
    SmallVector<const BasicBlock *> Headers;
    for (const Loop *L : FAM.getResult<LoopAnalysis>(F).getLoopsInPreorder())
      Headers.push_back(L->getHeader());
    Room Kept(F);
    for (const BasicBlock *Header : Headers) {
      Loop *L = FAM.getResult<LoopAnalysis>(F).getLoopFor(Header);
      if (!isRow(*L) || !Row(*L, FAM.getResult<AAManager>(F), FAM.getResult<ScalarEvolutionAnalysis>(F),
                             FAM.getResult<DominatorTreeAnalysis>(F), Kept)
                             .make())
        continue;
      ADGEN_COUNT(NumRows, F.getName());
      FAM.invalidate(F, PreservedAnalyses::none());
      Changed = true;
    }
  }
  return Changed ? PreservedAnalyses::none() : PreservedAnalyses::all();
}

} // namespace adgen
