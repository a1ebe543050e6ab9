#include "EnzymeCompat/NameNumbers.h"

#include "llvm/IR/Instructions.h"
#include "llvm/IR/MDBuilder.h"

using namespace llvm;

namespace adgen {

void nameNumber(Instruction &I) {
  Type *T = isa<LoadInst, StoreInst>(I) ? getLoadStoreType(&I)->getScalarType() : nullptr;
  if (!T || !(T->isFloatTy() || T->isDoubleTy()) || I.hasMetadata(LLVMContext::MD_tbaa))
    return;
  MDBuilder Names(I.getContext());
  StringRef Name = T->isFloatTy() ? "float" : "double";
  MDNode *Kind = Names.createTBAAScalarTypeNode(Name, Names.createTBAARoot(("adgen " + Name).str()));
  I.setMetadata(LLVMContext::MD_tbaa, Names.createTBAAStructTagNode(Kind, Kind, 0));
}

} // namespace adgen
