// Of an atomic addition of the primal Enzyme reads the cotangent in its order, which CUDA's atomicAdd gets from clang
// as the strictest although it has none: each load would wait for all memory of the device (fence.sc). A cotangent
// changes where its thread, or threads behind a barrier or fence of the primal's, change it, and is read as other
// cotangents are.
#include "Support/Iterations.h"
#include "Support/Pass.h"

#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"

#define DEBUG_TYPE "adgen-relax-cotangents"

using namespace llvm;

STATISTIC(NumPlain, "Number of cotangents read plainly");

namespace adgen {

ADGEN_DECLARE_PASS(RelaxCotangents);

PreservedAnalyses RelaxCotangents::run(Module &M, ModuleAnalysisManager &) {
  for (Function &F : M)
    for (Instruction &I : instructions(F)) {
      auto *Load = dyn_cast<LoadInst>(&I);
      if (!Load || !Load->isAtomic() || Load->isVolatile() || !Load->getType()->isFloatingPointTy() ||
          !isReverse(*Load->getParent()))
        continue;
      ADGEN_COUNT(NumPlain, *Load);
      Load->setAtomic(AtomicOrdering::NotAtomic);
    }
  return PreservedAnalyses::none();
}

} // namespace adgen
