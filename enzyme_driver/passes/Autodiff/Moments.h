// Means and sums of squared distances from them, as Welford's method carries them: with how many numbers they are of.
#pragma once

#include "Analysis/Residues.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/Instructions.h"

#include <memory>
#include <optional>
#include <vector>

namespace llvm {
class DominatorTree;
class Loop;
class LoopInfo;
} // namespace llvm

namespace adgen {

// What a lane receives from another one: a store, a rule's call and a load.
struct LaneMove {
  llvm::StoreInst *Sent;
  llvm::CallInst *Call;
  llvm::LoadInst *Received;

  static std::optional<LaneMove> of(const llvm::Value *V);
  llvm::Value *number() const { return Sent->getValueOperand(); }
  bool isLike(const LaneMove &Other) const; // whether it is the same move of another number
  // What the lane has sent that something was received from, by the same move; integers go without a rule.
  llvm::Value *sentBeside(const llvm::Value *Received) const;
};

// A mean and a sum of squared distances from it, of as many numbers as the count says. `Offset` is added to the count.
struct Triple {
  llvm::Value *Mean, *Squares, *Count;
  int Offset = 0;
};

struct Moments : Triple {
  enum class Kind {
    None,     // of no numbers: both are zero
    Ways,     // phis; From has what comes from each predecessor
    Received, // from a lane that has From
    Sum       // From, together, and the numbers that are Taken
  };
  Kind Is = Kind::None;
  llvm::SmallVector<Moments *, 4> From;
  llvm::SmallVector<llvm::Value *, 4> Taken;
  llvm::SmallSetVector<llvm::Instruction *, 32> Steps; // between From and the mean and squares of a sum
};

// Finds all that follow from each other in a function.
class MomentFinder {
public:
  MomentFinder(llvm::Function &Body, const llvm::DominatorTree &DT, const llvm::LoopInfo &LI)
      : Body(Body), DT(DT), LI(LI) {}

  // Those that loops carry, and what comes of them behind the loops.
  llvm::ArrayRef<std::unique_ptr<Moments>> find();

private:
  using Values = llvm::SmallSetVector<llvm::Value *, 16>;

  Moments *derive(const Triple &T);
  Moments *deriveWays(const Triple &T);
  Moments *deriveReceived(const Triple &T);
  Moments *deriveSum(const Triple &T);
  bool isSum(Moments &Sum);
  bool deriveMoved(const Values &OfMean, const Values &OfSquares, const Values &OfCount, Moments &Sum);
  Values leavesOf(llvm::Value *V) const;
  Moments *known(const llvm::Value *Mean, const llvm::Value *Squares) const;
  Residue countOf(const Triple &T) { return Numbers.of(T.Count) + Residue(T.Offset + Bias) - Residue(Bias); }

  void findCarried(const llvm::Loop &L);
  void followPhis(const Triple &Of);
  void followMoves(const Triple &Of);
  void followSum(const Triple &A, const Triple &B);
  std::optional<Triple> waysAt(llvm::PHINode &Mean, llvm::PHINode &Squares);

  static constexpr int Bias = 1 << 20; // of negative offsets
  llvm::Function &Body;
  const llvm::DominatorTree &DT;
  const llvm::LoopInfo &LI;
  Residues Numbers;
  Moments Nothing{};
  std::vector<std::unique_ptr<Moments>> All;
  unsigned Attempts = 0;
};

} // namespace adgen
