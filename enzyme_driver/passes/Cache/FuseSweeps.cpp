// Where a loop of the forward sweep and its reversal stand behind each other, and no iteration of the reversal needs
// more than what its own iteration computed and cotangents that are known before the loop, an iteration is reversed
// right after it was computed. What it has read and computed is then at hand: nothing is kept on a tape, read again or
// computed again. That is the case where a loop adds up results of its iterations; the reversal's additions to shadows
// may change places.
//
// It is done in a copy of the gradient that the optimiser has cleaned up. The copy takes the gradient's place only if
// no cache of Enzyme's is left in it, because the tape goes by Enzyme's names of blocks, which cleaning up does not
// keep.
#include "Analysis/Accumulation.h"
#include "Cache/Untangle.h"
#include "Support/Pass.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/Analysis/AliasAnalysis.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/Cloning.h"

using namespace llvm;

namespace adgen {
namespace {

constexpr StringLiteral Allocation = "enzyme_cache_alloc", Release = "enzyme_cache_free";
// Blocks between a loop and its reversal.
constexpr unsigned MostBetween = 16;
// Instructions of a gradient: cleaning it up takes long.
constexpr unsigned MostInGradient = 6000;
// Instructions of an iteration and its reversal.
constexpr unsigned MostInstructions = 4000;

// A loop that goes round from its one latch, with a counter that goes up from 0, or down.
struct Counted {
  Loop *L = nullptr;
  BasicBlock *Exiting = nullptr;
  PHINode *Counter = nullptr;
  const SCEV *Last = nullptr;   // the number of the last iteration, of which the reversal is the first
  const SCEV *Number = nullptr; // of the iteration, in the forward loop's order
  ConstantInt *Ahead = nullptr; // of that number is the reversal's counter
};

// A forward loop, its reversal, and what runs between them whenever they run.
struct Pair {
  Counted Forward, Reverse;
  SmallVector<BasicBlock *, MostBetween> Between;
  BasicBlock *Join = nullptr,
             *Last = nullptr; // where the way around the forward loop comes back; what comes before the join
};

class Fuser {
public:
  Fuser(Function &F, FunctionAnalysisManager &FAM)
      : F(F), AA(FAM.getResult<AAManager>(F)), DT(FAM.getResult<DominatorTreeAnalysis>(F)),
        LI(FAM.getResult<LoopAnalysis>(F)), SE(FAM.getResult<ScalarEvolutionAnalysis>(F)) {}

  // Fuses the first pair that may be fused; outer loops come before inner ones.
  bool run() {
    for (Loop *L : LI.getLoopsInPreorder()) {
      Pair P;
      if (findForward(*L, P.Forward) && findReverse(P) && areIndependent(P)) {
        fuse(P);
        return true;
      }
    }
    return false;
  }

private:
  bool findForward(Loop &L, Counted &Found) {
    BasicBlock *Latch = L.getLoopLatch();
    if (!L.isLoopSimplifyForm() || L.getExitingBlock() != Latch || !L.getExitBlock() || !endsInChoice(*Latch))
      return false;
    Found = {&L, Latch, nullptr, SE.getBackedgeTakenCount(&L)};
    for (PHINode &Phi : L.getHeader()->phis()) {
      auto *Steps = Phi.getType()->isIntegerTy() ? dyn_cast<SCEVAddRecExpr>(SE.getSCEV(&Phi)) : nullptr;
      if (Steps && Steps->getLoop() == &L && Steps->isAffine() && Steps->getStart()->isZero() &&
          Steps->getStepRecurrence(SE)->isOne())
        Found.Counter = &Phi, Found.Number = Steps;
    }
    return Found.Counter && !isa<SCEVCouldNotCompute>(Found.Last);
  }

