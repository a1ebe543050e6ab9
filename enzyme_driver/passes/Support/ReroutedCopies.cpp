#include "Support/ReroutedCopies.h"

#include "Support/Adgen.h"

#include "llvm/IR/InstIterator.h"
#include "llvm/Transforms/Utils/Cloning.h"

using namespace llvm;

namespace adgen {

Function *ReroutedCopies::of(Function &F) {
  if (!leadsToWanted(F))
    return &F;
  if (Function *Known = Made.lookup(&F))
    return Known;
  ValueToValueMapTy Map;
  Function *Copy = CloneFunction(&F, Map);
  Copy->setName(Prefix + F.getName());
  Copy->setLinkage(GlobalValue::InternalLinkage);
  Made[&F] = Copy;
  for (Instruction &I : make_early_inc_range(instructions(Copy))) {
    auto *Call = dyn_cast<CallBase>(&I);
    if (!Call)
      continue;
    if (IsWanted(I))
      Replace(*Call);
    else if (Function *Callee = Call->getCalledFunction(); Callee && !Callee->isDeclaration())
      Call->setCalledFunction(of(*Callee));
  }
  return Copy;
}

bool ReroutedCopies::leadsToWanted(Function &F) const { return firstReached(F, IsWanted) != nullptr; }

} // namespace adgen
