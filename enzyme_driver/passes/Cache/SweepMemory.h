// What a loop of the forward sweep and its reversal do to memory.
#pragma once

#include "Analysis/EnzymeCaches.h"

#include "llvm/Analysis/AliasAnalysis.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/PostDominators.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/IR/Dominators.h"

namespace adgen {

using namespace llvm;

// A loop that goes round from its one latch, with a counter that goes up from 0, or down.
struct Counted {
  Loop *L = nullptr;
  BasicBlock *Exiting = nullptr;
  PHINode *Counter = nullptr;
  const SCEV *Last = nullptr;   // the number of the last iteration, of which the reversal is the first
  const SCEV *Number = nullptr; // of the iteration, in the forward loop's order
  ConstantInt *Ahead = nullptr; // of that number is the reversal's counter
};

// A forward loop, its reversal, and what runs between them whenever they run.
struct LoopPair {
  static constexpr unsigned MostBetween = 16; // blocks

  Counted Forward, Reverse;
  SmallVector<BasicBlock *, MostBetween> Between;
  BasicBlock *Join = nullptr;     // where the way around the forward loop comes back
  BasicBlock *Last = nullptr;     // what comes before the join
  BasicBlock *Decision = nullptr; // whose end decides whether the forward loop runs

  // What a value is where both loops run.
  Value *resolved(Value *V) const;
};

class SweepMemory {
public:
  SweepMemory(const LoopPair &P, Function &F, AAResults &AA, DominatorTree &DT, ScalarEvolution &SE)
      : P(P), F(F), AA(AA), DT(DT), SE(SE) {}

  // Whether the reversal of an iteration may come before all others but its own iteration. Asked first: it collects
  // what touches memory.
  bool isReversedAlone();
  // After that, whether two iterations of the reversal may write to the same element.
  bool mayReversalsMeet();
  // Whether no iteration of the forward loop sees what others, or reversals, write but for caches, nor a reversal what
  // it writes. Asked first instead.
  bool isComputedAlone();
  // Whether what one instruction does shows whether it came before the other.
  bool mayConflict(Instruction &Mine, Instruction &Other);
  // The same for what is done between the loops, and the forward loop, or the blocks that lead there from where it is
  // decided whether it runs.
  bool conflictsWithForward(Instruction &Mine);
  bool conflictsOnTheWay(Instruction &Mine);
  const Value *objectOf(Instruction &I) const;

  SmallVector<Instruction *> Forward, Between, Reverse; // what touches memory

private:
  // Whether all that is done to memory is understood, and every instruction hands on to the next one, so that what
  // stands behind the forward loop runs whenever that does.
  bool collect();
  bool mayMeet(Instruction &Mine, Instruction &Other);
  bool everyEnds();
  bool collectPlaces();
  void collectScopes();
  MDNode *outside(MDNode *List);
  MemoryLocation anywhere(Instruction &I);
  Value *slotOf(const Counted &Of, Instruction &I);
  bool areSameSlot(Instruction &Mine, Instruction &Other);
  bool isKept(Value *Pointer);
  bool areKept(Instruction &Mine, Instruction &Other);
  bool isPrivate(Instruction &I);
  bool isSummed(Instruction &I);
  bool isInKernel() const;
  bool isAddition(Instruction &I) const;
  bool isOwn(Instruction &I);
  bool isStrided(const Value &Array);
  bool isFilledFirst(AllocaInst &Variable);
  bool isLeftZero(AllocaInst &Variable);
  bool isUndone(StoreInst &Store, ArrayRef<Instruction *> Accesses, uint64_t Size, const PostDominatorTree &PDT);
  bool comesBefore(const Loop &L, const StoreInst &Store, const Instruction &Load);
  bool isFilledBefore(const Loop &L, const Instruction &Load, ArrayRef<Instruction *> Accesses, uint64_t Size);

  const LoopPair &P;
  Function &F;
  AAResults &AA;
  DominatorTree &DT;
  ScalarEvolution &SE;
  SmallPtrSet<const MDNode *, 16> Scopes; // declared outside both loops
  DenseMap<AllocaInst *, bool> Private, Summed;
  DenseMap<const Value *, bool> Strided;
};

// From which value a store's place is how many bytes away, whatever the iteration.
std::pair<const Value *, int64_t> placeOf(const StoreInst &Store);

// Whether nobody can tell in which order accesses to two objects come: shadows of parameters overlap nothing, as the
// runtime checks.
bool areApart(const Value *One, const Value *Other);

} // namespace adgen