  // From the exit of the forward loop to the next loop, past the end of the condition under which the forward loop
  // runs.
  bool findReverse(Pair &P) {
    Loop &L = *P.Forward.L;
    Value *Condition = nullptr;
    bool Polarity = false;
    for (BasicBlock *Block = L.getExitBlock(), *Before = L.getLoopLatch(); P.Between.size() < MostBetween;) {
      if (LI.getLoopFor(Block) != L.getParentLoop()) {
        Loop *Next = LI.getLoopFor(Block);
        return Next && Next->getHeader() == Block && Next->getParentLoop() == L.getParentLoop() && isReversal(*Next, P);
      }
      if (Block->getSinglePredecessor() != Before) {
        if (P.Join || !skipsLoop(L, *Block, Condition, Polarity))
          return false;
        P.Join = Block;
        P.Last = Before;
      }
      P.Between.push_back(Block);
      Before = Block;
      auto *Way = dyn_cast<BranchInst>(Block->getTerminator());
      if (!Way || (Way->isConditional() && Way->getCondition() != Condition))
        return false;
      Block = Way->getSuccessor(Way->isConditional() && !Polarity ? 1 : 0);
    }
    return false;
  }

  // Whether the join is reached by the loop and by the other way of the condition that decides about the loop, and by
  // nothing else.
  static bool skipsLoop(const Loop &L, const BasicBlock &Join, Value *&Condition, bool &Polarity) {
    if (pred_size(&Join) != 2)
      return false;
    const BasicBlock *Begin = L.getLoopPreheader();
    while (const BasicBlock *Up = Begin->getSinglePredecessor()) {
      if (auto *Choice = dyn_cast<BranchInst>(Up->getTerminator()); Choice && Choice->isConditional()) {
        Condition = Choice->getCondition();
        Polarity = Choice->getSuccessor(0) == Begin;
        return Choice->getSuccessor(Polarity ? 1 : 0) == &Join;
      }
      Begin = Up;
    }
    return false;
  }

  bool isReversal(Loop &L, Pair &P) {
    BasicBlock *Exiting = L.getExitingBlock(), *Latch = L.getLoopLatch();
    if (!L.isLoopSimplifyForm() || !Exiting || !L.getExitBlock() || !endsInChoice(*Exiting))
      return false;
    bool GoesRound =
        Exiting == Latch || (Latch->getSinglePredecessor() == Exiting && none_of(*Latch, [](const Instruction &I) {
                               return I.mayReadOrWriteMemory() || isa<PHINode>(I);
                             }));
    if (!GoesRound || !hasSingleElement(L.getHeader()->phis()))
      return false;
    PHINode &Counter = *L.getHeader()->phis().begin();
    auto *Steps = Counter.getType()->isIntegerTy() ? dyn_cast<SCEVAddRecExpr>(SE.getSCEV(&Counter)) : nullptr;
    if (!Steps || Steps->getLoop() != &L || !Steps->isAffine() || !Steps->getStepRecurrence(SE)->isAllOnesValue())
      return false;
    P.Reverse = {&L, Exiting, &Counter, SE.getBackedgeTakenCount(&L)};
    if (Counter.getType() != P.Forward.Counter->getType() || !areEqual(P.Reverse.Last, P.Forward.Last) ||
        !isUnusedOutside(L))
      return false;
    const SCEV *Last =
        SE.getNoopOrZeroExtend(P.Reverse.Last, SE.getWiderType(P.Reverse.Last->getType(), Counter.getType()));
    auto *Ahead = Last->getType() == Counter.getType()
                      ? dyn_cast<SCEVConstant>(SE.getMinusSCEV(Steps->getStart(), Last))
                      : nullptr;
    if (!Ahead)
      return false;
    P.Reverse.Ahead = Ahead->getValue();
    P.Reverse.Number = SE.getMinusSCEV(Steps, Ahead);
    return true;
  }

  bool areEqual(const SCEV *A, const SCEV *B) {
    if (isa<SCEVCouldNotCompute>(A) || isa<SCEVCouldNotCompute>(B))
      return false;
    Type *Wider = SE.getWiderType(A->getType(), B->getType());
    return SE.getNoopOrZeroExtend(A, Wider) == SE.getNoopOrZeroExtend(B, Wider);
  }

