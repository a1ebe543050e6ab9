// Where all threads of a block begin with a gradient, and where all have come to its end.
#pragma once

#include "Support/Adgen.h"

namespace adgen {

// One that walks over the blocks of the grid begins before the first of its blocks and ends behind the last one, in
// functions with the gradient's arguments, of which those about a block say nothing (GPU/MakeKernels.cpp).
class BlockEnds {
public:
  explicit BlockEnds(llvm::Function &Gradient);

  // Code goes before these.
  llvm::Instruction &first() const { return *First; }
  llvm::Instruction &last() const { return *Last; }
  // What the gradient has as an argument, at one of these places.
  static llvm::Value *argument(const llvm::Instruction &Place, const llvm::Argument &A);

private:
  llvm::Instruction *First, *Last;
};

// The one return at which all threads come to the end of a function, also those that return early.
llvm::Instruction *commonReturn(llvm::Function &F);

// Waits for the block; lanes that have returned early are there by themselves.
void waitForBlock(llvm::Instruction &Before);

} // namespace adgen
