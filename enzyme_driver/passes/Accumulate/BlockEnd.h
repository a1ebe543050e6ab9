// Where all threads of a block come to the end of a gradient together.
#pragma once

#include "llvm/IR/IRBuilder.h"

namespace adgen {

// The one block at which all threads come to the end, also those that have returned early.
llvm::BasicBlock *commonEnd(llvm::Function &F);
// Waits for the block; lanes that have returned early are there by themselves.
void waitForBlock(llvm::Instruction &Before);

} // namespace adgen
