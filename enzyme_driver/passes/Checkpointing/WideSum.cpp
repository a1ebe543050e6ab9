#include "Checkpointing/WideSum.h"

using namespace llvm;

namespace adgen {

Value *WideSum::isFinite(Value *V) {
  return B.CreateFCmpOLT(B.CreateUnaryIntrinsic(Intrinsic::fabs, V), ConstantFP::getInfinity(Number));
}

void WideSum::begin(Value *V) {
  Value *Is = isFinite(V);
  Constant *Zero = Constant::getNullValue(Number);
  B.CreateStore(B.CreateSelect(Is, V, Zero), at(High));
  B.CreateStore(Zero, at(Low));
  B.CreateStore(B.CreateSelect(Is, Zero, V), at(Infinite));
  B.CreateStore(B.CreateZExt(B.CreateNot(Is), Bits), at(Count));
}

void WideSum::change(Value *Summand, bool Adds) {
  Value *Is = isFinite(Summand);
  Value *Finite = B.CreateSelect(Is, Adds ? Summand : B.CreateFNeg(Summand), Constant::getNullValue(Number));
  Value *Old = load(High), *Sum = B.CreateFAdd(Old, Finite), *Added = B.CreateFSub(Sum, Old);
  Value *Lost = B.CreateFAdd(B.CreateFSub(Old, B.CreateFSub(Sum, Added)), B.CreateFSub(Finite, Added));
  Value *Rest = B.CreateFAdd(load(Low), Lost), *Whole = B.CreateFAdd(Sum, Rest);
  B.CreateStore(Whole, at(High));
  B.CreateStore(B.CreateFSub(Rest, B.CreateFSub(Whole, Sum)), at(Low));
  Value *One = B.CreateZExt(B.CreateNot(Is), Bits), *Known = B.CreateLoad(Bits, at(Count));
  Value *Left = Adds ? B.CreateAdd(Known, One) : B.CreateSub(Known, One);
  B.CreateStore(Left, at(Count));
  Value *Others = load(Infinite);
  B.CreateStore(Adds ? B.CreateSelect(Is, Others, B.CreateFAdd(Others, Summand))
                     : B.CreateSelect(B.CreateIsNull(Left), Constant::getNullValue(Number), Others),
                at(Infinite));
}

Value *WideSum::value() {
  return B.CreateSelect(B.CreateIsNull(B.CreateLoad(Bits, at(Count))), load(High), load(Infinite));
}

} // namespace adgen
