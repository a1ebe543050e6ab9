// Numbers that a loop keeps, such as the K nearest so far: each iteration leaves one as it is, puts another one that is
// kept in its place, or one of its own.
#pragma once

#include "Support/Adgen.h"

#include "llvm/ADT/EquivalenceClasses.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Analysis/AliasAnalysis.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"

namespace adgen {

// Of an array; of longer ones only those places are computed again up to the last one that anything was put into.
inline constexpr uint64_t MostAtOnce = 32;

// An array of the function whose elements are kept.
struct KeptArray {
  llvm::AllocaInst *Memory;
  llvm::Type *Number;
  uint64_t Count;
  bool IsRead, HasContents; // behind the loop, and before it
};

class KeptPlaces {
public:
  KeptPlaces(llvm::Loop &L, const llvm::LoopInfo &LI, llvm::ScalarEvolution &SE) : L(L), LI(LI), SE(SE) {}

  // Whether the loop keeps several among which it moves numbers, and does nothing else with them but compare.
  bool find();
  // Whether all that an iteration has put in their places can be computed again behind the loop.
  bool canBeComputedAgain(llvm::AAResults &AA);

  llvm::ArrayRef<KeptArray> arrays() const { return Arrays; }
  llvm::ArrayRef<llvm::PHINode *> carried() const { return Carried; } // of the header
  llvm::ArrayRef<llvm::PHINode *> left() const { return Left; }       // behind the loop, with a derivative
  bool isKept(const llvm::Value *V) const { return IsKept.contains(V); }
  llvm::ArrayRef<llvm::Instruction *> kept() const { return Kept; }
  const KeptArray *arrayOf(const llvm::Value *Address) const;
  // Those that numbers are moved among.
  const llvm::Value *groupOf(const llvm::Value *V) const { return Groups.getLeaderValue(V); }
  llvm::ArrayRef<llvm::Value *> sourcesOf(const llvm::Value *V) const;
  unsigned sourceOf(const llvm::Value *Group, const llvm::Value *Source) const;
  // What the numbers of a group were before the loop: these are counted where they are not all the same, or unknown.
  struct Before {
    uint64_t Count = 0;
    llvm::Constant *Everywhere = nullptr;
    llvm::SmallDenseMap<const llvm::Value *, uint64_t> First; // the number of an array's first element, and of a value
  };
  const Before &beforeOf(const llvm::Value *V) const { return Befores.find(groupOf(V))->second; }
  // Of those whose numbers come from the same iterations at all times, as a distance and a weight that move together,
  // one; of arrays, and of values of phis.
  const llvm::Value *leaderOf(const llvm::Value *V) const { return Leaders.lookup(V); }
  // What the source's number needs of its iteration; in the order of the code, if it needs no choices.
  struct Needs {
    llvm::SmallSetVector<llvm::Instruction *, 32> Values;
    bool NeedsChoices = false;
  };
  const Needs &needsOf(const llvm::Value *Source) const { return NeedsOf.find(Source)->second; }
  // The blocks of an iteration on the way to one.
  llvm::SmallSetVector<llvm::BasicBlock *, 8> wayTo(llvm::BasicBlock &End) const;
  // The variables that the loop writes to.
  const llvm::SmallSetVector<const llvm::AllocaInst *, 8> &written() const { return Written; }
  // Elements and values that are kept, at most.
  uint64_t places() const;

private:
  bool findArrays();
  bool addArray(llvm::AllocaInst &Memory, llvm::Type &Number);
  bool isPlainAccess(llvm::Instruction &I, const llvm::AllocaInst &Memory, llvm::Type &Number) const;
  bool follow();
  void keep(llvm::Instruction &I);
  bool addUser(llvm::Instruction &Kept, llvm::Use &U);
  void dropCompared();
  bool isOnlyCompared(const llvm::PHINode &Phi, const llvm::SmallPtrSetImpl<const llvm::Value *> &Moved) const;
  void findBefore();
  void findSources();
  void addSource(const llvm::Value *Group, llvm::Value *V);
  bool moves() const;
  bool gather(llvm::Value &Source, llvm::AAResults &AA);
  bool hasContents(llvm::ArrayRef<llvm::Instruction *> Users) const;

  llvm::Loop &L;
  const llvm::LoopInfo &LI;
  llvm::ScalarEvolution &SE;
  bool Compares = false;
  llvm::SmallVector<KeptArray> Arrays;
  llvm::SmallVector<llvm::PHINode *> Carried, Left;
  llvm::SmallSetVector<const llvm::Value *, 32> IsKept;
  llvm::SmallVector<llvm::Instruction *> Kept;
  llvm::SmallSetVector<const llvm::AllocaInst *, 8> Written;
  llvm::EquivalenceClasses<const llvm::Value *> Groups;
  llvm::MapVector<const llvm::Value *, llvm::SmallVector<llvm::Value *>> Sources;
  llvm::MapVector<const llvm::Value *, Needs> NeedsOf;
  llvm::MapVector<const llvm::Value *, Before> Befores;
  llvm::DenseMap<const llvm::Value *, const llvm::Value *> Leaders;
};

// Of a choice, what may be handed on: not the condition.
llvm::SmallVector<llvm::Use *> alternatives(llvm::Instruction &Choice);

// Whether a loop writes numbers to variables of the function.
bool mayKeep(const llvm::Loop &L);
// Has the reverse sweep of such a loop done for what is kept at its end alone; false where the loop is none.
bool recomputeKept(llvm::Loop &L, unsigned Most, const llvm::LoopInfo &LI, llvm::ScalarEvolution &SE,
                   llvm::AAResults &AA);

} // namespace adgen
