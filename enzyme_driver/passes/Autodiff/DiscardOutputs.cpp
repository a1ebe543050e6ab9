// An output that the user discards (activity `discarded`) need not be written again by the gradient: Enzyme is told so,
// and leaves out what only that output needs. It may do so only where the body never reads the array, which the
// optimiser has inferred by now. An array whose shadow is to hold zeros before (`fresh`) must be one that the body only
// reads: the shadow of another holds a cotangent.
#include "Support/Derivative.h"
#include "Support/Pass.h"

using namespace llvm;

namespace adgen {

static void refuseActivity(const Argument &Parameter, const Twine &Why, StringRef Hint) {
  refuse(Parameter.getParent(), ("'" + Parameter.getName() + "' cannot be " + Why).str(), Hint);
}

static void discardIn(CallInst &Autodiff) {
  for (const Said &Each : saidOfParameters(Autodiff)) {
    auto *Shadow = dyn_cast_or_null<Argument>(Each.Shadow);
    const Argument &Parameter = *Each.Parameter;
    bool Unused = Parameter.hasAttribute(Attribute::ReadNone);
    if (Shadow && Shadow->hasAttribute(FreshAttribute) && !Parameter.hasAttribute(Attribute::ReadOnly) && !Unused)
      refuseActivity(Parameter, "fresh: the kernel writes it",
                     "the shadow of what is written holds a cotangent; leave the activity out");
    if (!Shadow || !Shadow->hasAttribute(DiscardedAttribute))
      continue;
    if (!Parameter.hasAttribute(Attribute::WriteOnly) && !Unused)
      refuseActivity(Parameter, "discarded: the kernel reads it",
                     "only what is written and never read has no use in the gradient; leave the activity out");
    LLVMContext &C = Parameter.getContext();
    Autodiff.setArgOperand(Each.At, MetadataAsValue::get(C, MDString::get(C, "enzyme_dupnoneed")));
  }
}

ADGEN_DECLARE_PASS(DiscardOutputs);

PreservedAnalyses DiscardOutputs::run(Module &M, ModuleAnalysisManager &) {
  for (CallInst *Call : gradientCalls(M))
    discardIn(*Call);
  return PreservedAnalyses::none();
}

} // namespace adgen
