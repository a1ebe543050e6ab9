#pragma once

#include "llvm/IR/Module.h"

namespace adgen {

// The function with more parameters, at that place of the module; the old one has no body any more.
llvm::Function *extended(llvm::Function &F, llvm::ArrayRef<llvm::Type *> More, llvm::Module::iterator Where);

} // namespace adgen
