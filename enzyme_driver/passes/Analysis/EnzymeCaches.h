// What Enzyme keeps for the reverse sweep: which calls take a cache and give it back, and what is done with one.
#pragma once

#include "Support/Adgen.h"

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Instructions.h"

namespace adgen {

// Enzyme's own of calls that take and give back what it keeps, with a node for each cache.
inline constexpr llvm::StringLiteral CacheAllocation = "enzyme_cache_alloc", CacheRelease = "enzyme_cache_free";

bool isCacheAllocation(const llvm::Value *V);
bool isCacheRelease(const llvm::Instruction &I);
inline bool isOfCache(const llvm::Instruction &I) { return isCacheAllocation(&I) || isCacheRelease(I); }

// The one store that fills a cache of which all else are loads of the same type; null for others. What one iteration
// hands to the next may be the memory of the one before.
llvm::StoreInst *onlyStoreTo(llvm::CallInst &Cache, const llvm::LoopInfo &LI);

} // namespace adgen