  static bool endsInChoice(const BasicBlock &Block) {
    auto *Way = dyn_cast<BranchInst>(Block.getTerminator());
    return Way && Way->isConditional();
  }

  static bool isUnusedOutside(const Loop &L) {
    return all_of(L.blocks(), [&](const BasicBlock *Block) {
      return all_of(*Block, [&](const Instruction &I) {
        return all_of(I.users(), [&](const User *U) { return L.contains(cast<Instruction>(U)); });
      });
    });
  }

  // What a value is where both loops run.
  Value *resolved(const Pair &P, Value *V) const {
    while (auto *Phi = dyn_cast<PHINode>(V)) {
      if (Phi->getParent() == P.Join)
        V = Phi->getIncomingValueForBlock(P.Last);
      else if (is_contained(P.Between, Phi->getParent()) && Phi->getNumIncomingValues() == 1)
        V = Phi->getIncomingValue(0);
      else
        break;
    }
    return V;
  }

  bool areIndependent(const Pair &P) {
    if (!everyEnds(P) || !collectPlaces(P))
      return false;
    Scopes = scopesDeclaredOutside(P);
    for (Instruction *Mine : Memory.Reverse) {
      for (ArrayRef<Instruction *> Others :
           {ArrayRef(Memory.Forward), ArrayRef(Memory.Between), ArrayRef(Memory.Reverse)})
        for (Instruction *Other : Others)
          if (Other != Mine && mayConflict(P, *Mine, *Other))
            return false;
      if (Mine->mayWriteToMemory() && !asAccumulation(*Mine) && !isRelease(*Mine) && !isPrivate(P, *Mine))
        return false;
    }
    return collectNeeded(P);
  }

  // Every instruction hands on to the next one, so that what stands behind the forward loop runs whenever that does.
  bool everyEnds(const Pair &P) {
    Memory = {};
    unsigned Count = 0;
    auto Add = [&](auto Blocks, SmallVectorImpl<Instruction *> &To) {
      for (BasicBlock *Block : Blocks)
        for (Instruction &I : *Block) {
          ++Count;
          if (!I.isTerminator() && !isAllocation(&I) && !isRelease(I) &&
              !isGuaranteedToTransferExecutionToSuccessor(&I))
            return false;
          if (I.mayReadOrWriteMemory() && !isIgnored(I))
            To.push_back(&I);
        }
      return true;
    };
    return Add(P.Forward.L->blocks(), Memory.Forward) && Add(P.Between, Memory.Between) &&
           Add(P.Reverse.L->blocks(), Memory.Reverse) && Count <= MostInstructions;
  }

  static bool isIgnored(const Instruction &I) {
    auto *Known = dyn_cast<IntrinsicInst>(&I);
    return Known && Known->isAssumeLikeIntrinsic() && !Known->isLifetimeStartOrEnd();
  }

  static bool isRelease(const Instruction &I) { return isa<CallInst>(I) && I.hasMetadata(Release); }
  static bool isAllocation(const Value *V) { return isa<CallInst>(V) && cast<CallInst>(V)->hasMetadata(Allocation); }

  static Value *pointerOf(Instruction &I) {
    if (auto *Atomic = asAccumulation(I))
      return Atomic->getPointerOperand();
    if (isRelease(I))
      return cast<CallInst>(I).getArgOperand(0);
    if (auto *Atomic = dyn_cast<AtomicRMWInst>(&I);
        Atomic && Atomic->getOperation() == AtomicRMWInst::Xchg) // ConsumeOnce
      return Atomic->getPointerOperand();
    bool Simple =
        (isa<LoadInst>(I) && cast<LoadInst>(I).isSimple()) || (isa<StoreInst>(I) && cast<StoreInst>(I).isSimple());
    return Simple ? getLoadStorePointerOperand(&I) : nullptr;
  }

