#include "Checkpointing/WideProduct.h"

#include "llvm/ADT/APFloat.h"

#include <cmath>

using namespace llvm;

namespace adgen {

WideProduct::WideProduct(IRBuilder<> &B, ArrayType *Array, Value *Base)
    : B(B), Array(Array), Base(Base), Number(Array->getElementType()),
      Bits(B.getIntNTy(Number->getPrimitiveSizeInBits())), Mantissa(Number->isFloatTy() ? 23 : 52),
      Bias(Number->isFloatTy() ? 127 : 1023) {}

Value *WideProduct::at(Place P) {
  return B.CreateConstInBoundsGEP2_32(Array, Base, 0, Array->getNumElements() - Places + P);
}

void WideProduct::begin(Value *V) {
  Parts Of = partsOf(V);
  B.CreateStore(B.CreateZExt(Of.IsZero, Bits), at(Zeros));
  B.CreateStore(Of.Power, at(Power));
  B.CreateStore(Of.Fraction, at(Fraction));
}

// What is no number stays none, and what is infinite becomes none.
WideProduct::Parts WideProduct::partsOf(Value *V) {
  Value *Whole = B.CreateBitCast(V, Bits);
  Value *Smallest = B.CreateShl(whole(1), Mantissa);
  Value *Size =
      B.CreateAnd(Whole, whole(static_cast<int64_t>((uint64_t{1} << (Mantissa + (Bias > 127 ? 11 : 8))) - 1)));
  Value *IsZero = B.CreateICmpEQ(Size, whole(0));
  Value *IsSmall = B.CreateICmpULT(Size, Smallest);
  Value *Scaled = B.CreateSelect(IsSmall, B.CreateFMul(V, number(std::ldexp(1.0, 64))), V);
  Value *Normal = B.CreateBitCast(Scaled, Bits);
  Value *Exponent = B.CreateAnd(B.CreateLShr(Normal, Mantissa), whole(2 * Bias + 1));
  Value *IsFinite = B.CreateICmpNE(Exponent, whole(2 * Bias + 1));
  Value *Fraction = B.CreateAnd(Normal, B.CreateNot(B.CreateShl(whole(2 * Bias + 1), Mantissa)));
  Value *Shifted = B.CreateBitCast(B.CreateOr(Fraction, B.CreateShl(whole(Bias), Mantissa)), Number);
  Value *Known = B.CreateSelect(IsFinite, Shifted, ConstantFP::getNaN(Number));
  Value *Power = B.CreateSub(B.CreateSub(Exponent, whole(Bias)), B.CreateSelect(IsSmall, whole(64), whole(0)));
  return {B.CreateSelect(IsZero, number(1), Known), B.CreateSelect(IsZero, whole(0), Power), IsZero};
}

void WideProduct::multiply(Value *Product, Value *Factor) {
  change(Factor, B.CreateFCmpOEQ(B.CreateFMul(Product, Factor), number(0)), true);
}

void WideProduct::divide(Value *Factor) {
  change(Factor, B.CreateICmpNE(B.CreateLoad(Bits, at(Zeros)), whole(0)), false);
}

void WideProduct::change(Value *Factor, Value *IsNothing, bool Multiplies) {
  Parts By = partsOf(B.CreateSelect(IsNothing, number(1), Factor));
  auto Change = [&](Place P, Value *Amount) {
    Value *Old = B.CreateLoad(Bits, at(P));
    return Multiplies ? B.CreateAdd(Old, Amount) : B.CreateSub(Old, Amount);
  };
  B.CreateStore(Change(Zeros, B.CreateZExt(IsNothing, Bits)), at(Zeros));
  Value *Old = B.CreateLoad(Number, at(Fraction));
  Value *New = Multiplies ? B.CreateFMul(Old, By.Fraction) : B.CreateFDiv(Old, By.Fraction);
  Value *Size = B.CreateUnaryIntrinsic(Intrinsic::fabs, New);
  Value *IsOut = Multiplies ? B.CreateFCmpOGE(Size, number(2)) : B.CreateFCmpOLT(Size, number(1));
  Value *Scaled = B.CreateFMul(New, number(Multiplies ? 0.5 : 2));
  B.CreateStore(B.CreateSelect(IsOut, Scaled, New), at(Fraction));
  Value *Moved = B.CreateZExt(IsOut, Bits);
  B.CreateStore(Change(Power, B.CreateAdd(By.Power, Moved)), at(Power));
}

Value *WideProduct::powerOfTwo(Value *Power) {
  return B.CreateBitCast(B.CreateShl(B.CreateAdd(Power, whole(Bias)), Mantissa), Number);
}

// Below the least power of a normal number by two factors.
Value *WideProduct::value() {
  Value *Exponent = B.CreateLoad(Bits, at(Power));
  Value *IsSmall = B.CreateICmpSLT(Exponent, whole(1 - Bias));
  Value *Most = B.CreateBinaryIntrinsic(
      Intrinsic::smin, B.CreateAdd(Exponent, B.CreateSelect(IsSmall, whole(64), whole(0))), whole(Bias));
  Value *Clamped = B.CreateBinaryIntrinsic(Intrinsic::smax, Most, whole(1 - Bias));
  Value *Known = B.CreateFMul(B.CreateLoad(Number, at(Fraction)), powerOfTwo(Clamped));
  Known = B.CreateSelect(IsSmall, B.CreateFMul(Known, number(std::ldexp(1.0, -64))), Known);
  return B.CreateSelect(B.CreateICmpEQ(B.CreateLoad(Bits, at(Zeros)), whole(0)), Known, Constant::getNullValue(Number));
}

} // namespace adgen
