// A block of memory in which Enzyme keeps the values of a loop for the reverse sweep.
#pragma once

#include "Support/Adgen.h"

#include "llvm/IR/Instructions.h"

namespace adgen {

struct CacheBlock {
  llvm::Instruction *Address = nullptr;
  llvm::SmallVector<llvm::GetElementPtrInst *> Elements;
  llvm::SmallVector<llvm::CallInst *> Frees;

  // Whether nothing is done with the block but using its elements by number and releasing it, also where an outer loop
  // keeps its address, and, in the basic block `Grows`, copying it to a larger one.
  bool collectUses(const llvm::BasicBlock *Grows = nullptr);

  // Whether all elements have this size.
  bool hasElementsOf(uint64_t Bytes) const;
};

// Where each of the sizes lies in a record of all, and at last the record's own.
llvm::SmallVector<uint64_t> layRecordOut(llvm::ArrayRef<uint64_t> Sizes);

// The element moves into the record of the same number, this many bytes from its beginning.
void placeInRecord(llvm::GetElementPtrInst &Element, uint64_t Record, uint64_t Offset);

} // namespace adgen
