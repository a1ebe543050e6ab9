// Where the result of a call with a rule of ours is only stored, Enzyme moves the call into the reverse sweep and stops
// at an assertion, because a registered derivative cannot give the result there. A second use in a call keeps it in the
// forward sweep: adgen_pin_RULE(result), which does nothing and leaves after Enzyme (StripGuards). It comes after O2,
// which would take it for work.
#include "Support/Guards.h"
#include "Support/Pass.h"

using namespace llvm;

namespace adgen {

ADGEN_DECLARE_PASS(PinRules);

PreservedAnalyses PinRules::run(Module &M, ModuleAnalysisManager &) {
  SmallVector<Function *> Rules;
  for (Function &F : M)
    if (F.hasMetadata("enzyme_gradient") && !F.getReturnType()->isVoidTy())
      Rules.push_back(&F);
  for (Function *Rule : Rules)
    for (User *U : make_early_inc_range(Rule->users()))
      if (auto *Call = dyn_cast<CallInst>(U)) {
        IRBuilder<> B(Call->getNextNode());
        B.SetCurrentDebugLocation(Call->getDebugLoc());
        B.CreateCall(declarePin(M, Rule->getName(), {Rule->getReturnType()}), {Call});
      }
  return PreservedAnalyses::none();
}

} // namespace adgen
