// Additions of products to many elements, of which the factors are few: those of a matrix's gradient, to each element
// the product of an input and of an output's cotangent.
#pragma once

#include "Support/Adgen.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/Instructions.h"

namespace adgen {

// To each pair of numbers one addition of their product. What is added as it is counts as its product with one.
struct OuterProduct {
  llvm::SmallVector<llvm::Value *> Rows, Columns;
  llvm::SmallVector<llvm::AtomicRMWInst *> Additions; // row by row

  llvm::AtomicRMWInst *at(size_t Row, size_t Column) const { return Additions[Row * Columns.size() + Column]; }
};

// The same with at most so many rows and columns each.
llvm::SmallVector<OuterProduct> inParts(const OuterProduct &Whole, size_t Most);

// Those of some additions of one type into which they can be taken apart, each with as many additions as that at least.
// No addition is in two of them.
llvm::SmallVector<OuterProduct> outerProducts(llvm::ArrayRef<llvm::AtomicRMWInst *> Additions, size_t Fewest);

} // namespace adgen
