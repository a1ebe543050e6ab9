// Keeps the kernels named in the option (all, where it is empty) and marks what they call for inlining,
// so that each entry becomes one function: Enzyme then sees every access, and shared arrays of device
// functions can be handed over as arguments. Exports the variables that the host may set.
#include "Support/Pass.h"

#include "llvm/ADT/StringSet.h"

using namespace llvm;

namespace adgen {

static void dropOtherKernels(Module &M, StringRef Option) {
  SmallVector<StringRef> Names;
  Option.split(Names, ';', -1, /*KeepEmpty=*/false);
  if (Names.empty())
    return;
  StringSet<> Wanted;
  for (StringRef Name : Names)
    Wanted.insert(Name);
  for (Function &F : make_early_inc_range(M)) {
    if (!isKernel(F) || Wanted.contains(F.getName()))
      continue;
    F.replaceAllUsesWith(PoisonValue::get(F.getType()));
    F.eraseFromParent();
  }
}

// A shuffle of double has a rule; its inside is integers.
static void keepWhole(Function &F) {
  F.removeFnAttr(Attribute::AlwaysInline);
  F.addFnAttr(Attribute::NoInline);
  F.setLinkage(GlobalValue::ExternalLinkage);
}

// Inline variables and those of templates may be defined in several files; here there is one, which has them for
// itself.
static void exportVariables(Module &M) {
  for (GlobalVariable &Variable : M.globals()) {
    bool IsSet = isSetByHost(Variable);
    if (!Variable.hasLinkOnceLinkage() && !(IsSet && Variable.hasLocalLinkage()))
      continue;
    Variable.setComdat(nullptr);
    Variable.setLinkage(IsSet ? GlobalValue::ExternalLinkage : GlobalValue::InternalLinkage);
    Variable.setExternallyInitialized(IsSet);
  }
}

ADGEN_DECLARE_PASS_WITH_OPTION(SelectKernels);

PreservedAnalyses SelectKernels::run(Module &M, ModuleAnalysisManager &) {
  dropOtherKernels(M, Option);
  exportVariables(M);
  markForInlining(M);
  for (StringRef Name :
       {"_Z11__shfl_syncjdii", "_Z14__shfl_up_syncjdji", "_Z16__shfl_down_syncjdji", "_Z15__shfl_xor_syncjdii"})
    if (Function *Shuffle = M.getFunction(Name))
      keepWhole(*Shuffle);
  return PreservedAnalyses::none();
}

} // namespace adgen
