// Threads that have returned before others wait for each other stay, and do nothing but wait with them.
#pragma once

#include "Analysis/UnchangedMemory.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/PassManager.h"

namespace adgen {

// All threads that do not go on from one of these blocks to the one, of which each is left by a branch, return.
// Whether that could be done.
bool letThemStay(llvm::Function &Body, llvm::ArrayRef<llvm::BasicBlock *> Conditions, llvm::BasicBlock &GoesOn,
                 llvm::BasicBlock &Leaves, llvm::FunctionAnalysisManager &FAM);

} // namespace adgen
