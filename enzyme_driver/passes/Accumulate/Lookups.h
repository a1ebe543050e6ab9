// Which addresses were looked up.
#pragma once

#include "llvm/ADT/DenseMap.h"
#include "llvm/IR/Instructions.h"

namespace adgen {

// Whether an integer, or a pointer, comes from memory or from a number of floating point.
class Lookups {
public:
  bool make(const llvm::Value *V);

private:
  llvm::DenseMap<const llvm::Instruction *, bool> Found;
};

} // namespace adgen
