#include "EnzymeCompat/NamedMembers.h"

#include "llvm/ADT/StringSwitch.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Metadata.h"

#include <map>

using namespace llvm;

namespace adgen {
namespace {

using Members = std::map<int64_t, Leaf>;

const MDNode *node(const MDNode &Of, unsigned I) {
  return I < Of.getNumOperands() ? dyn_cast_or_null<MDNode>(Of.getOperand(I)) : nullptr;
}

std::optional<int64_t> number(const MDNode &Of, unsigned I) {
  auto *Found = I < Of.getNumOperands() ? mdconst::dyn_extract_or_null<ConstantInt>(Of.getOperand(I)) : nullptr;
  return Found ? std::optional(Found->getSExtValue()) : std::nullopt;
}

// A scalar by its name; no kind for one that may be anything, as a union is.
Leaf scalar(StringRef Name) {
  if (Name == "any pointer" || Name == "vtable pointer" || (Name.starts_with("p") && Name.contains(' ')))
    return {0, 'p', 8};
  uint64_t Float = StringSwitch<uint64_t>(Name).Case("float", 4).Case("double", 8).Default(0);
  uint64_t Integer = StringSwitch<uint64_t>(Name)
                         .Case("bool", 1)
                         .Case("short", 2)
                         .Case("int", 4)
                         .Cases({"long", "long long"}, 8)
                         .Default(0);
  return {0, Float ? 'f' : Integer ? 'i' : '\0', Float ? Float : Integer};
}

// A node is a name and pairs of a member and its place; a scalar has one pair, what it is a special case of.
void add(const MDNode &Named, int64_t Offset, Members &Into) {
  auto *Name = Named.getNumOperands() ? dyn_cast_or_null<MDString>(Named.getOperand(0)) : nullptr;
  if (!Name)
    return;
  Leaf One = scalar(Name->getString());
  if (One.Kind) {
    Into.try_emplace(Offset, One);
    return;
  }
  for (unsigned I = 1; I + 1 < Named.getNumOperands(); I += 2)
    if (const MDNode *Member = node(Named, I); Member && Name->getString() != "omnipotent char")
      if (std::optional<int64_t> At = number(Named, I + 1))
        add(*Member, Offset + *At, Into);
}

std::pair<const Value *, int64_t> placed(const Value &Pointer, const DataLayout &DL) {
  APInt Offset(DL.getIndexTypeSizeInBits(Pointer.getType()), 0);
  const Value *Base = Pointer.stripAndAccumulateConstantOffsets(DL, Offset, true);
  return {Base, Offset.getSExtValue()};
}

} // namespace

std::optional<SmallVector<Leaf>> namedMembers(const Value &Pointer, uint64_t Bytes, const Function &Body) {
  const DataLayout &DL = Body.getParent()->getDataLayout();
  const auto [Base, First] = placed(Pointer, DL);
  Members All;
  for (const Instruction &I : instructions(Body)) {
    const MDNode *Tag = I.getMetadata(LLVMContext::MD_tbaa), *Struct = Tag ? node(*Tag, 0) : nullptr;
    const Value *Accessed = Struct ? getLoadStorePointerOperand(&I) : nullptr;
    std::optional<int64_t> Member = Accessed ? number(*Tag, 2) : std::nullopt;
    if (!Member)
      continue;
    if (const auto [Other, At] = placed(*Accessed, DL); Other == Base)
      add(*Struct, At - *Member, All);
  }
  SmallVector<Leaf> Found;
  uint64_t Done = 0;
  for (const auto &[At, Member] : All) {
    if (At < First || At >= First + static_cast<int64_t>(Bytes))
      continue;
    if (static_cast<uint64_t>(At - First) != Done)
      return std::nullopt;
    Found.push_back(Member);
    Found.back().Offset = Done;
    Done += Member.Bytes;
  }
  return Done == Bytes && Bytes ? std::optional(Found) : std::nullopt;
}

} // namespace adgen
