#pragma once

#include "llvm/IR/Module.h"

#include <optional>

namespace adgen {

// The function with more parameters, behind its own or in front of that one of them, at that place of the module; the
// old one has no body any more.
llvm::Function *extended(llvm::Function &F, llvm::ArrayRef<llvm::Type *> More, llvm::Module::iterator Where,
                         std::optional<unsigned> Before = {});

} // namespace adgen