  // All that is done to memory must be understood.
  bool collectPlaces(const Pair &P) {
    for (ArrayRef<Instruction *> All : {ArrayRef(Memory.Forward), ArrayRef(Memory.Between), ArrayRef(Memory.Reverse)})
      for (Instruction *I : All)
        if (!isAllocation(I) && !pointerOf(*I))
          return false;
    return none_of(Memory.Between, [](const Instruction *I) { return isRelease(*I) || isAllocation(I); }) &&
           none_of(Memory.Reverse, [](const Instruction *I) { return isAllocation(I); }) &&
           none_of(Memory.Forward, [](const Instruction *I) { return isRelease(*I); });
  }

  // What differs between restrict pointers of a function that was called within the loops holds for one iteration only.
  SmallPtrSet<const MDNode *, 16> scopesDeclaredOutside(const Pair &P) {
    SmallPtrSet<const MDNode *, 16> Found;
    for (Instruction &I : instructions(F))
      if (auto *Declared = dyn_cast<NoAliasScopeDeclInst>(&I))
        if (!P.Forward.L->contains(&I) && !P.Reverse.L->contains(&I))
          for (const MDOperand &Scope : Declared->getScopeList()->operands())
            Found.insert(cast<MDNode>(Scope));
    return Found;
  }

  MDNode *outside(MDNode *List) {
    if (!List)
      return nullptr;
    SmallVector<Metadata *> Kept;
    for (const MDOperand &Scope : List->operands())
      if (Scopes.contains(cast<MDNode>(Scope)))
        Kept.push_back(Scope);
    return Kept.empty() ? nullptr : MDNode::get(F.getContext(), Kept);
  }

  // Whatever of its object the instruction accesses in any iteration.
  MemoryLocation anywhere(Instruction &I) {
    AAMDNodes Tags = I.getAAMetadata();
    // An access belongs to all scopes of its list: without one of them it would say too little of itself, and nothing
    // follows from it.
    Tags.Scope = outside(Tags.Scope);
    Tags.NoAlias = outside(Tags.NoAlias);
    return MemoryLocation::getBeforeOrAfter(pointerOf(I), Tags);
  }

  bool mayConflict(const Pair &P, Instruction &Mine, Instruction &Other) {
    if (!Mine.mayWriteToMemory() && !Other.mayWriteToMemory())
      return false;
    if (asAccumulation(Mine) && asAccumulation(Other))
      return false;
    if (isAllocation(&Other) || isRelease(Mine) || isRelease(Other))
      return isRelease(Mine) && !isKept(P, pointerOf(Mine));
    const Value *One = objectOf(P, Mine), *Two = objectOf(P, Other);
    if (areApart(One, Two) || areSameSlot(P, Mine, Other) || areKept(P, Mine, Other) ||
        (isPrivate(P, Mine) && isPrivate(P, Other)))
      return false;
    return !AA.isNoAlias(anywhere(Mine), anywhere(Other));
  }

  // Shadows of parameters overlap nothing, as the runtime checks.
  static bool areApart(const Value *One, const Value *Other) {
    auto IsShadow = [](const Value *V) {
      auto *A = dyn_cast<Argument>(V);
      return A && A->getParent()->hasParamAttribute(A->getArgNo(), ShadowAttribute);
    };
    auto IsKnown = [](const Value *V) { return isa<Argument>(V) || isIdentifiedObject(V); };
    bool Both = isIdentifiedObject(One) && isIdentifiedObject(Other);
    return One != Other && IsKnown(One) && IsKnown(Other) && (Both || IsShadow(One) || IsShadow(Other));
  }

  const Value *objectOf(const Pair &P, Instruction &I) const {
    Value *Object = const_cast<Value *>(getUnderlyingObject(pointerOf(I), 0));
    for (Value *Next = resolved(P, Object); Next != Object; Next = resolved(P, Object))
      Object = const_cast<Value *>(getUnderlyingObject(Next, 0));
    return Object;
  }

