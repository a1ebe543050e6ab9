// What iterations of a loop of the forward sweep store, and whether it shows in which order they do.
#pragma once

#include "Cache/SweepMemory.h"

#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/Transforms/Utils/ScalarEvolutionExpander.h"

namespace adgen {

// What iterations store at constant distances from each other in one array each, such as a vector.
struct Output {
  StoreInst *First;                       // before the others of the iteration
  int64_t Begin, End;                     // bytes from where it stores
  const SCEVAddRecExpr *Number = nullptr; // goes on by a step from iteration to iteration, and says the place
  uint64_t Unit = 1;                      // bytes from number to number

  uint64_t size() const { return End - Begin; }
  // The least step by which no record overlaps the next one.
  uint64_t leastStep() const { return divideCeil(size(), Unit); }
};

class SweepOutputs {
public:
  SweepOutputs(DominatorTree &DT, const LoopInfo &LI, ScalarEvolution &SE) : DT(DT), LI(LI), SE(SE) {}

  // False where iterations leave behind anything else than one record each, of one array each, or where the order of
  // the records always shows.
  bool collect(const LoopPair &P);
  bool areKnownApart() const { return Unknown.empty(); }
  // Whether the records of each output are apart, asked at run time before the loop; those of which that cannot be
  // asked are to be watched.
  Value *ask(const LoopPair &P, IRBuilder<> &B);

  SmallVector<Output> Watched;
  SmallVector<StoreInst *> Fills; // of caches

private:
  bool collectRecord(const LoopPair &P, ArrayRef<StoreInst *> Stores);
  void findNumber(Output &Of, const LoopPair &P);
  bool isKnownApart(const Output &Of, const LoopPair &P);
  Value *areApart(const Output &Of, const LoopPair &P, SCEVExpander &Expander, IRBuilder<> &B);

  DominatorTree &DT;
  const LoopInfo &LI;
  ScalarEvolution &SE;
  SmallVector<Output> Unknown;
};

} // namespace adgen
