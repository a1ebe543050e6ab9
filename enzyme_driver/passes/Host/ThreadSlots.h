// What a thread keeps from region to region: each value has a slot, an array with one element a thread.
#pragma once

#include "Host/ThreadRegions.h"

#include "llvm/ADT/MapVector.h"

namespace adgen {

class ThreadSlots {
public:
  explicit ThreadSlots(const ThreadRegions &Cut) : Cut(Cut) {}

  void find();

  // Whether the value is had again from what is uniform and from the thread's index, without memory.
  bool isCheap(const llvm::Value *V);
  uint64_t sizeOf(const llvm::Instruction &I) const;
  llvm::Type *typeOf(const llvm::Instruction &I) const;
  bool contains(const llvm::Instruction *I) const { return Places.contains(I); }
  // How many bytes a thread others take before it.
  uint64_t placeOf(const llvm::Instruction *I) const { return Places.lookup(I); }
  const llvm::MapVector<const llvm::Instruction *, uint64_t> &all() const { return Places; }
  // Of a thread.
  uint64_t bytes() const { return Total; }

private:
  void need(llvm::Value *V, const Region &R);
  void give(llvm::Instruction *I);
  const ThreadRegions &Cut;
  llvm::DenseMap<const llvm::Value *, bool> Cheap;
  llvm::MapVector<const llvm::Instruction *, uint64_t> Places;
  uint64_t Total = 0;
};

} // namespace adgen
