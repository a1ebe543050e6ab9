#include "Analysis/Cooperates.h"
#include "Support/Adgen.h"

#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsNVPTX.h"

using namespace llvm;

namespace adgen {

bool cooperates(const Function &F) {
  constexpr StringLiteral Together[] = {"llvm.nvvm.barrier.",   "llvm.nvvm.bar.",      "llvm.nvvm.shfl.",
                                        "llvm.nvvm.vote.",      "llvm.nvvm.match.",    "llvm.nvvm.redux.",
                                        "llvm.nvvm.activemask", "llvm.nvvm.nanosleep", TogetherPrefix};
  return any_of(instructions(F), [&](const Instruction &I) {
    auto *Call = dyn_cast<CallInst>(&I);
    if (Call && Call->isInlineAsm())
      return StringRef(cast<InlineAsm>(Call->getCalledOperand())->getAsmString()).trim().starts_with("nanosleep");
    const Function *Callee = Call ? Call->getCalledFunction() : nullptr;
    return Callee && any_of(Together, [&](StringRef Name) { return Callee->getName().starts_with(Name); });
  });
}

bool ordersThreads(const Instruction &I) {
  auto *Call = dyn_cast<CallBase>(&I);
  if (!Call)
    return isa<FenceInst>(I);
  const Function *Callee = Call->getCalledFunction();
  if (!Callee || Callee->hasFnAttribute(MathAttribute) || Callee->getName().starts_with(MathPrefix))
    return !Callee;
  if (Callee->isIntrinsic() && !Callee->getName().starts_with("llvm.nvvm."))
    return false;
  return Call->mayWriteToMemory();
}

bool isGridBarrier(const Instruction &I) {
  auto *Call = dyn_cast<CallInst>(&I);
  auto *Number = Call && Call->getIntrinsicID() == Intrinsic::nvvm_barrier_cta_sync_aligned_all
                     ? dyn_cast<ConstantInt>(Call->getArgOperand(0))
                     : nullptr;
  return Number && Number->getZExtValue() == GridBarrier;
}

} // namespace adgen
