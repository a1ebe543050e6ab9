// The struct that a C++ function returns is written through an address, the last of its parameters as the user sees
// them, under a name that no parameter can have.
#pragma once

#include "Support/Adgen.h"

namespace adgen {

constexpr llvm::StringLiteral ResultName = "return";

inline bool isResult(const LogicalParameter &P) { return P.Name == ResultName; }

} // namespace adgen
