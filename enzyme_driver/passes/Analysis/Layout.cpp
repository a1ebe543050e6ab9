#include "Analysis/Layout.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/BinaryFormat/Dwarf.h"
#include "llvm/IR/GlobalVariable.h"
#include "llvm/IR/Operator.h"

using namespace llvm;

namespace adgen {
namespace {

constexpr unsigned MostLeaves = 4096;
constexpr unsigned MostPointers = 2; // that are followed

std::shared_ptr<const Layout> elementLayout(DIType *Type, unsigned Pointers);

// The kind of number that a struct of CUDA's headers stands for.
char packedKind(StringRef Name) {
  if (Name == "__half" || Name == "__half_raw")
    return 'f';
  return Name == "__nv_bfloat16" || Name == "__nv_bfloat16_raw" ? 'b' : 0;
}

// False where something in the type has no fixed meaning.
bool collect(DIType *Declared, uint64_t Offset, unsigned Pointers, SmallVectorImpl<Leaf> &Leaves) {
  DIType *Type = stripQualifiers(Declared);
  if (!Type || Leaves.size() > MostLeaves)
    return false;
  uint64_t Bytes = Type->getSizeInBits() / 8;
  if (auto *Basic = dyn_cast<DIBasicType>(Type)) {
    if (Basic->getEncoding() == dwarf::DW_ATE_complex_float)
      Leaves.append({{Offset, 'f', Bytes / 2}, {Offset + Bytes / 2, 'f', Bytes / 2}});
    else
      Leaves.push_back({Offset, Basic->getEncoding() == dwarf::DW_ATE_float ? 'f' : 'i', Bytes});
    return true;
  }
  if (auto *Derived = dyn_cast<DIDerivedType>(Type)) {
    bool Followed = isPointerOrReference(*Derived) && Pointers;
    Leaves.push_back({Offset, 'p', 8, Followed ? elementLayout(Derived->getBaseType(), Pointers - 1) : nullptr});
    return true;
  }
  auto *Composite = dyn_cast<DICompositeType>(Type);
  if (!Composite || Composite->getTag() == dwarf::DW_TAG_union_type)
    return false;
  if (Composite->getTag() == dwarf::DW_TAG_enumeration_type) {
    Leaves.push_back({Offset, 'i', Bytes});
    return true;
  }
  if (Composite->getTag() == dwarf::DW_TAG_array_type) {
    DIType *Element = stripQualifiers(Composite->getBaseType());
    for (uint64_t I = 0, Count = elementCount(Composite); I < Count; ++I)
      if (!Element || !collect(Element, Offset + I * Element->getSizeInBits() / 8, Pointers, Leaves))
        return false;
    return true;
  }
  if (char Kind = packedKind(Composite->getName())) {
    Leaves.push_back({Offset, Kind, Bytes});
    return true;
  }
  for (DINode *Node : Composite->getElements()) {
    auto *Member = dyn_cast<DIDerivedType>(Node);
    if (!Member || !is_contained({dwarf::DW_TAG_member, dwarf::DW_TAG_inheritance}, Member->getTag()) ||
        Member->isStaticMember())
      continue;
    if (Member->isBitField() ||
        !collect(Member->getBaseType(), Offset + Member->getOffsetInBits() / 8, Pointers, Leaves))
      return false;
  }
  return true;
}

void collect(Type *T, uint64_t Offset, const DataLayout &DL, SmallVectorImpl<Leaf> &Leaves) {
  if (Leaves.size() > MostLeaves)
    return;
  if (auto *Struct = dyn_cast<StructType>(T)) {
    for (auto [Index, Member] : enumerate(Struct->elements()))
      collect(Member, Offset + DL.getStructLayout(Struct)->getElementOffset(Index), DL, Leaves);
    return;
  }
  uint64_t Count = 1;
  Type *Element = T;
  if (auto *Array = dyn_cast<ArrayType>(T))
    Count = Array->getNumElements(), Element = Array->getElementType();
  else if (auto *Vector = dyn_cast<FixedVectorType>(T))
    Count = Vector->getNumElements(), Element = Vector->getElementType();
  uint64_t Bytes = DL.getTypeAllocSize(Element);
  if (Element != T) {
    for (uint64_t I = 0; I < Count && Leaves.size() <= MostLeaves; ++I)
      collect(Element, Offset + I * Bytes, DL, Leaves);
    return;
  }
  char Kind = T->isBFloatTy() ? 'b' : T->isFloatingPointTy() ? 'f' : T->isPointerTy() ? 'p' : 'i';
  Leaves.push_back({Offset, Kind, Bytes});
}

std::shared_ptr<const Layout> made(uint64_t Stride, SmallVector<Leaf> Leaves) {
  if (!Stride || Leaves.empty() || Leaves.size() > MostLeaves)
    return nullptr;
  sort(Leaves, [](const Leaf &A, const Leaf &B) { return A.Offset < B.Offset; });
  auto Same = [&](auto Pair) {
    const Leaf &L = Pair.value();
    return L.Kind == Leaves[0].Kind && L.Kind != 'p' && L.Bytes == Leaves[0].Bytes &&
           L.Offset == Pair.index() * L.Bytes;
  };
  if (all_of(enumerate(Leaves), Same) && Leaves.size() * Leaves[0].Bytes == Stride)
    return std::make_shared<const Layout>(Layout{Leaves[0].Bytes, {Leaves[0]}});
  return std::make_shared<const Layout>(Layout{Stride, std::move(Leaves)});
}

std::shared_ptr<const Layout> elementLayout(DIType *Declared, unsigned Pointers) {
  DIType *Type = stripQualifiers(Declared);
  SmallVector<Leaf> Leaves;
  if (!Type || !collect(Type, 0, Pointers, Leaves))
    return nullptr;
  return made(Type->getSizeInBits() / 8, std::move(Leaves));
}

std::shared_ptr<const Layout> parse(StringRef &Text) {
  Layout L;
  if (Text.consumeInteger(10, L.Stride) || !Text.consume_front("["))
    return nullptr;
  while (!Text.consume_front("]")) {
    Leaf Next{};
    if (Text.consumeInteger(10, Next.Offset) || Text.empty())
      return nullptr;
    Next.Kind = Text.front();
    Text = Text.drop_front();
    if (Text.consumeInteger(10, Next.Bytes))
      return nullptr;
    if (Text.consume_front(">"))
      Next.Pointee = parse(Text);
    L.Leaves.push_back(std::move(Next));
    Text.consume_front(",");
  }
  return std::make_shared<const Layout>(std::move(L));
}

using Loads = SmallPtrSet<const Value *, 4>;

std::optional<Place> placeBehind(Value *Pointer, const DataLayout &DL, Loads &Followed);

// Of the object itself: an argument, a variable, a local array, or a pointer that was loaded from a place with a
// layout. Where a list is walked, that place is behind the same load again, and nothing is known of it.
std::shared_ptr<const Layout> layoutOfObject(Value *Object, const DataLayout &DL, Loads &Followed) {
  if (auto *A = dyn_cast<Argument>(Object)) {
    Attribute Text = A->getParent()->getAttributeAtIndex(A->getArgNo() + 1, LayoutAttribute);
    return Text.isValid() ? parseLayout(Text.getValueAsString()) : nullptr;
  }
  if (auto *Global = dyn_cast<GlobalVariable>(Object))
    return layoutOf(Global->getValueType(), DL);
  if (auto *Local = dyn_cast<AllocaInst>(Object))
    return layoutOf(Local->getAllocatedType(), DL);
  auto *Load = dyn_cast<LoadInst>(Object);
  if (!Load || !Load->getType()->isPointerTy() || !Followed.insert(Load).second)
    return nullptr;
  std::optional<Place> From = placeBehind(Load->getPointerOperand(), DL, Followed);
  Followed.erase(Load);
  auto Leaves = From ? From->Memory->cover(From->Offset, 8) : std::nullopt;
  return Leaves && Leaves->size() == 1 ? Leaves->front().Pointee : nullptr;
}

std::optional<Place> placeBehind(Value *Pointer, const DataLayout &DL, Loads &Followed) {
  SmallVector<const Value *> Objects;
  getUnderlyingObjects(Pointer, Objects, nullptr, /*MaxLookup=*/0);
  std::shared_ptr<const Layout> Memory;
  for (const Value *Object : Objects) {
    auto Next = layoutOfObject(const_cast<Value *>(Object), DL, Followed);
    if (!Next || (Memory && print(*Memory) != print(*Next)))
      return std::nullopt;
    Memory = Next;
  }
  if (!Memory)
    return std::nullopt;
  if (Memory->isUniform()) // whatever the index, it leads to a whole number
    return Place{Memory, 0};
  uint64_t Total = 0;
  Value *Base = Pointer;
  while (true) {
    Base = Base->stripPointerCastsSameRepresentation();
    if (auto *Cast = dyn_cast<AddrSpaceCastOperator>(Base)) {
      Base = Cast->getOperand(0);
      continue;
    }
    auto *Gep = dyn_cast<GEPOperator>(Base);
    if (!Gep)
      break;
    unsigned Bits = DL.getIndexTypeSizeInBits(Gep->getType());
    SmallMapVector<Value *, APInt, 4> Variables;
    APInt Fixed(Bits, 0);
    if (!Gep->collectOffset(DL, Bits, Variables, Fixed))
      return std::nullopt;
    for (auto &[Index, Scale] : Variables)
      if (Scale.getZExtValue() % Memory->Stride)
        return std::nullopt;
    int64_t Stride = Memory->Stride, Rest = Fixed.getSExtValue() % Stride;
    Total += Rest < 0 ? Rest + Stride : Rest;
    Base = Gep->getPointerOperand();
  }
  if (!is_contained(Objects, Base)) // a phi or a select on the way
    return std::nullopt;
  return Place{Memory, Total % Memory->Stride};
}

} // namespace

Type *Leaf::type(LLVMContext &Context) const {
  if (Kind == 'p')
    return PointerType::getUnqual(Context);
  if (Kind == 'b')
    return Type::getBFloatTy(Context);
  if (Kind != 'f')
    return Type::getIntNTy(Context, 8 * Bytes);
  return Bytes == 2   ? Type::getHalfTy(Context)
         : Bytes == 4 ? Type::getFloatTy(Context)
         : Bytes == 8 ? Type::getDoubleTy(Context)
                      : Type::getX86_FP80Ty(Context);
}

bool Layout::holdsFloats() const {
  return any_of(Leaves, [](const Leaf &L) { return L.isFloat(); });
}

std::optional<SmallVector<Leaf>> Layout::cover(uint64_t Offset, uint64_t Bytes) const {
  SmallVector<Leaf> Found;
  uint64_t At = Offset % Stride, End = At + Bytes;
  for (uint64_t Element = 0; Element < End; Element += Stride)
    for (const Leaf &L : Leaves) {
      uint64_t Begin = Element + L.Offset;
      if (Begin + L.Bytes <= At || Begin >= End)
        continue;
      if (Begin < At || Begin + L.Bytes > End) {
        if (L.Kind != 'i')
          return std::nullopt;
        for (uint64_t Byte = std::max(Begin, At); Byte < std::min(Begin + L.Bytes, End); ++Byte)
          Found.push_back({Byte - At, 'i', 1});
        continue;
      }
      Found.push_back(L);
      Found.back().Offset = Begin - At;
      bool Natural = isPowerOf2_64(L.Bytes) && L.Offset % L.Bytes == 0 && Stride % L.Bytes == 0;
      Found.back().Alignment = Natural ? Align(L.Bytes) : Align(1);
    }
  return Found;
}

std::shared_ptr<const Layout> layoutOf(DIType *Type) { return elementLayout(Type, MostPointers); }

std::shared_ptr<const Layout> layoutOf(Type *T, const DataLayout &DL) {
  SmallVector<Leaf> Leaves;
  collect(T, 0, DL, Leaves);
  return made(DL.getTypeAllocSize(T), std::move(Leaves));
}

std::string print(const Layout &L) {
  std::string Text = std::to_string(L.Stride) + "[";
  for (auto [Index, Each] : enumerate(L.Leaves)) {
    Text += (Index ? "," : "") + std::to_string(Each.Offset) + Each.Kind + std::to_string(Each.Bytes);
    if (Each.Pointee)
      Text += ">" + print(*Each.Pointee);
  }
  return Text + "]";
}

std::shared_ptr<const Layout> parseLayout(StringRef Text) { return parse(Text); }

std::optional<Place> placeOf(Value *Pointer, const DataLayout &DL) {
  Loads Followed;
  return placeBehind(Pointer, DL, Followed);
}

} // namespace adgen
