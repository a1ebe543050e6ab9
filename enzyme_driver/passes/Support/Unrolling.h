// Several iterations of a loop at a time, whatever LLVM's unroller would think of it.
#pragma once

#include "llvm/IR/PassManager.h"

namespace llvm {
class AssumptionCache;
class DominatorTree;
class Loop;
class LoopInfo;
class OptimizationRemarkEmitter;
class ScalarEvolution;
class TargetTransformInfo;
} // namespace llvm

namespace adgen {

// What it takes of a function.
struct Unroller {
  Unroller(llvm::Function &F, llvm::FunctionAnalysisManager &FAM);

  // Brings a loop into the form that `unroll` expects.
  void prepare(llvm::Loop &L);
  // So many iterations at a time; the loop that does what is left over, null where there is none.
  llvm::Loop *unroll(llvm::Loop &L, unsigned Count);

  llvm::LoopInfo &Loops;
  llvm::DominatorTree &DT;
  llvm::ScalarEvolution &SE;

private:
  llvm::AssumptionCache &Assumptions;
  llvm::TargetTransformInfo &Costs;
  llvm::OptimizationRemarkEmitter &Remarks;
};

} // namespace adgen
