#pragma once

#include "llvm/ADT/StringRef.h"

namespace adgen {

// Of a gradient for whose tables a launch may lend dynamic shared memory (Accumulate/LentTables.h), by the tables'
// numbers "SHADOW:WIDENING,...": which of the shadows each is for, and how many bytes of it stand for one of the
// shadow's.
inline constexpr llvm::StringLiteral LentAttribute = "adgen-lent-tables";

// Behind the name of a gradient that launches which lend it memory run, in the place of the one that has none; and
// behind that of its kernel.
inline constexpr llvm::StringLiteral LentVariant = ".lent";
inline constexpr llvm::StringLiteral LentSuffix = "__gradient_lent";

} // namespace adgen
