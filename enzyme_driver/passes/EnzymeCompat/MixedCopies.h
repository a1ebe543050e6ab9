// Copies of memory of which Enzyme would see the first number only.
#pragma once

#include "Analysis/Layout.h"

#include "llvm/IR/IntrinsicInst.h"

namespace adgen {

// Whether the memory that is copied is seen to hold structs that begin with an integer or a pointer and hold floating
// point behind it, or that hold floating point of several sizes, or beside pointers.
bool copiesMixedStructs(llvm::MemTransferInst &Copy);

// Where in a struct of floating point and others the copy begins, in whose steps the memory's elements are counted, if
// all that is done with them says so, and if it is one of whole elements or of fixed length.
std::optional<Place> placeOfMixed(llvm::MemTransferInst &Copy);
// The same of a pointer.
std::optional<Place> placeOfMixed(llvm::Value *Pointer, const llvm::DataLayout &DL);

// Whether a number of bytes is one of whole elements, as it was computed.
bool isMultipleOf(const llvm::Value *Length, uint64_t Bytes, const llvm::DataLayout &DL);

} // namespace adgen
