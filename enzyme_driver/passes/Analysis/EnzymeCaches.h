// What Enzyme keeps for the reverse sweep: which calls take a cache and give it back, and what is done with one.
#pragma once

#include "Support/Adgen.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Instructions.h"

namespace adgen {

// Enzyme's own of calls that take and give back what it keeps, with a node for each cache.
inline constexpr llvm::StringLiteral CacheAllocation = "enzyme_cache_alloc", CacheRelease = "enzyme_cache_free";

bool isCacheAllocation(const llvm::Value *V);
bool isCacheRelease(const llvm::Instruction &I);
inline bool isOfCache(const llvm::Instruction &I) { return isCacheAllocation(&I) || isCacheRelease(I); }

struct EnzymeCache {
  llvm::CallInst *Memory;
  llvm::StoreInst *Store = nullptr;
  llvm::SmallVector<llvm::LoadInst *> Loads;
  llvm::SmallVector<llvm::CallInst *> Releases;
  llvm::SmallVector<llvm::Instruction *> Addresses; // in an order in which operands come first
  // Where the memory begins: what allocates it, or that on the ways that come from there.
  llvm::SmallSetVector<llvm::Instruction *, 4> Begins;

  explicit EnzymeCache(llvm::CallInst &Memory) : Memory(&Memory) {}

  // Whether one store fills it and all else are loads. What one iteration hands to the next may be the memory of the
  // one before.
  bool collect(const llvm::LoopInfo &LI);

  llvm::Instruction *beginIn(const llvm::BasicBlock &Block) const;
  // Whether the other one is known wherever this one is.
  bool isAccompaniedBy(const EnzymeCache &Other) const;

private:
  bool isOnlyBegin(const llvm::PHINode &Phi) const;
};

} // namespace adgen