  // A cache's element with the number of the iteration: that of the forward loop writes it, and its own reversal reads
  // it.
  Value *slotOf(const Pair &P, const Counted &Of, Instruction &I) {
    auto *Element = dyn_cast<GetElementPtrInst>(pointerOf(I));
    if (!Element || Element->getNumIndices() != 1 || SE.getSCEV(Element->getOperand(1)) != Of.Number)
      return nullptr;
    Value *Cache = resolved(P, Element->getPointerOperand());
    bool Fits = Element->getSourceElementType() == getLoadStoreType(&I);
    return isAllocation(Cache) && Fits ? Cache : nullptr;
  }

  bool areSameSlot(const Pair &P, Instruction &Mine, Instruction &Other) {
    if (!isa<LoadInst>(Mine) || !isa<StoreInst>(Other) || !P.Forward.L->contains(&Other))
      return false;
    Value *Slot = slotOf(P, P.Reverse, Mine);
    return Slot && Slot == slotOf(P, P.Forward, Other) && getLoadStoreType(&Mine) == getLoadStoreType(&Other);
  }

  // A cache of the iteration itself, whose address is in such an element.
  bool isKept(const Pair &P, Value *Pointer) {
    auto *Load = dyn_cast<LoadInst>(const_cast<Value *>(getUnderlyingObject(Pointer, 0)));
    if (!Load || !P.Reverse.L->contains(Load))
      return false;
    Value *Slot = slotOf(P, P.Reverse, *Load);
    return Slot && all_of(Memory.Forward, [&](Instruction *I) {
             auto *Store = dyn_cast<StoreInst>(I);
             if (!Store || objectOf(P, *Store) != Slot)
               return true;
             auto *Inner = dyn_cast<Instruction>(Store->getValueOperand());
             return slotOf(P, P.Forward, *Store) == Slot && Inner && isAllocation(Inner) &&
                    P.Forward.L->contains(Inner);
           });
  }

  bool areKept(const Pair &P, Instruction &Mine, Instruction &Other) {
    if (!isKept(P, pointerOf(Mine)))
      return false;
    const Value *Object = objectOf(P, Other);
    auto *Made = dyn_cast<Instruction>(Object);
    return (Made && isAllocation(Made)) || isa<Argument, AllocaInst, GlobalVariable>(Object) ||
           (P.Reverse.L->contains(&Other) && isKept(P, pointerOf(Other)) && !isa<StoreInst>(Mine) &&
            !isa<StoreInst>(Other));
  }

  // Of a local variable that both loops fill anew in every iteration before they read it, and nobody else reads.
  bool isPrivate(const Pair &P, Instruction &I) {
    auto *Variable = dyn_cast<AllocaInst>(const_cast<Value *>(getUnderlyingObject(pointerOf(I), 0)));
    if (!Variable)
      return false;
    auto [Known, New] = Private.try_emplace(Variable, false);
    if (New)
      Known->second = isFilledFirst(P, *Variable);
    return Private[Variable];
  }

  bool isFilledFirst(const Pair &P, AllocaInst &Variable) {
    std::optional<TypeSize> Size = Variable.getAllocationSize(F.getDataLayout());
    SmallVector<Instruction *> Accesses;
    if (!Size || Size->isScalable() || !collectAccesses(Variable, Accesses))
      return false;
    return all_of(Accesses, [&](Instruction *I) {
      bool Inside = P.Forward.L->contains(I) || P.Reverse.L->contains(I);
      const Loop &Own = P.Forward.L->contains(I) ? *P.Forward.L : *P.Reverse.L;
      return Inside && (isa<StoreInst>(I) || isFilledBefore(Own, *I, Accesses, Size->getFixedValue()));
    });
  }

