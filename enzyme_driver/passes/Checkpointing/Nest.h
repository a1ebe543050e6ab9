// A loop in another one that is left by its counter, and the conditions around it.
#pragma once

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"

#include <optional>

namespace adgen {

// What leaves it has been carried by it.
struct Nest {
  llvm::Loop &L, &Outer;
  llvm::BasicBlock *Header, *Latch, *Exit, *Before;
  llvm::BranchInst *Ends;
  llvm::Value *Flag = nullptr, *FirstFlag = nullptr; // that leaves it, and what it was before

  static std::optional<Nest> of(llvm::Loop &L);

  llvm::PHINode *carriedBy(const llvm::Value *Next) const;
  // All that is used behind the loop; for each a phi at its exit, which has what was there before if it does not run.
  bool leavesCarried() const;
  llvm::Value *first(llvm::Value *Next) const;
  // An integer that moves on by the same in each iteration, and that nobody asks behind the loop.
  bool isCounter(const llvm::PHINode &Phi) const;
  // The branch by which the loop runs or not, in the loop around; null if there is none.
  llvm::BranchInst *guard() const;
  // Where the loop ends, it is left by the flag, too, and where that was true before, the loop does not run.
  void leaveBy(llvm::Value &Flag, llvm::Value &First, llvm::DominatorTree &DT, llvm::LoopInfo &LI);

private:
  llvm::BranchInst *plainGuard() const;
};

// The opposite; what nobody else needs becomes it.
llvm::Value *negated(llvm::Value &Condition, llvm::IRBuilder<> &B);

// The branch's condition, where its first way becomes that to the block.
llvm::Value *conditionOf(llvm::BranchInst &Branch, const llvm::BasicBlock &First);

} // namespace adgen
