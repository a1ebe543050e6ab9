// Types as debug information has them, without what does not change the memory: qualifiers, names, and unions that only
// give the same floats several names (`union { struct { float x, y; }; float data[2]; }`).
#include "Support/Adgen.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/BinaryFormat/Dwarf.h"

using namespace llvm;

namespace adgen {
namespace {

bool collectOnlyFloats(DIType *Declared, uint64_t Offset, SmallVectorImpl<FloatMember> &Found);

bool collectOfArray(const DICompositeType &Array, uint64_t Offset, SmallVectorImpl<FloatMember> &Found) {
  constexpr uint64_t Most = 4096;
  DIType *Element = stripQualifiers(Array.getBaseType());
  uint64_t Count = elementCount(&Array);
  if (!Element || Count > Most)
    return false;
  for (uint64_t I = 0; I < Count; ++I)
    if (!collectOnlyFloats(Element, Offset + I * Element->getSizeInBits() / 8, Found))
      return false;
  return true;
}

// False where the type holds anything else.
bool collectOnlyFloats(DIType *Declared, uint64_t Offset, SmallVectorImpl<FloatMember> &Found) {
  DIType *Type = stripQualifiers(Declared);
  if (auto *Basic = dyn_cast_or_null<DIBasicType>(Type)) {
    Found.push_back({Offset, Basic->getSizeInBits() / 8});
    return Basic->getEncoding() == dwarf::DW_ATE_float;
  }
  auto *Composite = dyn_cast_or_null<DICompositeType>(Type);
  if (Composite && Composite->getTag() == dwarf::DW_TAG_array_type)
    return collectOfArray(*Composite, Offset, Found);
  if (!Composite || !is_contained({dwarf::DW_TAG_structure_type, dwarf::DW_TAG_class_type}, Composite->getTag()))
    return false;
  return all_of(Composite->getElements(), [&](DINode *Node) {
    auto *Member = dyn_cast<DIDerivedType>(Node);
    if (!Member || !is_contained({dwarf::DW_TAG_member, dwarf::DW_TAG_inheritance}, Member->getTag()) ||
        Member->isStaticMember())
      return true;
    return !Member->isBitField() &&
           collectOnlyFloats(Member->getBaseType(), Offset + Member->getOffsetInBits() / 8, Found);
  });
}

bool isAmong(const FloatMember &Float, ArrayRef<FloatMember> All) {
  return any_of(All, [&](const FloatMember &Each) { return Each.Offset == Float.Offset && Each.Bytes == Float.Bytes; });
}

// The type of the first member that holds all that the others name; null where they do not name the same.
DIType *memberForAll(const DICompositeType &Union) {
  SmallVector<FloatMember> All;
  SmallVector<SmallVector<FloatMember>> Others;
  DIType *Largest = nullptr;
  for (DINode *Node : Union.getElements()) {
    auto *Member = dyn_cast<DIDerivedType>(Node);
    if (!Member || Member->getTag() != dwarf::DW_TAG_member || Member->isStaticMember())
      continue;
    SmallVector<FloatMember> Floats;
    if (Member->isBitField() || !collectOnlyFloats(Member->getBaseType(), 0, Floats))
      return nullptr;
    if (Floats.size() > All.size()) {
      All = Floats;
      Largest = stripQualifiers(Member->getBaseType());
    }
    Others.push_back(std::move(Floats));
  }
  bool Same = all_of(Others, [&](ArrayRef<FloatMember> Floats) {
    return all_of(Floats, [&](const FloatMember &Each) { return isAmong(Each, All); });
  });
  return Same && Largest && Largest->getSizeInBits() == Union.getSizeInBits() ? Largest : nullptr;
}

} // namespace

DIType *stripQualifiers(DIType *Type) {
  while (auto *Derived = dyn_cast_or_null<DIDerivedType>(Type)) {
    if (!is_contained({dwarf::DW_TAG_typedef, dwarf::DW_TAG_const_type, dwarf::DW_TAG_volatile_type,
                       dwarf::DW_TAG_restrict_type, dwarf::DW_TAG_atomic_type, dwarf::DW_TAG_template_alias},
                      Derived->getTag()))
      break;
    Type = Derived->getBaseType();
  }
  auto *Union = dyn_cast_or_null<DICompositeType>(Type);
  if (!Union || Union->getTag() != dwarf::DW_TAG_union_type)
    return Type;
  DIType *Member = memberForAll(*Union);
  return Member ? Member : Type;
}

} // namespace adgen
