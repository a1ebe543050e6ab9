// After Enzyme: what was put in for it alone is taken out, and the pointer to a cache that grows is not invariant.
#include "Support/Guards.h"
#include "Support/Pass.h"

#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsNVPTX.h"

using namespace llvm;

namespace adgen {
namespace {

// What RematerializeSharedLoads and others have repeated is a load again.
void restoreLoad(Instruction &I) {
  auto *Call = dyn_cast<IntrinsicInst>(&I);
  if (!Call || !is_contained({Intrinsic::nvvm_ldu_global_f, Intrinsic::nvvm_ldu_global_i}, Call->getIntrinsicID()))
    return;
  MaybeAlign Alignment(cast<ConstantInt>(Call->getArgOperand(1))->getZExtValue());
  auto *Load =
      new LoadInst(Call->getType(), Call->getArgOperand(0), "", false, Alignment.valueOrOne(), Call->getIterator());
  Load->setDebugLoc(Call->getDebugLoc());
  Call->replaceAllUsesWith(Load);
  Call->eraseFromParent();
}

// The number of iterations of a loop that counts down without a sign comes as `add nuw limit, -1`, which is wrong for
// all limits but 0.
void dropWrongFlag(Instruction &I) {
  auto *Limit = I.getOpcode() == Instruction::Add ? dyn_cast<ConstantInt>(I.getOperand(1)) : nullptr;
  if (Limit && Limit->isNegative())
    I.setHasNoUnsignedWrap(false);
}

} // namespace

ADGEN_DECLARE_PASS(StripGuards);

PreservedAnalyses StripGuards::run(Module &M, ModuleAnalysisManager &) {
  stripGuards(M);
  for (Function &F : M)
    for (Instruction &I : make_early_inc_range(instructions(F))) {
      I.setMetadata(LLVMContext::MD_invariant_group, nullptr);
      dropWrongFlag(I);
      restoreLoad(I);
    }
  return PreservedAnalyses::none();
}

} // namespace adgen
