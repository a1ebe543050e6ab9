// Enzyme marks all the arithmetic that it makes as fast, which allows approximate functions and makes anything of infinities. What stays
// is what changes no result by more than a rounding: fused multiply-add, and sums with zero that may be left out.
#include "Passes.h"

#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Operator.h"

using namespace llvm;

namespace adgen {

PreservedAnalyses ExactFlags::run(Module &M, ModuleAnalysisManager &) {
  FastMathFlags Kept;
  Kept.setAllowContract(true);
  Kept.setNoSignedZeros(true);
  for (Function &F : M)
    for (Instruction &I : instructions(F))
      if (isa<FPMathOperator>(I) && I.isFast())
        I.copyFastMathFlags(Kept);
  return PreservedAnalyses::none();
}

} // namespace adgen
