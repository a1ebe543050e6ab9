// Arithmetic, comparisons and conversions of inline PTX.
#include "Import/PtxTranslation.h"

#include "llvm/ADT/StringSwitch.h"
#include "llvm/IR/Intrinsics.h"
#include "llvm/IR/IntrinsicsNVPTX.h"

using namespace llvm;

namespace adgen {

Value *PtxTranslation::value(ArrayRef<StringRef> Words, ArrayRef<StringRef> Operands, Type *T) {
  StringRef Code = Words[0];
  if (Code == "cvt")
    return converted(Words, Operands);
  if (Code == "selp" && Operands.size() == 4) {
    Value *X = read(Operands[1], T), *Y = read(Operands[2], T), *P = read(Operands[3], B.getInt1Ty());
    return X && Y && P ? B.CreateSelect(P, X, Y) : nullptr;
  }
  if (Words[1] == "wide" && (Code == "mul" || Code == "mad"))
    return widened(Words, Operands);
  SmallVector<Value *> X;
  for (StringRef Operand : Operands.drop_front()) {
    X.push_back(read(Operand, T));
    if (!X.back())
      return nullptr;
  }
  if (Code == "mov" && X.size() == 1)
    return X[0];
  if ((Code == "setp" || Code == "set") && X.size() == 2)
    return compared(Words, X);
  return T->isFPOrFPVectorTy() ? floating(Words, X, T) : integral(Words, X);
}

Value *PtxTranslation::compared(ArrayRef<StringRef> Words, ArrayRef<Value *> X) {
  auto Float = StringSwitch<CmpInst::Predicate>(Words[1])
                   .Case("lt", CmpInst::FCMP_OLT)
                   .Case("le", CmpInst::FCMP_OLE)
                   .Case("gt", CmpInst::FCMP_OGT)
                   .Case("ge", CmpInst::FCMP_OGE)
                   .Case("eq", CmpInst::FCMP_OEQ)
                   .Case("ne", CmpInst::FCMP_ONE)
                   .Case("ltu", CmpInst::FCMP_ULT)
                   .Case("leu", CmpInst::FCMP_ULE)
                   .Case("gtu", CmpInst::FCMP_UGT)
                   .Case("geu", CmpInst::FCMP_UGE)
                   .Case("equ", CmpInst::FCMP_UEQ)
                   .Case("neu", CmpInst::FCMP_UNE)
                   .Default(CmpInst::BAD_FCMP_PREDICATE);
  bool Signed = Words.back().starts_with("s");
  auto Integer = StringSwitch<CmpInst::Predicate>(Words[1])
                     .Case("lt", Signed ? CmpInst::ICMP_SLT : CmpInst::ICMP_ULT)
                     .Case("le", Signed ? CmpInst::ICMP_SLE : CmpInst::ICMP_ULE)
                     .Case("gt", Signed ? CmpInst::ICMP_SGT : CmpInst::ICMP_UGT)
                     .Case("ge", Signed ? CmpInst::ICMP_SGE : CmpInst::ICMP_UGE)
                     .Case("eq", CmpInst::ICMP_EQ)
                     .Case("ne", CmpInst::ICMP_NE)
                     .Default(CmpInst::BAD_ICMP_PREDICATE);
  Type *T = X[0]->getType();
  bool IsFloat = T->isFPOrFPVectorTy();
  CmpInst::Predicate P = IsFloat ? Float : Integer;
  if (P == CmpInst::BAD_FCMP_PREDICATE || P == CmpInst::BAD_ICMP_PREDICATE ||
      (T->isVectorTy() && (!IsFloat || Words[0] == "setp")))
    return nullptr;
  Value *Truth = IsFloat ? B.CreateFCmp(P, X[0], X[1]) : B.CreateICmp(P, X[0], X[1]);
  if (Words[0] == "setp")
    return Truth;
  Type *To = Words.size() > 2 ? typeNamed(Words[Words.size() - 2]) : nullptr;
  if (To && To->isFPOrFPVectorTy())
    return T->isVectorTy() == To->isVectorTy() ? B.CreateUIToFP(Truth, To) : nullptr;
  if (!To)
    return nullptr;
  Type *Mask = T->isVectorTy() ? VectorType::get(B.getIntNTy(T->getScalarSizeInBits()), cast<VectorType>(T)) : To;
  return as(B.CreateSExt(Truth, Mask), To);
}

Value *PtxTranslation::converted(ArrayRef<StringRef> Words, ArrayRef<StringRef> Operands) {
  StringRef ToName = Words[Words.size() - 2], FromName = Words.back();
  Type *To = typeNamed(ToName), *From = typeNamed(FromName);
  auto Rounds = [&](StringRef How) { return is_contained(Words, How); };
  bool IsToInteger = To && From && To->isIntegerTy() && From->isFloatingPointTy(); // which saturates in any case
  if (!To || !From || (Rounds("sat") && !IsToInteger) || Rounds("relu"))
    return nullptr;
  if (auto *Pair = dyn_cast<FixedVectorType>(To); Pair && From->isFloatTy() && Operands.size() == 3 && Rounds("rn")) {
    Value *High = read(Operands[1], From), *Low = read(Operands[2], From);
    Value *Both = High && Low ? B.CreateInsertElement(PoisonValue::get(FixedVectorType::get(From, 2)), Low, uint64_t(0))
                              : nullptr;
    return Both ? B.CreateFPTrunc(B.CreateInsertElement(Both, High, 1), To) : nullptr;
  }
  Value *X = Operands.size() == 2 ? read(Operands[1], From) : nullptr;
  if (!X || To->isVectorTy() || From->isVectorTy())
    return nullptr;
  bool Exact = !Rounds("rz") && !Rounds("rm") && !Rounds("rp");
  unsigned Narrow = To->getScalarSizeInBits(), Wide = From->getScalarSizeInBits();
  Intrinsic::ID Rounding = Rounds("rni")   ? Intrinsic::rint
                           : Rounds("rmi") ? Intrinsic::floor
                           : Rounds("rpi") ? Intrinsic::ceil
                           : Rounds("rzi") ? Intrinsic::trunc
                                           : Intrinsic::not_intrinsic;
  if (To == From && To->isFloatingPointTy() && Rounding != Intrinsic::not_intrinsic)
    return B.CreateUnaryIntrinsic(Rounding, X);
  if (To->isFloatingPointTy() && From->isFloatingPointTy() && Narrow == Wide && Narrow == 16 && Exact)
    return B.CreateFPTrunc(B.CreateFPExt(X, B.getFloatTy()), To);
  if (To->isFloatingPointTy() && From->isFloatingPointTy())
    return Narrow > Wide ? B.CreateFPExt(X, To) : Narrow < Wide && Exact ? B.CreateFPTrunc(X, To) : nullptr;
  if (To->isFloatingPointTy())
    return Exact ? (FromName.starts_with("s") ? B.CreateSIToFP(X, To) : B.CreateUIToFP(X, To)) : nullptr;
  if (From->isIntegerTy())
    return FromName.starts_with("s") ? B.CreateSExtOrTrunc(X, To) : B.CreateZExtOrTrunc(X, To);
  if (Rounding == Intrinsic::not_intrinsic)
    return nullptr;
  Intrinsic::ID Saturate = ToName.starts_with("s") ? Intrinsic::fptosi_sat : Intrinsic::fptoui_sat;
  Value *Number = B.CreateIntrinsic(Saturate, {To, From}, {B.CreateUnaryIntrinsic(Rounding, X)});
  return Narrow == 8 ? B.CreateIntCast(Number, B.getInt32Ty(), ToName.starts_with("s")) : Number;
}

static bool areBytes(StringRef Name) { return Name == "e4m3x2" || Name == "e5m2x2"; }

bool PtxTranslation::isOfBytes(ArrayRef<StringRef> Words) {
  return Words[0] == "cvt" && Words.size() > 3 && Words[1] == "rn" && !is_contained(Words, "relu") &&
         (areBytes(Words.back()) || areBytes(Words[Words.size() - 2]));
}

// Two numbers of 8 bits are an integer, as it lies in memory: what is rounded to them or read from them has no
// derivative, like a number that is converted to char and back.
Value *PtxTranslation::ofBytes(ArrayRef<StringRef> Words, ArrayRef<StringRef> Operands) {
  StringRef To = Words[Words.size() - 2], From = Words.back(), Name = From == "f32" ? "ff" : From;
  Intrinsic::ID Id = Intrinsic::lookupIntrinsicID(("llvm.nvvm." + Name + ".to." + To + ".rn").str());
  if (Id == Intrinsic::not_intrinsic)
    return nullptr;
  Function *F = Intrinsic::getOrInsertDeclaration(Call.getModule(), Id);
  SmallVector<Value *> Given;
  for (StringRef Operand : Operands.drop_front())
    if (Value *X = Given.size() < F->arg_size() ? read(Operand, F->getArg(Given.size())->getType()) : nullptr)
      Given.push_back(X);
  if (Given.size() != F->arg_size() || Given.size() + 1 != Operands.size())
    return nullptr;
  CallInst *Converted = B.CreateCall(F, Given);
  Converted->addFnAttr(Attribute::get(Context, "enzyme_inactive"));
  return Converted;
}

Value *PtxTranslation::floating(ArrayRef<StringRef> Words, ArrayRef<Value *> X, Type *T) {
  StringRef Code = Words[0];
  bool Approximate = is_contained(Words, "approx") || is_contained(Words, "full");
  FastMathFlags Flags;
  Flags.setApproxFunc(Approximate);
  Flags.setAllowReciprocal(Approximate);
  B.setFastMathFlags(Flags);
  if (X.size() == 1)
    return unary(Code, X[0], T);
  if (X.size() == 3 && (Code == "fma" || Code == "mad"))
    return B.CreateIntrinsic(Intrinsic::fma, {T}, {X[0], X[1], X[2]});
  if (X.size() != 2)
    return nullptr;
  bool KeepsNaN = is_contained(Words, "NaN");
  return Code == "add"   ? B.CreateFAdd(X[0], X[1])
         : Code == "sub" ? B.CreateFSub(X[0], X[1])
         : Code == "mul" ? B.CreateFMul(X[0], X[1])
         : Code == "div" ? B.CreateFDiv(X[0], X[1])
         : Code == "min" ? B.CreateBinaryIntrinsic(KeepsNaN ? Intrinsic::minimum : Intrinsic::minnum, X[0], X[1])
         : Code == "max" ? B.CreateBinaryIntrinsic(KeepsNaN ? Intrinsic::maximum : Intrinsic::maxnum, X[0], X[1])
                         : nullptr;
}

Value *PtxTranslation::unary(StringRef Code, Value *X, Type *T) {
  Constant *One = ConstantFP::get(T, 1.0);
  auto Id = StringSwitch<Intrinsic::ID>(Code)
                .Case("abs", Intrinsic::fabs)
                .Case("sqrt", Intrinsic::sqrt)
                .Case("ex2", Intrinsic::exp2)
                .Case("lg2", Intrinsic::log2)
                .Case("sin", Intrinsic::sin)
                .Case("cos", Intrinsic::cos)
                .Default(Intrinsic::not_intrinsic);
  if (Code == "neg")
    return B.CreateFNeg(X);
  if (Code == "tanh")
    return tangent(X, T);
  if (Code == "rcp")
    return B.CreateFDiv(One, X);
  if (Code == "rsqrt")
    return B.CreateFDiv(One, B.CreateUnaryIntrinsic(Intrinsic::sqrt, X));
  if (Id == Intrinsic::not_intrinsic)
    return nullptr;
  bool InHalf = T->getScalarSizeInBits() == 16 && Id != Intrinsic::fabs && Id != Intrinsic::sqrt;
  if (InHalf) // as precise as the instruction, in single precision
    return B.CreateFPTrunc(B.CreateUnaryIntrinsic(Id, B.CreateFPExt(X, T->getWithNewType(B.getFloatTy()))), T);
  return B.CreateUnaryIntrinsic(Id, X);
}

Value *PtxTranslation::tangent(Value *X, Type *T) {
  if (auto *Vector = dyn_cast<FixedVectorType>(T)) {
    Value *All = PoisonValue::get(T);
    for (unsigned I = 0; I < Vector->getNumElements(); ++I)
      All = B.CreateInsertElement(All, tangent(B.CreateExtractElement(X, I), Vector->getElementType()), I);
    return All;
  }
  FunctionCallee Tanh = Call.getModule()->getOrInsertFunction("__nv_tanhf", B.getFloatTy(), B.getFloatTy());
  Value *Wide = T->isFloatTy() ? X : B.CreateFPExt(X, B.getFloatTy());
  Value *Result = B.CreateCall(Tanh, {Wide});
  return T->isFloatTy() ? Result : B.CreateFPTrunc(Result, T);
}

Value *PtxTranslation::dotted(ArrayRef<StringRef> Words, ArrayRef<Value *> X) {
  bool OfFour = Words[0] == "dp4a", High = is_contained(Words, "hi");
  ArrayRef<StringRef> Types = Words.take_back(2);
  if (Words.size() != (OfFour ? 3 : 4) || (!OfFour && !High && !is_contained(Words, "lo")) ||
      any_of(Types, [](StringRef T) { return T != "s32" && T != "u32"; }))
    return nullptr;
  static constexpr Intrinsic::ID OfFourBytes[] = {Intrinsic::nvvm_idp4a_s_s, Intrinsic::nvvm_idp4a_s_u,
                                                  Intrinsic::nvvm_idp4a_u_s, Intrinsic::nvvm_idp4a_u_u};
  static constexpr Intrinsic::ID OfTwo[] = {Intrinsic::nvvm_idp2a_s_s, Intrinsic::nvvm_idp2a_s_u,
                                            Intrinsic::nvvm_idp2a_u_s, Intrinsic::nvvm_idp2a_u_u};
  unsigned Signs = 2 * (Types[0] == "u32") + (Types[1] == "u32");
  if (OfFour)
    return B.CreateIntrinsic(OfFourBytes[Signs], {X[0], X[1], X[2]});
  Value *Bytes = High ? B.CreateLShr(X[1], 16) : X[1];
  return B.CreateIntrinsic(OfTwo[Signs], {X[0], Bytes, B.getFalse(), X[2]});
}

Value *PtxTranslation::integral(ArrayRef<StringRef> Words, ArrayRef<Value *> X) {
  StringRef Code = Words[0];
  if (X.size() == 1)
    return ofOne(Code, X[0]);
  bool Low = is_contained(Words, "lo");
  if (X.size() == 3 && (Code == "dp4a" || Code == "dp2a"))
    return dotted(Words, X);
  if (X.size() == 3 && Code == "bfe" && Words.back() == "u32")
    return extracted(X);
  if (X.size() == 4)
    return Code == "lop3" ? looked(X) : nullptr;
  if (X.size() == 3 && Code == "prmt" && Words.size() == 2)
    return B.CreateIntrinsic(Intrinsic::nvvm_prmt, {X[0], X[1], X[2]});
  if (X.size() == 3 && Code == "shf")
    return funnelled(Words, X);
  if (X.size() == 3)
    return Code == "mad" && Low ? B.CreateAdd(B.CreateMul(X[0], X[1]), X[2]) : nullptr;
  if (X.size() != 2 || is_contained(Words, "cc"))
    return nullptr;
  if (Code == "bmsk" && Words[1] == "clamp")
    return masked(X);
  if (Code == "shl" || Code == "shr")
    return shifted(Code, Words.back(), X);
  bool Signed = Words.back().starts_with("s");
  if (Words.size() == 2 && (Code == "min" || Code == "max"))
    return B.CreateBinaryIntrinsic(Code == "min" ? Signed ? Intrinsic::smin : Intrinsic::umin
                                   : Signed      ? Intrinsic::smax
                                                 : Intrinsic::umax,
                                   X[0], X[1]);
  return Code == "add"          ? B.CreateAdd(X[0], X[1])
         : Code == "sub"        ? B.CreateSub(X[0], X[1])
         : Code == "mul" && Low ? B.CreateMul(X[0], X[1])
         : Code == "and"        ? B.CreateAnd(X[0], X[1])
         : Code == "or"         ? B.CreateOr(X[0], X[1])
         : Code == "xor"        ? B.CreateXor(X[0], X[1])
                                : nullptr;
}

Value *PtxTranslation::ofOne(StringRef Code, Value *X) {
  if (Code == "not")
    return B.CreateNot(X);
  if (Code == "neg")
    return B.CreateNeg(X);
  if (Code == "brev")
    return B.CreateUnaryIntrinsic(Intrinsic::bitreverse, X);
  if (Code == "abs")
    return B.CreateBinaryIntrinsic(Intrinsic::abs, X, B.getFalse());
  if (Code != "popc" && Code != "clz")
    return nullptr;
  Value *Count = Code == "popc" ? B.CreateUnaryIntrinsic(Intrinsic::ctpop, X)
                                : B.CreateBinaryIntrinsic(Intrinsic::ctlz, X, B.getFalse());
  return B.CreateTrunc(Count, B.getInt32Ty());
}

// Factors of which the product has twice the bits; what is added has them, too.
Value *PtxTranslation::widened(ArrayRef<StringRef> Words, ArrayRef<StringRef> Operands) {
  auto *T = dyn_cast_or_null<IntegerType>(typeNamed(Words.back()));
  bool Adds = Words[0] == "mad", Signed = Words.back().starts_with("s");
  if (!T || T->getBitWidth() > 32 || Operands.size() != (Adds ? 4 : 3) || Words.size() != 3)
    return nullptr;
  Type *Wide = T->getExtendedType();
  Value *X = read(Operands[1], T), *Y = read(Operands[2], T), *Added = Adds ? read(Operands[3], Wide) : nullptr;
  if (!X || !Y || (Adds && !Added))
    return nullptr;
  Value *Product = B.CreateMul(B.CreateIntCast(X, Wide, Signed), B.CreateIntCast(Y, Wide, Signed));
  return Adds ? B.CreateAdd(Product, Added) : Product;
}

// Any function of three bits, by its table.
Value *PtxTranslation::looked(ArrayRef<Value *> X) {
  auto *Table = dyn_cast<ConstantInt>(X[3]);
  if (!Table)
    return nullptr;
  Value *Any = Constant::getNullValue(X[0]->getType());
  for (unsigned Row = 0; Row < 8; ++Row) {
    if (!(Table->getZExtValue() >> Row & 1))
      continue;
    Value *All = nullptr;
    for (unsigned I = 0; I < 3; ++I) {
      Value *Bit = Row >> (2 - I) & 1 ? X[I] : B.CreateNot(X[I]);
      All = All ? B.CreateAnd(All, Bit) : Bit;
    }
    Any = B.CreateOr(Any, All);
  }
  return Any;
}

// shf.l.wrap.b32 d, low, high, by: the upper word of both words after a shift, or the lower one of a shift to the
// right.
Value *PtxTranslation::funnelled(ArrayRef<StringRef> Words, ArrayRef<Value *> X) {
  if (Words.size() != 4 || Words[2] != "wrap" || !X[0]->getType()->isIntegerTy(32))
    return nullptr;
  Intrinsic::ID Id = Words[1] == "l" ? Intrinsic::fshl : Intrinsic::fshr;
  return B.CreateIntrinsic(Id, {X[0]->getType()}, {X[1], X[0], X[2]});
}

// By 32 bits or more nothing is left of a word, as its sign if it has one. How far is a word of 32 bits always.
Value *PtxTranslation::shifted(StringRef Code, StringRef TypeName, ArrayRef<Value *> X) {
  auto *T = cast<IntegerType>(X[0]->getType());
  if (T->getBitWidth() != 32)
    return nullptr;
  bool Signed = Code == "shr" && TypeName.starts_with("s");
  Value *Most = B.getInt32(Signed ? 31 : 63), *By = B.CreateBinaryIntrinsic(Intrinsic::umin, X[1], Most);
  if (Signed)
    return B.CreateAShr(X[0], By);
  Type *Wide = B.getInt64Ty();
  Value *Number = B.CreateZExt(X[0], Wide), *Far = B.CreateZExt(By, Wide);
  return B.CreateTrunc(Code == "shl" ? B.CreateShl(Number, Far) : B.CreateLShr(Number, Far), T);
}

// Ones from a place on, so many.
Value *PtxTranslation::masked(ArrayRef<Value *> X) {
  auto Below = [&](Value *Place) { // ones up to there, in 64 bits
    Value *Limited = B.CreateBinaryIntrinsic(Intrinsic::umin, Place, B.getInt64(32));
    return B.CreateSub(B.CreateShl(B.getInt64(1), Limited), B.getInt64(1));
  };
  Value *First = B.CreateZExt(X[0], B.getInt64Ty()), *Count = B.CreateZExt(X[1], B.getInt64Ty());
  Value *Ones = B.CreateAnd(Below(B.CreateAdd(First, Count)), B.CreateNot(Below(First)));
  return B.CreateTrunc(Ones, X[0]->getType());
}

// So many bits from a place on; those behind the word are zeros.
Value *PtxTranslation::extracted(ArrayRef<Value *> X) {
  Type *Wide = B.getInt64Ty();
  auto Limited = [&](Value *V, unsigned Most) {
    Value *Byte = B.CreateAnd(V, B.getInt32(255));
    return B.CreateZExt(B.CreateBinaryIntrinsic(Intrinsic::umin, Byte, B.getInt32(Most)), Wide);
  };
  Value *From = B.CreateLShr(B.CreateZExt(X[0], Wide), Limited(X[1], 32));
  Value *Mask = B.CreateSub(B.CreateShl(B.getInt64(1), Limited(X[2], 32)), B.getInt64(1));
  return B.CreateTrunc(B.CreateAnd(From, Mask), X[0]->getType());
}

} // namespace adgen
