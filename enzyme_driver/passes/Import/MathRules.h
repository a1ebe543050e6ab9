// Functions with a derivative of rules/ that take all their numbers in one vector, as Enzyme sees them.
#pragma once

#include "Support/Adgen.h"

namespace adgen {

// Declares adgen_math_NAME, from the arguments to the result, and registers adgen_math_NAME_reverse as its derivative.
llvm::Function *declareMathRule(llvm::Module &M, llvm::StringRef Name, llvm::Type *Result, llvm::Type *Arguments);
// A function without effects beside its result.
llvm::Function *declarePure(llvm::Module &M, const llvm::Twine &Name, llvm::Type *Result,
                            llvm::ArrayRef<llvm::Type *> Parameters);

} // namespace adgen
