// What an iteration of a loop that keeps numbers has computed, computed again behind the loop from the iteration's
// number.
#pragma once

#include "Checkpointing/KeptPlaces.h"

#include "llvm/IR/IRBuilder.h"
#include "llvm/Transforms/Utils/ScalarEvolutionExpander.h"
#include "llvm/Transforms/Utils/ValueMapper.h"

namespace adgen {

class KeptIterations {
public:
  KeptIterations(llvm::Loop &L, llvm::ScalarEvolution &SE, const KeptPlaces &Kept)
      : L(L), SE(SE), Kept(Kept), Entering(*L.getLoopPreheader()), Expander(SE, "again") {}

  // What follows from the number of the iteration; before anything is changed.
  void findSteps();
  // The source's number of an iteration, from this block on; with the block where that ends. `Map` has what is known of
  // the iteration.
  std::pair<llvm::Value *, llvm::BasicBlock *> copy(llvm::Value *Source, llvm::Value *Iteration, llvm::BasicBlock &At,
                                                    llvm::ValueToValueMapTy &Map) const;

private:
  llvm::Value *inIteration(llvm::IRBuilder<> &B, llvm::PHINode &Phi, llvm::Value *Number) const;
  void copyInOrder(llvm::Instruction &I, const KeptPlaces::Needs &Needs, llvm::BasicBlock &To,
                   llvm::ValueToValueMapTy &Map) const;
  std::pair<llvm::Value *, llvm::BasicBlock *> copyWay(llvm::Instruction &Last, const KeptPlaces::Needs &Needs,
                                                       llvm::BasicBlock &At,
                                                       const llvm::ValueToValueMapTy &Known) const;

  llvm::Loop &L;
  llvm::ScalarEvolution &SE;
  const KeptPlaces &Kept;
  llvm::BasicBlock &Entering;
  llvm::SCEVExpander Expander;
  // Of a phi of the header: at first, and how much it grows by in each iteration.
  llvm::DenseMap<llvm::PHINode *, std::pair<llvm::Value *, llvm::Value *>> Steps;
};

} // namespace adgen
