// Copies of memory of which Enzyme would see the first number only.
#pragma once

#include "llvm/IR/IntrinsicInst.h"

namespace adgen {

// Whether the memory that is copied is seen to hold structs that begin with an integer or a pointer and hold floating point behind it.
bool copiesMixedStructs(llvm::MemTransferInst &Copy);

} // namespace adgen
