// What a thread does on a way through a function on which a condition is known to hold: whether it changes anything,
// and what it brings to where the way ends. A thread whose pixel is opaque walks through a tile's loop so.
#pragma once

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/Instructions.h"

#include <optional>

namespace adgen {

class IdleWay {
public:
  IdleWay(const llvm::DominatorTree &DT, const llvm::LoopInfo &LI) : DT(DT), LI(LI) {}

  void assume(llvm::Value &Condition, bool Holds);

  // Whether nothing is changed on any way that it may take from the block (which it has come to from another one, or in
  // which it is already) to the end, where no threads meet but by what is left out of consideration, and what has
  // changed when a block is come to again is not asked for behind the end.
  bool walk(const llvm::BasicBlock *From, llvm::BasicBlock &To, llvm::BasicBlock &End,
            const llvm::Instruction *Ignored = nullptr);

  // What the phi at the end has then, in numbers from where the way began; null if that is not known.
  llvm::Value *brought(const llvm::PHINode &AtEnd) const;
  // Whether a phi on the way is what it was each time.
  bool stays(const llvm::PHINode &Phi) const { return Now.lookup(&Phi) == &Phi; }
  // Whether two numbers from where the way began are the same.
  bool isSame(llvm::Value &One, llvm::Value &Other) const;
  // A condition where the way began, if it is known.
  std::optional<bool> known(const llvm::Value &V) const;

private:
  using Edge = std::pair<const llvm::BasicBlock *, const llvm::BasicBlock *>;

  bool visitAll(llvm::BasicBlock &To, const llvm::Instruction *Ignored);
  bool visit(llvm::BasicBlock &Block, const llvm::Instruction *Ignored);
  bool settlePhis();
  bool isAgain(const llvm::BasicBlock &Block) const; // where it began, or before
  bool isKeptBehind() const;
  std::optional<llvm::Value *> now(llvm::Value &V) const;
  std::optional<llvm::Value *> met(const llvm::PHINode &Phi) const;
  std::optional<bool> holds(const llvm::Value &V) const;
  template <class Ask> static std::optional<bool> combine(const llvm::Instruction &I, Ask Known);

  const llvm::DominatorTree &DT;
  const llvm::LoopInfo &LI;
  const llvm::BasicBlock *Begin = nullptr, *End = nullptr;
  llvm::DenseMap<const llvm::Value *, bool> Assumed;
  llvm::SmallSetVector<llvm::BasicBlock *, 16> Visited;
  llvm::DenseSet<Edge> Taken;
  llvm::DenseMap<const llvm::PHINode *, llvm::Value *> Now; // of the blocks visited; null where it is not known
};

} // namespace adgen
