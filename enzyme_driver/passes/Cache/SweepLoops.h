// Finds a loop of the forward sweep and the loop of the reverse sweep that goes back through the same iterations.
#pragma once

#include "Cache/SweepMemory.h"

namespace adgen {

bool endsInChoice(const BasicBlock &Block);
// Whether nothing that the loop computes is used behind it.
bool isUnusedOutside(const Loop &L);

class SweepLoops {
public:
  SweepLoops(const LoopInfo &LI, ScalarEvolution &SE) : LI(LI), SE(SE) {}

  bool findForward(Loop &L, Counted &Found);
  // From the exit of the forward loop to the next loop, past the end of the condition under which the forward loop
  // runs. The reversal may carry values on and leave them behind where its iterations stay in order.
  bool findReverse(LoopPair &P, bool InOrder = false);
  // Also where both follow in the same way from a choice that each was folded into.
  bool areEqual(const SCEV *A, const SCEV *B);

private:
  bool isReversal(Loop &L, LoopPair &P, bool InOrder);
  bool goesBack(PHINode &Counter, LoopPair &P);

  const LoopInfo &LI;
  ScalarEvolution &SE;
};

} // namespace adgen
