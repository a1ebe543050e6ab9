// What an access may lead to, as metadata for the optimiser.
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/IR/Instruction.h"

namespace adgen {

// Adds that an access leads to memory of these scopes, where there are any, and to none of others.
void addScopes(llvm::Instruction &Access, llvm::ArrayRef<llvm::Metadata *> Here,
               llvm::ArrayRef<llvm::Metadata *> Elsewhere);
// In the first block, so that they are the same in all iterations of all loops.
void declareScopes(llvm::Function &F, llvm::ArrayRef<llvm::MDNode *> Scopes);

} // namespace adgen
