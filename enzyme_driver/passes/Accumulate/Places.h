// Among which elements of a shadow an addition may be, and the same places in memory of the block's own.
#pragma once

#include "llvm/ADT/DenseMap.h"
#include "llvm/Analysis/LazyValueInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/IR/Instructions.h"

#include <optional>

namespace adgen {

// Between which bytes of a shadow an addition is, the end behind the element.
struct Bytes {
  int64_t Begin = INT64_MAX, End = INT64_MIN;

  void widen(const Bytes &Other) { Begin = std::min(Begin, Other.Begin), End = std::max(End, Other.End); }
  uint64_t size() const { return End - Begin; }
};

// By what indices may be: remainders, masks, counts of loops, conditions; and of a device variable no more than it has.
class Places {
public:
  static constexpr int64_t MostBytes = 8 * 1024; // of a table

  Places(const llvm::DataLayout &DL, llvm::LazyValueInfo &Values, llvm::ScalarEvolution &SE)
      : DL(DL), Values(Values), SE(SE) {}

  // Nothing where it is not in a small table, or does not begin at a multiple of its size.
  std::optional<Bytes> of(llvm::AtomicRMWInst &Addition) const;

private:
  std::optional<Bytes> bySteps(llvm::AtomicRMWInst &Addition) const;
  std::optional<Bytes> ofVariable(const llvm::AtomicRMWInst &Addition) const;
  bool areWholeSteps(llvm::AtomicRMWInst &Addition) const;
  llvm::ConstantRange rangeOf(llvm::Value &V, llvm::Instruction &At, unsigned Depth = 0) const;

  const llvm::DataLayout &DL;
  llvm::LazyValueInfo &Values;
  llvm::ScalarEvolution &SE;
};

// Addresses behind another beginning, by the same steps, so that what lies at fixed distances from each other is seen
// to.
class Elsewhere {
public:
  Elsewhere(llvm::Value &From, llvm::Value &To) { Known[&From] = &To; }
  llvm::Value &of(llvm::Value &Pointer);

private:
  llvm::DenseMap<llvm::Value *, llvm::Value *> Known;
};

} // namespace adgen
