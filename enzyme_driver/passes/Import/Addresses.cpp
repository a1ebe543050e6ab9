#include "Import/Addresses.h"

#include "llvm/IR/Operator.h"

using namespace llvm;

namespace adgen {

Value *withoutSpace(IRBuilder<> &B, Value *Pointer) {
  if (auto *Cast = dyn_cast<AddrSpaceCastOperator>(Pointer); Cast && !Cast->getSrcAddressSpace())
    return Cast->getPointerOperand();
  return B.CreateAddrSpaceCast(Pointer, B.getPtrTy());
}

Value *pointerBehind(IRBuilder<> &B, Value *Number) {
  if (Number->getType()->isPointerTy() && !isa<IntToPtrInst>(Number))
    return Number;
  auto *I = dyn_cast<Operator>(Number);
  if (!I)
    return nullptr;
  if (is_contained({Instruction::Trunc, Instruction::ZExt, Instruction::PtrToInt, Instruction::IntToPtr},
                   I->getOpcode()))
    return pointerBehind(B, I->getOperand(0));
  if (I->getOpcode() != Instruction::Add && I->getOpcode() != Instruction::Or)
    return nullptr;
  for (unsigned Side : {0, 1})
    if (Value *Pointer = pointerBehind(B, I->getOperand(Side)))
      return B.CreateGEP(B.getInt8Ty(), withoutSpace(B, Pointer), I->getOperand(1 - Side));
  return nullptr;
}

} // namespace adgen
