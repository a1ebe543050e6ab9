// A search through what values, or blocks, lead to.
#pragma once

#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/Value.h"

namespace adgen {

template <class Any, class Step> bool reachesFrom(Any &From, Step Visit) {
  llvm::SmallPtrSet<Any *, 16> Seen;
  llvm::SmallVector<Any *> Work{&From};
  while (!Work.empty()) {
    Any *V = Work.pop_back_val();
    if (Seen.insert(V).second && Visit(*V, Work))
      return true;
  }
  return false;
}

// Whether the step, which adds where to go on, says so anywhere.
template <class Step> bool reaches(llvm::Value &From, Step Visit) { return reachesFrom(From, Visit); }
template <class Step> bool reaches(const llvm::Value &From, Step Visit) { return reachesFrom(From, Visit); }

// The block, and all that it leads to.
template <class Block> llvm::SmallSetVector<Block *, 16> blocksReachedFrom(Block &First) {
  llvm::SmallSetVector<Block *, 16> Reached;
  Reached.insert(&First);
  for (unsigned Next = 0; Next < Reached.size(); ++Next)
    Reached.insert_range(llvm::successors(Reached[Next]));
  return Reached;
}

} // namespace adgen
