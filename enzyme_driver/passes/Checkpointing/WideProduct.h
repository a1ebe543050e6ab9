// A product from which each factor is taken away again, although it may come to zero, or near: in a variable, a number
// from 1 to 2 and a power of two, and how many factors have come since the product itself was zero, which count for
// nothing.
#pragma once

#include "llvm/IR/IRBuilder.h"

namespace adgen {

class WideProduct {
public:
  // In the last three elements of an array of numbers.
  WideProduct(llvm::IRBuilder<> &B, llvm::ArrayType *Array, llvm::Value *Base);

  static constexpr unsigned Places = 3;

  void begin(llvm::Value *V);
  void multiply(llvm::Value *Product, llvm::Value *Factor); // the product as it was before
  void divide(llvm::Value *Factor);
  llvm::Value *value();

private:
  struct Parts {
    llvm::Value *Fraction, *Power, *IsZero;
  };
  enum Place : unsigned { Zeros, Power, Fraction };

  void change(llvm::Value *Factor, llvm::Value *IsNothing, bool Multiplies);
  Parts partsOf(llvm::Value *V);
  llvm::Value *powerOfTwo(llvm::Value *Power);
  llvm::Value *at(Place P);
  llvm::Value *whole(int64_t N) { return llvm::ConstantInt::getSigned(Bits, N); }
  llvm::Constant *number(double N) { return llvm::ConstantFP::get(Number, N); }

  llvm::IRBuilder<> &B;
  llvm::ArrayType *Array;
  llvm::Value *Base;
  llvm::Type *Number, *Bits;
  unsigned Mantissa; // its bits
  int64_t Bias;
};

} // namespace adgen
