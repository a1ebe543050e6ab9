// Blocks that walk over the grid along x without a tape: each does the work of many, one after the other.
#pragma once

#include "llvm/IR/IRBuilder.h"

namespace adgen {

// Function attribute of a gradient whose last argument is the index x of the block whose work is done.
inline constexpr llvm::StringLiteral WalkAttribute = "adgen-walk";

// Before the symbol: a function with the gradient's arguments, but for that one, that says whether it pays to walk.
// Without one it does.
inline constexpr llvm::StringLiteral WalkQuestion = "adgen_pays_to_walk_";

// Whether a gradient's blocks walk, with a tape or without.
bool walks(const llvm::Function &Gradient);

// Blocks up to this index walk, each so many blocks further each time; the others have nothing to do. That are as many
// as fit on the GPU if each has its work to do several times over, else all.
llvm::Value *stepOfWalk(llvm::IRBuilder<> &B);

} // namespace adgen
