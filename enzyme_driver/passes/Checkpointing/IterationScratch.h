// Arrays that a function allocates before a loop and that each iteration fills before it reads them: what one iteration
// leaves there is nothing to the next, so each could have an array of its own.
#pragma once

#include "Support/Adgen.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Dominators.h"

namespace llvm {
class ScalarEvolution;
}

namespace adgen {

class IterationScratch {
public:
  IterationScratch(llvm::Loop &L, llvm::ScalarEvolution &SE, const llvm::DominatorTree &DT,
                   const llvm::LoopInfo &Loops);

  // Whether it is the allocation of such an array.
  bool contains(const llvm::Value *Allocation) const;
  // Each iteration allocates its own and gives it back.
  void giveEachIterationItsOwn();

private:
  struct Uses {
    llvm::SmallVector<llvm::Instruction *> Reads; // in the loop
    llvm::SmallVector<llvm::StoreInst *> Writes;
    llvm::SmallSetVector<llvm::GetElementPtrInst *, 2> Places; // addresses in it that were computed before the loop
  };
  struct Array {
    llvm::CallBase *Allocation;
    llvm::Value *Base;        // as the loop sees it: what was allocated, or null where it has no element
    llvm::Instruction *Bytes; // how much was allocated: so many numbers of one size
    llvm::CastInst *Count;    // the numbers
    uint64_t Width;           // of one
    Uses In;
  };

  std::optional<Array> arrayAt(llvm::Value *Base) const;
  bool findUses(Array &Of) const;
  bool isHarmlessOutside(const llvm::Instruction &I) const;
  bool isFilledFirst(const Array &Of) const;
  bool fills(const llvm::StoreInst &Write, const Array &Of) const;
  bool hasNoElement(const llvm::Instruction &Read, const Array &Of) const;

  llvm::Loop &L;
  llvm::ScalarEvolution &SE;
  const llvm::DominatorTree &DT;
  const llvm::LoopInfo &Loops;
  llvm::SmallVector<Array> Arrays;
};

} // namespace adgen
