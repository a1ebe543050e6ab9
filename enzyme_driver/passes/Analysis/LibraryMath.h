#pragma once

#include "llvm/IR/Function.h"

namespace adgen {

// Whether it is a function of the C library's mathematics that is long enough for a vector library to have it too.
bool isLibraryMath(const llvm::Function &F);

} // namespace adgen
