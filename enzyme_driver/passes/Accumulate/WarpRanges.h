// Elements at the beginning of a shadow that each warp of a block has for itself, where loops lead all threads from one
// to the next, as through the coefficients of a polynomial or the weights of a small layer.
#pragma once

#include "Accumulate/LaneOrigins.h"
#include "Analysis/ArrayRoots.h"
#include "Analysis/Indices.h"

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/IR/Instructions.h"

namespace adgen {

class WarpRanges {
public:
  // Without the additions that others take.
  WarpRanges(llvm::Function &Gradient, llvm::function_ref<bool(const llvm::AtomicRMWInst &)> IsTaken);

  bool empty() const { return All.empty(); }
  // Takes memory of a block, in bytes.
  void reserve(uint64_t Room);
  void zero(llvm::Instruction &Before) const;
  // What is added to elements of which warps have their own.
  void redirect(llvm::Instruction &Start) const;
  void addSums(llvm::Instruction &Before) const;

private:
  // Additions of a block to elements that are constants away from one place.
  struct Run {
    llvm::Value *Base;
    llvm::SmallVector<llvm::AtomicRMWInst *> Additions;
  };
  // A shadow's elements of one type; the launch's warps share the memory.
  struct Range {
    ArrayRoot Shadow;
    llvm::Type *T;
    llvm::SmallVector<Run> Runs;
    llvm::GlobalVariable *Memory = nullptr;
  };

  void add(llvm::AtomicRMWInst &Addition);
  Range *rangeOf(llvm::AtomicRMWInst &Addition);
  llvm::Value *bytesOfWarp(llvm::IRBuilder<> &B, const Range &R, llvm::Value *Warps) const;
  void redirect(const Run &Each, llvm::Value *Row, llvm::Value *Bytes) const;

  llvm::Function &F;
  const llvm::DataLayout &DL;
  ArrayRoots Roots;
  AccumulatedShadows Shadows;
  LaneOrigins From;
  std::vector<Range> All;
};

} // namespace adgen
