#pragma once

#include "llvm/IR/Instruction.h"

namespace adgen {

// Moves a load, store or update of integers to a function of its own, at which Enzyme does not look, and which is
// inlined once it has run.
void outlineAccess(llvm::Instruction &I, llvm::StringRef Name);

} // namespace adgen
