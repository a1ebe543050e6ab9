// A barrier of the whole grid becomes a call of adgen_wait_for_grid (rules/barrier.cu), which counts blocks where the
// driver has them do so in a cooperative launch.
#include "Analysis/Cooperates.h"
#include "Support/Pass.h"

#include "llvm/IR/InstIterator.h"

using namespace llvm;

namespace adgen {

ADGEN_DECLARE_PASS(LowerGridBarriers);

PreservedAnalyses LowerGridBarriers::run(Module &M, ModuleAnalysisManager &) {
  SmallVector<Instruction *> Barriers;
  for (Function &F : M)
    for (Instruction &I : instructions(F))
      if (isGridBarrier(I))
        Barriers.push_back(&I);
  if (Barriers.empty())
    return PreservedAnalyses::all();
  FunctionCallee Wait = M.getOrInsertFunction("adgen_wait_for_grid", Type::getVoidTy(M.getContext()));
  cast<Function>(Wait.getCallee())->setConvergent();
  for (Instruction *Barrier : Barriers) {
    CallInst *Call = CallInst::Create(Wait, {}, "", Barrier->getIterator());
    Call->setConvergent();
    Call->setDebugLoc(Barrier->getDebugLoc());
    Barrier->eraseFromParent();
  }
  return PreservedAnalyses::none();
}

} // namespace adgen
