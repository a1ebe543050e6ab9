// A number that a loop carries and multiplies in an iteration, or adds to, or leaves as it is: what it is multiplied
// with, and whether that can be undone.
#pragma once

#include "Analysis/SharedConstants.h"
#include "Analysis/UnchangedMemory.h"
#include "Support/Adgen.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"

namespace adgen {

// Of a branch that reads again how a comparison in its block has come out, and of the choices that keep that for it
// (CountStops).
inline constexpr llvm::StringLiteral OutcomeMetadata = "adgen.outcome";

class CarriedProduct {
public:
  CarriedProduct(llvm::PHINode &Carried, llvm::Loop &L, llvm::DominatorTree &DT, llvm::ScalarEvolution &SE,
                 UnchangedMemory &Unchanged, const Constants &Known)
      : Carried(Carried), L(L), DT(DT), SE(SE), Unchanged(Unchanged), Known(Known) {}

  // Whether the reverse sweep can divide by the factors of all iterations that others follow.
  bool isInvertible();
  // Whether the number may come to zero meanwhile, or near.
  bool isOfAnyRange() const { return AnyRange; }
  // Whether it is a sum, and its factors are summands.
  bool isSum() const { return Sums; }
  // On the way from a block to another (null: at the latch's end) an iteration has multiplied the number with that.
  struct Step {
    llvm::BasicBlock *From, *To;
    llvm::Value *Product;
  };
  llvm::ArrayRef<Step> steps() const { return Steps; }
  // Whether that can be undone in each iteration, also in the last one.
  bool isAlwaysInvertible() const { return Leaving.empty() && canDivide(next(), *L.getLoopLatch(), AnyRange, true); }
  // What it has been multiplied with, 1 where it stays as it is; of a sum 0. The code for that is new.
  llvm::Value *factor(const Step &Of) { return make(Of.Product); }
  // The comparisons that depend on the number, each with its result where the iteration leaves the loop.
  const llvm::MapVector<llvm::CmpInst *, bool> &leaving() const { return Leaving; }
  // What is computed in an iteration from the number.
  const llvm::SetVector<llvm::Instruction *> &computed() const { return Computed; }
  // What the outermost loop around leaves behind that follows from the number and was added up.
  llvm::ArrayRef<llvm::Instruction *> left() const { return Left.getArrayRef(); }
  // Whether the derivative of anything in the loop needs what another one in it has left, but for the product itself.
  bool isNeededIn(const llvm::Loop &Around, llvm::PHINode &Left) const;
  llvm::Value *next() const { return Carried.getIncomingValueForBlock(L.getLoopLatch()); }

private:
  using Blocks = llvm::SmallPtrSet<const llvm::BasicBlock *, 16>;

  bool isItself(const llvm::Value *V) const;
  bool collect();
  bool leaves(const llvm::CmpInst &Comparison, bool Result) const;
  bool isOutcome(const llvm::Instruction &Condition) const;
  bool isKeptFromZero(const llvm::Value &Product, const llvm::BasicBlock &From, bool Always) const;
  bool canDivide(llvm::Value *V, const llvm::BasicBlock &From, bool Guarded, bool Always) const;
  void findSteps(llvm::Value *V, llvm::BasicBlock *From, llvm::BasicBlock *To);
  bool isUsedBehind(const Step &Each) const;
  bool isOnlyExponent() const;
  bool isFactorRepeatable(llvm::Value *V);
  llvm::Value *factorOf(const llvm::Instruction &Product) const;
  llvm::Value *newFactor(llvm::IRBuilderBase &B, const llvm::Instruction &Product) const;
  llvm::Value *make(llvm::Value *V);
  bool isRepeatable(const llvm::Value *V);
  bool isRepeatable(const llvm::Instruction &I);
  bool isDecidedAgain(const llvm::PHINode &Phi);

  llvm::PHINode &Carried;
  llvm::Loop &L;
  llvm::DominatorTree &DT;
  llvm::ScalarEvolution &SE;
  UnchangedMemory &Unchanged;
  const Constants &Known;
  bool AnyRange = false, Sums = false;
  llvm::SetVector<llvm::Instruction *> Computed;
  llvm::SmallSetVector<llvm::Instruction *, 4> Left;
  llvm::MapVector<llvm::CmpInst *, bool> Leaving;
  llvm::DenseMap<const llvm::Instruction *, bool> Repeatable;
  llvm::SmallVector<Step> Steps;
  llvm::DenseMap<llvm::Value *, llvm::Value *> Made; // factors
};

} // namespace adgen
