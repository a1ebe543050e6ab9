#include "Analysis/Residues.h"

#include "llvm/IR/Constants.h"
#include "llvm/IR/InstrTypes.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/PatternMatch.h"

using namespace llvm;
using namespace llvm::PatternMatch;

namespace adgen {

Residue operator*(Residue A, Residue B) {
  const auto Product = static_cast<unsigned __int128>(A.Number) * B.Number;
  return Residue(static_cast<uint64_t>(Product & Residue::Prime) + static_cast<uint64_t>(Product >> 61));
}

static Residue power(Residue Base, uint64_t Exponent) {
  Residue Result(1);
  for (; Exponent; Exponent /= 2, Base = Base * Base)
    if (Exponent & 1)
      Result = Result * Base;
  return Result;
}

Residue operator/(Residue A, Residue B) { return A * power(B, Residue::Prime - 2); }

namespace {

Residue ofInteger(const APInt &Number) {
  const bool IsNegative = Number.isNegative();
  const Residue Size(Number.abs().getLimitedValue());
  return IsNegative ? Residue() - Size : Size;
}

// Every finite number of floating point is an integer times a power of two.
Residue ofFloat(const APFloat &Number) {
  int Exponent;
  bool IsExact;
  APFloat Part = Number;
  Part.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &IsExact);
  Part = frexp(Part, Exponent, APFloat::rmNearestTiesToEven);
  constexpr int Digits = 60;
  Part = scalbn(Part, Digits, APFloat::rmNearestTiesToEven);
  APSInt Whole(64, /*isUnsigned=*/false);
  Part.convertToInteger(Whole, APFloat::rmTowardZero, &IsExact);
  Exponent -= Digits;
  const Residue Power = power(Residue(2), Exponent < 0 ? -Exponent : Exponent);
  return Exponent < 0 ? ofInteger(Whole) / Power : ofInteger(Whole) * Power;
}

bool isMultiplyAdd(const Value &V) {
  auto *Call = dyn_cast<IntrinsicInst>(&V);
  return Call && is_contained({Intrinsic::fma, Intrinsic::fmuladd}, Call->getIntrinsicID());
}

// A number that is not zero where it is divided by: max(n, 1) of a count.
Value *guardedCount(const Value &V) {
  Value *Count;
  return match(&V, m_SMax(m_Value(Count), m_One())) || match(&V, m_UMax(m_Value(Count), m_One())) ? Count : nullptr;
}

} // namespace

bool isArithmetic(const Value &V) {
  auto *I = dyn_cast<Instruction>(&V);
  if (!I || I->getType()->isVectorTy())
    return false;
  switch (I->getOpcode()) {
  case Instruction::FAdd:
  case Instruction::FSub:
  case Instruction::FMul:
  case Instruction::FDiv:
  case Instruction::FNeg:
  case Instruction::Add:
  case Instruction::Sub:
  case Instruction::Mul:
  case Instruction::SIToFP:
  case Instruction::UIToFP:
  case Instruction::SExt:
  case Instruction::ZExt:
    return !I->getOperand(0)->getType()->isIntegerTy(1);
  case Instruction::Or:
    return cast<PossiblyDisjointInst>(I)->isDisjoint();
  case Instruction::Shl:
    return match(I->getOperand(1), m_ConstantInt());
  default:
    return isMultiplyAdd(V) || guardedCount(V);
  }
}

Residue Residues::of(Value *V) {
  if (auto Found = Known.find(V); Found != Known.end())
    return Found->second;
  Residue Number = computed(*V);
  Known[V] = Number;
  return Number;
}

Residue Residues::random() { // splitmix64
  uint64_t Z = Seed += 0x9e3779b97f4a7c15;
  Z = (Z ^ Z >> 30) * 0xbf58476d1ce4e5b9;
  Z = (Z ^ Z >> 27) * 0x94d049bb133111eb;
  return Residue(Z ^ Z >> 31);
}

Residue Residues::computed(Value &V) {
  if (auto *Integer = dyn_cast<ConstantInt>(&V))
    return ofInteger(Integer->getValue());
  if (auto *Float = dyn_cast<ConstantFP>(&V); Float && Float->getValueAPF().isFinite())
    return ofFloat(Float->getValueAPF());
  if (!isArithmetic(V))
    return random();
  if (Value *Count = guardedCount(V))
    return of(Count);
  auto &I = cast<Instruction>(V);
  const Residue A = of(I.getOperand(0));
  if (isMultiplyAdd(V))
    return A * of(I.getOperand(1)) + of(I.getOperand(2));
  switch (I.getOpcode()) {
  case Instruction::FNeg:
    return Residue() - A;
  case Instruction::SIToFP:
  case Instruction::UIToFP:
  case Instruction::SExt:
  case Instruction::ZExt:
    return A;
  default:
    break;
  }
  const Residue B = of(I.getOperand(1));
  switch (I.getOpcode()) {
  case Instruction::FSub:
  case Instruction::Sub:
    return A - B;
  case Instruction::FMul:
  case Instruction::Mul:
    return A * B;
  case Instruction::Shl:
    return A * power(Residue(2), cast<ConstantInt>(I.getOperand(1))->getZExtValue());
  case Instruction::FDiv:
    return B == Residue() ? random() : A / B;
  default:
    return A + B;
  }
}

} // namespace adgen
