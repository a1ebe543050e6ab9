// Addresses of several arrays that are counted with together, as where one question says whether all of them begin at
// a multiple of a vector's size: the optimiser joins them by `or` before it looks at the last bits. Enzyme knows the
// difference of two pointers alone, and stops at anything else.
#include "Analysis/Bits.h"
#include "Support/Reaches.h"

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"

using namespace llvm;

namespace adgen {
namespace {

// What Enzyme takes for a pointer: how far two are apart is none, nor what was masked, shifted or divided.
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

// Nothing is a pointer again, nor kept where it may become one.
bool onlyDecides(Value &Number) {
  return !reaches(Number, [](Value &V, SmallVectorImpl<Value *> &Next) {
    for (User *U : V.users()) {
      if (isa<ICmpInst, SwitchInst, GetElementPtrInst>(U))
        continue;
      if (!U->getType()->isIntegerTy() ||
          !isa<BinaryOperator, TruncInst, ZExtInst, SExtInst, PHINode, SelectInst, FreezeInst>(U))
        return true;
      Next.push_back(U);
    }
    return false;
  });
}

bool joinsAddresses(Instruction &I) {
  return isa<BinaryOperator>(I) && I.getType()->isIntegerTy() && I.getOpcode() != Instruction::Sub &&
         isAddress(*I.getOperand(0)) && isAddress(*I.getOperand(1)) && onlyDecides(I);
}

} // namespace

void hideAddresses(Function &F) {
  SmallVector<Instruction *> Joined;
  for (Instruction &I : instructions(F))
    if (joinsAddresses(I))
      Joined.push_back(&I);
  for (Instruction *I : Joined) {
    IRBuilder<> B(I);
    for (Use &Address : I->operands())
      Address = B.CreateCall(hiddenFrom(*F.getParent(), Address->getType(), I->getType()), Address.get());
  }
}

} // namespace adgen
