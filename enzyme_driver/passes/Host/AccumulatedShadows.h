// Which shadows a derivative accumulates into by atomics, so that the host's runtime may give each thread a copy.
#pragma once

#include "Analysis/UnderlyingObjects.h"
#include "Support/Adgen.h"

namespace adgen {

// As host_runtime/accumulation.h has it: of code that accumulates into other memory than shadows that are arguments.
constexpr uint64_t NotApart = ~uint64_t(0);

bool isAtomic(const llvm::Instruction &I);

// The arguments of a C++ function that its reverse sweep puts back, a bit each.
uint64_t restoredArguments(const llvm::Function &Gradient);

// The shadows, a bit each, into which a gradient's function of one thread accumulates, where that is all it does by
// atomics. Shared arrays, which are the arguments from `Own` to `End`, are seen by the threads of a block only.
uint64_t accumulatedShadows(const llvm::Function &Thread, const llvm::Function &Gradient, unsigned Own, unsigned End);

// The same for a C++ function, whose regions get the shadows by many ways. Locks order threads as they come.
uint64_t accumulatedShadows(const llvm::Module &M, const llvm::Function &Gradient, const UnderlyingObjects &Memory);

} // namespace adgen
