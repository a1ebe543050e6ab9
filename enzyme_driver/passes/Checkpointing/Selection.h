// A number that a loop carries and that an iteration leaves as it is or replaces by one of its own: a minimum, the
// nearest so far.
#pragma once

#include "Analysis/SharedConstants.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/Analysis/AliasAnalysis.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/Transforms/Utils/ValueMapper.h"

#include <optional>
#include <vector>

namespace adgen {

class Selection {
public:
  Selection(llvm::PHINode &SoFar, llvm::Loop &L, const llvm::LoopInfo &LI) : SoFar(&SoFar), L(&L), LI(&LI) {}

  // Whether the loop, in simplified form, hands on either what it got or something that does not depend on that.
  bool find();
  // Whether an iteration's number can be computed again behind the loop. `Known` tells numbers without a derivative.
  bool canBeComputedAgain(const llvm::DominatorTree &DT, llvm::AAResults &AA, const Constants &Known);

  llvm::PHINode &soFar() const { return *SoFar; }
  llvm::Instruction &next() const { return *Next; }
  bool isChoice(const llvm::Value *V) const { return Choices.contains(V); }
  // What is carried, and the choices.
  llvm::SmallVector<llvm::Instruction *> carried() const;
  // What has to be computed again, and values that the loop carries which that needs.
  const llvm::SmallSetVector<llvm::Instruction *, 32> &needed() const { return Needed; }
  // Behind the loop.
  llvm::ArrayRef<llvm::BasicBlock *> exits() const { return Exits; }
  llvm::PHINode *seenAt(const llvm::BasicBlock &Exit) const;
  bool leavesLike(const Selection &Other) const;
  // The successor to which a block leads in an iteration that wins, if there is only one.
  std::optional<unsigned> wayOfWinner(const llvm::BasicBlock &Block) const {
    auto Known = Ways.find(&Block);
    return Known == Ways.end() ? std::nullopt : std::optional(Known->second);
  }
  // Of an iteration that wins: a choice between the number so far and another one is the other one.
  void settle(llvm::ValueToValueMapTy &Map) const;

private:
  bool keeps(llvm::Value *V, unsigned Depth = 0);
  bool isOnlyCompared() const;
  bool findExits();
  bool isIndependent(const Constants &Known) const;
  llvm::SmallVector<llvm::Value *> others() const;
  bool findWay(const llvm::BranchInst &Branch);
  bool gather(const llvm::DominatorTree &DT, llvm::AAResults &AA);
  llvm::Value *otherOf(const llvm::Instruction &Choice) const;

  llvm::PHINode *SoFar;
  llvm::Loop *L;
  const llvm::LoopInfo *LI;
  llvm::Instruction *Next = nullptr;
  llvm::SmallSetVector<const llvm::Value *, 8> Choices, Asked;
  llvm::SmallSetVector<llvm::Instruction *, 32> Needed;
  llvm::SmallVector<llvm::BasicBlock *, 2> Exits;
  llvm::DenseMap<const llvm::BasicBlock *, unsigned> Ways; // of the winner
};

// Whether a load may read what the instruction writes, in any iteration.
bool mayOverwrite(llvm::Instruction &Writer, llvm::LoadInst &Load, llvm::AAResults &AA);
// Tells the optimiser something, and does nothing.
bool isAssumed(const llvm::Instruction &I);
// Has no effect, and its result follows from its operands and memory alone.
bool canRunAgain(const llvm::Instruction &I);
// Whether a loop carries such a number, in whatever form it is.
bool maySelect(const llvm::Loop &L);
// Those that can be computed again, of a loop in simplified form whose values leave it through phis.
std::vector<Selection> selectionsOf(llvm::Loop &L, const llvm::DominatorTree &DT, const llvm::LoopInfo &LI,
                                    llvm::AAResults &AA, const Constants &Known);

} // namespace adgen
