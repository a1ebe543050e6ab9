// Where an iteration chooses between two ways of computing several numbers, as by the size of an argument, Enzyme finds
// out each of these numbers anew in the reverse sweep: it decides again for each, with everything computed on the way
// that was taken, and once more for the reversal itself.
//   w = small ? series(z) : asymptote(z)   for real and imaginary part: the series is there three times, not once
// All from the first decision to the last is there twice, once for each way, where CSE finds what is computed again. It
// is done in a copy of the gradient, which takes its place if more than a quarter of the divisions and calls of
// mathematics are gone (cleaning up alone takes some) and it is no longer. Behind adgen-lower-caches, which goes by
// Enzyme's names of blocks.
#include "Cache/Untangle.h"
#include "Support/Pass.h"

#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"

#define DEBUG_TYPE "adgen-separate-decisions"

using namespace llvm;

STATISTIC(NumGradients, "Number of gradients with decisions taken once");

namespace adgen {
namespace {

constexpr unsigned MostInGradient = 20000;

bool isCostly(const Instruction &I) {
  if (I.getOpcode() == Instruction::FDiv)
    return true;
  auto *Call = dyn_cast<CallInst>(&I);
  const Function *Callee = Call ? Call->getCalledFunction() : nullptr;
  return Callee && (Callee->hasFnAttribute(MathAttribute) || Callee->getIntrinsicID() == Intrinsic::sqrt);
}

auto costOf(Function &F) { return count_if(instructions(F), isCostly); }

} // namespace

ADGEN_DECLARE_PASS(SeparateDecisions);

PreservedAnalyses SeparateDecisions::run(Module &M, ModuleAnalysisManager &MAM) {
  auto &FAM = MAM.getResult<FunctionAnalysisManagerModuleProxy>(M).getManager();
  bool Changed = false;
  for (Function *F : gradientsUpTo(M, MostInGradient))
    Changed |= replaceByCopy(*F, FAM, [&](Function &Copy) {
      bool Gains = separateDecisions(Copy, FAM) && 4 * costOf(Copy) < 3 * costOf(*F) &&
                   Copy.getInstructionCount() <= F->getInstructionCount();
      if (Gains)
        ADGEN_COUNT(NumGradients, F->getName());
      return Gains;
    });
  return Changed ? PreservedAnalyses::none() : PreservedAnalyses::all();
}

} // namespace adgen
