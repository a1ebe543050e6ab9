// A search through what values lead to.
#pragma once

#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/SmallVector.h"
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

} // namespace adgen
