// Where an iteration chooses between two ways of computing several numbers, as by the size of an argument, Enzyme finds
// out each of these numbers anew in the reverse sweep: it decides again for each, with everything computed on the way
// that was taken, and once more for the reversal itself.
//   w = small ? series(z) : asymptote(z)   for real and imaginary part: the series is there three times, not once
// All from the first decision to the last is there twice, once for each way, where CSE finds what is computed again. It
// is done in a copy of the gradient, which takes its place if more than a quarter of the divisions and calls of
// mathematics are gone (cleaning up alone takes some) and it is no longer. Decisions between which there are no two of
// them are left alone, and each one that is taken apart has to take some of them, or there is no next one: cleaning up
// takes long. Behind adgen-lower-caches, which goes by Enzyme's names of blocks.
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

long costOf(Function &F) { return count_if(instructions(F), isCostly); }

// Whether something costly may be there twice.
bool mayCostTwice(ArrayRef<BasicBlock *> Blocks) {
  long Cost = 0;
  for (BasicBlock *Block : Blocks)
    Cost += count_if(*Block, isCostly);
  return Cost > 1;
}

// Whether enough is gone from the copy.
bool gains(Function &F, Function &Copy, FunctionAnalysisManager &FAM) {
  long Before = costOf(F), Cost = Before;
  auto Helped = [&] {
    long Last = Cost;
    Cost = costOf(Copy);
    return Cost < Last;
  };
  return separateDecisions(Copy, FAM, mayCostTwice, Helped) && 4 * costOf(Copy) < 3 * Before &&
         Copy.getInstructionCount() <= F.getInstructionCount();
}

} // namespace

ADGEN_DECLARE_PASS(SeparateDecisions);

PreservedAnalyses SeparateDecisions::run(Module &M, ModuleAnalysisManager &MAM) {
  auto &FAM = MAM.getResult<FunctionAnalysisManagerModuleProxy>(M).getManager();
  bool Changed = false;
  for (Function *F : gradientsUpTo(M, MostInGradient))
    if (costOf(*F) > 0)
      Changed |= replaceByCopy(*F, FAM, [&](Function &Copy) {
        bool Gains = gains(*F, Copy, FAM);
        if (Gains)
          ADGEN_COUNT(NumGradients, F->getName());
        return Gains;
      });
  return Changed ? PreservedAnalyses::none() : PreservedAnalyses::all();
}

} // namespace adgen
