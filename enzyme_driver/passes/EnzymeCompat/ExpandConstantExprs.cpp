// Writes constant expressions over globals of an address space as instructions: Enzyme loses its way in casts
// such as addrspacecast (ptr addrspace(4) @table to ptr).
#include "Support/Pass.h"

#include "llvm/IR/ReplaceConstant.h"

using namespace llvm;

namespace adgen {

ADGEN_DECLARE_PASS(ExpandConstantExprs);

PreservedAnalyses ExpandConstantExprs::run(Module &M, ModuleAnalysisManager &) {
  SmallVector<Constant *> Globals;
  for (GlobalVariable &Global : M.globals())
    if (Global.getAddressSpace() && !Global.getName().starts_with("llvm."))
      Globals.push_back(&Global);
  convertUsersOfConstantsToInstructions(Globals);
  return PreservedAnalyses::none();
}

} // namespace adgen
