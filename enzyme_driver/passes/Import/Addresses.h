// Addresses as assembly takes them: numbers in registers.
#pragma once

#include "llvm/IR/IRBuilder.h"

namespace adgen {

// The same pointer without a space of addresses.
llvm::Value *withoutSpace(llvm::IRBuilder<> &B, llvm::Value *Pointer);
// The pointer that a number was made of, also where something was added to it; null where that is not known.
llvm::Value *pointerBehind(llvm::IRBuilder<> &B, llvm::Value *Number);

} // namespace adgen
