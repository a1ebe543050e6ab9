#include "Analysis/Needed.h"

#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/IR/Instructions.h"

using namespace llvm;

namespace adgen {

bool isLinear(const Instruction &I, const Value *Operand, const Constants &Known) {
  unsigned Kind = I.getOpcode();
  if (Kind == Instruction::FAdd || Kind == Instruction::FSub || Kind == Instruction::FNeg ||
      isa<PHINode, SelectInst, CastInst>(I))
    return true;
  return Kind == Instruction::FMul && I.getOperand(0) != I.getOperand(1) &&
         Known.isConstant(I.getOperand(I.getOperand(0) == Operand));
}

bool isNeeded(const Value &First, const Constants &Known) {
  SmallVector<const Value *> Work{&First};
  SmallPtrSet<const Value *, 16> Seen;
  while (!Work.empty()) {
    const Value *V = Work.pop_back_val();
    for (const User *U : V->users()) {
      auto *I = cast<Instruction>(U);
      if (isa<StoreInst>(I))
        continue;
      if (!isLinear(*I, V, Known))
        return true;
      if (Seen.insert(I).second)
        Work.push_back(I);
    }
  }
  return false;
}

} // namespace adgen
