// Loops that shuffle what is larger than a word, one word of it after the other, as templates of shuffles do (CUB's,
// and for (i < sizeof(T) / 4) words[i] = __shfl_sync(mask, words[i], lane)), become straight code. What is shuffled is
// then no longer indexed, and the words show of which numbers they are parts.
#include "Support/Pass.h"
#include "Support/Unrolling.h"

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/Transforms/Scalar/EarlyCSE.h"
#include "llvm/Transforms/Scalar/SROA.h"
#include "llvm/Transforms/Scalar/SimplifyCFG.h"

using namespace llvm;

namespace adgen {
namespace {

// A struct of 128 bytes.
constexpr unsigned MostWords = 32;

bool isShuffleOfWords(const Instruction &I) {
  auto *Call = dyn_cast<IntrinsicInst>(&I);
  return Call && Call->getType()->isIntegerTy(32) &&
         Call->getCalledFunction()->getName().starts_with("llvm.nvvm.shfl.sync.");
}

// What is read of a local variable, or of a parameter's copy.
bool isOfLocal(const Value *Word) {
  auto *Load = dyn_cast<LoadInst>(Word);
  return Load && isa<AllocaInst>(getUnderlyingObject(Load->getPointerOperand()));
}

bool shufflesWords(const Loop &L) {
  return any_of(L.blocks(), [](BasicBlock *Block) {
    return any_of(*Block, [](const Instruction &I) {
      return isShuffleOfWords(I) && isOfLocal(cast<CallInst>(I).getArgOperand(1));
    });
  });
}

bool unrollIn(Function &F, FunctionAnalysisManager &Analyses) {
  Unroller Of(F, Analyses);
  SmallVector<Loop *> Found;
  for (Loop *L : Of.Loops.getLoopsInPreorder())
    if (L->isInnermost() && shufflesWords(*L))
      Found.push_back(L);
  bool Changed = false;
  for (Loop *L : Found) {
    Of.prepare(*L);
    unsigned Count = Of.SE.getSmallConstantTripCount(L);
    if (!Count || Count > MostWords + 1)
      continue;
    Of.unroll(*L, Count);
    Changed = true;
  }
  return Changed;
}

} // namespace

ADGEN_DECLARE_PASS(UnrollShuffles);

PreservedAnalyses UnrollShuffles::run(Module &M, ModuleAnalysisManager &MAM) {
  auto &Analyses = MAM.getResult<FunctionAnalysisManagerModuleProxy>(M).getManager();
  FunctionPassManager WordsToNumbers;
  WordsToNumbers.addPass(SimplifyCFGPass()); // an iteration that never comes reads beyond the variable
  WordsToNumbers.addPass(SROAPass(SROAOptions::ModifyCFG));
  WordsToNumbers.addPass(EarlyCSEPass());
  WordsToNumbers.addPass(SimplifyCFGPass()); // both halves in one block
  for (Function &F : M)
    if (any_of(instructions(F), isShuffleOfWords) && unrollIn(F, Analyses)) {
      Analyses.invalidate(F, PreservedAnalyses::none());
      Analyses.invalidate(F, WordsToNumbers.run(F, Analyses));
    }
  return PreservedAnalyses::none();
}

} // namespace adgen
