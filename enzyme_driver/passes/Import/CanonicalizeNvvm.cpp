// Writes NVVM's arithmetic intrinsics as LLVM's own instructions and intrinsics, which Enzyme has rules for and
// which the host has too. Approximate forms keep the flag `afn`, from which the NVPTX back end makes the same
// approximate instruction again. What has a directed rounding stays as it is. Reads through addresses of global memory
// (__ldg) become reads through generic ones.
#include "Support/Pass.h"
#include "Support/Threads.h"

#include "llvm/ADT/StringSwitch.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/Intrinsics.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/IR/Operator.h"

using namespace llvm;

namespace adgen {
namespace {

constexpr unsigned GlobalSpace = 1;

using Make = Value *(*)(IRBuilder<> &, CallInst &);

Value *unary(IRBuilder<> &B, CallInst &C, Intrinsic::ID Id) { return B.CreateUnaryIntrinsic(Id, C.getArgOperand(0)); }
Value *binary(IRBuilder<> &B, CallInst &C, Intrinsic::ID Id) {
  return B.CreateBinaryIntrinsic(Id, C.getArgOperand(0), C.getArgOperand(1));
}
Value *approximate(IRBuilder<> &B, CallInst &C, Intrinsic::ID Id) {
  FastMathFlags Flags;
  Flags.setApproxFunc();
  B.setFastMathFlags(Flags);
  return unary(B, C, Id);
}
Value *reciprocal(IRBuilder<> &B, Value *X, bool Approximate) {
  FastMathFlags Flags;
  Flags.setApproxFunc(Approximate);
  Flags.setAllowReciprocal(Approximate);
  B.setFastMathFlags(Flags);
  return B.CreateFDiv(ConstantFP::get(X->getType(), 1.0), X);
}
Value *saturate(IRBuilder<> &B, CallInst &C) {
  Type *T = C.getType();
  Value *AtLeastZero = B.CreateBinaryIntrinsic(Intrinsic::maxnum, C.getArgOperand(0), ConstantFP::get(T, 0.0));
  return B.CreateBinaryIntrinsic(Intrinsic::minnum, AtLeastZero, ConstantFP::get(T, 1.0));
}
Value *halfOfDouble(IRBuilder<> &B, CallInst &C, unsigned Shift) {
  Value *Bits = B.CreateBitCast(C.getArgOperand(0), B.getInt64Ty());
  return B.CreateTrunc(B.CreateLShr(Bits, Shift), B.getInt32Ty());
}
Value *doubleOfHalves(IRBuilder<> &B, CallInst &C) {
  Value *Low = B.CreateZExt(C.getArgOperand(0), B.getInt64Ty());
  Value *High = B.CreateShl(B.CreateZExt(C.getArgOperand(1), B.getInt64Ty()), 32);
  return B.CreateBitCast(B.CreateOr(High, Low), B.getDoubleTy());
}
Value *highProduct(IRBuilder<> &B, CallInst &C, bool Signed) {
  unsigned Bits = C.getType()->getIntegerBitWidth();
  Type *Wide = B.getIntNTy(2 * Bits);
  auto Extend = [&](Value *V) { return Signed ? B.CreateSExt(V, Wide) : B.CreateZExt(V, Wide); };
  Value *Product = B.CreateMul(Extend(C.getArgOperand(0)), Extend(C.getArgOperand(1)));
  return B.CreateTrunc(B.CreateLShr(Product, Bits), C.getType());
}

// {low, high} of a * b + c in 64 bits.
Value *wideMultiplyAdd(IRBuilder<> &B, CallInst &C) {
  auto Wide = [&](unsigned I) { return B.CreateZExt(C.getArgOperand(I), B.getInt64Ty()); };
  Value *Sum = B.CreateAdd(B.CreateMul(Wide(0), Wide(1)), Wide(2));
  Value *Low = B.CreateTrunc(Sum, B.getInt32Ty()), *High = B.CreateTrunc(B.CreateLShr(Sum, 32), B.getInt32Ty());
  return B.CreateInsertValue(B.CreateInsertValue(PoisonValue::get(C.getType()), Low, 0), High, 1);
}

// x - y, rounded in the direction .rz, .rm or .rp.
Value *subtractDirected(IRBuilder<> &B, CallInst &C, StringRef Direction) {
  StringRef Suffix = C.getType()->isFloatTy() ? ".f" : ".d";
  FunctionCallee Add =
      C.getModule()->getOrInsertFunction(("llvm.nvvm.add" + Direction + Suffix).str(), C.getFunctionType());
  return B.CreateCall(Add, {C.getArgOperand(0), B.CreateFNeg(C.getArgOperand(1))});
}

// atomicAdd_block, atomicMax_system and so on: as those of the whole GPU, in another scope.
Value *scopedAtomic(IRBuilder<> &B, CallInst &C, StringRef Name) {
  SmallVector<StringRef, 8> Parts; // atomic, add, gen, i, sys, i32, p0
  Name.split(Parts, '.');
  SyncScope::ID Scope = C.getContext().getOrInsertSyncScopeID(Parts[4] == "cta" ? "block" : "");
  constexpr AtomicOrdering Order = AtomicOrdering::Monotonic;
  Value *Place = C.getArgOperand(0), *New = C.getArgOperand(1);
  if (Parts[1] == "cas") {
    Value *Swap = B.CreateAtomicCmpXchg(Place, New, C.getArgOperand(2), MaybeAlign(), Order, Order, Scope);
    return B.CreateExtractValue(Swap, 0);
  }
  auto Operation = StringSwitch<AtomicRMWInst::BinOp>(Parts[1])
                       .Case("add", Parts[3] == "f" ? AtomicRMWInst::FAdd : AtomicRMWInst::Add)
                       .Case("exch", AtomicRMWInst::Xchg)
                       .Case("max", AtomicRMWInst::Max) // of unsigned integers too, in clang
                       .Case("min", AtomicRMWInst::Min)
                       .Case("inc", AtomicRMWInst::UIncWrap)
                       .Case("dec", AtomicRMWInst::UDecWrap)
                       .Case("and", AtomicRMWInst::And)
                       .Case("or", AtomicRMWInst::Or)
                       .Case("xor", AtomicRMWInst::Xor)
                       .Default(AtomicRMWInst::BAD_BINOP);
  return Operation == AtomicRMWInst::BAD_BINOP ? nullptr
                                               : B.CreateAtomicRMW(Operation, Place, New, MaybeAlign(), Order, Scope);
}

bool isScopedAtomic(StringRef Name) {
  return Name.starts_with("atomic.") && (Name.contains(".gen.i.") || Name.contains(".gen.f.")) && Name.ends_with(".p0");
}

// Shuffles and votes of before there were masks are of the lanes that are there. GPUs have none of these any more.
Value *amongActive(IRBuilder<> &B, CallInst &C, StringRef Name) {
  Type *Int32 = B.getInt32Ty();
  SmallVector<Value *> Operands{activeLanes(B)};
  append_range(Operands, C.args());
  SmallVector<Type *> Types{Int32};
  append_range(Types, C.getFunctionType()->params());
  auto [Kind, Way] = Name.split('.');
  FunctionCallee Now = C.getModule()->getOrInsertFunction(
      (Kind == "shfl" ? "llvm.nvvm.shfl.sync." + Way : "llvm.nvvm.vote." + Way + ".sync").str(),
      FunctionType::get(C.getType(), Types, false));
  CallInst *Call = B.CreateCall(Now, Operands);
  Call->addFnAttr(Attribute::Convergent);
  return Call;
}

bool isWithoutMask(StringRef Name) {
  return !Name.contains(".sync") && (Name.starts_with("shfl.") || Name.starts_with("vote."));
}

// The number of zeros before the first bit; all ones where there is none.
Value *leadingZeros(IRBuilder<> &B, Value *X) {
  Value *Count = B.CreateBinaryIntrinsic(Intrinsic::ctlz, X, B.getTrue());
  return B.CreateSelect(B.CreateICmpEQ(X, B.getInt32(0)), B.getInt32(-1), Count);
}

#define UNARY(ID) [](IRBuilder<> &B, CallInst &C) -> Value * { return unary(B, C, Intrinsic::ID); }
#define BINARY(ID) [](IRBuilder<> &B, CallInst &C) -> Value * { return binary(B, C, Intrinsic::ID); }
#define APPROXIMATE(ID) [](IRBuilder<> &B, CallInst &C) -> Value * { return approximate(B, C, Intrinsic::ID); }
#define OPERANDS(CODE)                                                                                                 \
  [](IRBuilder<> &B, CallInst &C) -> Value * {                                                                         \
    Value *X = C.getArgOperand(0), *Y = C.getArgOperand(C.arg_size() - 1);                                             \
    Type *T = C.getType();                                                                                             \
    (void)X, (void)Y, (void)T;                                                                                         \
    return CODE;                                                                                                       \
  }

// Name without "llvm.nvvm." and without ".ftz"; flushing is left to the target.
Make replacement(StringRef Name) {
  return StringSwitch<Make>(Name)
      .Cases({"fabs.f", "fabs.d", "fabs.f32", "fabs.f64"}, UNARY(fabs))
      .Cases({"floor.f", "floor.d"}, UNARY(floor))
      .Cases({"ceil.f", "ceil.d"}, UNARY(ceil))
      .Cases({"trunc.f", "trunc.d"}, UNARY(trunc))
      .Cases({"round.f", "round.d"}, UNARY(rint)) // NVVM rounds to nearest even here
      .Cases({"fmin.f", "fmin.d"}, BINARY(minnum))
      .Cases({"fmax.f", "fmax.d"}, BINARY(maxnum))
      .Cases({"sqrt.rn.f", "sqrt.rn.d", "sqrt.f"}, UNARY(sqrt))
      .Case("sqrt.approx.f", APPROXIMATE(sqrt))
      .Case("sin.approx.f", APPROXIMATE(sin))
      .Case("cos.approx.f", APPROXIMATE(cos))
      .Cases({"ex2.approx.f", "ex2.approx.d", "ex2.approx.f32"}, APPROXIMATE(exp2))
      .Cases({"lg2.approx.f", "lg2.approx.d"}, APPROXIMATE(log2))
      .Cases({"add.rn.f", "add.rn.d"}, OPERANDS(B.CreateFAdd(X, Y)))
      .Cases({"mul.rn.f", "mul.rn.d"}, OPERANDS(B.CreateFMul(X, Y)))
      .Cases({"div.rn.f", "div.rn.d"}, OPERANDS(B.CreateFDiv(X, Y)))
      .Case("div.approx.f", OPERANDS(B.CreateFMul(X, reciprocal(B, Y, true))))
      .Cases({"fma.rn.f", "fma.rn.d"}, OPERANDS(B.CreateIntrinsic(Intrinsic::fma, {T}, {X, C.getArgOperand(1), Y})))
      .Cases({"rcp.rn.f", "rcp.rn.d"}, OPERANDS(reciprocal(B, X, false)))
      .Cases({"rcp.approx.f", "rcp.approx.d"}, OPERANDS(reciprocal(B, X, true)))
      .Cases({"rsqrt.approx.f", "rsqrt.approx.d"}, OPERANDS(reciprocal(B, approximate(B, C, Intrinsic::sqrt), true)))
      .Case("saturate.f", OPERANDS(saturate(B, C)))
      .Case("d2i.lo", OPERANDS(halfOfDouble(B, C, 0)))
      .Case("d2i.hi", OPERANDS(halfOfDouble(B, C, 32)))
      .Case("lohi.i2d", OPERANDS(doubleOfHalves(B, C)))
      .Cases({"mulhi.i", "mulhi.ll"}, OPERANDS(highProduct(B, C, true)))
      .Cases({"mulhi.ui", "mulhi.ull"}, OPERANDS(highProduct(B, C, false)))
      .Cases({"i2f.rn", "i2d.rn", "ll2f.rn", "ll2d.rn"}, OPERANDS(B.CreateSIToFP(X, T)))
      .Cases({"ui2f.rn", "ui2d.rn", "ull2f.rn", "ull2d.rn"}, OPERANDS(B.CreateUIToFP(X, T)))
      .Cases({"f2i.rz", "d2i.rz", "f2ll.rz", "d2ll.rz"},
             OPERANDS(B.CreateIntrinsic(Intrinsic::fptosi_sat, {T, X->getType()}, {X})))
      .Cases({"f2ui.rz", "d2ui.rz", "f2ull.rz", "d2ull.rz"},
             OPERANDS(B.CreateIntrinsic(Intrinsic::fptoui_sat, {T, X->getType()}, {X})))
      .Cases({"f2i.rn", "d2i.rn", "f2ll.rn", "d2ll.rn"},
             OPERANDS(B.CreateIntrinsic(Intrinsic::fptosi_sat, {T, X->getType()}, {unary(B, C, Intrinsic::rint)})))
      .Cases({"f2ui.rn", "d2ui.rn", "f2ull.rn", "d2ull.rn"},
             OPERANDS(B.CreateIntrinsic(Intrinsic::fptoui_sat, {T, X->getType()}, {unary(B, C, Intrinsic::rint)})))
      .Cases({"f2ui.rm", "d2ui.rm", "f2ull.rm", "d2ull.rm"},
             OPERANDS(B.CreateIntrinsic(Intrinsic::fptoui_sat, {T, X->getType()}, {unary(B, C, Intrinsic::floor)})))
      .Cases({"f2i.rm", "d2i.rm", "f2ll.rm", "d2ll.rm"},
             OPERANDS(B.CreateIntrinsic(Intrinsic::fptosi_sat, {T, X->getType()}, {unary(B, C, Intrinsic::floor)})))
      .Cases({"f2ui.rp", "d2ui.rp", "f2ull.rp", "d2ull.rp"},
             OPERANDS(B.CreateIntrinsic(Intrinsic::fptoui_sat, {T, X->getType()}, {unary(B, C, Intrinsic::ceil)})))
      .Cases({"f2i.rp", "d2i.rp", "f2ll.rp", "d2ll.rp"},
             OPERANDS(B.CreateIntrinsic(Intrinsic::fptosi_sat, {T, X->getType()}, {unary(B, C, Intrinsic::ceil)})))
      .Case("d2f.rn", OPERANDS(B.CreateFPTrunc(X, T)))
      .Default(nullptr);
}

// The few instructions that libdevice writes as assembly.
Value *replaceAssembly(IRBuilder<> &B, CallInst &C, StringRef Text) {
  Value *X = C.getArgOperand(0);
  if (Text.starts_with("rcp.approx."))
    return reciprocal(B, X, true);
  if (Text.starts_with("rsqrt.approx."))
    return reciprocal(B, approximate(B, C, Intrinsic::sqrt), true);
  if (Text.starts_with("sub.rn."))
    return B.CreateFSub(X, C.getArgOperand(1));
  if (Text.starts_with("sub."))
    return subtractDirected(B, C, Text.substr(3, 3));
  if (Text.starts_with("bfind.shiftamt.u32"))
    return leadingZeros(B, X);
  if (Text.contains("setp.equ.f64") && Text.contains("selp.f64 $0, $3, $4"))
    return B.CreateSelect(B.CreateFCmpUEQ(X, C.getArgOperand(1)), C.getArgOperand(2), C.getArgOperand(3));
  if (Text.contains("mad.lo.cc.u32   $0, $2, $3, $4;") && Text.contains("madc.hi.u32     $1, $2, $3,  0;"))
    return wideMultiplyAdd(B, C);
  return nullptr;
}

void replaceCall(CallInst &Call, Value *New) {
  New->takeName(&Call);
  Call.replaceAllUsesWith(New);
  Call.eraseFromParent();
}

void replaceAssemblyIn(Function &F) {
  for (BasicBlock &Block : F)
    for (Instruction &I : make_early_inc_range(Block)) {
      auto *Call = dyn_cast<CallInst>(&I);
      if (!Call || !Call->isInlineAsm() || Call->arg_empty())
        continue;
      IRBuilder<> B(Call);
      if (Value *New = replaceAssembly(B, *Call, cast<InlineAsm>(Call->getCalledOperand())->getAsmString()))
        replaceCall(*Call, New);
    }
}

// __ldg reads by an address of global memory, which the back end knows of generic ones itself: what is added to the
// shadow of such an array leads there by its argument, as everywhere else.
void readByGenericAddresses(Function &F) {
  for (BasicBlock &Block : F)
    for (Instruction &I : make_early_inc_range(Block)) {
      auto *Load = dyn_cast<LoadInst>(&I);
      auto *Cast = Load ? dyn_cast<AddrSpaceCastOperator>(Load->getPointerOperand()) : nullptr;
      if (!Cast || Cast->getDestAddressSpace() != GlobalSpace || Cast->getSrcAddressSpace())
        continue;
      Load->setOperand(LoadInst::getPointerOperandIndex(), Cast->getPointerOperand());
      if (auto *Unused = dyn_cast<AddrSpaceCastInst>(Cast); Unused && Unused->use_empty())
        Unused->eraseFromParent();
    }
}

} // namespace

ADGEN_DECLARE_PASS(CanonicalizeNvvm);

PreservedAnalyses CanonicalizeNvvm::run(Module &M, ModuleAnalysisManager &) {
  for (Function &F : make_early_inc_range(M)) {
    StringRef Name = F.getName();
    if (!F.isDeclaration() || !Name.consume_front("llvm.nvvm."))
      continue;
    std::string Plain = Name.str();
    if (size_t At = Plain.find(".ftz"); At != std::string::npos)
      Plain.erase(At, 4);
    Make Replace = replacement(Plain);
    bool Scoped = isScopedAtomic(Plain);
    if (!Replace && !Scoped && !isWithoutMask(Plain))
      continue;
    for (User *U : make_early_inc_range(F.users())) {
      auto *Call = dyn_cast<CallInst>(U);
      if (!Call || Call->getCalledFunction() != &F)
        continue;
      IRBuilder<> B(Call);
      if (Value *New = Replace  ? Replace(B, *Call)
                       : Scoped ? scopedAtomic(B, *Call, Plain)
                                : amongActive(B, *Call, Plain))
        replaceCall(*Call, New);
    }
  }
  for (Function &F : M) {
    replaceAssemblyIn(F);
    readByGenericAddresses(F);
  }
  return PreservedAnalyses::none();
}

} // namespace adgen
