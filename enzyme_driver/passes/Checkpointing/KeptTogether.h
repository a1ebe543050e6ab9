// Which of the places that a loop keeps numbers in are filled from the same iterations at all times, as those of a
// distance and of a weight that move with each other: one origin is enough for them.
#pragma once

#include "Checkpointing/KeptPlaces.h"

#include "llvm/ADT/FoldingSet.h"

namespace adgen {

class KeptTogether {
public:
  // Of `Kept`, arrays, groups, sources and what was before must be known.
  KeptTogether(const llvm::Loop &L, const KeptPlaces &Kept) : L(L), Kept(Kept) {}

  // Of each array, and of each phi that is kept, the first that moves with it.
  llvm::DenseMap<const llvm::Value *, const llvm::Value *> leaders() const;

private:
  using Parts = llvm::DenseMap<const llvm::Value *, unsigned>;
  llvm::FoldingSetNodeID beginning(const llvm::Value &V) const;
  void describe(llvm::FoldingSetNodeID &As, const llvm::Value &V, const Parts &Of) const;
  void describe(llvm::FoldingSetNodeID &As, const llvm::Value *Group, llvm::Value *V, const Parts &Of) const;
  void describeAddress(llvm::FoldingSetNodeID &As, const llvm::Instruction &Access, const Parts &Of) const;

  const llvm::Loop &L;
  const KeptPlaces &Kept;
};

} // namespace adgen
