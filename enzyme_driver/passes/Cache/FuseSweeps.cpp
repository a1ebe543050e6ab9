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
#include "Cache/PromoteSlots.h"
#include "Cache/SweepMemory.h"
#include "Cache/Untangle.h"
#include "Support/Iterations.h"
#include "Support/Pass.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/ValueMapper.h"

#define DEBUG_TYPE "adgen-fuse-sweeps"

using namespace llvm;

STATISTIC(NumGradients, "Number of gradients with fused sweeps");

namespace adgen {
namespace {

constexpr unsigned MostInGradient = 6000;

class Fuser {
public:
  Fuser(Function &F, FunctionAnalysisManager &FAM)
      : F(F), AA(FAM.getResult<AAManager>(F)), DT(FAM.getResult<DominatorTreeAnalysis>(F)),
        LI(FAM.getResult<LoopAnalysis>(F)), SE(FAM.getResult<ScalarEvolutionAnalysis>(F)) {}

  // Fuses the first pair that may be fused; outer loops come before inner ones.
  bool run() {
    for (Loop *L : LI.getLoopsInPreorder()) {
      LoopPair P;
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
  bool findReverse(LoopPair &P) {
    Loop &L = *P.Forward.L;
    Value *Condition = nullptr;
    bool Polarity = false;
    for (BasicBlock *Block = L.getExitBlock(), *Before = L.getLoopLatch(); P.Between.size() < LoopPair::MostBetween;) {
      if (LI.getLoopFor(Block) != L.getParentLoop()) {
        Loop *Next = LI.getLoopFor(Block);
        return Next && Next->getHeader() == Block && Next->getParentLoop() == L.getParentLoop() && isReversal(*Next, P);
      }
      if (Block->getSinglePredecessor() != Before) {
        if (P.Join || !(P.Decision = decisionBetween(L, *Block)))
          return false;
        auto *Choice = cast<BranchInst>(P.Decision->getTerminator());
        Condition = Choice->getCondition();
        Polarity = Choice->getSuccessor(1) == Block;
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

  // The block that decides whether the loop runs or control goes to the join at once; null where the join is reached
  // otherwise too.
  static BasicBlock *decisionBetween(const Loop &L, const BasicBlock &Join) {
    if (pred_size(&Join) != 2)
      return nullptr;
    const BasicBlock *Begin = L.getLoopPreheader();
    while (BasicBlock *Up = const_cast<BasicBlock *>(Begin->getSinglePredecessor())) {
      if (endsInChoice(*Up))
        return Up->getTerminator()->getSuccessor(Up->getTerminator()->getSuccessor(0) == Begin ? 1 : 0) == &Join
                   ? Up
                   : nullptr;
      Begin = Up;
    }
    return nullptr;
  }

  bool isReversal(Loop &L, LoopPair &P) {
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

  bool areIndependent(const LoopPair &P) {
    SweepMemory Memory(P, F, AA, DT, SE);
    return Memory.isReversedAlone() && collectNeeded(P, Memory);
  }

  // What the reversal needs from between the loops, in order: it is computed before them. False where that cannot be.
  bool collectNeeded(const LoopPair &P, SweepMemory &Memory) {
    Needed.clear();
    Taken.clear();
    SmallVector<Value *> Wanted;
    for (BasicBlock *Block : P.Reverse.L->blocks())
      for (Instruction &I : *Block)
        append_range(Wanted, I.operands());
    while (!Wanted.empty()) {
      auto *I = dyn_cast<Instruction>(P.resolved(Wanted.pop_back_val()));
      if (!I || P.Reverse.L->contains(I) || DT.dominates(I, P.Forward.L->getLoopPreheader()->getTerminator()) ||
          Needed.contains(I))
        continue;
      if (isConsumption(*I)) {
        if (!mayBeTakenFirst(P, Memory, *I))
          return false;
        continue;
      }
      if (!is_contained(P.Between, I->getParent()) || isa<PHINode>(I) || !mayComeEarlier(P, Memory, *I))
        return false;
      Needed.insert(I);
      append_range(Wanted, I->operands());
    }
    return true;
  }

  // Whether a cotangent that is taken between the loops may be taken before them, even before it is decided whether
  // they run. What its place follows from has to be known there, and cotangents that may be the same one are taken in
  // the order in which they were.
  bool mayBeTakenFirst(const LoopPair &P, SweepMemory &Memory, Instruction &I) {
    if (Taken.contains(&I) || DT.dominates(&I, firstOf(P)))
      return true;
    if (!runsAnyway(P, *I.getParent()) || isa<PHINode>(I) || !mayComeEarlier(P, Memory, I) ||
        (I.mayReadOrWriteMemory() && Memory.conflictsOnTheWay(I)))
      return false;
    Taken.insert(&I);
    auto May = [&](Value *V) { return !isa<Instruction>(V) || mayBeTakenFirst(P, Memory, *cast<Instruction>(V)); };
    return all_of(I.operands(), May) && (!isConsumption(I) || all_of(Memory.Between, [&](Instruction *Other) {
             bool Before = isConsumption(*Other) && !isBehind(P, *Other, I);
             return !Before || !Memory.mayConflict(I, *Other) || May(Other);
           }));
  }

  static Instruction *firstOf(const LoopPair &P) {
    return (P.Decision ? P.Decision : P.Forward.L->getLoopPreheader())->getTerminator();
  }

  // Whether a block between the loops runs even where they do not.
  static bool runsAnyway(const LoopPair &P, const BasicBlock &Block) {
    const auto *Join = P.Join ? find(P.Between, P.Join) : P.Between.begin();
    const auto *Found = find(ArrayRef(Join, P.Between.end()), &Block);
    return Found != P.Between.end() && none_of(ArrayRef(Join, Found), [](BasicBlock *B) { return endsInChoice(*B); });
  }

  bool mayComeEarlier(const LoopPair &P, SweepMemory &Memory, Instruction &I) {
    if (!I.mayReadOrWriteMemory())
      return !I.isTerminator() && !isa<AllocaInst>(I);
    if (!(isa<LoadInst>(I) || isConsumption(I)) || Memory.conflictsWithForward(I))
      return false;
    return none_of(Memory.Between, [&](Instruction *Other) {
      if (Other == &I || isBehind(P, *Other, I) || areApart(Memory.objectOf(I), Memory.objectOf(*Other)))
        return false;
      if (isConsumption(I))
        return !isConsumption(*Other) && Memory.mayConflict(I, *Other);
      return isModSet(AA.getModRefInfo(Other, MemoryLocation::get(&I)));
    });
  }

  bool isBehind(const LoopPair &P, const Instruction &Other, const Instruction &I) const {
    if (Other.getParent() == I.getParent())
      return I.comesBefore(&Other);
    return find(P.Between, Other.getParent()) > find(P.Between, I.getParent());
  }

  void fuse(LoopPair &P) {
    Loop &Forward = *P.Forward.L, &Reverse = *P.Reverse.L;
    takeFirst(P);
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

  void takeFirst(const LoopPair &P) {
    ValueToValueMapTy Early;
    for (BasicBlock *Block : P.Between)
      for (Instruction &I : make_early_inc_range(*Block)) {
        if (!Taken.contains(&I))
          continue;
        Instruction *There = &I;
        if (isConsumption(I)) {
          I.moveBefore(firstOf(P)->getIterator());
        } else {
          There = I.clone();
          There->insertBefore(firstOf(P)->getIterator());
          Early[&I] = There;
        }
        for (Use &Operand : There->operands())
          if (Value *Copy = Early.lookup(Operand))
            Operand.set(Copy);
      }
  }

  // Copies: what is between the loops may be needed there as well, and where the loops do not run.
  void computeBefore(const LoopPair &P) {
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

  void redirect(const LoopPair &P, Instruction &I, const ValueToValueMapTy &Early) {
    for (Use &Operand : I.operands()) {
      if (isa<Instruction>(Operand) && P.Reverse.L->contains(cast<Instruction>(Operand)))
        continue;
      Value *V = P.resolved(Operand);
      Value *Copy = Early.lookup(V);
      Operand.set(Copy ? Copy : V);
    }
  }

  Function &F;
  AAResults &AA;
  DominatorTree &DT;
  LoopInfo &LI;
  ScalarEvolution &SE;
  SmallPtrSet<Instruction *, 16> Needed; // of what is between the loops
  SmallPtrSet<Instruction *, 16> Taken;  // before it is decided whether they run: cotangents, and where they are
};

bool keepsSomething(Function &F) {
  return any_of(instructions(F), [](const Instruction &I) { return isCacheAllocation(&I); });
}

// What is done with a cache that nothing reads: stores, and to give it back; nothing where it is read.
SmallSetVector<Instruction *, 16> onlyWritten(CallInst &Cache) {
  SmallSetVector<Instruction *, 16> Found;
  Found.insert(&Cache);
  for (unsigned Next = 0; Next < Found.size(); ++Next) {
    if (isa<StoreInst>(Found[Next]) || isCacheRelease(*Found[Next]))
      continue;
    for (Use &U : Found[Next]->uses()) {
      auto *By = cast<Instruction>(U.getUser());
      bool IsWritten = isa<StoreInst>(By) && U.getOperandNo() == StoreInst::getPointerOperandIndex();
      if (!IsWritten && !isa<GetElementPtrInst, PHINode>(By) && !isCacheRelease(*By))
        return {};
      Found.insert(By);
    }
  }
  auto IsOther = [&](const Use &From) {
    return !isa<UndefValue>(From) && !Found.contains(dyn_cast<Instruction>(From));
  };
  bool Alone = none_of(Found, [&](Instruction *I) { return isa<PHINode>(I) && any_of(I->operands(), IsOther); });
  return Alone ? Found : SmallSetVector<Instruction *, 16>();
}

void dropUnread(Function &F) {
  SmallVector<CallInst *> Caches;
  for (Instruction &I : instructions(F))
    if (isCacheAllocation(&I))
      Caches.push_back(cast<CallInst>(&I));
  for (CallInst *Cache : Caches) {
    SmallSetVector<Instruction *, 16> All = onlyWritten(*Cache);
    for (Instruction *I : All)
      I->replaceAllUsesWith(PoisonValue::get(I->getType()));
    for (Instruction *I : All)
      I->eraseFromParent();
  }
}

bool fusePairs(Function &F, FunctionAnalysisManager &FAM) {
  for (bool Fused = false;; Fused = true) {
    clean(F, FAM);
    if (!Fuser(F, FAM).run())
      return Fused;
    FAM.invalidate(F, PreservedAnalyses::none());
  }
}

// Whether something was fused and nothing is left on a cache.
bool fuseAll(Function &F, FunctionAnalysisManager &FAM) {
  bool Fused = false;
  // What is kept on one way alone is a value once decisions are separated, and loops on one way may be a pair then.
  for (bool More = true; More;) {
    bool Pairs = fusePairs(F, FAM);
    Fused |= Pairs;
    More = Pairs && separateDecisions(F, FAM);
  }
  if (!Fused)
    return false;
  if (promoteSlots(F, FAM.getResult<ScalarEvolutionAnalysis>(F))) {
    FAM.invalidate(F, PreservedAnalyses::none());
    clean(F, FAM);
  }
  dropUnread(F);
  return !keepsSomething(F);
}

} // namespace

ADGEN_DECLARE_PASS(FuseSweeps);

PreservedAnalyses FuseSweeps::run(Module &M, ModuleAnalysisManager &MAM) {
  auto &FAM = MAM.getResult<FunctionAnalysisManagerModuleProxy>(M).getManager();
  for (Function *F : gradientsUpTo(M, MostInGradient))
    replaceByCopy(*F, FAM, [&](Function &Copy) {
      bool Fused = fuseAll(Copy, FAM);
      if (Fused)
        ADGEN_COUNT(NumGradients, F->getName());
      return Fused;
    });
  return PreservedAnalyses::none();
}

} // namespace adgen
