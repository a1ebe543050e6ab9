// What the iterations of a loop keep becomes a record an iteration.
#pragma once

#include "Cache/TapeUse.h"

#include "llvm/Analysis/LoopInfo.h"

namespace adgen {

// Merges what Enzyme allocates for values of one loop. Nothing may be released before all of it is: for tapes.
bool recordCaches(llvm::Function &F, const llvm::LoopInfo &Loops, const TapeUse &Use);

} // namespace adgen
