#include "Accumulate/Places.h"
#include "Support/Variables.h"

#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/PatternMatch.h"

using namespace llvm;
using namespace llvm::PatternMatch;

namespace adgen {

static constexpr unsigned MostSteps = 4;   // of an index, of which each is asked for
static constexpr unsigned NumberBits = 64; // of a place in bytes

static bool isSmall(const ConstantRange &Range) {
  return !Range.isEmptySet() && !Range.isFullSet() && Range.getSignedMin().sge(-Places::MostBytes) &&
         Range.getSignedMax().sle(Places::MostBytes);
}

// Behind casts and what only leaves a loop, as LLVM sees through them too.
static Value *stepsOf(Value *Pointer) {
  while (isa<AddrSpaceCastInst>(Pointer) || (isa<PHINode>(Pointer) && cast<PHINode>(Pointer)->getNumOperands() == 1))
    Pointer = cast<Instruction>(Pointer)->getOperand(0);
  return Pointer;
}

std::optional<Bytes> Places::of(AtomicRMWInst &Addition) const {
  if (!areWholeSteps(Addition))
    return std::nullopt;
  std::optional<Bytes> Found = bySteps(Addition), Whole = ofVariable(Addition);
  if (Found && Whole)
    return Bytes{std::max(Found->Begin, Whole->Begin), std::min(Found->End, Whole->End)};
  return Found ? Found : Whole;
}

bool Places::areWholeSteps(AtomicRMWInst &Addition) const {
  const int64_t Size = DL.getTypeStoreSize(Addition.getType());
  Value *Pointer = stepsOf(Addition.getPointerOperand());
  for (; auto *GEP = dyn_cast<GetElementPtrInst>(Pointer); Pointer = stepsOf(GEP->getPointerOperand())) {
    SmallMapVector<Value *, APInt, 4> Scales;
    APInt Constant(NumberBits, 0);
    if (!GEP->collectOffset(DL, NumberBits, Scales, Constant) || Constant.srem(Size) != 0 ||
        any_of(Scales, [&](const auto &Each) { return Each.second.srem(Size) != 0; }))
      return false;
  }
  return Pointer == getUnderlyingObject(Addition.getPointerOperand(), 0);
}

std::optional<Bytes> Places::bySteps(AtomicRMWInst &Addition) const {
  ConstantRange Sum(APInt(NumberBits, 0));
  for (Value *Pointer = stepsOf(Addition.getPointerOperand()); auto *GEP = dyn_cast<GetElementPtrInst>(Pointer);
       Pointer = stepsOf(GEP->getPointerOperand())) {
    SmallMapVector<Value *, APInt, 4> Scales;
    APInt Constant(NumberBits, 0);
    GEP->collectOffset(DL, NumberBits, Scales, Constant);
    Sum = Sum.add(ConstantRange(Constant));
    for (auto &[Index, Scale] : Scales) {
      ConstantRange Range = rangeOf(*Index, Addition).sextOrTrunc(NumberBits);
      if (!isSmall(Range) || !isSmall(ConstantRange(Scale)))
        return std::nullopt;
      Sum = Sum.add(Range.multiply(ConstantRange(Scale)));
    }
  }
  const int64_t Size = DL.getTypeStoreSize(Addition.getType());
  return isSmall(Sum)
             ? std::optional(Bytes{Sum.getSignedMin().getSExtValue(), Sum.getSignedMax().getSExtValue() + Size})
             : std::nullopt;
}

// The primal reads where the gradient adds.
std::optional<Bytes> Places::ofVariable(const AtomicRMWInst &Addition) const {
  auto *A = dyn_cast<Argument>(getUnderlyingObject(Addition.getPointerOperand(), 0));
  const GlobalVariable *Shadow = A ? variableOf(*A) : nullptr;
  if (!Shadow)
    return std::nullopt;
  const int64_t Size = DL.getTypeStoreSize(Shadow->getValueType());
  return Size <= MostBytes ? std::optional(Bytes{0, Size}) : std::nullopt;
}

// Where LLVM has taken a remainder for a difference, in no more bits than it needs: x % n is x - x / n * n.
static std::optional<ConstantRange> remainderOf(const Instruction &I) {
  const unsigned Bits = I.getType()->isIntegerTy() ? I.getType()->getIntegerBitWidth() : 0;
  const Value *Of = nullptr, *Again = nullptr;
  const APInt *Divisor = nullptr, *Factor = nullptr;
  auto Quotient = m_Mul(m_SDiv(m_Value(Of), m_APInt(Divisor)), m_APInt(Factor));
  if (!Bits || !match(&I, m_TruncOrSelf(m_c_Add(Quotient, m_Value(Again)))) || Of != Again ||
      !Divisor->isStrictlyPositive() || Divisor->getActiveBits() >= Bits || !(*Divisor + *Factor).trunc(Bits).isZero())
    return std::nullopt;
  const APInt N = Divisor->trunc(Bits);
  return ConstantRange(1 - N, N);
}

// Also what a few steps make of numbers whose ranges are known.
ConstantRange Places::rangeOf(Value &V, Instruction &At, unsigned Depth) const {
  ConstantRange Range = Values.getConstantRange(&V, &At, false);
  if (SE.isSCEVable(V.getType()))
    Range = Range.intersectWith(SE.getSignedRange(SE.getSCEV(&V)), ConstantRange::Signed);
  auto *I = dyn_cast<Instruction>(&V);
  if (!I || Depth == MostSteps)
    return Range;
  if (std::optional<ConstantRange> Remainder = remainderOf(*I))
    return Range.intersectWith(*Remainder, ConstantRange::Signed);
  auto Of = [&](unsigned Operand) { return rangeOf(*I->getOperand(Operand), At, Depth + 1); };
  if (isa<BinaryOperator>(I))
    return Range.intersectWith(Of(0).binaryOp(Instruction::BinaryOps(I->getOpcode()), Of(1)), ConstantRange::Signed);
  if (isa<SExtInst, ZExtInst, TruncInst>(I))
    return Range.intersectWith(Of(0).castOp(cast<CastInst>(I)->getOpcode(), I->getType()->getIntegerBitWidth()),
                               ConstantRange::Signed);
  return Range;
}

Value &Elsewhere::of(Value &Pointer) {
  if (Value *Found = Known.lookup(&Pointer))
    return *Found;
  if (Value *Steps = stepsOf(&Pointer); Steps != &Pointer)
    return of(*Steps);
  auto *GEP = cast<GetElementPtrInst>(&Pointer);
  Value &From = of(*GEP->getPointerOperand());
  auto *Copy = cast<GetElementPtrInst>(GEP->clone());
  Copy->setOperand(0, &From);
  Copy->mutateType(From.getType());
  Copy->setNoWrapFlags(GEPNoWrapFlags::none()); // what lies between may be outside
  Copy->insertAfter(GEP->getIterator());
  return *(Known[&Pointer] = Copy);
}

} // namespace adgen
