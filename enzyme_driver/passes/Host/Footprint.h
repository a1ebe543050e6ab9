#pragma once

#include "Support/Adgen.h"

#include "llvm/Analysis/ScalarEvolution.h"

namespace adgen {

// void footprint(launch, args, x, y, z, ranges): between which bytes of each of these shadows one block accumulates.
// Null where that follows from what is read. `SE` is that of the function of one thread.
llvm::Constant *makeFootprint(llvm::Function &Thread, llvm::Function &F, uint64_t Shadows, llvm::ScalarEvolution &SE);

} // namespace adgen
