// What may run after what, over the functions of a module: an entry's function calls others and starts them in threads by forks.
#pragma once

#include "Adgen.h"

namespace adgen {

// Whether `Then` may run once `First` has run, in the same run of an entry.
bool mayFollow(const llvm::Instruction &First, const llvm::Instruction &Then);

} // namespace adgen
