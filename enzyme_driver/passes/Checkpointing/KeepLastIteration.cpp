// Loops that do the same again: no iteration hands anything on to the next one or writes to memory, so that what is
// used behind the loop is what the last one computed. The last one alone is left. Programs repeat a computation so to
// make it as expensive as it should be; a gradient would keep and reverse all repetitions, of which all but one have a
// cotangent of zero.
#include "Support/Pass.h"

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/Transforms/Utils/ScalarEvolutionExpander.h"

#define DEBUG_TYPE "adgen-keep-last-iteration"

using namespace llvm;

STATISTIC(NumLoops, "Number of loops of which the last iteration is left");

namespace adgen {
namespace {

class Repetition {
public:
  Repetition(Loop &L, ScalarEvolution &SE) : L(L), SE(SE) {}

  bool isOne() {
    Latch = L.getLoopLatch();
    auto *Way = Latch ? dyn_cast<BranchInst>(Latch->getTerminator()) : nullptr;
    if (!L.isLoopSimplifyForm() || L.getExitingBlock() != Latch || !L.getExitBlock() || !Way || !Way->isConditional())
      return false;
    Count = SE.getBackedgeTakenCount(&L);
    return !isa<SCEVCouldNotCompute>(Count) && countersAlone() && all_of(L.blocks(), hasNoEffect);
  }

  // Counters begin where they end, and the loop does not go round.
  void keepLast() {
    ++NumLoops;
    SCEVExpander Expander(SE, "last");
    BasicBlock *Before = L.getLoopPreheader();
    for (PHINode &Counter : L.getHeader()->phis()) {
      const SCEV *Last = cast<SCEVAddRecExpr>(SE.getSCEV(&Counter))->evaluateAtIteration(Count, SE);
      Counter.setIncomingValueForBlock(
          Before, Expander.expandCodeFor(Last, Counter.getType(), Before->getTerminator()->getIterator()));
    }
    auto *Way = cast<BranchInst>(Latch->getTerminator());
    bool LeavesIfTrue = !L.contains(Way->getSuccessor(0));
    Way->setCondition(ConstantInt::getBool(Way->getContext(), LeavesIfTrue));
  }

private:
  bool countersAlone() {
    SCEVExpander Expander(SE, "last");
    return all_of(L.getHeader()->phis(), [&](PHINode &Phi) {
      auto *Steps = Phi.getType()->isIntegerTy() ? dyn_cast<SCEVAddRecExpr>(SE.getSCEV(&Phi)) : nullptr;
      return Steps && Steps->getLoop() == &L && Steps->isAffine() &&
             Expander.isSafeToExpandAt(Steps->evaluateAtIteration(Count, SE), L.getLoopPreheader()->getTerminator());
    });
  }

  static bool hasNoEffect(const BasicBlock *Block) {
    return all_of(*Block, [](const Instruction &I) {
      return !I.mayWriteToMemory() && (I.isTerminator() || isGuaranteedToTransferExecutionToSuccessor(&I)) &&
             !(isa<CallBase>(I) && cast<CallBase>(I).isConvergent()) && !I.isVolatile();
    });
  }

  Loop &L;
  ScalarEvolution &SE;
  BasicBlock *Latch = nullptr;
  const SCEV *Count = nullptr;
};

} // namespace

ADGEN_DECLARE_PASS(KeepLastIteration);

PreservedAnalyses KeepLastIteration::run(Module &M, ModuleAnalysisManager &MAM) {
  auto &FAM = MAM.getResult<FunctionAnalysisManagerModuleProxy>(M).getManager();
  for (Function &F : M) {
    if (F.isDeclaration())
      continue;
    auto &SE = FAM.getResult<ScalarEvolutionAnalysis>(F);
    SmallVector<Repetition> Found;
    for (Loop *L : FAM.getResult<LoopAnalysis>(F).getLoopsInPreorder())
      if (Repetition Each(*L, SE); L->isInnermost() && Each.isOne())
        Found.push_back(Each);
    for (Repetition &Each : Found)
      Each.keepLast();
    if (!Found.empty())
      FAM.invalidate(F, PreservedAnalyses::none());
  }
  return PreservedAnalyses::none();
}

} // namespace adgen
