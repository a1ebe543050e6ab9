// Whether the threads of a block wait for each other in a function that is still written for the GPU.
#pragma once

#include "llvm/IR/Function.h"

namespace adgen {

bool cooperates(const llvm::Function &F);

} // namespace adgen
