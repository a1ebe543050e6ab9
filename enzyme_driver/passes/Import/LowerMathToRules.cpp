// Before libdevice is linked: calls of functions with a derivative in rules/mathematics.cu become calls of those, and
// what returns results through pointers becomes one function a result. Bodies of libdevice are bits and tables to
// Enzyme. In C++ it does the same with those few functions of the C library that Enzyme has no rule for, or a wrong
// one.
#include "Import/MathRules.h"
#include "Support/Pass.h"

#include "llvm/ADT/StringSwitch.h"

using namespace llvm;

namespace adgen {
namespace {

// For double; for float with f at the end. Those Enzyme has good rules for are in MarkMath.
constexpr StringLiteral WithRule[] = {
    "asin",   "acos",      "atan2", "asinh",    "acosh",     "atanh",   "exp10",   "rsqrt",         "rcbrt",
    "cbrt",   "sinpi",     "cospi", "erfcx",    "erfinv",    "erfcinv", "normcdf", "normcdfinv",    "lgamma",
    "tgamma", "j0",        "j1",    "y0",       "y1",        "jn",      "yn",      "cyl_bessel_i0", "cyl_bessel_i1",
    "logb",   "pow",       "powi",  "hypot",    "rhypot",    "norm3d",  "rnorm3d", "norm4d",        "rnorm4d",
    "fmod",   "remainder", "fdim",  "copysign", "nextafter", "ldexp",   "scalbn"};

// These are for float alone.
constexpr StringLiteral WithRuleAsNamed[] = {"fast_exp10f", "fast_powf", "frsqrt_rn", "saturatef"};

// The last parameter is a pointer to a second result.
constexpr StringLiteral WithSecondResult[] = {"modf", "frexp", "remquo"};

constexpr StringLiteral DirectedOperations[] = {"fadd", "fsub", "fmul",      "fdiv",        "frcp", "fsqrt",
                                                "dadd", "dsub", "dmul",      "ddiv",        "drcp", "dsqrt",
                                                "fma",  "fmaf", "fmaf_ieee", "double2float"};

bool isListed(ArrayRef<StringLiteral> Names, StringRef Name) {
  return is_contained(Names, Name) || (Name.consume_back("f") && is_contained(Names, Name));
}

bool isDirected(StringRef Name) {
  bool Directed = Name.consume_back("_rz") || Name.consume_back("_rd") || Name.consume_back("_ru");
  return Directed && is_contained(DirectedOperations, Name);
}

// All arguments that are numbers in one vector; whole numbers become floating point.
Value *pack(IRBuilder<> &B, CallInst &Call) {
  SmallVector<Value *> Numbers;
  Type *T = nullptr;
  for (Value *Argument : Call.args())
    T = Argument->getType()->isFloatingPointTy() ? Argument->getType() : T;
  for (Value *Argument : Call.args())
    if (!Argument->getType()->isPointerTy())
      Numbers.push_back(Argument->getType()->isIntegerTy() ? B.CreateSIToFP(Argument, T) : Argument);
  if (Numbers.size() == 1)
    return Numbers.front();
  Value *Vector = PoisonValue::get(FixedVectorType::get(T, Numbers.size()));
  for (auto [Index, Number] : enumerate(Numbers))
    Vector = B.CreateInsertElement(Vector, Number, Index);
  return Vector;
}

void storeSecondResult(IRBuilder<> &B, CallInst &Call, StringRef Name) {
  SmallVector<Value *> Arguments(drop_end(Call.args()));
  SmallVector<Type *> Types(drop_end(Call.getFunctionType()->params()));
  Type *Second = Name.starts_with("modf") ? Call.getType() : B.getInt32Ty();
  Function *F = declarePure(*Call.getModule(), MathPrefix + Name + "_second", Second, Types);
  F->addFnAttr("enzyme_inactive");
  if (Second->isIntegerTy())
    F->addRetAttr(Attribute::get(F->getContext(), "enzyme_type", "{[-1]:Integer}"));
  B.CreateStore(B.CreateCall(F, Arguments), Call.getArgOperand(Call.arg_size() - 1));
}

void callRule(CallInst &Call, StringRef Name) {
  IRBuilder<> B(&Call);
  Value *Packed = pack(B, Call);
  if (isListed(WithSecondResult, Name))
    storeSecondResult(B, Call, Name);
  CallInst *New = B.CreateCall(declareMathRule(*Call.getModule(), Name, Call.getType(), Packed->getType()), {Packed});
  New->takeName(&Call);
  Call.replaceAllUsesWith(New);
  Call.eraseFromParent();
}

Value *callSame(IRBuilder<> &B, Module &M, const Twine &Name, Value *X) {
  return B.CreateCall(M.getOrInsertFunction(Name.str(), X->getType(), X->getType()), {X});
}

void splitSinCos(CallInst &Call, StringRef Prefix, StringRef Suffix) {
  IRBuilder<> B(&Call);
  Value *X = Call.getArgOperand(0);
  B.CreateStore(callSame(B, *Call.getModule(), Prefix + "sin" + Suffix, X), Call.getArgOperand(1));
  B.CreateStore(callSame(B, *Call.getModule(), Prefix + "cos" + Suffix, X), Call.getArgOperand(2));
  Call.eraseFromParent();
}

// The norm of an array: hypot(hypot(hypot(0, p[0]), p[1]), ...), which neither overflows nor underflows on the way.
Function *normFunction(Module &M, Type *T) {
  StringRef Suffix = T->isFloatTy() ? "f" : "";
  std::string Name = ("adgen_norm" + Suffix).str();
  if (Function *F = M.getFunction(Name))
    return F;
  LLVMContext &Context = M.getContext();
  auto *Int32 = Type::getInt32Ty(Context);
  auto *F = Function::Create(FunctionType::get(T, {Int32, PointerType::getUnqual(Context)}, false),
                             GlobalValue::InternalLinkage, Name, M);
  F->addFnAttr(Attribute::AlwaysInline);
  auto *Entry = BasicBlock::Create(Context, "entry", F), *Head = BasicBlock::Create(Context, "head", F);
  auto *Body = BasicBlock::Create(Context, "body", F), *End = BasicBlock::Create(Context, "end", F);
  IRBuilder<> B(Entry);
  B.CreateBr(Head);
  B.SetInsertPoint(Head);
  PHINode *Index = B.CreatePHI(Int32, 2, "i"), *Norm = B.CreatePHI(T, 2, "norm");
  B.CreateCondBr(B.CreateICmpSLT(Index, F->getArg(0)), Body, End);
  B.SetInsertPoint(Body);
  Value *Element = B.CreateLoad(T, B.CreateInBoundsGEP(T, F->getArg(1), B.CreateSExt(Index, B.getInt64Ty())));
  Value *Longer = B.CreateCall(M.getOrInsertFunction(("__nv_hypot" + Suffix).str(), T, T, T), {Norm, Element});
  Value *Next = B.CreateAdd(Index, B.getInt32(1));
  B.CreateBr(Head);
  Index->addIncoming(B.getInt32(0), Entry);
  Index->addIncoming(Next, Body);
  Norm->addIncoming(ConstantFP::get(T, 0.0), Entry);
  Norm->addIncoming(Longer, Body);
  B.SetInsertPoint(End);
  B.CreateRet(Norm);
  return F;
}

void writeOutNorm(CallInst &Call, bool Inverse) {
  IRBuilder<> B(&Call);
  Type *T = Call.getType();
  Value *New = B.CreateCall(normFunction(*Call.getModule(), T), {Call.getArgOperand(0), Call.getArgOperand(1)});
  if (Inverse)
    New = B.CreateFDiv(ConstantFP::get(T, 1.0), New);
  Call.replaceAllUsesWith(New);
  Call.eraseFromParent();
}

// Of two equal arguments the first one counts, of a number and NaN the number.
void choose(CallInst &Call, bool Larger) {
  IRBuilder<> B(&Call);
  Value *X = Call.getArgOperand(0), *Y = Call.getArgOperand(1);
  Value *First = Larger ? B.CreateFCmpOGE(X, Y) : B.CreateFCmpOLE(X, Y);
  Value *New = B.CreateSelect(B.CreateOr(First, B.CreateFCmpUNO(Y, Y)), X, Y);
  Call.replaceAllUsesWith(New);
  Call.eraseFromParent();
}

// llvm.modf returns both results.
void splitModf(CallInst &Call) {
  IRBuilder<> B(&Call);
  Value *X = Call.getArgOperand(0);
  StringRef Name = X->getType()->isFloatTy() ? "modff" : "modf";
  Value *Whole = B.CreateUnaryIntrinsic(Intrinsic::trunc, X);
  Value *Fraction = B.CreateCall(declareMathRule(*Call.getModule(), Name, X->getType(), X->getType()), {X});
  Value *Both = B.CreateInsertValue(PoisonValue::get(Call.getType()), Fraction, 0);
  Call.replaceAllUsesWith(B.CreateInsertValue(Both, Whole, 1));
  Call.eraseFromParent();
}

// What becomes of a call of __nv_NAME; false where it stays.
bool split(CallInst &Call, StringRef Name) {
  if (Name.consume_front("fast_sincos"))
    splitSinCos(Call, "__nv_fast_", Name);
  else if (Name.consume_front("sincos"))
    splitSinCos(Call, Call.getCalledFunction()->getName().starts_with("__nv_") ? "__nv_" : "", Name);
  else if (Name == "norm" || Name == "normf" || Name == "rnorm" || Name == "rnormf")
    writeOutNorm(Call, Name.starts_with("r"));
  else if (Name == "fmax" || Name == "fmaxf" || Name == "fmin" || Name == "fminf")
    choose(Call, Name.starts_with("fmax"));
  else if (Name == "llvm.modf.f32" || Name == "llvm.modf.f64")
    splitModf(Call);
  else if (isListed(WithRule, Name) || is_contained(WithRuleAsNamed, Name) || isListed(WithSecondResult, Name) ||
           isDirected(Name))
    callRule(Call, Name);
  else
    return false;
  return true;
}

// Functions of the C library that are split as libdevice's are; for float with f at the end.
constexpr StringLiteral OfLibrary[] = {"lgamma", "tgamma", "nextafter", "modf", "remquo", "sincos", "fmax", "fmin"};

// libdevice's name of a function, also where the user wrote a builtin of the compiler. Empty for any other.
StringRef nameOf(const Function &F) {
  StringRef Name = F.getName();
  if (Name.consume_front("__nv_"))
    return Name;
  if (!F.getParent()->getTargetTriple().isNVPTX() && (isListed(OfLibrary, Name) || Name.starts_with("llvm.modf.f")))
    return Name;
  return StringSwitch<StringRef>(Name)
      .Case("llvm.maxnum.f32", "fmaxf")
      .Case("llvm.maxnum.f64", "fmax")
      .Case("llvm.minnum.f32", "fminf")
      .Case("llvm.minnum.f64", "fmin")
      .Default("");
}

// True if something changed: what was split may bring in functions that are split as well. What is not called any more
// leaves, or its body would be linked.
bool splitAll(Module &M) {
  bool Changed = false;
  for (Function &F : make_early_inc_range(M)) {
    StringRef Name = nameOf(F);
    if (!F.isDeclaration() || Name.empty())
      continue;
    for (User *U : make_early_inc_range(F.users()))
      if (auto *Call = dyn_cast<CallInst>(U); Call && Call->getCalledFunction() == &F)
        Changed |= split(*Call, Name);
    if (F.use_empty())
      F.eraseFromParent();
  }
  return Changed;
}

// Functions of the C library that report errors in errno and do nothing else beside their result; for float with f at
// the end.
constexpr StringLiteral WithErrno[] = {"acos", "acosh", "asin",      "atan2", "atanh", "cos",  "cosh",  "erfc",
                                       "exp",  "exp2",  "expm1",     "fmod",  "hypot", "log",  "log10", "log1p",
                                       "log2", "pow",   "remainder", "sin",   "sinh",  "sqrt", "tan"};

// Where nobody reads errno, such calls can change places, leave loops, and be made once for several.
void forgetErrno(Module &M) {
  if (M.getFunction("__errno_location"))
    return;
  for (Function &F : M)
    if (F.isDeclaration() && isListed(WithErrno, F.getName())) {
      F.setDoesNotAccessMemory();
      F.setDoesNotThrow();
      F.setWillReturn();
    }
}

// The C library's functions of a point in the plane have no derivative where both numbers are zero, and Enzyme's is no
// number there: it is that of another point, to which nothing leads, as in rules/mathematics.cu.
void leaveOrigin(CallInst &Call, bool IsAngle) {
  constexpr StringLiteral Mark = "adgen-not-of-origin";
  if (Call.hasMetadata(Mark))
    return;
  Call.setMetadata(Mark, MDNode::get(Call.getContext(), {}));
  IRBuilder<> B(&Call);
  Value *One = Call.getArgOperand(0), *Other = Call.getArgOperand(1);
  Constant *Zero = ConstantFP::getZero(Call.getType()), *Unit = ConstantFP::get(Call.getType(), 1.0);
  Value *IsOrigin = B.CreateAnd(B.CreateFCmpOEQ(One, Zero), B.CreateFCmpOEQ(Other, Zero));
  if (IsAngle) { // the signs of zeros tell which it is
    Call.setArgOperand(0, B.CreateSelect(IsOrigin, B.CreateCopySign(Zero, One), One));
    Call.setArgOperand(1, B.CreateSelect(IsOrigin, B.CreateCopySign(Unit, Other), Other));
    return;
  }
  Call.setArgOperand(0, B.CreateSelect(IsOrigin, Unit, One));
  B.SetInsertPoint(Call.getNextNode());
  Value *Length = B.CreateSelect(IsOrigin, Zero, &Call);
  Call.replaceUsesWithIf(Length, [&](const Use &U) { return U.getUser() != Length; });
}

void leaveOrigins(Module &M) {
  for (StringRef Name : {"hypot", "hypotf", "atan2", "atan2f"})
    if (Function *F = M.getFunction(Name); F && F->isDeclaration())
      for (User *U : make_early_inc_range(F->users()))
        if (auto *Call = dyn_cast<CallInst>(U); Call && Call->getCalledFunction() == F)
          leaveOrigin(*Call, Name.starts_with("atan2"));
}

} // namespace

ADGEN_DECLARE_PASS(LowerMathToRules);

PreservedAnalyses LowerMathToRules::run(Module &M, ModuleAnalysisManager &) {
  if (!M.getTargetTriple().isNVPTX()) {
    forgetErrno(M);
    leaveOrigins(M);
  }
  while (splitAll(M)) {
  }
  return PreservedAnalyses::none();
}

} // namespace adgen
