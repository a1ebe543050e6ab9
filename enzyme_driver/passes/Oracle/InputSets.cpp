#include "Oracle/InputSets.h"

#include "Oracle/DualNumbers.h"

#include "llvm/ADT/StringSwitch.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsNVPTX.h"

using namespace llvm;

namespace adgen {
namespace {

constexpr StringLiteral LaneName = "adgen_set_lane";
constexpr unsigned Byte = 8, Widest = 64;

Constant *zero(Type *T) { return Constant::getNullValue(T); }

bool isEmpty(const Value *Shadow) {
  auto *C = dyn_cast<Constant>(Shadow);
  return C && (C->isNullValue() || isa<UndefValue>(C));
}

// The largest power of two that an integer or number of the type consists of; Widest for other types.
unsigned partOf(Type *T) {
  Type *Scalar = T->getScalarType();
  if (!Scalar->isIntegerTy() && !Scalar->isFloatingPointTy())
    return Widest;
  unsigned Width = Scalar->getScalarSizeInBits();
  return Width < Byte ? Widest : std::max(Byte, Width & -Width);
}

unsigned laneOf(Module &M) {
  unsigned Lane = Widest;
  for (Function &F : M)
    for (Instruction &I : instructions(F))
      holds(I.getType(), [&](Type *T) {
        Lane = std::min(Lane, partOf(T));
        return false;
      });
  return Lane;
}

// The type as integers: i32 for float, <2 x i64> for <2 x double>.
Type *bitsOf(Type *T) {
  Type *Integer = IntegerType::get(T->getContext(), T->getScalarSizeInBits());
  auto *Vector = dyn_cast<FixedVectorType>(T);
  return Vector ? FixedVectorType::get(Integer, Vector->getNumElements()) : Integer;
}

// Those whose results do not change with a small change of their arguments.
bool isStepwise(StringRef Name) {
  return is_contained({"floor", "ceil", "trunc", "round", "rint", "nearbyint", "roundeven", "logb"}, Name);
}

// Only the first argument matters: the others are a sign, a direction, an exponent.
bool isOfFirst(StringRef Name) { return is_contained({"copysign", "nextafter", "ldexp", "scalbn", "scalbln"}, Name); }

// Whose result is a whole number, or an answer: no bits of what they are given.
bool isConversion(const CallBase &Call) {
  StringRef Name = Call.getCalledFunction() ? Call.getCalledFunction()->getName() : "";
  if (Name.consume_front("llvm.nvvm."))
    return !Name.starts_with("d2i.lo") && !Name.starts_with("d2i.hi") && !Name.starts_with("bitcast");
  return Name.starts_with("llvm.fpto") || Name.contains("round.") || Name.contains("rint.") ||
         Name.starts_with("llvm.is.fpclass");
}

// The parts of an aggregate, each as a value of its own.
void flatten(IRBuilder<> &B, Value *V, SmallVectorImpl<Value *> &Parts) {
  Type *T = V->getType();
  if (isEmpty(V) || T->isPtrOrPtrVectorTy())
    return;
  if (!T->isAggregateType())
    return Parts.push_back(V);
  unsigned Count = T->isStructTy() ? T->getStructNumElements() : T->getArrayNumElements();
  for (unsigned I = 0; I < Count; ++I)
    flatten(B, B.CreateExtractValue(V, I), Parts);
}

} // namespace

InputSets::InputSets(Module &M, bool Global) : Lane(laneOf(M)), Global(Global) {
  auto *Value = ConstantInt::get(Type::getInt32Ty(M.getContext()), Lane);
  auto *Said = new GlobalVariable(M, Value->getType(), false, GlobalValue::ExternalLinkage, Value, LaneName, nullptr,
                                  GlobalValue::NotThreadLocal, M.getTargetTriple().isNVPTX() ? 1 : 0,
                                  /*isExternallyInitialized=*/true);
  Said->setAlignment(Align(4));
}

// What is in one lane is in all of them afterwards.
Value *InputSets::inAllLanes(IRBuilder<> &B, Value *Bits) const {
  Type *T = Bits->getType();
  unsigned Width = T->getScalarSizeInBits();
  if (Width == Lane)
    return Bits;
  if (!isPowerOf2_32(Width) || Width < Lane) // all inputs, or none
    return B.CreateSExt(B.CreateICmpNE(Bits, zero(T)), T);
  for (unsigned By = Lane; By < Width; By *= 2) {
    Value *Turned = B.CreateIntrinsic(Intrinsic::fshl, {T}, {Bits, Bits, ConstantInt::get(T, By)});
    Bits = B.CreateOr(Bits, Turned);
  }
  return Bits;
}

// Bits of one width in another one. A wider one has them in each lane.
static Value *resized(IRBuilder<> &B, Value *Bits, unsigned Width) {
  Type *T = Bits->getType()->getWithNewBitWidth(Width);
  if (Width <= Bits->getType()->getScalarSizeInBits())
    return B.CreateTrunc(Bits, T);
  return isPowerOf2_32(Width) ? B.CreateZExt(Bits, T) : B.CreateSExt(B.CreateICmpNE(Bits, zero(Bits->getType())), T);
}

Value *InputSets::unite(IRBuilder<> &B, ArrayRef<Value *> Shadows, Type *T) const {
  if (T->isAggregateType()) {
    Value *Result = zero(T);
    unsigned Count = T->isStructTy() ? T->getStructNumElements() : T->getArrayNumElements();
    for (unsigned I = 0; I < Count; ++I) {
      Type *Part = T->isStructTy() ? T->getStructElementType(I) : T->getArrayElementType();
      Result = B.CreateInsertValue(Result, unite(B, Shadows, Part), I);
    }
    return Result;
  }
  if ((!T->isFPOrFPVectorTy() && !T->isIntOrIntVectorTy()) || T->isIntOrIntVectorTy(1))
    return zero(T);
  SmallVector<Value *> Parts;
  for (Value *Shadow : Shadows)
    flatten(B, Shadow, Parts);
  Type *Bits = bitsOf(T);
  auto *Vector = dyn_cast<FixedVectorType>(T);
  Value *All = nullptr;
  for (Value *Part : Parts) {
    Value *Set = inAllLanes(B, B.CreateBitCast(Part, bitsOf(Part->getType())));
    if (Set->getType()->getScalarSizeInBits() < Lane) // a bit: all inputs, or none
      Set = B.CreateSExt(Set, Set->getType()->getWithNewBitWidth(Lane));
    auto *Given = dyn_cast<FixedVectorType>(Set->getType());
    bool IsElementwise = Given && Vector && Given->getNumElements() == Vector->getNumElements();
    if (Given && !IsElementwise)
      Set = B.CreateOrReduce(Set);
    Set = resized(B, Set, Bits->getScalarSizeInBits());
    if (Vector && !IsElementwise)
      Set = B.CreateVectorSplat(Vector->getNumElements(), Set);
    All = All ? B.CreateOr(All, Set) : Set;
  }
  return All ? B.CreateBitCast(inAllLanes(B, All), T) : zero(T);
}

Value *InputSets::ofArithmetic(IRBuilder<> &B, Instruction &I, ArrayRef<Value *> D, RuleWriter &) {
  if (!Global && (isa<FCmpInst>(I) || isa<FPToSIInst>(I) || isa<FPToUIInst>(I)))
    return zero(I.getType());
  auto *Call = dyn_cast<CallBase>(&I);
  if (!Call)
    return unite(B, D, I.getType());
  if (Call->mayReadOrWriteMemory() || !Call->getCalledFunction() || !Call->getCalledFunction()->isIntrinsic())
    return nullptr;
  StringRef Name = Call->getCalledFunction()->getName();
  Name.consume_front("llvm.");
  Name.consume_front("nvvm.");
  Name = Name.split('.').first;
  if (!Global && isStepwise(Name))
    return zero(I.getType());
  return unite(B, !Global && isOfFirst(Name) ? D.take_front() : D, I.getType());
}

bool InputSets::knows(const Function &F) const { return !dualFormula(F).empty(); }

// Those that store a second result behind a pointer.
Value *InputSets::ofFunction(IRBuilder<> &B, CallBase &Call, ArrayRef<Value *> D, RuleWriter &Writer) {
  StringRef Name = dualFormula(*Call.getCalledFunction());
  Type *OfNumber = Call.arg_size() ? Call.getArgOperand(0)->getType() : Call.getType();
  for (auto [At, Argument] : enumerate(Call.args()))
    if (Argument->getType()->isPointerTy() && (Name == "sincos" || Name == "modf"))
      Writer.storeShadow(B, Name == "modf" && !Global ? zero(OfNumber) : unite(B, D.take_front(), OfNumber), Argument,
                         D[At], Call.getDebugLoc());
  if (Global && (Name == "frexp" || Name == "remquo")) // a whole number
    Writer.storeShadow(B, unite(B, D, B.getInt32Ty()), Call.getArgOperand(Call.arg_size() - 1), D.back(),
                       Call.getDebugLoc());
  if (Call.getType()->isVoidTy())
    return nullptr;
  if (!Global && (!Call.getType()->isFPOrFPVectorTy() || isStepwise(Name)))
    return zero(Call.getType());
  return unite(B, !Global && isOfFirst(Name) ? D.take_front() : D, Call.getType());
}

// What comes to a place joins what is there, whatever the operation makes of the numbers; but an exchange is one.
Value *InputSets::ofAtomic(IRBuilder<> &B, AtomicRMWInst &Atomic, Value *Shadow, Value *ShadowPointer) {
  if (Atomic.getOperation() == AtomicRMWInst::Xchg)
    return nullptr;
  Type *T = Atomic.getType();
  Type *Whole = B.getIntNTy(T->getPrimitiveSizeInBits());
  Value *Given = B.CreateBitCast(unite(B, {Shadow}, T), Whole);
  Value *Old = B.CreateAtomicRMW(AtomicRMWInst::Or, ShadowPointer, Given, Atomic.getAlign(), Atomic.getOrdering(),
                                 Atomic.getSyncScopeID());
  return B.CreateBitCast(Old, T);
}

// What moves and joins whole lanes; null for other arithmetic.
Value *InputSets::ofParts(IRBuilder<> &B, BinaryOperator &I, ArrayRef<Value *> D) const {
  Type *T = I.getType();
  switch (I.getOpcode()) {
  case Instruction::And: {
    auto *Mask = dyn_cast<ConstantInt>(I.getOperand(1));
    if (!Mask || T->getIntegerBitWidth() % Lane)
      return B.CreateOr(D[0], D[1]);
    APInt Stays(T->getIntegerBitWidth(), 0);
    for (unsigned At = 0; At < T->getIntegerBitWidth(); At += Lane)
      if (!Mask->getValue().extractBits(Lane, At).isZero())
        Stays.setBits(At, At + Lane);
    return B.CreateAnd(D[0], ConstantInt::get(T, Stays));
  }
  case Instruction::Or:
  case Instruction::Xor:
    return B.CreateOr(D[0], D[1]);
  case Instruction::Shl:
  case Instruction::LShr: {
    auto *By = dyn_cast<ConstantInt>(I.getOperand(1));
    if (!By || By->getValue().uge(T->getScalarSizeInBits()) || By->getZExtValue() % Lane)
      return nullptr;
    return I.getOpcode() == Instruction::Shl ? B.CreateShl(D[0], By) : B.CreateLShr(D[0], By);
  }
  default:
    return nullptr;
  }
}

Value *InputSets::ofBits(IRBuilder<> &B, Instruction &I, ArrayRef<Value *> D, RuleWriter &Writer) {
  if (all_of(D, isEmpty))
    return zero(I.getType());
  if (auto *Binary = dyn_cast<BinaryOperator>(&I)) {
    Value *Moved = ofParts(B, *Binary, D);
    return Moved ? Moved : unite(B, D, I.getType());
  }
  if (isa<ZExtInst>(I) || isa<SExtInst>(I))
    return nullptr;
  if (isa<TruncInst>(I)) {
    if (I.getType()->getScalarSizeInBits() < Byte)
      Writer.note(B, isAny(B, D[0]), Note::LostBits, I.getDebugLoc());
    return nullptr;
  }
  SmallVector<Value *> Bits;
  auto *Call = dyn_cast<CallBase>(&I);
  for (Value *Shadow : D)
    if (Global || !Call || !isConversion(*Call) || !Shadow->getType()->isFPOrFPVectorTy())
      Bits.push_back(Shadow);
  return unite(B, Bits, I.getType());
}

Value *InputSets::isAny(IRBuilder<> &B, Value *Shadow) const {
  Type *Bits = bitsOf(Shadow->getType());
  return B.CreateICmpNE(B.CreateBitCast(Shadow, Bits), zero(Bits));
}

} // namespace adgen
