#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/IR/Instructions.h"

namespace adgen {

// Where registers are scarce, ptxas moves loads of a block down to their uses again, but not past a barrier: one of the
// lanes that are here anyway, which waits for nothing.
void holdLoads(llvm::ArrayRef<llvm::LoadInst *> Loads);

// Whether a write to memory is one that no other thread waits for.
bool isPlainWrite(const llvm::Instruction &I);

} // namespace adgen
