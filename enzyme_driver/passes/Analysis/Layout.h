// What memory holds: the numbers and pointers of an element, and how far elements are apart.
#pragma once

#include "Support/Adgen.h"

#include <memory>
#include <optional>

namespace adgen {

struct Layout;

// A number or a pointer of an element. Kind: f floating point, b bfloat16, i anything without a derivative, p a
// pointer.
struct Leaf {
  uint64_t Offset;
  char Kind;
  uint64_t Bytes;
  std::shared_ptr<const Layout> Pointee = nullptr; // of a pointer, where it is known
  llvm::Align Alignment = {};                      // filled in by Layout::cover

  bool isFloat() const { return Kind == 'f' || Kind == 'b'; }
  llvm::Type *type(llvm::LLVMContext &Context) const;
};

// Elements of `Stride` bytes; leaves in the order of their offsets. Elements of one kind of number have one leaf.
struct Layout {
  uint64_t Stride = 0;
  llvm::SmallVector<Leaf> Leaves;

  bool holdsFloats() const;
  bool isUniform() const { return Leaves.size() == 1 && Leaves[0].Bytes == Stride; }
  // The leaves that make up the bytes from Offset on, at their places in them, of integers single bytes, too; none
  // where they do not fit.
  std::optional<llvm::SmallVector<Leaf>> cover(uint64_t Offset, uint64_t Bytes) const;
};

// Argument attribute: the layout of what the pointer points to, "stride[offset kind bytes,...]".
inline constexpr llvm::StringLiteral LayoutAttribute = "adgen-layout";

// Of an element of that type; null where it is not known.
std::shared_ptr<const Layout> layoutOf(llvm::DIType *Type);
std::shared_ptr<const Layout> layoutOf(llvm::Type *Type, const llvm::DataLayout &DL);
std::string print(const Layout &L);
std::shared_ptr<const Layout> parseLayout(llvm::StringRef Text);

// The memory that a pointer leads to, and the pointer's offset in an element of it.
struct Place {
  std::shared_ptr<const Layout> Memory;
  uint64_t Offset;
};
std::optional<Place> placeOf(llvm::Value *Pointer, const llvm::DataLayout &DL);

} // namespace adgen
