// Gradients whose blocks may do the work of others, too, one after the other (Support/Walk.h).
#pragma once

#include "llvm/IR/Function.h"

namespace adgen {

// Whether nothing in it depends on which blocks run at once, and none but itself asks for the block's index.
bool mayWalk(llvm::Function &Gradient);

// The gradient with the block's index as its last argument, in its place.
llvm::Function &makeWalk(llvm::Function &Gradient);

} // namespace adgen
