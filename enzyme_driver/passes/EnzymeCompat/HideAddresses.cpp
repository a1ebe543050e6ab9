// Addresses of several arrays that are counted with together, as where one question says whether all of them begin at
// a multiple of a vector's size: the optimiser joins them by `or` before it looks at the last bits. Enzyme knows the
// difference of two pointers alone, and stops at anything else. So it is for how far a pointer is from another where
// one of them was chosen as an integer, as a search does that need not run: that integer is kept as a number.
#include "Analysis/Bits.h"
#include "Support/Addresses.h"
#include "Support/Reaches.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"

using namespace llvm;

namespace adgen {
namespace {

// How far two addresses are apart, which is a number whatever becomes of it.
bool isDistance(Instruction &I) {
  return I.getOpcode() == Instruction::Sub && isAddress(*I.getOperand(0)) && isAddress(*I.getOperand(1));
}

// Nothing is a pointer again, nor kept where it may become one.
bool onlyDecides(Value &Number) {
  return !reaches(Number, [](Value &V, SmallVectorImpl<Value *> &Next) {
    for (User *U : V.users()) {
      auto *I = cast<Instruction>(U);
      if (isa<ICmpInst, SwitchInst, GetElementPtrInst>(I) || isDistance(*I))
        continue;
      if (!I->getType()->isIntegerTy() ||
          !isa<BinaryOperator, TruncInst, ZExtInst, SExtInst, PHINode, SelectInst, FreezeInst>(I))
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

// All conversions of pointers that the distance comes from; none where one of the numbers on the way is a pointer
// again.
SmallVector<Use *> conversionsFor(Instruction &Distance) {
  SmallVector<Use *> Found;
  bool IsPointer = reaches(Distance, [&](Value &V, SmallVectorImpl<Value *> &Next) {
    for (Use &U : cast<Instruction>(V).operands())
      if (isa<PtrToIntInst>(U)) {
        Found.push_back(&U);
      } else if (isAddress(*U)) {
        if (!onlyDecides(*U))
          return true;
        Next.push_back(U);
      }
    return false;
  });
  return IsPointer ? SmallVector<Use *>() : Found;
}

void hideDistances(Function &F) {
  SmallSetVector<Use *, 8> Found;
  for (Instruction &I : instructions(F))
    if (isDistance(I) && !all_of(I.operand_values(), IsaPred<PtrToIntInst>))
      Found.insert_range(conversionsFor(I));
  DenseMap<Value *, Value *> Hidden;
  for (Use *U : Found) {
    auto *Address = cast<Instruction>(U->get());
    Value *&Number = Hidden[Address];
    if (!Number)
      Number = IRBuilder<>(Address->getNextNode())
                   .CreateCall(hiddenFrom(*F.getParent(), Address->getType(), Address->getType()), Address);
    U->set(Number);
  }
}

} // namespace

void hideAddresses(Function &F) {
  // In C++, distances are sizes of copies, too, of which Enzyme sees the type.
  if (F.getParent()->getTargetTriple().isNVPTX())
    hideDistances(F);
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
