// Copies of memory of which Enzyme would see the first number only.
#pragma once

#include "Layout.h"

#include "llvm/IR/IntrinsicInst.h"

namespace adgen {

// Whether the memory that is copied is seen to hold structs that begin with an integer or a pointer and hold floating point behind it.
bool copiesMixedStructs(llvm::MemTransferInst &Copy);

// The layout of such structs where the copy is one of whole elements and all that is done with them says so; null otherwise.
std::shared_ptr<const Layout> layoutOfMixed(llvm::MemTransferInst &Copy);

} // namespace adgen
