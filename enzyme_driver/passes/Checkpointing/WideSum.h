// A sum from which each summand can be taken away again.
#pragma once

#include "llvm/IR/IRBuilder.h"

namespace adgen {

// Behind what a variable holds: the sum in two numbers, which have twice the digits, and apart from them how many
// summands were not finite, and what these sum up to.
class WideSum {
public:
  WideSum(llvm::IRBuilder<> &B, llvm::ArrayType *Array, llvm::Value *Base)
      : B(B), Array(Array), Base(Base), Number(Array->getElementType()),
        Bits(B.getIntNTy(Number->getPrimitiveSizeInBits())) {}

  static constexpr unsigned Places = 4;

  void begin(llvm::Value *V);
  void add(llvm::Value *Summand) { change(Summand, true); }
  void subtract(llvm::Value *Summand) { change(Summand, false); }
  llvm::Value *value();

private:
  enum Place : unsigned { High, Low, Infinite, Count };

  void change(llvm::Value *Summand, bool Adds);
  llvm::Value *isFinite(llvm::Value *V);
  llvm::Value *at(Place P) {
    return B.CreateConstInBoundsGEP2_32(Array, Base, 0, Array->getNumElements() - Places + P);
  }
  llvm::Value *load(Place P) { return B.CreateLoad(Number, at(P)); }

  llvm::IRBuilder<> &B;
  llvm::ArrayType *Array;
  llvm::Value *Base;
  llvm::Type *Number, *Bits;
};

} // namespace adgen
