// Enzyme marks all the arithmetic that it makes as fast, which allows approximate functions and makes anything of
// infinities. What stays is what changes no result by more than a rounding: fused multiply-add, and sums with zero that
// may be left out. What is added to a derivative in memory may be added in any order, as the threads of a GPU do; only
// then can such a loop be vectorised.
#include "Support/Pass.h"

#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Operator.h"

using namespace llvm;

namespace adgen {

// Enzyme's addition to what it has loaded for that, which goes back there.
static bool accumulates(const Instruction &I) {
  if (I.getOpcode() != Instruction::FAdd || !I.hasOneUse())
    return false;
  auto *Store = dyn_cast<StoreInst>(I.user_back());
  return Store && Store->getValueOperand() == &I && any_of(I.operands(), [&](const Use &U) {
           auto *Load = dyn_cast<LoadInst>(U.get());
           return Load && Load->hasOneUse() && Load->getPointerOperand() == Store->getPointerOperand();
         });
}

ADGEN_DECLARE_PASS(DropFastMathFlags);

PreservedAnalyses DropFastMathFlags::run(Module &M, ModuleAnalysisManager &) {
  FastMathFlags Kept;
  Kept.setAllowContract(true);
  Kept.setNoSignedZeros(true);
  for (Function &F : M)
    for (Instruction &I : instructions(F))
      if (isa<FPMathOperator>(I) && I.isFast()) {
        I.copyFastMathFlags(Kept);
        I.setHasAllowReassoc(accumulates(I));
      }
  return PreservedAnalyses::none();
}

} // namespace adgen
