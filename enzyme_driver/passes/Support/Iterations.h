// What OutlineIterations and RematerializeIterations say to each other, and what is known of Enzyme's code.
#pragma once

#include "Support/Adgen.h"

namespace adgen {

inline constexpr llvm::StringLiteral RegionPrefix =
    "adgen_region_"; // of what runs in every thread of a team (OutlineParallelRegions)
inline constexpr llvm::StringLiteral IterationPrefix =
    "adgen_iteration_"; // of functions that are one iteration of a loop
// Of instructions that write to memory from outside of the iteration, which must happen once only.
inline constexpr llvm::StringLiteral EffectMark = "adgen.effect";

// Whether Enzyme has made the block for the reverse sweep.
bool isReverse(const llvm::BasicBlock &Block);

// Whether it holds a reverse sweep, in the host's library.
bool isOfGradient(const llvm::Function &F);

} // namespace adgen
