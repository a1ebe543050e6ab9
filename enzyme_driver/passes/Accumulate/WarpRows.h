// Rows of shared memory in which each warp of a block sums up what all of them add to.
#pragma once

#include "Analysis/ArrayRoots.h"

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/IR/IRBuilder.h"

namespace adgen {

// A thread's place in its block, which may have so many warps.
struct BlockPlace {
  explicit BlockPlace(llvm::IRBuilder<> &B);
  llvm::Value *Thread, *Threads, *Warps;
};

// The sum of one element over the rows of all warps that are here; `At` is where a row has it.
llvm::Value *sumOfRows(llvm::IRBuilder<> &B, llvm::Type *T, llvm::Value *Warps,
                       llvm::function_ref<llvm::Value *(llvm::IRBuilder<> &, llvm::Value *)> At);
// Adds a sum, unless it is zero: nobody may have added to the element, and the shadow may end before it.
void addUnlessZero(llvm::IRBuilder<> &B, llvm::Value *Sum,
                   llvm::function_ref<llvm::Value *(llvm::IRBuilder<> &)> Where);
// Where a shadow begins, before an instruction of the gradient or of what its threads do around their walk.
llvm::Value *beginningOf(llvm::IRBuilder<> &B, const ArrayRoots &Roots, const ArrayRoot &Shadow);
// In place of an addition, one into the warp's own element.
void addToOwn(llvm::AtomicRMWInst &Addition, llvm::Value *Own);

} // namespace adgen