  static bool collectAccesses(AllocaInst &Variable, SmallVectorImpl<Instruction *> &Accesses) {
    SmallVector<Value *> Pointers{&Variable};
    while (!Pointers.empty()) {
      Value *Pointer = Pointers.pop_back_val();
      for (User *U : Pointer->users()) {
        auto *I = cast<Instruction>(U);
        if (isa<GetElementPtrInst>(I))
          Pointers.push_back(I);
        else if (I->isLifetimeStartOrEnd())
          continue;
        else if (isa<LoadInst>(I) || (isa<StoreInst>(I) && cast<StoreInst>(I)->getPointerOperand() == Pointer))
          Accesses.push_back(I);
        else
          return false;
      }
    }
    return true;
  }

  // Whether stores of the same iteration, which always come before the load, have written every byte.
  bool isFilledBefore(const Loop &L, const Instruction &Load, ArrayRef<Instruction *> Accesses, uint64_t Size) {
    BitVector Written(Size);
    for (Instruction *I : Accesses) {
      auto *Store = dyn_cast<StoreInst>(I);
      if (!Store || !L.contains(Store) || !DT.dominates(Store, &Load))
        continue;
      int64_t Offset = 0;
      uint64_t Bytes = F.getDataLayout().getTypeStoreSize(Store->getValueOperand()->getType());
      Value *Base = GetPointerBaseWithConstantOffset(Store->getPointerOperand(), Offset, F.getDataLayout());
      if (isa<AllocaInst>(Base) && Offset >= 0 && Offset + Bytes <= Size)
        Written.set(Offset, Offset + Bytes);
    }
    return Written.all();
  }

  // What the reversal needs from between the loops, in order: it is computed before them. False where that cannot be.
  bool collectNeeded(const Pair &P) {
    Needed.clear();
    SmallVector<Value *> Wanted;
    for (BasicBlock *Block : P.Reverse.L->blocks())
      for (Instruction &I : *Block)
        append_range(Wanted, I.operands());
    while (!Wanted.empty()) {
      auto *I = dyn_cast<Instruction>(resolved(P, Wanted.pop_back_val()));
      if (!I || P.Reverse.L->contains(I) || DT.dominates(I, P.Forward.L->getLoopPreheader()->getTerminator()) ||
          Needed.contains(I))
        continue;
      if (!is_contained(P.Between, I->getParent()) || isa<PHINode>(I) || !mayComeEarlier(P, *I))
        return false;
      Needed.insert(I);
      append_range(Wanted, I->operands());
    }
    return true;
  }

  bool mayComeEarlier(const Pair &P, Instruction &I) {
    if (!I.mayReadOrWriteMemory())
      return !I.isTerminator() && !isa<AllocaInst>(I);
    if (!isa<LoadInst>(I))
      return false;
    MemoryLocation Where = MemoryLocation::get(&I);
    auto Changes = [&](Instruction *Other) {
      return !isBehind(P, *Other, I) && !areApart(objectOf(P, I), objectOf(P, *Other)) &&
             isModSet(AA.getModRefInfo(Other, Where));
    };
    return none_of(Memory.Forward,
                   [&](Instruction *Other) { return !isAllocation(Other) && mayConflict(P, I, *Other); }) &&
           none_of(Memory.Between, Changes);
  }

  bool isBehind(const Pair &P, const Instruction &Other, const Instruction &I) const {
    if (Other.getParent() == I.getParent())
      return I.comesBefore(&Other);
    return find(P.Between, Other.getParent()) > find(P.Between, I.getParent());
  }

