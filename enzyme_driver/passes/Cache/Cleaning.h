// LLVM's passes by which a gradient is cleaned up, again and again.
#pragma once

#include "llvm/IR/Function.h"
#include "llvm/IR/PassManager.h"

#include <memory>

namespace adgen {

// What a function looks like: equal before and after passes that have changed nothing.
uint64_t looksOf(const llvm::Function &F);

// One value for what is computed twice, and loops in simple form. A pass that has left the function as it was is not
// run on it once more when it looks the same: in the last rounds few passes change something.
class Cleaning {
public:
  Cleaning();
  ~Cleaning();
  void run(llvm::Function &F, llvm::FunctionAnalysisManager &FAM);

private:
  struct Known;
  std::unique_ptr<Known> Seen;
  llvm::FunctionPassManager Passes;
};

} // namespace adgen
