// What may be infinite, or no number, and is not used everywhere that it is computed.
#pragma once

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Analysis/PostDominators.h"
#include "llvm/IR/Instructions.h"

namespace adgen {

// Whether it has a pole: a quotient, a logarithm, a power, a root, an inverse function.
bool hasPole(const llvm::Instruction &I);

// A function says by it, as does the gradient of a body, that a cotangent of zero may meet what is infinite.
inline constexpr llvm::StringLiteral DroppedPolesAttribute = "adgen-dropped-poles";

// Whether what is computed comes to the results on all ways from there.
class KeptNumbers {
public:
  explicit KeptNumbers(llvm::Function &F);

  // Whether something with a pole may be computed and have no part in any result.
  bool dropsPoles();

private:
  bool isKept(const llvm::Instruction &Number);
  bool isKeptBy(const llvm::Use &U);
  bool isUsedAlways(const llvm::Use &U, const llvm::Instruction &Number) const;
  bool isResult(const llvm::StoreInst &Store) const;

  llvm::Function &F;
  llvm::PostDominatorTree PDT;
  llvm::DenseMap<const llvm::Instruction *, bool> Known;
  llvm::DenseMap<const llvm::Value *, llvm::SmallVector<const llvm::StoreInst *>> Stores; // to an argument
};

} // namespace adgen
