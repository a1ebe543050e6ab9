// Sums of a user's tables in shared memory that are zero.
#pragma once

#include "Accumulate/Lookups.h"

namespace adgen {

// What a block adds to a shadow from a shared table, of which elements were looked up, is left out where it is zero: of
// a table, a block mostly has few records.
void skipZerosOfTables(llvm::Function &Gradient, Lookups &From);

} // namespace adgen
