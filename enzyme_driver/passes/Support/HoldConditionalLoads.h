// A fault of LLVM 22: where the vectoriser has made
//   read = masked.load(place, mask); masked.store(0, place, mask); chosen = select(mask, read, other)
// of a loop that reads a place on one of two ways and then writes to it, as gradients do with cotangents that they
// consume, instcombine makes masked.load(place, mask, other) of the choice, behind the store: it reads the zero. What
// goes from such a load to where the ways meet is frozen before the vectoriser runs, so that the choice is none of a
// load. Registered where the optimiser asks plugins for what runs before its vectoriser.
#pragma once

#include "llvm/IR/PassManager.h"

namespace adgen {

llvm::PreservedAnalyses holdConditionalLoads(llvm::Function &F);

struct HoldConditionalLoads : llvm::PassInfoMixin<HoldConditionalLoads> {
  llvm::PreservedAnalyses run(llvm::Function &F, llvm::FunctionAnalysisManager &) { return holdConditionalLoads(F); }
  static bool isRequired() { return true; }
};

} // namespace adgen
