#include "Accumulate/Lookups.h"
#include "Accumulate/LaneOrigins.h"

#include "llvm/IR/IntrinsicInst.h"

using namespace llvm;

namespace adgen {

static bool isOfFloats(const Instruction &I) {
  auto *Call = dyn_cast<IntrinsicInst>(&I);
  return Call && Call->getType()->isIntegerTy() && Call->arg_size() == 1 &&
         Call->getArgOperand(0)->getType()->isFloatingPointTy();
}

bool Lookups::make(const Value *V) {
  auto *I = dyn_cast<Instruction>(V);
  if (!I)
    return false;
  auto [Known, New] = Found.try_emplace(I, false);
  if (!New)
    return Known->second;
  bool Made = isa<FPToSIInst, FPToUIInst>(I) || (isa<LoadInst>(I) && I->getType()->isIntegerTy()) || isOfFloats(*I);
  if (isa<BinaryOperator, CastInst, GetElementPtrInst, FreezeInst, PHINode, SelectInst>(I) || isArithmetic(*I))
    Made |= any_of(I->operands(), [&](const Use &Operand) { return make(Operand); });
  return Found[I] = Made;
}

} // namespace adgen
