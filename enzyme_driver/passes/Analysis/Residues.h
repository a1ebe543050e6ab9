// Numbers as a computer algebra system tests identities: every input of an arithmetic expression is a random number
// modulo a prime, and what is computed without rounding from such numbers is equal where the formulas are equal, and
// else as good as never.
#pragma once

#include "llvm/ADT/DenseMap.h"
#include "llvm/IR/Value.h"

namespace adgen {

class Residue {
public:
  constexpr Residue(uint64_t Number = 0) : Number(Number % Prime) {}

  friend Residue operator+(Residue A, Residue B) { return A.Number + B.Number; }
  friend Residue operator-(Residue A, Residue B) { return A.Number + (Prime - B.Number); }
  friend Residue operator*(Residue A, Residue B);
  friend Residue operator/(Residue A, Residue B); // not by zero
  bool operator==(const Residue &Other) const = default;

private:
  static constexpr uint64_t Prime = (uint64_t(1) << 61) - 1;
  uint64_t Number;
};

// Whether an instruction is one of the arithmetic that residues follow: the operands alone say what it is, up to
// rounding.
bool isArithmetic(const llvm::Value &V);

class Residues {
public:
  Residue of(llvm::Value *V);

private:
  Residue computed(llvm::Value &V);
  Residue random();

  llvm::DenseMap<llvm::Value *, Residue> Known;
  uint64_t Seed = 0;
};

} // namespace adgen
