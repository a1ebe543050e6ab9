// Places that follow from a division of integers.
#pragma once

#include "llvm/IR/Instructions.h"

namespace adgen {

// Whether an address is made of a remainder, unless there are as many of it as threads that do something.
bool isOfRemainder(const llvm::Value &Pointer);

// Whether a place follows from a division and is among few: from a remainder, or from a quotient of which the block's
// number is no part. A quotient of a number that counts all threads of the grid hardly comes back.
bool isDivided(const llvm::Value &Pointer);

} // namespace adgen
