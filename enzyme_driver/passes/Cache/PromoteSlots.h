// Elements of caches that one iteration writes and reads, as variables.
#pragma once

#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/IR/PassManager.h"

namespace adgen {

// A cache of which every iteration of a loop writes and reads the element with its own number alone becomes a variable:
// where control goes several ways, what was kept on one of them need not lie in memory until it is read. True if there
// was one.
bool promoteSlots(llvm::Function &F, llvm::ScalarEvolution &SE);

// Caches of flags of at most 64 iterations become the bits of one variable.
void promoteFlags(llvm::Function &F, llvm::FunctionAnalysisManager &FAM);

// Caches of at most 64 bytes, 128 in all, lie in the thread's own memory, for which nobody has to measure anything.
void promoteSmall(llvm::Function &F, llvm::FunctionAnalysisManager &FAM);

} // namespace adgen
