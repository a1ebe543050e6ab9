// Variables that were in constant memory, and lay in global memory beside their shadows for as long as both had to be
// in one address space (adgen-shadow-variables), go back, so that lanes that read one element read it once.
#include "Support/Pass.h"

#include "llvm/IR/Instructions.h"
#include "llvm/Transforms/Utils/ModuleUtils.h"

#define DEBUG_TYPE "adgen-restore-constants"

using namespace llvm;

STATISTIC(NumVariables, "Number of variables in constant memory again");

namespace adgen {
namespace {

bool isCastToGeneric(const User *By) {
  return isa<AddrSpaceCastInst>(By) && By->getType()->getPointerAddressSpace() == 0;
}

bool isRead(const GlobalVariable &Variable) {
  return Variable.hasMetadata(ConstantMetadata) && !Variable.use_empty() && all_of(Variable.users(), isCastToGeneric);
}

void restore(GlobalVariable &Old) {
  Module &M = *Old.getParent();
  auto *New = new GlobalVariable(M, Old.getValueType(), /*isConstant=*/false, Old.getLinkage(), Old.getInitializer(),
                                 "", &Old, GlobalValue::NotThreadLocal, ConstantSpace,
                                 /*isExternallyInitialized=*/true);
  New->setAlignment(Old.getAlign());
  New->takeName(&Old);
  for (User *By : make_early_inc_range(Old.users())) {
    auto *Cast = cast<AddrSpaceCastInst>(By);
    auto *Again = new AddrSpaceCastInst(New, Cast->getType(), "", Cast->getIterator());
    Again->takeName(Cast);
    Cast->replaceAllUsesWith(Again);
    Cast->eraseFromParent();
  }
  Old.eraseFromParent();
  ADGEN_COUNT(NumVariables, *New);
}

} // namespace

ADGEN_DECLARE_PASS(RestoreConstants);

PreservedAnalyses RestoreConstants::run(Module &M, ModuleAnalysisManager &) {
  for (GlobalVariable &Variable : make_early_inc_range(M.globals()))
    if (isRead(Variable))
      restore(Variable);
  return PreservedAnalyses::none();
}

} // namespace adgen
