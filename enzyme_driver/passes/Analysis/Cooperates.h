// Whether the threads of a block wait for each other in a function that is still written for the GPU.
#pragma once

#include "llvm/IR/Function.h"

namespace adgen {

bool cooperates(const llvm::Function &F);

// Barriers, fences, what lanes do together, and calls of which nothing is known.
bool ordersThreads(const llvm::Instruction &I);

// A barrier of all blocks, until adgen-lower-grid-barriers.
bool isGridBarrier(const llvm::Instruction &I);

} // namespace adgen
