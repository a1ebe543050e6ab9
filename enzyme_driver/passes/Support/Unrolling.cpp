#include "Support/Unrolling.h"

#include "llvm/Analysis/AssumptionCache.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/OptimizationRemarkEmitter.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/TargetTransformInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/Transforms/Utils/LoopSimplify.h"
#include "llvm/Transforms/Utils/LoopUtils.h"
#include "llvm/Transforms/Utils/UnrollLoop.h"

using namespace llvm;

namespace adgen {

Unroller::Unroller(Function &F, FunctionAnalysisManager &FAM)
    : Loops(FAM.getResult<LoopAnalysis>(F)), DT(FAM.getResult<DominatorTreeAnalysis>(F)),
      SE(FAM.getResult<ScalarEvolutionAnalysis>(F)), Assumptions(FAM.getResult<AssumptionAnalysis>(F)),
      Costs(FAM.getResult<TargetIRAnalysis>(F)), Remarks(FAM.getResult<OptimizationRemarkEmitterAnalysis>(F)) {}

void Unroller::prepare(Loop &L) {
  simplifyLoop(&L, &DT, &Loops, &SE, &Assumptions, nullptr, /*PreserveLCSSA=*/false);
  formLCSSARecursively(*L.getOutermostLoop(), DT, &Loops, &SE); // which unrolling leaves in that form
}

Loop *Unroller::unroll(Loop &L, unsigned Count) {
  UnrollLoopOptions Options{};
  Options.Count = Count;
  Options.Force = true;
  Options.Runtime = true;
  Options.AllowExpensiveTripCount = true;
  Options.SCEVExpansionBudget = std::numeric_limits<unsigned>::max();
  Loop *Rest = nullptr;
  UnrollLoop(&L, Options, &Loops, &SE, &DT, &Assumptions, &Costs, &Remarks, /*PreserveLCSSA=*/true, &Rest);
  return Rest;
}

} // namespace adgen
