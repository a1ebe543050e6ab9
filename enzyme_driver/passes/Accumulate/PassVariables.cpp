// The shadow of a device variable is a global variable, through which a gradient adds to it by name. Passes that make
// additions cheap look at arguments: so each of these shadows becomes one, behind those of the parameters and before
// shared arrays, which the kernel passes (GPU/MakeKernels.cpp).
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

// The function with these arguments in that place; the old one is gone.
Function &insertArguments(Function &F, ArrayRef<GlobalVariable *> Shadows) {
  LLVMContext &C = F.getContext();
  const unsigned Place = placeOfVariables(F), Count = Shadows.size();
  SmallVector<Type *> Types(F.getFunctionType()->params());
  Types.insert(Types.begin() + Place, Count, PointerType::getUnqual(C));
  auto *New = Function::Create(FunctionType::get(F.getReturnType(), Types, false), F.getLinkage(), F.getAddressSpace());
  F.getParent()->getFunctionList().insert(F.getIterator(), New);
  New->copyAttributesFrom(&F);
  const AttributeList Old = F.getAttributes();
  SmallVector<AttributeSet> OfArguments;
  for (unsigned I = 0; I < F.arg_size(); ++I)
    OfArguments.push_back(Old.getParamAttrs(I));
  OfArguments.insert(OfArguments.begin() + Place, Count, AttributeSet());
  New->setAttributes(AttributeList::get(C, Old.getFnAttrs(), Old.getRetAttrs(), OfArguments));
  New->takeName(&F);
  New->splice(New->begin(), &F);
  New->setSubprogram(F.getSubprogram());
  F.setSubprogram(nullptr);
  for (Argument &A : F.args()) {
    Argument *Same = New->getArg(A.getArgNo() + (A.getArgNo() < Place ? 0 : Count));
    Same->takeName(&A);
    A.replaceAllUsesWith(Same);
  }
  F.eraseFromParent();
  return *New;
}

void pass(Function &Old, ArrayRef<GlobalVariable *> Shadows) {
  const bool Apart = any_of(Old.args(), [](const Argument &A) {
    return A.hasAttribute(ShadowAttribute) && A.hasAttribute(Attribute::NoAlias);
  });
  const unsigned Place = placeOfVariables(Old);
  Function &F = insertArguments(Old, Shadows);
  LLVMContext &C = F.getContext();
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
