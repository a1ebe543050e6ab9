// Memory in which integers made of the bits of numbers are compared and moved, as the keys of a sort with an index
// beside them.
#pragma once

#include "llvm/IR/DataLayout.h"
#include "llvm/IR/Value.h"

namespace adgen {

// Whether all memory that the pointer may lead to is local or shared, holds integers alone, and nothing that is read
// there becomes floating point by its bits. So no derivative comes from what is stored there.
bool holdsKeys(const llvm::Value &Pointer, const llvm::DataLayout &DL);

} // namespace adgen
