// ldmatrix: a warp loads up to four matrices of 8 by 8 numbers of 16 bits from shared memory.
#pragma once

#include "llvm/IR/Function.h"

namespace adgen {

// Each becomes a lane's own loads, where the array is known, and all numbers that the function multiplies on Tensor
// Cores have one format.
void lowerMatrixLoads(llvm::Function &Body, bool ByShuffles);

} // namespace adgen
