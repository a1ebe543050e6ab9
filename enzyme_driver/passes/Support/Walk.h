// Blocks that walk over the grid along x without a tape: each does the work of many, one after the other.
#pragma once

#include "llvm/IR/IRBuilder.h"

namespace adgen {

// Function attribute of a gradient whose last argument is the index x of the block whose work is done.
inline constexpr llvm::StringLiteral WalkAttribute = "adgen-walk";

// Whether a gradient's blocks walk, with a tape or without.
bool walks(const llvm::Function &Gradient);

// Blocks up to this index walk, each so many blocks further each time; the others have nothing to do. That are as many
// as fit on the GPU if each has its work to do several times over, else all.
llvm::Value *stepOfWalk(llvm::IRBuilder<> &B);

} // namespace adgen
