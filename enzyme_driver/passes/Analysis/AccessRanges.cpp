// Sums and products are computed without regard to the size of the type, and where a number is extended, compared or
// divided, it has to fit into the type that it has there: then it is what the program computes.
#include "Analysis/AccessRanges.h"

using namespace llvm;

namespace adgen {

Value *AccessRange::checked(Intrinsic::ID Operation, Value *A, Value *C) {
  Value *Both = B.CreateBinaryIntrinsic(Operation, A, C);
  require(B.CreateNot(B.CreateExtractValue(Both, 1)));
  return B.CreateExtractValue(Both, 0);
}

Interval AccessRange::sum(Interval A, Interval C) {
  return {checked(Intrinsic::sadd_with_overflow, A.Begin, C.Begin),
          checked(Intrinsic::sadd_with_overflow, A.End, C.End)};
}

Interval AccessRange::product(Interval A, Interval C) {
  std::optional<Interval> All;
  for (Value *X : {A.Begin, A.End})
    for (Value *Y : {C.Begin, C.End}) {
      Value *One = checked(Intrinsic::smul_with_overflow, X, Y);
      All = All ? both(*All, {One, One}) : Interval{One, One};
    }
  return *All;
}

Interval AccessRange::both(Interval A, Interval C) {
  return {B.CreateBinaryIntrinsic(Intrinsic::smin, A.Begin, C.Begin),
          B.CreateBinaryIntrinsic(Intrinsic::smax, A.End, C.End)};
}

Interval AccessRange::signedIn(Interval I, const SCEV *S) {
  if (unsigned Bits = S->getType()->getIntegerBitWidth(); Bits < 64) {
    require(B.CreateICmpSGE(I.Begin, B.getInt64(minIntN(Bits))));
    require(B.CreateICmpSLE(I.End, B.getInt64(maxIntN(Bits))));
  }
  return I;
}

Interval AccessRange::unsignedIn(Interval I, const SCEV *S) {
  require(B.CreateICmpSGE(I.Begin, B.getInt64(0)));
  if (unsigned Bits = S->getType()->getIntegerBitWidth(); Bits < 64)
    require(B.CreateICmpSLE(I.End, B.getInt64(int64_t(maxUIntN(Bits)))));
  return I;
}

std::optional<Interval> AccessRange::of(const SCEV *S) {
  if (!S->getType()->isIntegerTy() || S->getType()->getIntegerBitWidth() > 64)
    return std::nullopt;
  if (auto Seen = Found.find(S); Seen != Found.end())
    return Seen->second;
  Found[S] = std::nullopt; // for what leads back to itself
  return Found[S] = compute(S);
}

std::optional<Interval> AccessRange::compute(const SCEV *S) {
  switch (S->getSCEVType()) {
  case scConstant: {
    Value *N = B.getInt64(cast<SCEVConstant>(S)->getAPInt().getSExtValue());
    return Interval{N, N};
  }
  case scTruncate:
    return of(cast<SCEVCastExpr>(S)->getOperand());
  case scZeroExtend:
  case scSignExtend: {
    const SCEV *Inner = cast<SCEVCastExpr>(S)->getOperand();
    std::optional<Interval> I = of(Inner);
    if (!I)
      return I;
    return S->getSCEVType() == scZeroExtend ? unsignedIn(*I, Inner) : signedIn(*I, Inner);
  }
  case scAddExpr:
  case scMulExpr: {
    std::optional<Interval> All;
    for (const SCEV *Operand : cast<SCEVNAryExpr>(S)->operands()) {
      std::optional<Interval> One = of(Operand);
      if (!One)
        return std::nullopt;
      All = !All ? One : isa<SCEVAddExpr>(S) ? sum(*All, *One) : product(*All, *One);
    }
    return All;
  }
  case scUDivExpr:
    return ofQuotient(*cast<SCEVUDivExpr>(S));
  case scAddRecExpr:
    return ofRecurrence(*cast<SCEVAddRecExpr>(S));
  case scSMaxExpr:
  case scSMinExpr:
  case scUMaxExpr:
  case scUMinExpr:
    return ofChoice(*cast<SCEVNAryExpr>(S));
  case scUnknown:
    return ofUnknown(cast<SCEVUnknown>(S)->getValue());
  default:
    return std::nullopt;
  }
}

std::optional<Interval> AccessRange::ofQuotient(const SCEVUDivExpr &Quotient) {
  std::optional<Interval> Number = of(Quotient.getLHS()), By = of(Quotient.getRHS());
  if (!Number || !By)
    return std::nullopt;
  unsignedIn(*Number, Quotient.getLHS());
  unsignedIn(*By, Quotient.getRHS());
  require(B.CreateICmpSGE(By->Begin, B.getInt64(1)));
  auto NotZero = [&](Value *N) { return B.CreateBinaryIntrinsic(Intrinsic::umax, N, B.getInt64(1)); };
  return Interval{B.CreateUDiv(Number->Begin, NotZero(By->End)), B.CreateUDiv(Number->End, NotZero(By->Begin))};
}

std::optional<Interval> AccessRange::ofRecurrence(const SCEVAddRecExpr &Recurrence) {
  const SCEV *Count = Evolution.getSymbolicMaxBackedgeTakenCount(Recurrence.getLoop());
  if (!Recurrence.isAffine() || isa<SCEVCouldNotCompute>(Count))
    return std::nullopt;
  std::optional<Interval> Start = of(Recurrence.getStart()), Step = of(Recurrence.getStepRecurrence(Evolution)),
                          Times = of(Count);
  if (!Start || !Step || !Times)
    return std::nullopt;
  unsignedIn(*Times, Count);
  return sum(*Start, product(*Step, {B.getInt64(0), Times->End}));
}

std::optional<Interval> AccessRange::ofChoice(const SCEVNAryExpr &Choice) {
  bool Signed = isa<SCEVSMaxExpr, SCEVSMinExpr>(Choice), Largest = isa<SCEVSMaxExpr, SCEVUMaxExpr>(Choice);
  Intrinsic::ID Chooses = Largest ? Intrinsic::smax : Intrinsic::smin;
  std::optional<Interval> All;
  for (const SCEV *Operand : Choice.operands()) {
    std::optional<Interval> One = of(Operand);
    if (!One)
      return std::nullopt;
    Signed ? signedIn(*One, Operand) : unsignedIn(*One, Operand);
    All = All ? Interval{B.CreateBinaryIntrinsic(Chooses, All->Begin, One->Begin),
                         B.CreateBinaryIntrinsic(Chooses, All->End, One->End)}
              : *One;
  }
  return All;
}

std::optional<Interval> AccessRange::ofUnknown(Value *V) {
  if (auto *A = dyn_cast<Argument>(V))
    return Known(*A);
  SmallVector<Value *> Ways;
  if (auto *Select = dyn_cast<SelectInst>(V))
    Ways = {Select->getTrueValue(), Select->getFalseValue()};
  else if (auto *Phi = dyn_cast<PHINode>(V))
    append_range(Ways, Phi->incoming_values());
  std::optional<Interval> All;
  for (Value *Way : Ways) {
    std::optional<Interval> One = of(Evolution.getSCEV(Way));
    if (!One)
      return std::nullopt;
    All = All ? both(*All, *One) : *One;
  }
  return All;
}

std::optional<Interval> AccessRange::of(const Instruction &Access, Value *Pointer) {
  const SCEV *At = Evolution.getSCEV(Pointer);
  std::optional<Interval> I = of(Evolution.removePointerBase(At));
  if (!I)
    return I;
  Type *T =
      isa<AtomicRMWInst>(Access) ? cast<AtomicRMWInst>(Access).getValOperand()->getType() : getLoadStoreType(&Access);
  Value *Last = B.getInt64(Access.getDataLayout().getTypeStoreSize(T) - 1);
  return sum(*I, {B.getInt64(0), Last});
}

} // namespace adgen
