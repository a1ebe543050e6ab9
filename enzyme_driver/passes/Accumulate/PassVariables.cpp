// The shadow of a device variable is a global variable, through which a gradient adds to it by name. Passes that make
// additions cheap look at arguments: so each of these shadows becomes one, behind those of the parameters and before
// shared arrays, which the kernel passes (GPU/MakeKernels.cpp).
#include "Support/Extended.h"
#include "Support/Pass.h"
#include "Support/Variables.h"
#include "Support/Walk.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/IR/ReplaceConstant.h"

#define DEBUG_TYPE "adgen-pass-variables"

using namespace llvm;

STATISTIC(NumPassed, "Number of shadows of device variables that gradients have as arguments");

namespace adgen {
namespace {

bool isGradient(const Function &F) { return F.hasFnAttribute(ActivityAttribute) && F.use_empty(); }

SmallVector<GlobalVariable *> shadowsOfVariables(Module &M) {
  SmallVector<GlobalVariable *> Found;
  for (GlobalVariable &Variable : M.globals())
    if (MDNode *Shadow = Variable.getMetadata(ShadowMetadata))
      if (auto *Value = mdconst::dyn_extract<Constant>(Shadow->getOperand(0)))
        if (auto *Global = dyn_cast<GlobalVariable>(Value->stripPointerCasts()))
          Found.push_back(Global);
  return Found;
}

// The gradients that use a shadow by generic addresses alone; none where others do, which they may call.
SmallSetVector<Function *, 2> usersOf(GlobalVariable &Shadow) {
  convertUsersOfConstantsToInstructions({&Shadow});
  SmallSetVector<Function *, 2> Found;
  for (const User *U : Shadow.users()) {
    auto *I = dyn_cast<Instruction>(U);
    if (!I)
      continue;
    Function *F = const_cast<Function *>(I->getFunction());
    if (F->getName().starts_with(TapePrefix))
      continue;
    if (!isGradient(*F) || !isa<AddrSpaceCastInst>(I) || I->getType()->getPointerAddressSpace() != 0)
      return {};
    Found.insert(F);
  }
  return Found;
}

unsigned placeOfVariables(const Function &F) {
  const unsigned Behind = F.hasFnAttribute(TapeAttribute) ? TapeArguments : walks(F);
  return F.arg_size() - 2 * sharedNames(F).size() - Behind;
}

void pass(Function &Old, ArrayRef<GlobalVariable *> Shadows) {
  const bool Apart = any_of(Old.args(), [](const Argument &A) {
    return A.hasAttribute(ShadowAttribute) && A.hasAttribute(Attribute::NoAlias);
  });
  const unsigned Place = placeOfVariables(Old);
  LLVMContext &C = Old.getContext();
  const SmallVector<Type *> Pointers(Shadows.size(), PointerType::getUnqual(C));
  Function &F = *extended(Old, Pointers, Old.getIterator(), Place);
  Old.eraseFromParent();
  for (auto [Index, Shadow] : enumerate(Shadows)) {
    Argument *A = F.getArg(Place + Index);
    ADGEN_COUNT(NumPassed, *Shadow);
    A->setName(Shadow->getName());
    A->addAttr(Attribute::get(C, ShadowAttribute));
    A->addAttr(Attribute::get(C, VariableAttribute, Shadow->getName()));
    if (Apart)
      A->addAttr(Attribute::NoAlias);
    for (User *U : make_early_inc_range(Shadow->users()))
      if (auto *Cast = dyn_cast<AddrSpaceCastInst>(U); Cast && Cast->getFunction() == &F) {
        Cast->replaceAllUsesWith(A);
        Cast->eraseFromParent();
      }
  }
}

} // namespace

ADGEN_DECLARE_PASS(PassVariables);

PreservedAnalyses PassVariables::run(Module &M, ModuleAnalysisManager &) {
  MapVector<Function *, SmallVector<GlobalVariable *>> All;
  for (GlobalVariable *Shadow : shadowsOfVariables(M))
    for (Function *F : usersOf(*Shadow))
      All[F].push_back(Shadow);
  for (auto &[F, Shadows] : All)
    pass(*F, Shadows);
  return PreservedAnalyses::none();
}

} // namespace adgen
