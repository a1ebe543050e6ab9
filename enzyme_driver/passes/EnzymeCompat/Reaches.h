// A search through what values lead to.
#pragma once

#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/Value.h"

namespace adgen {

// Whether the step, which adds where to go on, says so anywhere.
template <class Step> bool reaches(llvm::Value &From, Step Visit) {
  llvm::SmallPtrSet<llvm::Value *, 16> Seen;
  llvm::SmallVector<llvm::Value *> Work{&From};
  while (!Work.empty()) {
    llvm::Value *V = Work.pop_back_val();
    if (Seen.insert(V).second && Visit(*V, Work))
      return true;
  }
  return false;
}

} // namespace adgen
