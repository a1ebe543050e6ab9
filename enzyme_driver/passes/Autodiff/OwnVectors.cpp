#include "Autodiff/OwnVectors.h"

#include "Analysis/Layout.h"

#include "llvm/BinaryFormat/Dwarf.h"

using namespace llvm;

namespace adgen {

constexpr uint64_t VectorBytes = 24, PointerBytes = 8;

static DIType *templateArgument(const DICompositeType &Struct, unsigned Index) {
  auto Arguments = Struct.getTemplateParams();
  auto *Argument = Index < Arguments.size() ? dyn_cast_or_null<DITemplateTypeParameter>(Arguments[Index]) : nullptr;
  return Argument ? stripQualifiers(Argument->getType()) : nullptr;
}

static DICompositeType *ofLibrary(DIType *Type, StringRef Begin) {
  auto *Struct = dyn_cast_or_null<DICompositeType>(Type);
  return Struct && Struct->getIdentifier().starts_with(Begin) ? Struct : nullptr;
}

std::optional<VectorMember> asVector(DIType *Type) {
  DICompositeType *Vector = ofLibrary(stripQualifiers(Type), "_ZTSSt6vectorI");
  DIType *Element = Vector ? templateArgument(*Vector, 0) : nullptr;
  bool Usual = Element && Vector->getSizeInBits() == 8 * VectorBytes && Element->getSizeInBits() >= 8 &&
               ofLibrary(templateArgument(*Vector, 1), "_ZTSSaI");
  if (!Usual)
    return std::nullopt;
  std::shared_ptr<const Layout> Numbers = layoutOf(Element);
  return VectorMember{0, Element->getSizeInBits() / 8, Numbers && Numbers->Leaves.size() == 1};
}

static void findVectors(DIType *Type, uint64_t Begin, SmallVectorImpl<VectorMember> &Found) {
  auto *Struct = dyn_cast_or_null<DICompositeType>(stripQualifiers(Type));
  if (std::optional<VectorMember> Vector = asVector(Struct)) {
    Vector->Offset = Begin;
    Found.push_back(*Vector);
    return;
  }
  if (!Struct)
    return;
  if (Struct->getTag() == dwarf::DW_TAG_array_type) {
    uint64_t Count = elementCount(Struct), Bytes = Struct->getSizeInBits() / 8;
    for (uint64_t I = 0; I < Count; ++I)
      findVectors(Struct->getBaseType(), Begin + I * (Bytes / Count), Found);
    return;
  }
  for (DINode *Node : Struct->getElements())
    if (auto *Member = dyn_cast<DIDerivedType>(Node);
        Member && !Member->isStaticMember() &&
        is_contained({dwarf::DW_TAG_member, dwarf::DW_TAG_inheritance}, Member->getTag()))
      findVectors(Member->getBaseType(), Begin + Member->getOffsetInBits() / 8, Found);
}

SmallVector<VectorMember> vectorMembers(DIType *Type) {
  SmallVector<VectorMember> Found;
  findVectors(Type, 0, Found);
  return Found;
}

Value *createVector(IRBuilder<> &B) {
  AllocaInst *Own = B.CreateAlloca(ArrayType::get(B.getPtrTy(), VectorBytes / PointerBytes), nullptr, "own");
  Own->setAlignment(Align(PointerBytes));
  return Own;
}

static Value *loadPointer(IRBuilder<> &B, Value &Vector, unsigned Index, const Twine &Name) {
  return B.CreateLoad(B.getPtrTy(), B.CreateConstInBoundsGEP1_64(B.getInt8Ty(), &Vector, Index * PointerBytes), Name);
}

static Value *asInteger(IRBuilder<> &B, Value *Pointer) { return B.CreatePtrToInt(Pointer, B.getInt64Ty()); }

static void storePointer(IRBuilder<> &B, Value *Pointer, Value &Vector, unsigned Index) {
  B.CreateStore(Pointer, B.CreateConstInBoundsGEP1_64(B.getInt8Ty(), &Vector, Index * PointerBytes));
}

// One after the other where they are of several kinds of numbers: Enzyme differentiates a copy of one kind, and what
// one element is made of adgen-type-copies finds out.
static void copyElements(IRBuilder<> &B, Value *To, Value *From, Value *Bytes, const VectorMember &V) {
  Align Alignment = std::min(Align(V.ElementBytes & -V.ElementBytes), Align(PointerBytes));
  if (V.OneKind) {
    B.CreateMemCpy(To, Alignment, From, Alignment, Bytes);
    return;
  }
  BasicBlock *Before = B.GetInsertBlock();
  auto MakeBlock = [&] { return BasicBlock::Create(B.getContext(), "element", Before->getParent()); };
  BasicBlock *Head = MakeBlock(), *Each = MakeBlock(), *Done = MakeBlock();
  B.CreateBr(Head);
  B.SetInsertPoint(Head);
  PHINode *Offset = B.CreatePHI(B.getInt64Ty(), 2);
  Offset->addIncoming(B.getInt64(0), Before);
  B.CreateCondBr(B.CreateICmpULT(Offset, Bytes), Each, Done);
  B.SetInsertPoint(Each);
  auto Behind = [&](Value *Begin) { return B.CreateInBoundsGEP(B.getInt8Ty(), Begin, Offset); };
  B.CreateMemCpy(Behind(To), Alignment, Behind(From), Alignment, V.ElementBytes);
  Offset->addIncoming(B.CreateAdd(Offset, B.getInt64(V.ElementBytes), "", true, true), Each);
  B.CreateBr(Head);
  B.SetInsertPoint(Done);
}

static Value *at(IRBuilder<> &B, Value &Struct, uint64_t Offset) {
  return B.CreateConstInBoundsGEP1_64(B.getInt8Ty(), &Struct, Offset);
}

static void copyVector(IRBuilder<> &B, Value &Own, Value &Given, const VectorMember &V) {
  Value *From = loadPointer(B, Given, 0, "given"), *FromEnd = loadPointer(B, Given, 1, "given.end");
  Value *Bytes = B.CreateSub(asInteger(B, FromEnd), asInteger(B, From), "room");
  FunctionCallee New = B.GetInsertBlock()->getModule()->getOrInsertFunction("_Znwm", B.getPtrTy(), B.getInt64Ty());
  CallInst *Begin = B.CreateCall(New, {Bytes}, "begin");
  Begin->addRetAttr(Attribute::NoAlias);
  Value *End = B.CreateGEP(B.getInt8Ty(), Begin, Bytes, "end");
  storePointer(B, Begin, Own, 0);
  for (unsigned Index : {1, 2}) // the end, and that of the memory
    storePointer(B, End, Own, Index);
  copyElements(B, Begin, From, Bytes, V);
}

Value *copyStruct(IRBuilder<> &B, Value &Given, uint64_t Bytes, ArrayRef<VectorMember> Vectors) {
  AllocaInst *Own = B.CreateAlloca(ArrayType::get(B.getInt8Ty(), Bytes), nullptr, "own");
  Own->setAlignment(Align(16));
  if (Bytes > VectorBytes)
    B.CreateMemCpy(Own, Own->getAlign(), &Given, Align(1), Bytes);
  for (const VectorMember &V : Vectors)
    copyVector(B, *at(B, *Own, V.Offset), *at(B, Given, V.Offset), V);
  return Own;
}

static FunctionCallee notifier(Module &M) {
  LLVMContext &Context = M.getContext();
  Type *Int64 = Type::getInt64Ty(Context), *Pointer = PointerType::getUnqual(Context);
  FunctionCallee Callee =
      M.getOrInsertFunction("adgen_other_size", Type::getVoidTy(Context), Int64, Int64, Pointer, Int64, Int64, Pointer);
  auto *F = cast<Function>(Callee.getCallee());
  F->addFnAttr("enzyme_inactive");
  F->addFnAttr("enzyme_no_escaping_allocation"); // else Enzyme takes it for one that might keep the elements
  for (Attribute::AttrKind Kind : {Attribute::NoUnwind, Attribute::NoFree, Attribute::WillReturn})
    F->addFnAttr(Kind);
  F->setMemoryEffects(MemoryEffects::argMemOnly(ModRefInfo::Ref) | MemoryEffects::inaccessibleMemOnly());
  for (unsigned I : {2, 5})
    F->addParamAttr(I, Attribute::getWithCaptureInfo(Context, CaptureInfo::none()));
  return Callee;
}

// As a destructor does it, in which a null pointer is asked for: Enzyme then sees what has been allocated.
static void releaseVector(IRBuilder<> &B, Value &Own) {
  Value *Elements = loadPointer(B, Own, 0, "begin");
  Function *Body = B.GetInsertBlock()->getParent();
  auto *Some = BasicBlock::Create(B.getContext(), "some", Body), *Done = BasicBlock::Create(B.getContext(), "", Body);
  B.CreateCondBr(B.CreateIsNull(Elements), Done, Some);
  B.SetInsertPoint(Some);
  FunctionCallee Delete = Body->getParent()->getOrInsertFunction("_ZdlPv", B.getVoidTy(), B.getPtrTy());
  cast<Function>(Delete.getCallee())->addFnAttr(Attribute::NoUnwind);
  B.CreateCall(Delete, {Elements});
  B.CreateBr(Done);
  B.SetInsertPoint(Done);
}

void release(IRBuilder<> &B, Value &Own, ArrayRef<VectorMember> Vectors) {
  for (const VectorMember &V : Vectors)
    releaseVector(B, *at(B, Own, V.Offset));
}

void handBack(IRBuilder<> &B, Argument &Given, Value &Own, const VectorMember &V) {
  Function *Body = B.GetInsertBlock()->getParent();
  Module &M = *Body->getParent();
  Value *Begin = loadPointer(B, Own, 0, "begin"), *End = loadPointer(B, Own, 1, "end");
  Value *To = loadPointer(B, Given, 0, "given"), *ToEnd = loadPointer(B, Given, 1, "given.end");
  Value *Bytes = B.CreateSub(asInteger(B, End), asInteger(B, Begin), "bytes");
  Value *Room = B.CreateSub(asInteger(B, ToEnd), asInteger(B, To), "room");
  auto MakeBlock = [&](const Twine &Title) { return BasicBlock::Create(B.getContext(), Title, Body); };
  BasicBlock *Fits = MakeBlock("fits"), *Other = MakeBlock("other.size"), *Done = MakeBlock("handed.back");
  B.CreateCondBr(B.CreateICmpEQ(Bytes, Room), Fits, Other);
  B.SetInsertPoint(Fits);
  copyElements(B, To, Begin, Bytes, V);
  B.CreateBr(Done);
  B.SetInsertPoint(Other);
  B.CreateCall(notifier(M), {asInteger(B, To), asInteger(B, ToEnd), Begin, Bytes, B.getInt64(V.ElementBytes),
                             B.CreateGlobalString(Given.getName(), "adgen_vector_name")});
  B.CreateBr(Done);
  B.SetInsertPoint(Done);
  releaseVector(B, Own);
}

} // namespace adgen
