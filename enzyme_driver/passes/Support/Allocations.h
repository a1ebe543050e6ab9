// Functions of C and C++ that allocate memory or give it back, by name.
#pragma once

#include "llvm/IR/InstrTypes.h"

namespace adgen {

// Whether it allocates as many bytes as its first argument says, and leaves them as they are: `malloc`, every `new`.
bool isAllocation(const llvm::Function &F);

// Whether it gives back what its first argument points to: `free`, every `delete`.
bool isRelease(const llvm::Function &F);

// The same of the function that is called, where it is known.
bool isRelease(const llvm::CallBase &Call);

// What gives back what a call has allocated that is told nothing but how many bytes; empty for every other call.
llvm::StringRef releaseFor(const llvm::CallBase &Call);

} // namespace adgen
