// Keeps the kernels named in the option (all, where it is empty) and marks what they call for inlining,
// so that each entry becomes one function: Enzyme then sees every access, and shared arrays of device
// functions can be handed over as arguments. Exports the variables that the host may set. Barriers of the whole grid
// become barriers of a number of their own.
#include "Support/Pass.h"

#include "llvm/ADT/StringSet.h"
#include "llvm/IR/IntrinsicsNVPTX.h"

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

// What cooperative groups call for this_grid().sync() becomes a barrier of a number that only the whole grid has: what
// the launch gives for it, of which this_grid() asks whether it is there, is adgen's.
static void lowerGridSync(Module &M) {
  for (Function &F : M) {
    StringRef Name = F.getName();
    bool IsSync =
        Name.starts_with("_ZN18cooperative_groups") && Name.contains("details4grid") && Name.contains("4syncEPj");
    bool IsQuestion = Name.starts_with("_ZNK18cooperative_groups") && Name.ends_with("10grid_group8is_validEv");
    if (F.isDeclaration() || !(IsSync || IsQuestion))
      continue;
    F.deleteBody();
    F.setLinkage(GlobalValue::InternalLinkage);
    F.setComdat(nullptr);
    IRBuilder<> B(BasicBlock::Create(M.getContext(), "", &F));
    if (IsSync)
      B.CreateIntrinsic(Intrinsic::nvvm_barrier_cta_sync_aligned_all, ArrayRef<Type *>(), {B.getInt32(GridBarrier)});
    IsSync ? B.CreateRetVoid() : B.CreateRet(B.getTrue());
  }
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
  lowerGridSync(M);
  markForInlining(M);
  for (StringRef Name :
       {"_Z11__shfl_syncjdii", "_Z14__shfl_up_syncjdji", "_Z16__shfl_down_syncjdji", "_Z15__shfl_xor_syncjdii"})
    if (Function *Shuffle = M.getFunction(Name))
      keepWhole(*Shuffle);
  return PreservedAnalyses::none();
}

} // namespace adgen
