// Local arrays of structs.
#pragma once

#include "Support/Adgen.h"

namespace adgen {

// An array of structs with numbers and something else, whose elements are found by computed indices, becomes an array
// for each member. False where it is none, or where its elements are used otherwise than by members or as a whole.
bool splitStructArray(llvm::AllocaInst &Local);

} // namespace adgen
