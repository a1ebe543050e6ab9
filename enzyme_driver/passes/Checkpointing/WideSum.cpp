#include "Checkpointing/WideSum.h"

using namespace llvm;

namespace adgen {

static constexpr double Large = 4096; // of whose negative the exponential is zero

Value *WideSum::isBelow(Value *V, Constant *Bound) {
  return B.CreateFCmpOLT(B.CreateUnaryIntrinsic(Intrinsic::fabs, V), Bound);
}

void WideSum::begin(Value *V) {
  for (Place P : {High, Low, LargeHigh, LargeLow, Infinite})
    B.CreateStore(Constant::getNullValue(Number), at(P));
  for (Place P : {LargeCount, InfiniteCount})
    B.CreateStore(Constant::getNullValue(Bits), at(P));
  add(V);
}

// What is lost of the upper number is added to the lower one.
void WideSum::addTo(Place Upper, Place Lower, Value *Summand) {
  Value *Old = load(Upper), *Sum = B.CreateFAdd(Old, Summand), *Added = B.CreateFSub(Sum, Old);
  Value *Lost = B.CreateFAdd(B.CreateFSub(Old, B.CreateFSub(Sum, Added)), B.CreateFSub(Summand, Added));
  Value *Rest = B.CreateFAdd(load(Lower), Lost), *Whole = B.CreateFAdd(Sum, Rest);
  B.CreateStore(Whole, at(Upper));
  B.CreateStore(B.CreateFSub(Rest, B.CreateFSub(Whole, Sum)), at(Lower));
}

// How many are left; whether there is none.
Value *WideSum::count(Place P, Value *One, bool Adds) {
  Value *Known = B.CreateLoad(Bits, at(P)), *Step = B.CreateZExt(One, Bits);
  Value *Left = Adds ? B.CreateAdd(Known, Step) : B.CreateSub(Known, Step);
  B.CreateStore(Left, at(P));
  return B.CreateIsNull(Left);
}

void WideSum::clear(Place P, Value *Is) {
  B.CreateStore(B.CreateSelect(Is, Constant::getNullValue(Number), load(P)), at(P));
}

void WideSum::change(Value *Summand, bool Adds) {
  Value *Signed = Adds ? Summand : B.CreateFNeg(Summand);
  Value *IsSmall = isBelow(Summand, ConstantFP::get(Number, Large));
  Value *IsFinite = isBelow(Summand, ConstantFP::getInfinity(Number));
  Value *IsLarge = B.CreateAnd(IsFinite, B.CreateNot(IsSmall)), *IsInfinite = B.CreateNot(IsFinite);
  addTo(High, Low, chosen(IsSmall, Signed));
  addTo(LargeHigh, LargeLow, chosen(IsLarge, Signed));
  Value *NoneLarge = count(LargeCount, IsLarge, Adds);
  clear(LargeHigh, NoneLarge);
  clear(LargeLow, NoneLarge);
  if (Adds)
    B.CreateStore(B.CreateFAdd(load(Infinite), chosen(IsInfinite, Summand)), at(Infinite));
  clear(Infinite, count(InfiniteCount, IsInfinite, Adds));
}

Value *WideSum::value() { return B.CreateFAdd(load(Infinite), B.CreateFAdd(load(LargeHigh), load(High))); }

} // namespace adgen
