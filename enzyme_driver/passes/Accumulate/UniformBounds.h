// Bounds of indices that the launch alone knows, such as the length of a table by which the kernel keeps an index in
// it.
#pragma once

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/ValueHandle.h"

#include <memory>

namespace adgen {

// A number of the kernel's parameters, constants and the block's extents.
class UniformBound {
public:
  // The largest that an integer may be, where it is kept so: by a minimum, a remainder, a condition on the way to `At`.
  // Nothing rests on it but speed.
  static std::unique_ptr<UniformBound> of(const llvm::Value &V, const llvm::Instruction &At, unsigned Depth = 0);
  static std::unique_ptr<UniformBound> constant(int64_t Number);
  // Of what is known; nothing where one of them is not.
  static std::unique_ptr<UniformBound> sum(std::unique_ptr<UniformBound> A, std::unique_ptr<UniformBound> B);
  static std::unique_ptr<UniformBound> product(std::unique_ptr<UniformBound> A, int64_t Factor);
  static std::unique_ptr<UniformBound> largest(std::unique_ptr<UniformBound> A, std::unique_ptr<UniformBound> B);

  // Whether the kernel does not keep to it.
  bool isGuessed() const { return Guessed; }

  // As 64 bits, in the gradient or in a function with its arguments.
  llvm::Value *make(llvm::IRBuilder<> &B) const;

private:
  static constexpr unsigned Least = 1000, Most = 1001; // beside LLVM's operations
  static std::unique_ptr<UniformBound> combined(unsigned Opcode, std::unique_ptr<UniformBound> A,
                                                std::unique_ptr<UniformBound> B);
  static std::unique_ptr<UniformBound> oneLess(std::unique_ptr<UniformBound> Of);
  static std::unique_ptr<UniformBound> itself(const llvm::Value &V);
  // `a * n + b` where both were read: for a table by two kinds, such as those of two atoms, there are n of each.
  static std::unique_ptr<UniformBound> ofPair(const llvm::Instruction &Index);
  static std::unique_ptr<UniformBound> byConditions(const llvm::Value &V, const llvm::Instruction &At);
  static std::unique_ptr<UniformBound> byComparison(const llvm::Value &Condition, bool Holds, const llvm::Value &V);

  llvm::WeakTrackingVH Number; // also where the function is replaced
  int64_t Fixed = 0;
  unsigned Opcode = 0; // of these, if there are any
  bool Guessed = false;
  std::unique_ptr<UniformBound> Left, Right;
};

} // namespace adgen
