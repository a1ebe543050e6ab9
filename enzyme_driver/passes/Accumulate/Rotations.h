// Loops in which all lanes of a warp accumulate into one element after the other, and which lanes may begin at
// different iterations.
#pragma once

#include "Support/Adgen.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/Instructions.h"

namespace adgen {

// What is added to an element in an iteration, in one place or several.
using Additions = llvm::SmallVector<llvm::AtomicRMWInst *, 2>;

// What decides about a loop that can be rotated.
struct Rotation {
  llvm::Loop *L;
  llvm::BasicBlock *Exiting;
  llvm::MapVector<const llvm::SCEV *, Additions> Elements; // by address
  llvm::SmallVector<llvm::PHINode *> Counters;
  llvm::SmallPtrSet<const llvm::Instruction *, 8> Results; // of sums, which the loop leaves
  const llvm::SCEV *LastIteration;                         // how often the loop goes back
  bool IsSeldom = true;                                    // no addition is made in every iteration

  // Whether a lane adds the same in all iterations, and nothing else is computed.
  bool repeats() const {
    return Exiting == L->getHeader() && L->getNumBlocks() <= 2 &&
           llvm::all_of(Elements,
                        [&](const auto &Item) {
                          return llvm::all_of(Item.second, [&](llvm::AtomicRMWInst *A) {
                            return L->isLoopInvariant(A->getValOperand());
                          });
                        }) &&
           llvm::all_of(L->getHeader()->phis(), [&](llvm::PHINode &Phi) { return llvm::is_contained(Counters, &Phi); });
  }
};

llvm::SmallVector<Rotation> rotationsIn(llvm::Function &F, llvm::LoopInfo &Loops, const llvm::DominatorTree &Tree,
                                        llvm::ScalarEvolution &SE);

} // namespace adgen
