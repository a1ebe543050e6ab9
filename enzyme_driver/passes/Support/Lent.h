#pragma once

#include "llvm/ADT/StringRef.h"

namespace adgen {

// Of a gradient for whose tables a launch may lend dynamic shared memory (Accumulate/LentTables.h), by the tables'
// numbers "SHADOW:WIDENING,...": which of the shadows each is for, and how many bytes of it stand for one of the
// shadow's.
inline constexpr llvm::StringLiteral LentAttribute = "adgen-lent-tables";

} // namespace adgen
