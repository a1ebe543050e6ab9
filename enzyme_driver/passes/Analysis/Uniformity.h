// Which values are the same in all threads of a block, and which code all of them run.
#pragma once

#include "Support/Adgen.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Analysis/PostDominators.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/Instructions.h"

namespace adgen {

// A barrier of the block, as NVVM or as the host runtime has it.
bool waitsForBlock(const llvm::Instruction &I);

// Optimistic: a value is uniform unless it depends on what differs from thread to thread. Blocks between a branch that
// differs and the place where its ways meet again are divergent, and so is everything in them.
//
// A load is uniform where all threads read one place and the block has written nothing since the last barrier: threads
// that do not race read the same.
class Uniformity {
public:
  enum class Kind { Differs, Same, Derived };

  // `Classify` says what is known of an argument or a call; Derived is what its operands make of it.
  Uniformity(llvm::Function &F, llvm::function_ref<Kind(const llvm::Value &)> Classify);

  bool isUniform(const llvm::Value *V) const { return !Divergent.contains(V); }
  bool isDivergent(const llvm::BasicBlock *Block) const { return Blocks.contains(Block); }
  // Where the ways of a divergent branch at the end of the block meet again; null where they end first.
  llvm::BasicBlock *meetingPoint(const llvm::BasicBlock *Block) const;

private:
  void mark(const llvm::Value *V);
  void markBranch(const llvm::BasicBlock *Block);
  void markBlock(const llvm::BasicBlock *Block);
  bool differs(const llvm::Instruction &I, llvm::function_ref<Kind(const llvm::Value &)> Classify) const;

  llvm::PostDominatorTree Tree;
  llvm::DenseSet<const llvm::Value *> Divergent;
  llvm::DenseSet<const llvm::BasicBlock *> Blocks;
  llvm::SmallVector<const llvm::Value *> Work;
};

// What is known of the calls of a body, which is the primal's code.
Uniformity::Kind kindInBody(const llvm::Value &V);

// What is known of the arguments and calls of a gradient that runs in every thread of a GPU.
Uniformity::Kind kindOnDevice(const llvm::Value &V, const llvm::Function &F);

} // namespace adgen
