#include "Support/Addresses.h"

#include "Support/Reaches.h"

#include "llvm/IR/Instructions.h"

using namespace llvm;

namespace adgen {

bool isAddress(Value &Number) {
  return reaches(Number, [](Value &V, SmallVectorImpl<Value *> &Next) {
    auto *I = dyn_cast<Instruction>(&V);
    if (!I || !I->getType()->isIntegerTy())
      return false;
    const unsigned By = I->getOpcode();
    if (By == Instruction::Sub && !isa<PtrToIntInst>(I->getOperand(1)))
      Next.push_back(I->getOperand(0));
    else if (is_contained({Instruction::Add, Instruction::Mul}, By) ||
             isa<TruncInst, ZExtInst, SExtInst, PHINode, SelectInst, FreezeInst>(I))
      Next.append(I->value_op_begin(), I->value_op_end());
    return isa<PtrToIntInst>(I);
  });
}

} // namespace adgen
