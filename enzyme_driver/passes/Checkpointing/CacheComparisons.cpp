// In C++: what the least (or greatest) number so far was compared with in the iterations of a parallel loop is kept, a
// flag an iteration. The number so far follows from all iterations before, so that Enzyme would run the whole loop
// again before its reverse sweep, with all that is computed in it.
#include "Support/Hold.h"
#include "Support/Iterations.h"
#include "Support/Pass.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IntrinsicInst.h"

#define DEBUG_TYPE "adgen-cache-comparisons"

using namespace llvm;

STATISTIC(NumComparisons, "Number of comparisons cached");

namespace adgen {
namespace {

// Whether the loop carries the number from one iteration to the next unless another one is chosen, which is reversed.
bool isExtreme(PHINode &SoFar, const Loop &L) {
  BasicBlock *Latch = L.getLoopLatch();
  auto *Choice = Latch && SoFar.getType()->isFloatingPointTy() && !SoFar.hasMetadata(InactiveMark)
                     ? dyn_cast<SelectInst>(SoFar.getIncomingValueForBlock(Latch))
                     : nullptr;
  return Choice && isa<FCmpInst>(Choice->getCondition()) && is_contained(drop_begin(Choice->operands()), &SoFar);
}

// The comparisons with the number, also after the loop.
SmallVector<FCmpInst *> comparisonsWith(PHINode &SoFar) {
  SmallSetVector<Instruction *, 8> Values;
  SmallVector<FCmpInst *> Found;
  Values.insert(&SoFar);
  for (unsigned I = 0; I < Values.size(); ++I)
    for (User *U : Values[I]->users()) {
      if (isa<PHINode, SelectInst>(U))
        Values.insert(cast<Instruction>(U));
      else if (auto *Comparison = dyn_cast<FCmpInst>(U); Comparison && !is_contained(Found, Comparison))
        Found.push_back(Comparison);
    }
  return Found;
}

} // namespace

ADGEN_DECLARE_PASS(CacheComparisons);

PreservedAnalyses CacheComparisons::run(Module &M, ModuleAnalysisManager &) {
  for (Function &F : M) {
    if (!F.getName().starts_with(RegionPrefix) || F.isDeclaration())
      continue;
    DominatorTree DT(F);
    LoopInfo LI(DT);
    SmallSetVector<FCmpInst *, 4> Comparisons;
    for (Loop *L : LI.getLoopsInPreorder())
      for (PHINode &Phi : L->getHeader()->phis())
        if (isExtreme(Phi, *L))
          Comparisons.insert_range(comparisonsWith(Phi));
    for (FCmpInst *Each : Comparisons) {
      ADGEN_COUNT(NumComparisons, *Each);
      hold(*Each, std::next(Each->getIterator()));
    }
  }
  return PreservedAnalyses::none();
}

} // namespace adgen
