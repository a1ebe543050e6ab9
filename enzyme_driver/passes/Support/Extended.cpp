#include "Support/Extended.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace adgen {

Function *extended(Function &F, ArrayRef<Type *> More, Module::iterator Where, std::optional<unsigned> Before) {
  const unsigned Place = Before.value_or(F.arg_size());
  SmallVector<Type *> Types(F.getFunctionType()->params());
  Types.insert(Types.begin() + Place, More.begin(), More.end());
  Function *New =
      Function::Create(FunctionType::get(F.getReturnType(), Types, false), F.getLinkage(), F.getAddressSpace());
  F.getParent()->getFunctionList().insert(Where, New);
  New->copyAttributesFrom(&F);
  const AttributeList Old = F.getAttributes();
  SmallVector<AttributeSet> OfParameters;
  for (unsigned I = 0; I < F.arg_size(); ++I)
    OfParameters.push_back(Old.getParamAttrs(I));
  OfParameters.insert(OfParameters.begin() + Place, More.size(), AttributeSet());
  New->setAttributes(AttributeList::get(F.getContext(), Old.getFnAttrs(), Old.getRetAttrs(), OfParameters));
  New->takeName(&F);
  New->splice(New->begin(), &F);
  New->setSubprogram(F.getSubprogram());
  F.setSubprogram(nullptr);
  for (Argument &A : F.args()) {
    Argument *Same = New->getArg(A.getArgNo() + (A.getArgNo() < Place ? 0 : More.size()));
    Same->takeName(&A);
    A.replaceAllUsesWith(Same);
  }
  return New;
}

} // namespace adgen
