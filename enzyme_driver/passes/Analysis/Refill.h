// A shared array that all threads fill in one place, or in loops, from memory that nobody changes, need not be kept for
// the reverse sweep: it is filled again.
#pragma once

#include "Analysis/UnchangedMemory.h"
#include "Support/Adgen.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/PostDominators.h"
#include "llvm/IR/Dominators.h"
#include "llvm/Transforms/Utils/ValueMapper.h"

namespace adgen {

// After Enzyme.
void definePrimalsOfRefills(llvm::Module &M);

// What one array is filled by.
class Refill {
public:
  Refill(llvm::Function &Body, llvm::DominatorTree &Before, llvm::PostDominatorTree &After, llvm::LoopInfo &Loops,
         UnchangedMemory &Unchanged)
      : Body(Body), Before(Before), After(After), Loops(Loops), Unchanged(Unchanged) {}

  // Whether these stores, all that write to the array, fill the same elements each time that the thread comes to the
  // barrier, with what can be computed again there.
  bool isPossible(llvm::ArrayRef<llvm::StoreInst *> Stores, const llvm::CallInst &Barrier);
  // Behind it: what fills the array that isPossible was last asked about when the reverse sweep comes there.
  void emit(llvm::IRBuilder<> &B, llvm::Argument &Array);

private:
  bool need(llvm::Value *V, bool IsFixed);
  bool need(llvm::Instruction &I, bool IsFixed);
  bool isReadOnce(const llvm::Instruction &I) const;
  bool isFilling(const llvm::BasicBlock *Block) const; // in a loop that the barrier is not in
  bool findRegion(llvm::ArrayRef<llvm::StoreInst *> Stores, const llvm::CallInst &Barrier);
  bool collectBlocks(llvm::ArrayRef<llvm::StoreInst *> Stores, const llvm::CallInst &Barrier);
  llvm::SmallPtrSet<const llvm::BasicBlock *, 8> decidingOn(llvm::ArrayRef<llvm::StoreInst *> Stores) const;
  bool isOverForGood(const llvm::BranchInst &Branch, llvm::ArrayRef<llvm::StoreInst *> Stores);
  bool risesInOutermost(const llvm::Value &V) const;
  bool isDecided(llvm::BranchInst &Branch, llvm::ArrayRef<llvm::StoreInst *> Stores);
  bool isDecidedByCounter(llvm::BranchInst &Branch, llvm::ArrayRef<llvm::StoreInst *> Stores);
  llvm::PHINode *counterOf(const llvm::Value &V) const;
  bool dependsOn(const llvm::PHINode &Counter, const llvm::Value &V) const;
  bool canAskAt(const llvm::PHINode &Counter, llvm::Value *V);
  bool isSumWith(const llvm::PHINode &Of, llvm::Value *V);
  bool canAskFixed(const llvm::Value &V) const;
  bool tryTo(llvm::function_ref<bool()> Act);
  bool isOneRound(llvm::ArrayRef<llvm::StoreInst *> Stores, const llvm::CallInst &Barrier) const;
  bool meetBetween(llvm::ArrayRef<llvm::StoreInst *> Stores) const;
  bool comesBefore(const llvm::Instruction &One, const llvm::Instruction &Other) const;
  void write(llvm::Function &Reverse, const llvm::Argument &Array);
  llvm::BasicBlock *writeSearch(llvm::BasicBlock &Entry, llvm::ValueToValueMapTy &Map) const;
  llvm::Value *ask(llvm::IRBuilder<> &B, llvm::Value *At, const llvm::ValueToValueMapTy &Map) const;

  llvm::Function &Body;
  llvm::DominatorTree &Before;
  llvm::PostDominatorTree &After;
  llvm::LoopInfo &Loops;
  UnchangedMemory &Unchanged;

  llvm::SmallSetVector<llvm::Instruction *, 32> Needed;   // what is computed again, and the stores
  llvm::SmallPtrSet<const llvm::Instruction *, 32> Fixed; // of these, what is the same each time
  llvm::SmallSetVector<llvm::Value *, 4> Pointers;        // parameters
  llvm::SmallSetVector<llvm::Value *, 8>
      Numbers; // integers: parameters, what was read once, and counters of loops around
  llvm::SmallSetVector<llvm::BasicBlock *, 16>
      Region; // from its first block, which dominates them, to where all ways meet behind the stores
  llvm::BranchInst *Decides = nullptr; // whether anything is stored, by the counter of the loop around
  llvm::PHINode *Counter = nullptr;    // this one
  llvm::BasicBlock *First = nullptr, *Last = nullptr;
  const llvm::BasicBlock *End = nullptr;      // that has the barrier
  const llvm::BasicBlock *StoresIn = nullptr; // that has the first store
  unsigned Count = 0;                         // of what was written
};

} // namespace adgen
