// The runtime's memory for what gradients keep for their reverse sweeps (host_runtime/kept.h).
#pragma once

#include "llvm/IR/DerivedTypes.h"
#include "llvm/IR/Module.h"

namespace adgen {

struct KeptMemory {
  llvm::FunctionCallee Keep, Free, Mark, Release;

  explicit KeptMemory(llvm::Module &M);
};

} // namespace adgen
