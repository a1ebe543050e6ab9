// Arrays whose elements a body does nothing with but add each to the same element of an output: its cotangent is
// theirs.
#pragma once

#include "llvm/IR/Argument.h"

namespace adgen {

// The parameter to each written element of which this one's is added, once; null if there is none.
const llvm::Argument *addedTo(const llvm::Argument &Array);

} // namespace adgen
