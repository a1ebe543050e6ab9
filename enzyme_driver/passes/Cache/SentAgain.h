// What an inner loop keeps that comes by shuffles of what is the same in all of its iterations.
#pragma once

#include "Analysis/Uniformity.h"

#include "llvm/Analysis/LoopInfo.h"

namespace adgen {

// Keeps what is sent once for the inner loop, and has the reverse sweep send it again, where a cache is of that kind.
bool sendOnce(llvm::CallInst &Allocation, const llvm::LoopInfo &Loops, const llvm::DominatorTree &Before,
              const Uniformity &Threads);

} // namespace adgen
