// Cycles that are no loops.
#pragma once

#include "llvm/Analysis/CFG.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/LoopIterator.h"

namespace adgen {

// Whether a cycle in the loop is entered at several places, as the reverse of a loop is that is left at several. For
// LoopInfo it is none: a loop with such a cycle may be innermost all the same, and come by a block more than once in an
// iteration.
inline bool hasCycleWithEntries(llvm::Loop &L, const llvm::LoopInfo &LI) {
  llvm::LoopBlocksRPO Order(&L);
  Order.perform(&LI);
  return llvm::containsIrreducibleCFG<const llvm::BasicBlock *>(Order, LI);
}

} // namespace adgen
