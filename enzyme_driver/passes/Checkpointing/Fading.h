// Numbers that are multiplied again and again by what does not let them grow.
#pragma once

#include "llvm/IR/Dominators.h"
#include "llvm/IR/Instructions.h"

namespace adgen {

// Whether a number that loops carry begins with finite constants, and is only multiplied with `1 - alpha` where alpha
// is known to lie between 0 and 2, such as by `alpha = min(0.99, ...)` and `if (alpha < 1. / 255) continue;`: then it
// is never infinite, nor none.
bool staysFinite(llvm::Value &Number, const llvm::DominatorTree &DT);

} // namespace adgen
