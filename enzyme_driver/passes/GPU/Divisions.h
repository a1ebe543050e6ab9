// Integer divisions by what is not known before the launch, which take a GPU some twenty instructions each.
#pragma once

#include "llvm/IR/Constants.h"
#include "llvm/IR/IRBuilder.h"

namespace adgen {

inline bool isDivision(const llvm::Instruction &I) {
  return I.isIntDivRem() && I.getType()->isIntegerTy() && !llvm::isa<llvm::Constant>(I.getOperand(1));
}

// It may stand where the program does not come to it: what would be undefined there divides by one, and nobody uses
// the result.
inline void guardDivision(llvm::Instruction &Division) {
  using namespace llvm;
  IRBuilder<> B(&Division);
  Value *Divisor = B.CreateFreeze(Division.getOperand(1));
  Value *IsUndefined = B.CreateICmpEQ(Divisor, Constant::getNullValue(Divisor->getType()));
  if (Division.getOpcode() == Instruction::SDiv || Division.getOpcode() == Instruction::SRem) {
    Value *Dividend = B.CreateFreeze(Division.getOperand(0));
    unsigned Bits = Divisor->getType()->getIntegerBitWidth();
    Value *IsLeast = B.CreateICmpEQ(Dividend, B.getInt(APInt::getSignedMinValue(Bits)));
    Value *Overflows = B.CreateAnd(IsLeast, B.CreateICmpEQ(Divisor, B.getInt(APInt::getAllOnes(Bits))));
    IsUndefined = B.CreateOr(IsUndefined, Overflows);
    Division.setOperand(0, Dividend);
  }
  Division.setOperand(1, B.CreateSelect(IsUndefined, ConstantInt::get(Divisor->getType(), 1), Divisor));
}

} // namespace adgen
