// An output that the user discards (activity `discarded`) need not be written again by the gradient: Enzyme is told so, and leaves
// out what only that output needs. It may do so only where the body never reads the array, which the optimiser has inferred by now.
#include "Derivative.h"
#include "Passes.h"

using namespace llvm;

namespace adgen {

static void discardIn(CallInst &Autodiff) {
  for (const Said &Each : saidOfParameters(Autodiff)) {
    auto *Shadow = dyn_cast_or_null<Argument>(Each.Shadow);
    if (!Shadow || !Shadow->hasAttribute(DiscardedAttribute))
      continue;
    const Function *Body = Each.Parameter->getParent();
    if (!Each.Parameter->hasAttribute(Attribute::WriteOnly) && !Each.Parameter->hasAttribute(Attribute::ReadNone))
      refuse(Body, ("'" + Each.Parameter->getName() + "' cannot be discarded: the kernel reads it").str(),
             "only what is written and never read has no use in the gradient; leave the activity out");
    LLVMContext &C = Body->getContext();
    Autodiff.setArgOperand(Each.At, MetadataAsValue::get(C, MDString::get(C, "enzyme_dupnoneed")));
  }
}

PreservedAnalyses DiscardOutputs::run(Module &M, ModuleAnalysisManager &) {
  for (CallInst *Call : gradientCalls(M))
    discardIn(*Call);
  return PreservedAnalyses::none();
}

} // namespace adgen
