// What a gradient knows of its launch when it runs, as values.
#pragma once

#include "Analysis/Indices.h"

#include "llvm/IR/IRBuilder.h"

namespace adgen {

inline constexpr unsigned LaunchAxes = 3;

class LaunchNumbers {
public:
  // In a function with the gradient's parameters.
  LaunchNumbers(llvm::IRBuilder<> &B, llvm::Function &F) : B(B), F(F) {}

  // How many threads a block has along an axis, and how many blocks the grid: 32 bits.
  llvm::Value *threads(unsigned Axis);
  llvm::Value *blocks(unsigned Axis);
  // Of such extents alone: 64 bits.
  llvm::Value *of(const Polynomial &P);

private:
  llvm::Value *of(const Source &Extent);
  llvm::IRBuilder<> &B;
  llvm::Function &F;
};

} // namespace adgen
