// Additions of a loop that a thread holds in registers while their place stays the same: for the passes that do it.
#pragma once

#include "Accumulate/LaneGroups.h"

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/IRBuilder.h"

namespace adgen {

// Whether the loop and the shadow allow it: the loop has a place before it and places behind it, and the gradient does
// nothing with the shadow but add to it.
bool mayBeHeld(const llvm::AtomicRMWInst &Addition, const llvm::LoopInfo &LI);

// Whether the address follows, by way of some instructions, from one like that.
bool followsFrom(const llvm::Value &Address, llvm::function_ref<bool(const llvm::Instruction &)> IsWanted);

// The number of blocks, by which a thread steps over the grid.
bool countsBlocks(const llvm::Instruction &I);

// Additions in a loop, where that is entered and where it is left.
struct HeldPlace {
  LaneGroup Additions;
  llvm::Instruction *Before;
  llvm::SmallVector<llvm::BasicBlock *> Exits;
};

// The groups for which there are registers, the first ones first.
llvm::SmallVector<HeldPlace> chooseHeld(llvm::MutableArrayRef<LaneGroup> Groups, const llvm::LoopInfo &LI);

// What is held: the address of the first addition, or null; sums; and how far the others lie from the first.
class HeldSums {
public:
  HeldSums(llvm::Function &F, const LaneGroup &Additions);

  void begin(llvm::IRBuilder<> &B, llvm::Value *Place) const;

  llvm::Value *held(llvm::IRBuilder<> &B) const;

  void move(llvm::IRBuilder<> &B, llvm::Value *Place) const { B.CreateStore(Place, Held); }

  // Additions of the sums at that place.
  llvm::SmallVector<llvm::AtomicRMWInst *> add(llvm::IRBuilder<> &B, llvm::Value *Place) const;

  // In the place of the additions, which are gone.
  void take(llvm::IRBuilder<> &B, llvm::ArrayRef<llvm::AtomicRMWInst *> Additions) const;

private:
  llvm::AllocaInst *Held;
  llvm::SmallVector<llvm::AllocaInst *> Sums;
  llvm::SmallVector<int64_t> Distances;
};

} // namespace adgen
