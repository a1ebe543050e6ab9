#include "GPU/ReadAgain.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/IntrinsicInst.h"

using namespace llvm;

namespace adgen {

unsigned words(const Type &T, const DataLayout &Layout) {
  if (!T.isSized() || T.isIntegerTy(1))
    return 0; // predicates have registers of their own
  return divideCeil(Layout.getTypeSizeInBits(const_cast<Type *>(&T)).getFixedValue(), 32);
}

bool canBeHidden(const Type &T) { return T.isPointerTy() || T.isIntegerTy(32) || T.isIntegerTy(64); }

bool isRegister(const Instruction &I) {
  auto *Call = dyn_cast<IntrinsicInst>(&I);
  return Call && Call->getCalledFunction()->getName().starts_with("llvm.nvvm.read.ptx.sreg.") &&
         !Call->mayReadOrWriteMemory();
}

bool isOfInput(const Instruction &I) {
  auto *Load = dyn_cast<LoadInst>(&I);
  return Load && Load->isSimple() && Load->hasMetadata(LLVMContext::MD_invariant_load);
}

bool isCheap(const Instruction &I) {
  if (auto *Call = dyn_cast<IntrinsicInst>(&I)) {
    constexpr Intrinsic::ID Kinds[] = {Intrinsic::fabs, Intrinsic::fma, Intrinsic::fmuladd};
    return is_contained(Kinds, Call->getIntrinsicID());
  }
  switch (I.getOpcode()) {
  case Instruction::FDiv:
  case Instruction::FRem:
  case Instruction::SDiv:
  case Instruction::UDiv:
  case Instruction::SRem:
  case Instruction::URem:
    return false;
  default:
    return isa<BinaryOperator, UnaryOperator, CastInst, GetElementPtrInst>(I);
  }
}

Value *hidden(IRBuilder<> &B, Value &V) {
  if (!canBeHidden(*V.getType()))
    return &V;
  StringRef Constraint = V.getType()->isPointerTy() || V.getType()->isIntegerTy(64) ? "=l,0" : "=r,0";
  auto *Asm = InlineAsm::get(FunctionType::get(V.getType(), {V.getType()}, false), "", Constraint, true);
  return B.CreateCall(Asm, {&V});
}

} // namespace adgen
