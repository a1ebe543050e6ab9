// Whether no two threads of a launch consume the cotangent of one element: that its primal stored there.
#pragma once

#include "Analysis/Indices.h"

#include "llvm/IR/Dominators.h"

namespace adgen {

// Two instructions that read a cotangent and set it to zero.
struct Consumption {
  LoadInst *Read;
  StoreInst *Zero;
};

// What the launch has to keep to for the blocks to have elements of their own: axes along which the grid has one block,
// and how wide blocks may be.
struct LaunchLimits {
  static constexpr unsigned Axes = 3;
  uint32_t OneBlockAlong = 0; // a bit an axis
  int64_t MostThreads[Axes] = {INT32_MAX, INT32_MAX, INT32_MAX};
};

struct Owners {
  bool Blocks = false; // no two blocks consume one element
  bool Rows = false;   // nor two threads of a row of a block
};

// Of consumptions behind one pointer, by the polynomials of their indices. Threads of other rows are not told apart.
class StoredOnce {
public:
  StoredOnce(Function &F, LoopInfo &LI, const DominatorTree &DT);
  // Lowers the limits to what it is proved for.
  Owners ownersOf(const Value &Array, ArrayRef<Consumption> All, LaunchLimits &Limits);

private:
  struct Guard {
    Polynomial Left, Right; // Left < Right, or equal
    bool IsEqual;
  };
  struct Group;

  SmallVector<Guard> guardsOf(const BasicBlock &Block);
  void addGuard(Value &Condition, bool Holds, SmallVectorImpl<Guard> &Found);
  bool differInBlocks(Polynomial Offset, int64_t Spread, ArrayRef<Guard> Guards, LaunchLimits &Limits) const;
  bool peel(SmallVectorImpl<Group> &Left, const Polynomial &Extent, uint32_t Covered, LaunchLimits &Limits) const;
  bool ends(uint32_t Covered, LaunchLimits &Limits) const;

  Function &F;
  const DominatorTree &DT;
  Indices Index;
  uint32_t BlocksRead = 0; // the axes along which something asks for the block's place
};

} // namespace adgen
