// What a thread does to elements of global memory one after the other, and what it costs to wait for each.
#pragma once

#include "llvm/Analysis/AliasAnalysis.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Instructions.h"

namespace adgen {

constexpr unsigned MostWaiting = 8;  // elements, so that what waits has registers
constexpr unsigned MostCompared = 6; // pairs of them of which it is not known that they differ

// Whether a write to memory is one that no other thread waits for.
bool isPlainWrite(const llvm::Instruction &I);
// Whether it is memory of the GPU that others have, too.
bool isGlobal(const llvm::Value &Pointer);
// Elements of one type that lie as this one does are the same or apart.
bool isWholeElement(const llvm::LoadInst &Load);
// Whether an iteration goes on by a block or a warp of threads, so that each reads a line of memory of its own. Along
// a row of a thread's own lines are read already.
bool stridesByThreads(const llvm::Value *Address, const llvm::Loop &L, unsigned Depth = 0);
// What replaces the element that was loaded, in the same block and before anything else may change it.
llvm::StoreInst *storeOver(llvm::LoadInst &Load, llvm::AAResults &AA);

// Elements that are used under conditions of their own, one after the other, are loaded (or taken) under these before
// the first of them is used.
void loadPastGuards(llvm::Function &F, llvm::FunctionAnalysisManager &FAM);

} // namespace adgen
