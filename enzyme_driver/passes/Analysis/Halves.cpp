#include "Analysis/Halves.h"

#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/STLExtras.h"

#include <cmath>

using namespace llvm;

namespace adgen {
namespace {

constexpr unsigned Step = 61;      // of the bits that are tried, a prime
constexpr unsigned Numbers = 1000; // that are tried

const fltSemantics &semanticsOf(char Kind) { return Kind == 'b' ? APFloat::BFloat() : APFloat::IEEEhalf(); }

APFloat converted(APFloat Number, const fltSemantics &To) {
  bool Lost = false;
  Number.convert(To, APFloat::rmNearestTiesToEven, &Lost);
  return Number;
}

bool widens(LLVMContext &Context, char Kind, Computation Widen) {
  for (unsigned Bits = 1; Bits < 1u << 16; Bits += Step) {
    APFloat Right = converted(APFloat(semanticsOf(Kind), APInt(16, Bits)), APFloat::IEEEsingle());
    auto *Made = dyn_cast_or_null<ConstantFP>(Widen(ConstantInt::get(Type::getInt16Ty(Context), Bits)));
    if (!Made || !Made->getType()->isFloatTy())
      return false;
    if (Right.isNaN() ? !Made->getValueAPF().isNaN() : !Made->getValueAPF().bitwiseIsEqual(Right))
      return false;
  }
  return true;
}

// Floats whose lower bits are all kinds, ties among them; well inside of what half has.
float numberToTry(unsigned Index) {
  uint32_t Mixed = (Index + 1) * 2654435761u;
  uint32_t Mantissa = Mixed >> 9, Exponent = 127 - 12 + Index % 25;
  if (Index % 5 == 0) // a tie of either kind, just above, and just below
    Mantissa = (Mantissa & ~0x1fffu) | (Index % 2 ? 0x1000u : 0x8000u | (Mantissa & 0x10000u));
  if (Index % 5 == 1)
    Mantissa = (Mantissa & ~0xffffu) | 0x8000u;
  uint32_t Bits = (Index & 1) << 31 | Exponent << 23 | (Mantissa & 0x7fffffu);
  return bit_cast<float>(Bits);
}

} // namespace

Type *halfType(LLVMContext &Context, char Kind) {
  return Kind == 'b' ? Type::getBFloatTy(Context) : Type::getHalfTy(Context);
}

char kindWidened(LLVMContext &Context, Computation Widen) {
  for (char Kind : HalfKinds)
    if (widens(Context, Kind, Widen))
      return Kind;
  return 0;
}

Rounding roundingTo(LLVMContext &Context, char Kind, Computation Round) {
  const double Largest = std::ldexp(1.0, Kind == 'b' ? -7 : -10);
  Rounding Found = Rounding::ToNearest;
  for (unsigned I = 0; I < Numbers; ++I) {
    float Number = numberToTry(I);
    auto *Made = dyn_cast_or_null<ConstantInt>(Round(ConstantFP::get(Type::getFloatTy(Context), Number)));
    if (!Made || Made->getBitWidth() != 16)
      return Rounding::None;
    APFloat Rounded(semanticsOf(Kind), Made->getValue());
    if (!Rounded.isFinite() ||
        std::abs(converted(Rounded, APFloat::IEEEdouble()).convertToDouble() - Number) > Largest * std::abs(Number))
      return Rounding::None;
    if (!Rounded.bitwiseIsEqual(converted(APFloat(Number), semanticsOf(Kind))))
      Found = Rounding::Some;
  }
  return Found;
}

} // namespace adgen
