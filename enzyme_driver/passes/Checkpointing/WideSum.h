// A sum from which each summand can be taken away again.
#pragma once

#include "llvm/IR/IRBuilder.h"

namespace adgen {

// Behind what a variable holds: the sum in two numbers, which have twice the digits. Summands that are large, such as a
// last interval without an end, would leave nothing of the others when they are taken away again: they have a sum of
// their own, which is zero once none is left, and so have those that are not finite.
class WideSum {
public:
  WideSum(llvm::IRBuilder<> &B, llvm::ArrayType *Array, llvm::Value *Base)
      : B(B), Array(Array), Base(Base), Number(Array->getElementType()),
        Bits(B.getIntNTy(Number->getPrimitiveSizeInBits())) {}

  static constexpr unsigned Places = 7;

  void begin(llvm::Value *V);
  void add(llvm::Value *Summand) { change(Summand, true); }
  void subtract(llvm::Value *Summand) { change(Summand, false); }
  llvm::Value *value();

private:
  enum Place : unsigned { High, Low, LargeHigh, LargeLow, LargeCount, Infinite, InfiniteCount };

  void change(llvm::Value *Summand, bool Adds);
  void addTo(Place Upper, Place Lower, llvm::Value *Summand);
  llvm::Value *count(Place P, llvm::Value *One, bool Adds);
  void clear(Place P, llvm::Value *Is);
  llvm::Value *isBelow(llvm::Value *V, llvm::Constant *Bound);
  llvm::Value *chosen(llvm::Value *Is, llvm::Value *V) {
    return B.CreateSelect(Is, V, llvm::Constant::getNullValue(Number));
  }
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
