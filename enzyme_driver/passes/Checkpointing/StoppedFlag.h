// A number that says whether a thread has stopped, in place of a flag.
#pragma once

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Dominators.h"

namespace adgen {

// `if (through > least) for (…) { …; if (through <= least) break; }` in a loop that hands the number on: a flag says
// then whether the loop was left so. Not where a number that may be none would leave the loop, and run it, or neither.
// Whether there is such a number.
bool nameFlag(llvm::Loop &L, llvm::DominatorTree &DT);

} // namespace adgen
