// Accumulations of a block that lanes of a warp may have in common, in groups that lie at fixed distances from each
// other: what lanes have in common of one, they have of all.
#pragma once

#include "Analysis/Accumulation.h"

namespace adgen {

struct LaneGroup {
  const llvm::BasicBlock *In; // before it is split
  const llvm::Value *Base;
  llvm::SmallVector<llvm::AtomicRMWInst *, 4> Members;

  llvm::Type *type() const { return Members.front()->getType(); }
};

// Those of a function that are wanted, of floats and doubles, and of numbers of 16 bits if asked for. No instruction
// between the members of one meets them.
llvm::SmallVector<LaneGroup> laneGroups(llvm::Function &F, const Meetings &Meet,
                                        llvm::function_ref<bool(const llvm::AtomicRMWInst &)> IsWanted,
                                        bool AlsoHalves = false);

// Which pointers of a gradient lead to a shadow that the caller has handed over, by itself or in a struct, not to a
// thread's own variable.
class GivenShadows {
public:
  explicit GivenShadows(llvm::Function &F);
  bool contain(const llvm::Value &Pointer) const;

private:
  const llvm::Function &F;
  bool KeepsOwn;
};

} // namespace adgen
