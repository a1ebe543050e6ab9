#pragma once

#include "llvm/ADT/StringRef.h"

namespace adgen {

inline constexpr llvm::StringLiteral BatchSuffix = "__batch"; // of what does many launches of a gradient or of tangents

} // namespace adgen
