#include "Support/Extended.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace adgen {

Function *extended(Function &F, ArrayRef<Type *> More, Module::iterator Where) {
  SmallVector<Type *> Types(F.getFunctionType()->params());
  append_range(Types, More);
  Function *New =
      Function::Create(FunctionType::get(F.getReturnType(), Types, false), F.getLinkage(), F.getAddressSpace());
  F.getParent()->getFunctionList().insert(Where, New);
  New->copyAttributesFrom(&F);
  New->takeName(&F);
  New->splice(New->begin(), &F);
  New->setSubprogram(F.getSubprogram());
  F.setSubprogram(nullptr);
  for (Argument &A : F.args()) {
    New->getArg(A.getArgNo())->takeName(&A);
    A.replaceAllUsesWith(New->getArg(A.getArgNo()));
  }
  return New;
}

} // namespace adgen
