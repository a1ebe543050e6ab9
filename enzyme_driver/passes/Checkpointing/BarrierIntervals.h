// What threads do between barriers of the block: up to which ones a value of shared memory stays what it is, and where
// code may be that uses it.
#pragma once

#include "Checkpointing/SharedArrays.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/IR/Instructions.h"

namespace adgen {

// What happens in a thread behind a load, up to the barriers that come next.
struct Interval {
  bool Repeatable = true;
  bool LanesMeet = false;
  llvm::SmallSetVector<llvm::CallInst *, 4> Ends;
  llvm::SmallSetVector<llvm::Instruction *, 4> Returns; // where no barrier comes
  llvm::SmallSetVector<llvm::Instruction *, 4> Left; // what is computed from the load, and kept where its loop is left
};

Interval intervalBehind(llvm::LoadInst &Load, const llvm::Argument *A, const SharedArrays &Arrays);

using Instructions = llvm::SmallPtrSet<const llvm::Instruction *, 32>;

// What a thread may come to from there on; it goes no further than where it has to stop.
Instructions reachedFrom(llvm::SmallVector<llvm::BasicBlock::iterator> Work,
                         llvm::function_ref<bool(const llvm::Instruction &)> Stops);
// Whether a way leads from behind one instruction to another one, and not by a third.
bool reachesPast(const llvm::Instruction &From, const llvm::Instruction &To, const llvm::Instruction &Avoided);
// Whether any thread may write to the array between the barriers before and there.
bool isWrittenBefore(const llvm::Instruction &There, const llvm::Argument *A, const SharedArrays &Arrays);

} // namespace adgen
