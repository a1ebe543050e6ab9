// The reverse of a loop that is left at two places is entered at two. In SASS nothing brings lanes of a warp together
// behind such a loop's iterations, or between a way on which they came apart before and the loop (BSYNC is missing),
// but ptxas takes them for together: they exchange values with lanes that are not there, and a counter in a register of
// the warp is advanced once for each group of lanes. With one entry, from which a number leads on to where the loop was
// entered, lanes meet where ptxas believes it.
#include "Support/Entries.h"
#include "Support/Pass.h"

#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/Analysis/CFG.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/Transforms/Utils/FixIrreducible.h"
#include "llvm/Transforms/Utils/LowerSwitch.h"

#define DEBUG_TYPE "adgen-make-loops-reducible"

using namespace llvm;

STATISTIC(NumFunctions, "Number of functions with loops that were entered at several places");

namespace adgen {

static bool hasIrreducibleLoop(Function &F, FunctionAnalysisManager &FAM) {
  ReversePostOrderTraversal<const Function *> Order(&F);
  return containsIrreducibleCFG<const BasicBlock *>(Order, FAM.getResult<LoopAnalysis>(F));
}

// The back end would copy the new blocks into those that lead there, and make of each loop what it was.
static void keepApart(BasicBlock &B) {
  auto *Nothing = InlineAsm::get(FunctionType::get(Type::getVoidTy(B.getContext()), false), "", "", true);
  IRBuilder<>(&B, B.getFirstInsertionPt()).CreateCall(Nothing)->setConvergent();
}

static void giveOneEntry(Function &F, FunctionAnalysisManager &FAM) {
  FAM.invalidate(F, LowerSwitchPass().run(F, FAM));
  if (splitEntryEdges(F))
    FAM.invalidate(F, PreservedAnalyses::none());
  SmallPtrSet<BasicBlock *, 32> Old;
  for (BasicBlock &B : F)
    Old.insert(&B);
  FAM.invalidate(F, FixIrreduciblePass().run(F, FAM));
  for (BasicBlock &B : F)
    if (!Old.contains(&B))
      keepApart(B);
}

ADGEN_DECLARE_PASS(MakeLoopsReducible);

PreservedAnalyses MakeLoopsReducible::run(Module &M, ModuleAnalysisManager &MAM) {
  auto &FAM = MAM.getResult<FunctionAnalysisManagerModuleProxy>(M).getManager();
  for (Function &F : M)
    if (!F.isDeclaration() && hasIrreducibleLoop(F, FAM)) {
      ADGEN_COUNT(NumFunctions, F.getName());
      giveOneEntry(F, FAM);
    }
  return PreservedAnalyses::none();
}

} // namespace adgen
