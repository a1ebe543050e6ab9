#include "EnzymeCompat/NameNumbers.h"

#include "Analysis/Layout.h"

#include "llvm/IR/Instructions.h"
#include "llvm/IR/MDBuilder.h"

using namespace llvm;

namespace adgen {
namespace {

void name(Instruction &I, StringRef Name) {
  MDBuilder Names(I.getContext());
  MDNode *Kind = Names.createTBAAScalarTypeNode(Name, Names.createTBAARoot(("adgen " + Name).str()));
  I.setMetadata(LLVMContext::MD_tbaa, Names.createTBAAStructTagNode(Kind, Kind, 0));
}

} // namespace

void nameNumber(Instruction &I) {
  Type *T = isa<LoadInst, StoreInst>(I) ? getLoadStoreType(&I)->getScalarType() : nullptr;
  if (T && (T->isFloatTy() || T->isDoubleTy()) && !I.hasMetadata(LLVMContext::MD_tbaa))
    name(I, T->isFloatTy() ? "float" : "double");
}

void nameInteger(LoadInst &Load) {
  const DataLayout &DL = Load.getDataLayout();
  Type *T = Load.getType();
  if (!(T->isIntegerTy(32) || T->isIntegerTy(64)) || Load.hasMetadata(LLVMContext::MD_tbaa))
    return;
  uint64_t Bytes = DL.getTypeStoreSize(T);
  std::optional<Place> At = placeOf(Load.getPointerOperand(), DL);
  auto Covered = At ? At->Memory->cover(At->Offset, Bytes) : std::nullopt;
  if (Covered && Covered->size() == 1 && Covered->front().Kind == 'i' && Covered->front().Bytes == Bytes)
    name(Load, Bytes == sizeof(int32_t) ? "int" : "long");
}

} // namespace adgen
