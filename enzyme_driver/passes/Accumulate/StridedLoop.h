// Loops in which threads or lanes share out what there is to do.
#pragma once

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/IR/IRBuilder.h"

namespace adgen {

// for (index = First; index < Count; index += Step), numbers of 32 bits that do not wrap. `Name` is what each one is
// of.
void forStrided(llvm::Instruction &Before, llvm::Value *First, llvm::Value *Step, llvm::Value *Count,
                llvm::StringRef Name, llvm::function_ref<void(llvm::IRBuilder<> &, llvm::Value *)> Body);

} // namespace adgen
