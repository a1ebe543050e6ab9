#include "Oracle/DualNumbers.h"

#include "Analysis/Bits.h"

#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsNVPTX.h"

using namespace llvm;

namespace adgen {
namespace {

Constant *zero(Type *T) { return Constant::getNullValue(T); }

// A factor times a tangent. Where the tangent is zero the factor may be anything, such as the slope of a root at zero.
Value *product(IRBuilder<> &B, Value *Factor, Value *Tangent) {
  if (auto *C = dyn_cast<Constant>(Tangent); C && C->isNullValue())
    return Tangent;
  Value *Zero = zero(Tangent->getType());
  return B.CreateSelect(B.CreateFCmpOEQ(Tangent, Zero), Zero, B.CreateFMul(Factor, Tangent));
}

Value *sum(IRBuilder<> &B, Value *X, Value *Y) {
  if (auto *C = dyn_cast<Constant>(X); C && C->isNullValue())
    return Y;
  if (auto *C = dyn_cast<Constant>(Y); C && C->isNullValue())
    return X;
  return B.CreateFAdd(X, Y);
}

Value *difference(IRBuilder<> &B, Value *X, Value *Y) {
  if (auto *C = dyn_cast<Constant>(Y); C && C->isNullValue())
    return X;
  return B.CreateFSub(X, Y);
}

Value *ofProduct(IRBuilder<> &B, Value *X, Value *Y, Value *Dx, Value *Dy) {
  return sum(B, product(B, Y, Dx), product(B, X, Dy));
}

// (dx - q dy) / y
Value *ofQuotient(IRBuilder<> &B, Value *Quotient, Value *Y, Value *Dx, Value *Dy) {
  Value *Upper = difference(B, Dx, product(B, Quotient, Dy));
  if (auto *C = dyn_cast<Constant>(Upper); C && C->isNullValue())
    return Upper;
  Value *Zero = zero(Upper->getType());
  return B.CreateSelect(B.CreateFCmpOEQ(Upper, Zero), Zero, B.CreateFDiv(Upper, Y));
}

// dx / 2 root; at 0 nothing, which is the convention of the gradient.
Value *ofRoot(IRBuilder<> &B, Value *Root, Value *Dx) {
  Value *Zero = zero(Root->getType());
  Value *Slope = B.CreateFDiv(Dx, B.CreateFMul(ConstantFP::get(Root->getType(), 2.0), Root));
  return B.CreateSelect(B.CreateFCmpOEQ(Root, Zero), Zero, Slope);
}

bool areZero(ArrayRef<Value *> Shadows) {
  return all_of(Shadows, [](Value *S) { return isa<Constant>(S) && cast<Constant>(S)->isNullValue(); });
}

// What decides between two numbers that are equal.
void noteTie(IRBuilder<> &B, Value *X, Value *Y, Value *Dx, Value *Dy, Instruction &I, RuleWriter &Writer) {
  if (areZero({Dx, Dy}))
    return;
  Writer.note(B, B.CreateAnd(B.CreateFCmpOEQ(X, Y), B.CreateFCmpUNE(Dx, Dy)), Note::Tie, I.getDebugLoc());
}

// Results are no more precise than what they went through.
void noteRounding(IRBuilder<> &B, Value *Dx, Instruction &I, RuleWriter &Writer) {
  unsigned Bits = I.getType()->getScalarSizeInBits();
  if (Bits <= 32 && !areZero({Dx}))
    Writer.note(B, B.CreateFCmpUNE(Dx, zero(Dx->getType())), Bits == 32 ? Note::Single : Note::Half, I.getDebugLoc());
}

// Of two numbers the one that is the result; of a number and NaN the number.
Value *ofChoice(IRBuilder<> &B, Instruction &I, ArrayRef<Value *> D, bool Larger, RuleWriter &Writer) {
  Value *X = I.getOperand(0), *Y = I.getOperand(1);
  noteTie(B, X, Y, D[0], D[1], I, Writer);
  Value *First = Larger ? B.CreateFCmpOGE(X, Y) : B.CreateFCmpOLE(X, Y);
  return B.CreateSelect(B.CreateOr(First, B.CreateFCmpUNO(Y, Y)), D[0], D[1]);
}

Value *ofAbsolute(IRBuilder<> &B, Instruction &I, Value *D, RuleWriter &Writer) {
  Value *X = I.getOperand(0), *Zero = zero(X->getType());
  noteTie(B, X, Zero, D, B.CreateFNeg(D), I, Writer);
  return B.CreateSelect(B.CreateFCmpOLT(X, Zero), B.CreateFNeg(D), D);
}

// One element after the other of an intrinsic on vectors.
Value *elementwise(IRBuilder<> &B, CallBase &Call, ArrayRef<Value *> Shadows,
                   function_ref<Value *(Value *, ArrayRef<Value *>, ArrayRef<Value *>)> Of) {
  auto *Vector = cast<FixedVectorType>(Call.getType());
  Value *Result = PoisonValue::get(Vector);
  for (unsigned I = 0; I < Vector->getNumElements(); ++I) {
    SmallVector<Value *> Numbers, Tangents;
    for (auto [Argument, Shadow] : zip(Call.args(), Shadows)) {
      bool IsVector = Argument->getType()->isVectorTy();
      Numbers.push_back(IsVector ? B.CreateExtractElement(Argument, I) : Argument.get());
      Tangents.push_back(IsVector ? B.CreateExtractElement(Shadow, I) : Shadow);
    }
    Result = B.CreateInsertElement(Result, Of(B.CreateExtractElement(&Call, I), Numbers, Tangents), I);
  }
  return Result;
}

Value *toDouble(IRBuilder<> &B, Value *V) {
  return V->getType()->isIntegerTy() ? B.CreateSIToFP(V, B.getDoubleTy()) : B.CreateFPCast(V, B.getDoubleTy());
}

// double adgen_dual_NAME(numbers..., tangents...), all as double.
Value *callFormula(IRBuilder<> &B, StringRef Name, Type *Result, ArrayRef<Value *> Numbers,
                   ArrayRef<Value *> Tangents) {
  SmallVector<Value *> Arguments;
  for (Value *Number : Numbers)
    Arguments.push_back(toDouble(B, Number));
  for (auto [Number, Tangent] : zip(Numbers, Tangents))
    Arguments.push_back(Number->getType()->isIntegerTy() ? zero(B.getDoubleTy()) : toDouble(B, Tangent));
  SmallVector<Type *> Types(Arguments.size(), B.getDoubleTy());
  Module &M = *B.GetInsertBlock()->getModule();
  FunctionCallee Formula =
      M.getOrInsertFunction(("adgen_dual_" + Name).str(), FunctionType::get(B.getDoubleTy(), Types, false));
  return B.CreateFPCast(B.CreateCall(Formula, Arguments), Result);
}

Value *ofIntrinsic(IRBuilder<> &B, CallBase &Call, ArrayRef<Value *> D, RuleWriter &Writer) {
  Value *X = Call.getArgOperand(0);
  switch (Call.getIntrinsicID()) {
  case Intrinsic::fma:
  case Intrinsic::fmuladd:
    return sum(B, ofProduct(B, X, Call.getArgOperand(1), D[0], D[1]), D[2]);
  case Intrinsic::fabs:
    return ofAbsolute(B, Call, D[0], Writer);
  case Intrinsic::maxnum:
  case Intrinsic::maximum:
  case Intrinsic::maximumnum:
    return ofChoice(B, Call, D, true, Writer);
  case Intrinsic::minnum:
  case Intrinsic::minimum:
  case Intrinsic::minimumnum:
    return ofChoice(B, Call, D, false, Writer);
  case Intrinsic::copysign: { // |x| with the sign of y
    Value *Y = B.CreateCopySign(ConstantFP::get(X->getType(), 1.0), Call.getArgOperand(1));
    Value *Sign = B.CreateFMul(Y, B.CreateCopySign(ConstantFP::get(X->getType(), 1.0), X));
    return product(B, Sign, D[0]);
  }
  case Intrinsic::sqrt:
    return ofRoot(B, &Call, D[0]);
  case Intrinsic::ldexp:
    return B.CreateIntrinsic(Intrinsic::ldexp, {Call.getType(), Call.getArgOperand(1)->getType()},
                             {D[0], Call.getArgOperand(1)});
  case Intrinsic::floor:
  case Intrinsic::ceil:
  case Intrinsic::trunc:
  case Intrinsic::rint:
  case Intrinsic::nearbyint:
  case Intrinsic::round:
  case Intrinsic::roundeven:
    return zero(Call.getType());
  case Intrinsic::canonicalize:
  case Intrinsic::arithmetic_fence:
    return D[0];
  case Intrinsic::sincos: {
    Type *T = X->getType();
    Value *Sine = product(B, B.CreateExtractValue(&Call, 1), D[0]);
    Value *Cosine = product(B, B.CreateFNeg(B.CreateExtractValue(&Call, 0)), D[0]);
    (void)T;
    return B.CreateInsertValue(B.CreateInsertValue(PoisonValue::get(Call.getType()), Sine, 0), Cosine, 1);
  }
  case Intrinsic::modf:
    return B.CreateInsertValue(zero(Call.getType()), D[0], 0);
  case Intrinsic::frexp: {
    Value *Down = B.CreateNeg(B.CreateExtractValue(&Call, 1));
    return B.CreateInsertValue(zero(Call.getType()),
                               B.CreateIntrinsic(Intrinsic::ldexp, {X->getType(), Down->getType()}, {D[0], Down}), 0);
  }
  case Intrinsic::vector_reduce_fadd: {
    Value *Sum = D[0];
    for (unsigned I = 0; I < cast<FixedVectorType>(D[1]->getType())->getNumElements(); ++I)
      Sum = B.CreateFAdd(Sum, B.CreateExtractElement(D[1], I));
    return Sum;
  }
  default:
    return nullptr;
  }
}

// Arithmetic with a rounding that LLVM's own instructions do not have: "add.rz.f", "fma.rn.f16".
Value *ofDirected(IRBuilder<> &B, CallBase &Call, StringRef Name, ArrayRef<Value *> D) {
  StringRef Operation = Name.split('.').first;
  auto X = [&](unsigned I) { return Call.getArgOperand(I); };
  if (Name.contains(".relu") || Name.contains(".sat"))
    return nullptr;
  if (Operation == "add")
    return sum(B, D[0], D[1]);
  if (Operation == "mul")
    return ofProduct(B, X(0), X(1), D[0], D[1]);
  if (Operation == "div")
    return ofQuotient(B, &Call, X(1), D[0], D[1]);
  if (Operation == "fma")
    return sum(B, ofProduct(B, X(0), X(1), D[0], D[1]), D[2]);
  if (Operation == "rcp") // -dx r / x
    return ofQuotient(B, &Call, X(0), zero(Call.getType()), D[0]);
  if (Operation == "sqrt")
    return ofRoot(B, &Call, D[0]);
  if (Operation == "d2f" || Operation == "f2h")
    return Call.getType()->isFloatingPointTy() ? B.CreateFPCast(D[0], Call.getType()) : nullptr;
  if (is_contained({"i2f", "ui2f", "ll2f", "ull2f", "i2d", "ui2d", "ll2d", "ull2d"}, Operation))
    return zero(Call.getType());
  return nullptr;
}

} // namespace

Value *DualNumbers::ofArithmetic(IRBuilder<> &B, Instruction &I, ArrayRef<Value *> D, RuleWriter &Writer) {
  if (auto *Compare = dyn_cast<FCmpInst>(&I)) {
    if (Compare->isRelational() || Compare->isEquality())
      noteTie(B, I.getOperand(0), I.getOperand(1), D[0], D[1], I, Writer);
    return zero(I.getType());
  }
  switch (I.getOpcode()) {
  case Instruction::SIToFP:
  case Instruction::UIToFP:
  case Instruction::FPToSI:
  case Instruction::FPToUI:
    return zero(I.getType());
  default:
    break;
  }
  if (areZero(D) || isRounding(I))
    return zero(I.getType());
  switch (I.getOpcode()) {
  case Instruction::FAdd:
    return sum(B, D[0], D[1]);
  case Instruction::FSub:
    return difference(B, D[0], D[1]);
  case Instruction::FMul:
    return ofProduct(B, I.getOperand(0), I.getOperand(1), D[0], D[1]);
  case Instruction::FDiv:
    return ofQuotient(B, &I, I.getOperand(1), D[0], D[1]);
  case Instruction::FRem: { // x - trunc(x / y) y
    Value *Whole = B.CreateUnaryIntrinsic(Intrinsic::trunc, B.CreateFDiv(I.getOperand(0), I.getOperand(1)));
    return difference(B, D[0], product(B, Whole, D[1]));
  }
  case Instruction::FNeg:
    return B.CreateFNeg(D[0]);
  case Instruction::FPTrunc:
    noteRounding(B, D[0], I, Writer);
    [[fallthrough]];
  case Instruction::FPExt:
    return B.CreateFPCast(D[0], I.getType());
  default:
    break;
  }
  auto *Call = dyn_cast<CallBase>(&I);
  if (!Call || !Call->getCalledFunction() || !Call->getCalledFunction()->isIntrinsic())
    return nullptr;
  if (Value *Found = ofIntrinsic(B, *Call, D, Writer))
    return Found;
  StringRef Name = Call->getCalledFunction()->getName();
  if (Name.consume_front("llvm.nvvm."))
    if (Value *Found = ofDirected(B, *Call, Name, D))
      return Found;
  if (StringRef Formula = dualFormula(*Call->getCalledFunction()); !Formula.empty()) {
    if (!Call->getType()->isVectorTy())
      return callFormula(B, Formula, Call->getType(), SmallVector<Value *>(Call->args()), D);
    return elementwise(B, *Call, D, [&](Value *Result, ArrayRef<Value *> Numbers, ArrayRef<Value *> Tangents) {
      return callFormula(B, Formula, Result->getType(), Numbers, Tangents);
    });
  }
  return nullptr;
}

bool DualNumbers::knows(const Function &F) const { return !dualFormula(F).empty(); }

// Those that store a second result behind a pointer.
static Value *withPointers(IRBuilder<> &B, CallBase &Call, StringRef Name, ArrayRef<Value *> D, RuleWriter &Writer) {
  Value *X = Call.getArgOperand(0);
  auto Store = [&](StringRef Formula, unsigned At) {
    Writer.storeShadow(B, callFormula(B, Formula, X->getType(), {X}, {D[0]}), Call.getArgOperand(At), D[At],
                       Call.getDebugLoc());
  };
  if (Name == "sincos") {
    Store("sin", 1);
    Store("cos", 2);
    return nullptr;
  }
  if (Name == "modf") {
    Writer.storeShadow(B, zero(Call.getType()), Call.getArgOperand(1), D[1], Call.getDebugLoc());
    return D[0];
  }
  if (Name == "frexp") { // the mantissa over the number is a power of two
    Value *Power = B.CreateFDiv(&Call, X);
    Value *Regular = B.CreateSelect(B.CreateFCmpOEQ(X, zero(X->getType())), ConstantFP::get(X->getType(), 1.0), Power);
    return product(B, Regular, D[0]);
  }
  if (Name == "remquo") // x - n y, where n = (x - r) / y
    return callFormula(B, "remainder", Call.getType(), {X, Call.getArgOperand(1)}, {D[0], D[1]});
  return nullptr;
}

Value *DualNumbers::ofFunction(IRBuilder<> &B, CallBase &Call, ArrayRef<Value *> D, RuleWriter &Writer) {
  StringRef Name = dualFormula(*Call.getCalledFunction());
  if (any_of(Call.args(), [](const Use &A) { return A->getType()->isPointerTy(); }))
    return withPointers(B, Call, Name, D, Writer);
  if (!Call.getType()->isFloatingPointTy())
    return zero(Call.getType());
  if (areZero(D))
    return zero(Call.getType());
  if (Name == "fmax" || Name == "fmin")
    return ofChoice(B, Call, D, Name == "fmax", Writer);
  if (Name == "fabs")
    return ofAbsolute(B, Call, D[0], Writer);
  return callFormula(B, Name, Call.getType(), SmallVector<Value *>(Call.args()), D);
}

Value *DualNumbers::ofAtomic(IRBuilder<> &B, AtomicRMWInst &Atomic, Value *Shadow, Value *ShadowPointer) {
  AtomicRMWInst::BinOp Op = Atomic.getOperation();
  if (Op != AtomicRMWInst::FAdd && Op != AtomicRMWInst::FSub)
    return nullptr;
  return B.CreateAtomicRMW(Op, ShadowPointer, Shadow, Atomic.getAlign(), Atomic.getOrdering(), Atomic.getSyncScopeID());
}

Value *DualNumbers::isAny(IRBuilder<> &B, Value *Shadow) const {
  Value *Zero = zero(Shadow->getType());
  return Shadow->getType()->isFPOrFPVectorTy() ? B.CreateFCmpUNE(Shadow, Zero) : B.CreateICmpNE(Shadow, Zero);
}

} // namespace adgen
