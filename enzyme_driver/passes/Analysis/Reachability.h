// What may run after what, over the functions of a module: an entry's function calls others and starts them in threads
// by forks.
#pragma once

#include "Support/Adgen.h"

namespace adgen {

// Whether `Then` may run once `First` has run, in the same run of an entry, and `Between` has not run meanwhile.
bool mayFollow(const llvm::Instruction &First, const llvm::Instruction &Then,
               const llvm::Instruction *Between = nullptr);

} // namespace adgen
