// The parameters of an entry as its source declares them, and the IR's arguments that carry each.
#include "Support/Result.h"

#include "llvm/BinaryFormat/Dwarf.h"

using namespace llvm;

namespace adgen {

static bool isStructType(DIType *Type) {
  auto *Composite = dyn_cast_or_null<DICompositeType>(stripQualifiers(Type));
  return Composite && is_contained({dwarf::DW_TAG_structure_type, dwarf::DW_TAG_class_type, dwarf::DW_TAG_union_type,
                                    dwarf::DW_TAG_array_type},
                                   Composite->getTag());
}

bool isPointerOrReference(const DIDerivedType &Type) {
  return is_contained({dwarf::DW_TAG_pointer_type, dwarf::DW_TAG_reference_type, dwarf::DW_TAG_rvalue_reference_type},
                      Type.getTag());
}

// Whether a struct has members that are pointers, but none of a table of virtual functions, which only its constructor
// can set.
static bool holdsPointers(DIType *Type, bool &Virtual) {
  auto *Struct = dyn_cast_or_null<DICompositeType>(stripQualifiers(Type));
  if (!Struct)
    return false;
  if (Struct->getTag() == dwarf::DW_TAG_array_type)
    return holdsPointers(Struct->getBaseType(), Virtual);
  bool Found = false;
  for (DINode *Node : Struct->getElements()) {
    auto *Member = dyn_cast<DIDerivedType>(Node);
    if (!Member || Member->isStaticMember() ||
        !is_contained({dwarf::DW_TAG_member, dwarf::DW_TAG_inheritance}, Member->getTag()))
      continue;
    Virtual |= Member->isArtificial();
    auto *Pointer = dyn_cast_or_null<DIDerivedType>(stripQualifiers(Member->getBaseType()));
    Found |= Pointer && isPointerOrReference(*Pointer);
    Found |= holdsPointers(Member->getBaseType(), Virtual);
  }
  return Found;
}

// A parameter of a C++ function that is the address of a struct of pointers is taken for the struct: Python makes it of
// its members.
static void takeStructBehind(LogicalParameter &P) {
  auto *Pointer = dyn_cast_or_null<DIDerivedType>(stripQualifiers(P.Type));
  if (!Pointer || !isPointerOrReference(*Pointer))
    return;
  DIType *Struct = Pointer->getBaseType();
  bool Virtual = false;
  if (!isStructType(Struct) || !holdsPointers(Struct, Virtual) || Virtual)
    return;
  P.IsStruct = P.ByAddress = true;
  P.IsReference = Pointer->getTag() != dwarf::DW_TAG_pointer_type;
  P.IsConst = isConst(Struct);
  P.Type = Struct;
}

// Clang names the IR arguments of a parameter p: "p", or "p.coerce", or "p.coerce0" and "p.coerce1".
static bool carries(const Argument &A, StringRef Name) {
  StringRef Rest = A.getName();
  return Rest.consume_front(Name) && (Rest.empty() || Rest.starts_with(".coerce"));
}

// Of a pack all have one name, and their IR arguments a number behind it.
static bool isOfPack(const Argument &A, StringRef Name) {
  StringRef Rest = A.getName();
  return Rest.consume_front(Name) && !Rest.empty() && all_of(Rest, isDigit);
}

static std::optional<LogicalParameter> resultParameter(Function &F, DIType *Returned) {
  if (isKernel(F) || !isStructType(Returned))
    return std::nullopt;
  auto *Address = DIDerivedType::get(F.getContext(), dwarf::DW_TAG_pointer_type, "", nullptr, 0, nullptr, Returned, 64,
                                     0, 0, std::nullopt, std::nullopt, DINode::FlagZero);
  LogicalParameter Result{ResultName.str(), Address, {}};
  Result.StructBytes = stripQualifiers(Returned)->getSizeInBits() / 8;
  if (F.arg_size() && F.getArg(0)->hasStructRetAttr()) // else it is no object whose memory somebody frees
    takeStructBehind(Result);
  return Result;
}

SmallVector<LogicalParameter> logicalParameters(Function &F) {
  SmallVector<LogicalParameter> Parameters;
  DISubprogram *Program = F.getSubprogram();
  if (!Program || !Program->getType())
    return Parameters;
  DITypeRefArray Types = Program->getType()->getTypeArray();
  for (unsigned I = 1; I < Types.size(); ++I)
    if (Types[I])
      Parameters.push_back({"", Types[I], {}, isStructType(Types[I]), 0});
  for (DINode *Node : Program->getRetainedNodes())
    if (auto *Variable = dyn_cast<DILocalVariable>(Node))
      if (Variable->getArg() && Variable->getArg() <= Parameters.size())
        Parameters[Variable->getArg() - 1].Name = Variable->getName().str();
  if (!isKernel(F))
    for_each(Parameters, takeStructBehind);

  auto Next = F.arg_begin();
  if (Next != F.arg_end() && Next->hasStructRetAttr())
    ++Next;
  for (auto [Index, P] : enumerate(Parameters)) {
    if (P.IsStruct)
      P.StructBytes = stripQualifiers(P.Type)->getSizeInBits() / 8;
    while (Next != F.arg_end() && !P.Name.empty() && carries(*Next, P.Name)) {
      P.Arguments.push_back(&*Next++);
      if (P.Arguments.back()->getName() == P.Name)
        break;
    }
    if (P.Arguments.empty() && Next != F.arg_end() && !P.Name.empty() && isOfPack(*Next, P.Name)) {
      P.Name = Next->getName().str();
      P.Arguments.push_back(&*Next++);
    }
    if (P.Name.empty()) {
      P.Name = "arg" + std::to_string(Index);
      if (Next != F.arg_end())
        P.Arguments.push_back(&*Next++);
    }
  }
  if (std::optional<LogicalParameter> Result = resultParameter(F, Types.size() ? Types[0] : nullptr))
    Parameters.push_back(*Result);
  return Parameters;
}

} // namespace adgen
