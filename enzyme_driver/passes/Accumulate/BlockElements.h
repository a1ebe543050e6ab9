// Elements that a block has for itself in shared memory, in place of some of a shadow's.
#pragma once

#include "Accumulate/LentTables.h"

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/IRBuilder.h"

#include <optional>

namespace adgen {

struct BlockElements {
  llvm::Argument *Shadow = nullptr;
  int64_t Begin = 0;                                  // of the elements in the shadow, in bytes
  llvm::SmallVector<llvm::AtomicRMWInst *> Additions; // of one type
  llvm::GlobalVariable *Own = nullptr;
  llvm::Type *Element = nullptr; // where no additions are named
  std::optional<LentTable> Lent; // where `Own` is all that is lent

  llvm::Type *type() const { return Element ? Element : Additions.front()->getType(); }
  // Of the block's: numbers of 16 bits are added up in 32.
  llvm::Type *ownType() const { return sumsOf(type()); }
  static llvm::Type *sumsOf(llvm::Type *Number);
  // How many bytes of the block's stand for one of the shadow's.
  uint64_t widening() const { return ownType()->getScalarSizeInBits() / type()->getScalarSizeInBits(); }
  // What is added to the block's.
  llvm::Value *widened(llvm::IRBuilder<> &B, llvm::Value *Number) const;
  uint64_t most() const { return Own->getValueType()->getArrayNumElements(); }
  llvm::Value *begin(llvm::IRBuilder<> &B) const;
  llvm::Value *place(llvm::IRBuilder<> &B, llvm::Value *Index) const;
};

// How many elements a block of so many threads has.
using OwnCount = llvm::function_ref<llvm::Value *(llvm::IRBuilder<> &, const BlockElements &, llvm::Value *Threads)>;

// All that there is room for.
llvm::Value *countAll(llvm::IRBuilder<> &B, const BlockElements &E, llvm::Value *Threads);

// Each thread of a block does some of its elements: zeroes them, or adds them to the shadows.
void zeroOwn(llvm::Instruction &Before, llvm::ArrayRef<BlockElements> All, OwnCount Count);
void addOwnToShadows(llvm::Instruction &Before, llvm::ArrayRef<BlockElements> All, OwnCount Count);

// A place before that one to which all threads of a block come, or none where it has no elements.
llvm::Instruction *whereAny(llvm::Instruction &Before, llvm::ArrayRef<BlockElements> All, OwnCount Count);
// None in launches of few blocks, whose additions do not keep memory busy.
llvm::Value *unlessFew(llvm::IRBuilder<> &B, llvm::Value *Count);

} // namespace adgen
