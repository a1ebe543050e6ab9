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
#include "Cache/SweepLoops.h"
#include "Cache/SweepMemory.h"
#include "Cache/Untangle.h"
#include "Support/Iterations.h"
#include "Support/Pass.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "llvm/Transforms/Utils/ValueMapper.h"

#define DEBUG_TYPE "adgen-fuse-sweeps"

using namespace llvm;

STATISTIC(NumGradients, "Number of gradients with fused sweeps");

namespace adgen {
namespace {

class Fuser {
public:
  Fuser(Function &F, FunctionAnalysisManager &FAM, bool InCpp)
      : F(F), InCpp(InCpp), AA(FAM.getResult<AAManager>(F)), DT(FAM.getResult<DominatorTreeAnalysis>(F)),
        LI(FAM.getResult<LoopAnalysis>(F)), SE(FAM.getResult<ScalarEvolutionAnalysis>(F)), Sweeps(LI, SE) {}

  // Fuses the first pair that may be fused; outer loops come before inner ones.
  bool run() {
    for (Loop *L : LI.getLoopsInPreorder()) {
      LoopPair P;
      if (Sweeps.findForward(*L, P.Forward) && Sweeps.findReverse(P) && mayBeWorth(P) && areIndependent(P)) {
        fuse(P);
        return true;
      }
    }
    return false;
  }

private:
  // In C++ there is no tape. Inner loops would be there twice all the same; and where additions of iterations may meet,
  // the forward loop alone may be vectorised.
  bool mayBeWorth(const LoopPair &P) const {
    return !InCpp || (P.Forward.L->isInnermost() && P.Reverse.L->isInnermost());
  }
  static bool isCostly(const LoopPair &P) {
    return any_of(P.Forward.L->blocks(), [](const BasicBlock *Block) {
      return any_of(*Block, [](const Instruction &I) {
        auto *Call = dyn_cast<CallBase>(&I);
        bool Computes = Call && Call->getType()->isFPOrFPVectorTy() && Call->getIntrinsicID() != Intrinsic::fmuladd;
        return I.getOpcode() == Instruction::FDiv || Computes;
      });
    });
  }

  bool areIndependent(const LoopPair &P) {
    SweepMemory Memory(P, F, AA, DT, SE);
    return Memory.isReversedAlone() && (!InCpp || isCostly(P) || !Memory.mayReversalsMeet()) &&
           collectNeeded(P, Memory);
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
  bool InCpp;
  AAResults &AA;
  DominatorTree &DT;
  LoopInfo &LI;
  ScalarEvolution &SE;
  SweepLoops Sweeps;
  SmallPtrSet<Instruction *, 16> Needed; // of what is between the loops
  SmallPtrSet<Instruction *, 16> Taken;  // before it is decided whether they run: cotangents, and where they are
};

bool keepsSomething(Function &F) {
  return any_of(instructions(F), [](const Instruction &I) { return isCacheAllocation(&I); });
}

bool fusePairs(Function &F, FunctionAnalysisManager &FAM, bool InCpp) {
  for (bool Fused = false;; Fused = true) {
    clean(F, FAM);
    if (!Fuser(F, FAM, InCpp).run())
      return Fused;
    FAM.invalidate(F, PreservedAnalyses::none());
  }
}

// Whether something was fused and nothing is left on a cache.
bool fuseAll(Function &F, FunctionAnalysisManager &FAM, bool InCpp) {
  bool Fused = false;
  // What is kept on one way alone is a value once decisions are separated, and loops on one way may be a pair then.
  for (bool More = true; More;) {
    bool Pairs = fusePairs(F, FAM, InCpp);
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

// In C++ the gradient calls what Enzyme has made, which may not be too long either.
CallInst *callOfSweeps(Function &F) {
  for (Instruction &I : instructions(F))
    if (auto *Call = dyn_cast<CallInst>(&I))
      if (Function *Callee = Call->getCalledFunction(); Callee && Callee->getName().starts_with(ReversePrefix) &&
                                                        !Callee->isDeclaration() &&
                                                        Callee->getInstructionCount() <= MostWithSweeps)
        return Call;
  return nullptr;
}

bool inlineSweeps(Function &F, FunctionAnalysisManager &FAM) {
  CallInst *Call = callOfSweeps(F);
  if (!Call)
    return true;
  InlineFunctionInfo Info;
  bool Inlined = InlineFunction(*Call, Info).isSuccess();
  FAM.invalidate(F, PreservedAnalyses::none());
  return Inlined;
}

} // namespace

ADGEN_DECLARE_PASS(FuseSweeps);

PreservedAnalyses FuseSweeps::run(Module &M, ModuleAnalysisManager &MAM) {
  auto &FAM = MAM.getResult<FunctionAnalysisManagerModuleProxy>(M).getManager();
  for (Function *F : gradientsUpTo(M, MostWithSweeps))
    if (CallInst *Sweeps = callOfSweeps(*F); hasLoopsBesideEachOther(Sweeps ? *Sweeps->getCalledFunction() : *F, FAM))
      replaceByCopy(*F, FAM, [&](Function &Copy) {
        bool Fused = inlineSweeps(Copy, FAM) && fuseAll(Copy, FAM, Sweeps);
        if (Fused)
          ADGEN_COUNT(NumGradients, F->getName());
        return Fused;
      });
  return PreservedAnalyses::none();
}

} // namespace adgen
