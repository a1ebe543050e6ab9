// Gradients whose blocks may do the work of others, too, one after the other (Support/Walk.h).
#pragma once

#include "llvm/IR/Function.h"

namespace adgen {

// Whether nothing in it depends on which blocks run at once, and none but itself asks for the block's index.
bool mayWalk(llvm::Function &Gradient);

// The gradient with the block's index as its last argument, in its place; with no more registers than as many blocks
// have as walk, if asked for.
llvm::Function &makeWalk(llvm::Function &Gradient, bool FitsRegisters = true);

} // namespace adgen
