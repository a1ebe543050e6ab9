// Tiles of matrices that warps load and store as a whole.
#pragma once

#include "llvm/IR/Function.h"

namespace adgen {

// wmma.load, wmma.store and ldmatrix.
bool accessesTile(const llvm::Instruction &I);

// What a warp loads or stores at once has happened for all lanes when one goes on, and what lanes did before it has
// happened too. Where lanes access the tile on their own, they have to meet for that: a barrier of the warp is put in
// front of such an access, or behind it, where another access to the same array, one of them a write, may come with no
// barrier in between.
void orderTiles(llvm::Function &Body);

} // namespace adgen