  void fuse(Pair &P) {
    Loop &Forward = *P.Forward.L, &Reverse = *P.Reverse.L;
    computeBefore(P);
    IRBuilder<> B(Reverse.getHeader(), Reverse.getHeader()->getFirstInsertionPt());
    P.Reverse.Counter->replaceAllUsesWith(B.CreateAdd(P.Forward.Counter, P.Reverse.Ahead));
    P.Reverse.Counter->eraseFromParent();

    BasicBlock *Begin = Reverse.getHeader(), *Latch = Forward.getLoopLatch();
    BasicBlock *Skipped = Reverse.getLoopPreheader(), *Exit = Reverse.getExitBlock();
    BasicBlock *End = SplitBlock(Latch, Latch->getTerminator());
    Latch->getTerminator()->setSuccessor(0, Begin);
    Skipped->getTerminator()->replaceSuccessorWith(Begin, Exit);
    Exit->replacePhiUsesWith(P.Reverse.Exiting, Skipped);
    IRBuilder<>(P.Reverse.Exiting->getTerminator()).CreateBr(End);
    P.Reverse.Exiting->getTerminator()->eraseFromParent();
    EliminateUnreachableBlocks(F);
  }

  // Copies: what is between the loops may be needed there as well, and where the loops do not run.
  void computeBefore(const Pair &P) {
    IRBuilder<> B(P.Forward.L->getLoopPreheader()->getTerminator());
    ValueToValueMapTy Early;
    for (BasicBlock *Block : P.Between)
      for (Instruction &I : *Block)
        if (Needed.contains(&I)) {
          Instruction *Copy = B.Insert(I.clone());
          redirect(P, *Copy, Early);
          Early[&I] = Copy;
        }
    for (BasicBlock *Block : P.Reverse.L->blocks())
      for (Instruction &I : *Block)
        redirect(P, I, Early);
  }

  void redirect(const Pair &P, Instruction &I, const ValueToValueMapTy &Early) {
    for (Use &Operand : I.operands()) {
      if (isa<Instruction>(Operand) && P.Reverse.L->contains(cast<Instruction>(Operand)))
        continue;
      Value *V = resolved(P, Operand);
      Value *Copy = Early.lookup(V);
      Operand.set(Copy ? Copy : V);
    }
  }

  Function &F;
  AAResults &AA;
  DominatorTree &DT;
  LoopInfo &LI;
  ScalarEvolution &SE;
  struct {
    SmallVector<Instruction *> Forward, Between, Reverse;
  } Memory; // what touches memory
  SmallPtrSet<const MDNode *, 16> Scopes;
  DenseMap<AllocaInst *, bool> Private;
  SmallPtrSet<Instruction *, 16> Needed;
};

bool keepsSomething(Function &F) {
  return any_of(instructions(F), [](const Instruction &I) { return isa<CallInst>(I) && I.hasMetadata(Allocation); });
}

// Whether something was fused and nothing is left on a cache.
bool fuseAll(Function &F, FunctionAnalysisManager &FAM) {
  bool Fused = false;
  for (;;) {
    clean(F, FAM);
    if (!Fuser(F, FAM).run())
      break;
    Fused = true;
    FAM.invalidate(F, PreservedAnalyses::none());
  }
  if (!Fused || keepsSomething(F))
    return false;
  separateDecisions(F, FAM);
  return true;
}

} // namespace

ADGEN_DECLARE_PASS(FuseSweeps);

PreservedAnalyses FuseSweeps::run(Module &M, ModuleAnalysisManager &MAM) {
  auto &FAM = MAM.getResult<FunctionAnalysisManagerModuleProxy>(M).getManager();
  SmallVector<Function *> Gradients;
  for (Function &F : M)
    if (F.hasFnAttribute(ActivityAttribute) && F.getName().starts_with(GradientPrefix) && !F.isDeclaration() &&
        F.getInstructionCount() <= MostInGradient)
      Gradients.push_back(&F);
  for (Function *F : Gradients) {
    ValueToValueMapTy Map;
    Function *Copy = CloneFunction(F, Map), *Other = Copy;
    if (fuseAll(*Copy, FAM)) {
      M.getFunctionList().splice(F->getIterator(), M.getFunctionList(), Copy->getIterator());
      Copy->takeName(F);
      F->replaceAllUsesWith(Copy);
      Other = F;
    }
    FAM.clear(*Other, Other->getName());
    Other->eraseFromParent();
  }
  return PreservedAnalyses::none();
}

} // namespace adgen
