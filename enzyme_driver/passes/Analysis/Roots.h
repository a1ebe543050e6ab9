// Of which arrays a pointer is the beginning, over calls and forks: arrays may change places from step to step, and are
// never the same one.
#pragma once

#include "Analysis/UnderlyingObjects.h"

#include <optional>

namespace adgen {

// The parameters of entries and the allocations of which the pointer is always the beginning; nothing where it may be
// anything else.
std::optional<UnderlyingObjects::Set> rootsOf(const llvm::Value *Pointer);

// Whether two parameters of one function never lead to the same array.
bool areDistinct(const llvm::Argument &One, const llvm::Argument &Other);

} // namespace adgen
