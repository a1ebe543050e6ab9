// What may be infinite, or no number, and is not used everywhere that it is computed.
#pragma once

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Analysis/PostDominators.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/Instructions.h"

namespace adgen {

// Whether it is a product and a sum in one.
bool isFma(const llvm::Instruction &I);

// Whether it is a power of a constant, such as e or 2.
bool isExponential(const llvm::Instruction &I);

// Whether it has a pole: a quotient, a logarithm, a power, a root, an inverse function.
bool hasPole(const llvm::Instruction &I);

// Whether it may meet its pole: not a quotient by, nor a root of, what is greater than zero by its form.
bool mayMeetPole(const llvm::Instruction &I);

// Whether it may be infinite, or no number, itself: a root of zero has an infinite derivative and is zero.
bool mayBeInfinite(const llvm::Instruction &I);

// A function says by it, as does the gradient of a body, that a cotangent of zero may meet what is infinite.
inline constexpr llvm::StringLiteral DroppedPolesAttribute = "adgen-dropped-poles";

// Of a number in such a body: where it is infinite, or no number, so is a result, or nothing uses it.
inline constexpr llvm::StringLiteral KeptMark = "adgen.kept";

// Of a number that only poles which are kept take as a divisor or an argument.
inline constexpr llvm::StringLiteral KeptArgumentMark = "adgen.kept_argument";

// Whether what is computed comes to the results on all ways from there.
class KeptNumbers {
public:
  explicit KeptNumbers(llvm::Function &F);

  // Whether something with a pole may be computed and have no part in any result.
  bool dropsPoles();

  // Marks what is kept. An optimisation that moves or joins numbers may lose the marks.
  void mark();

private:
  bool isDropped(const llvm::Instruction &Pole);
  bool isKept(const llvm::Instruction &Number);
  bool isKeptBy(const llvm::Use &U);
  bool isFiniteWhereUsed(const llvm::Instruction &I) const;
  bool isUsedAlways(const llvm::Use &U, const llvm::Instruction &Number) const;
  bool isResult(const llvm::StoreInst &Store) const;
  bool isReadAgain(const llvm::StoreInst &Store, const llvm::Value &Array) const;

  llvm::Function &F;
  llvm::DominatorTree DT;
  llvm::PostDominatorTree PDT;
  llvm::DenseMap<const llvm::Instruction *, bool> Known;
  llvm::DenseMap<const llvm::Value *, llvm::SmallVector<const llvm::StoreInst *>> Stores; // to an argument
  llvm::DenseMap<const llvm::Value *, llvm::SmallVector<const llvm::LoadInst *>> Loads;
  bool HasInfinities = false;
};

} // namespace adgen
