// Which shared shadows have elements of which each belongs to one row of the block.
#pragma once

#include "Analysis/Indices.h"

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/IR/Instructions.h"

#include <optional>

namespace adgen {

class RowOwners {
public:
  RowOwners(llvm::Function &F, llvm::LoopInfo &LI, llvm::ScalarEvolution &SE) : Index(F, LI), SE(SE) {}

  // The most rows that a block may have for it; nothing where it does not follow from the indices. These are all
  // accumulations into the shadow.
  std::optional<int64_t> mostRows(const llvm::Argument &Shadow, llvm::ArrayRef<llvm::AtomicRMWInst *> All);

private:
  // A constant, and multiples of counters.
  bool addPlaces(Polynomial &P, llvm::SmallVectorImpl<int64_t> &Places);
  Indices Index;
  llvm::ScalarEvolution &SE;
};

} // namespace adgen
