// An output that the user discards (activity `discarded`) need not be written again by the gradient: Enzyme is told so, and leaves
// out what only that output needs. It may do so only where the body never reads the array, which the optimiser has inferred by now.
#include "Passes.h"

#include "llvm/IR/InstIterator.h"

using namespace llvm;

namespace adgen {

static StringRef wordOf(const Value *V) {
  auto *Metadata = dyn_cast<MetadataAsValue>(V);
  auto *Word = Metadata ? dyn_cast<MDString>(Metadata->getMetadata()) : nullptr;
  return Word ? Word->getString() : "";
}

static void discardIn(CallInst &Autodiff) {
  auto *Body = dyn_cast<Function>(Autodiff.getArgOperand(0));
  unsigned Parameter = 0;
  for (unsigned I = 1; I < Autodiff.arg_size(); ++Parameter) { // a word, the primal, and its shadow where it has one
    bool Duplicated = wordOf(Autodiff.getArgOperand(I)) == "enzyme_dup";
    auto *Shadow = Duplicated ? dyn_cast<Argument>(Autodiff.getArgOperand(I + 2)) : nullptr;
    if (Shadow && Shadow->hasAttribute(DiscardedAttribute)) {
      Function *Entry = Body->getParent()->getFunction(Body->getName().drop_front(BodyPrefix.size()));
      const Argument *Output = Body->getArg(Parameter);
      if (!Output->hasAttribute(Attribute::WriteOnly) && !Output->hasAttribute(Attribute::ReadNone))
        refuse(Entry, ("'" + Output->getName() + "' cannot be discarded: the kernel reads it").str(),
               "only what is written and never read has no use in the gradient; leave the activity out");
      LLVMContext &C = Body->getContext();
      Autodiff.setArgOperand(I, MetadataAsValue::get(C, MDString::get(C, "enzyme_dupnoneed")));
    }
    I += Duplicated ? 3 : 2;
  }
}

PreservedAnalyses DiscardOutputs::run(Module &M, ModuleAnalysisManager &) {
  for (Function &F : M)
    if (F.getName().starts_with(GradientPrefix))
      for (Instruction &I : instructions(F))
        if (auto *Call = dyn_cast<CallInst>(&I); Call && Call->getCalledFunction() && Call->getCalledFunction()->getName().starts_with(AutodiffPrefix))
          discardIn(*Call);
  return PreservedAnalyses::none();
}

} // namespace adgen
