// A loop that tries a compare-and-swap until it is made: how people compute with numbers by atomics.
#pragma once

#include "Support/Pass.h"

#include "llvm/Analysis/LoopInfo.h"

namespace adgen {

// The number of which these are the bits, where they are some's.
llvm::Value *bitsOf(llvm::Value *V);

class SwapLoop {
public:
  SwapLoop(llvm::AtomicCmpXchgInst &Swap, const llvm::Loop &Tries) : Swap(Swap), Tries(Tries) {}

  llvm::AtomicCmpXchgInst &swap() const { return Swap; }
  const llvm::Loop &tries() const { return Tries; }
  llvm::Value *newValue() const { return bitsOf(Swap.getNewValOperand()); }
  bool isExpected(llvm::Value *V) const { return bitsOf(V) == bitsOf(Swap.getCompareOperand()); }
  // The same in every try: it depends neither on what was found nor on memory that the swap may change.
  bool isIndependent(llvm::Value *V) const;
  // Whether the loop ends once the swap is made. Has to be asked before what follows.
  bool isRetried();
  // The same of a maximum or minimum with that number, where it does no harm to try again: also where the loop goes on
  // while what was found is smaller (larger) than the number.
  bool isRetried(llvm::Value *Number, bool Largest);
  // Whether nothing behind the loop uses what was found.
  bool isFoundUnused() const;
  // Takes the swap out, as if it had been made at the first try; `Old` is then what was found, null where that is
  // unused.
  void remove(llvm::Value *Old);

private:
  bool isOutside(const llvm::Use &U) const;
  void findTests(llvm::Value &Old);
  void forgetFirstRead();
  void findSizes(llvm::Value &Old, const llvm::Value &Number, bool Largest);
  bool isLeft() const;
  std::optional<bool> onceMade(llvm::Value &Condition) const;

  llvm::AtomicCmpXchgInst &Swap;
  const llvm::Loop &Tries;
  llvm::SmallVector<llvm::ExtractValueInst *> Found;
  llvm::SmallVector<llvm::Value *> Made, Failed; // true where the swap was made, and where it was not
};

// Calls `Visit` for every compare-and-swap that a loop tries.
void forEachSwapLoop(llvm::Function &F, llvm::function_ref<void(SwapLoop &)> Visit);

} // namespace adgen
