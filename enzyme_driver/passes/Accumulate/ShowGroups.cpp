#include "Accumulate/ShowGroups.h"

#include "Accumulate/AccumulationGroups.h"
#include "Support/Unrolling.h"

#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/Local.h"

using namespace llvm;

namespace adgen {

// Whether all ways bring the same number, computed from the same.
static bool agrees(const PHINode &Phi, const DominatorTree &DT) {
  auto *First = dyn_cast<Instruction>(Phi.getIncomingValue(0));
  return First && isa<CastInst, BinaryOperator>(First) && isSafeToSpeculativelyExecute(First) &&
         all_of(Phi.incoming_values(),
                [&](const Use &U) {
                  auto *Other = dyn_cast<Instruction>(U.get());
                  return Other && First->isIdenticalTo(Other);
                }) &&
         all_of(First->operands(), [&](const Use &U) {
           auto *Operand = dyn_cast<Instruction>(U.get());
           return !Operand || DT.dominates(Operand, &Phi);
         });
}

// LLVM computes a thread's index on both ways of a branch where one of them has it already.
static void computeOnce(Function &F, const DominatorTree &DT) {
  for (Instruction &I : make_early_inc_range(instructions(F))) {
    auto *Phi = dyn_cast<PHINode>(&I);
    if (!Phi || !Phi->getType()->isIntegerTy() || !agrees(*Phi, DT))
      continue;
    Instruction *Once = cast<Instruction>(Phi->getIncomingValue(0))->clone();
    Once->insertBefore(Phi->getParent()->getFirstInsertionPt());
    Phi->replaceAllUsesWith(Once);
    Phi->eraseFromParent();
  }
}

// A loop that adds to one element of each row in an iteration becomes straight code.
static bool unrollRows(Function &F, FunctionAnalysisManager &FAM) {
  Unroller Unroll(F, FAM);
  Meetings Meet(F, FAM.getResult<AAManager>(F));
  GroupFinder Known(F, Meet, Unroll.Loops);
  SmallVector<std::pair<Loop *, unsigned>> Found;
  for (Loop *L : Unroll.Loops.getLoopsInPreorder())
    if (unsigned Count = Known.countOfRows(*L, Unroll.SE))
      Found.push_back({L, Count});
  for (auto [L, Count] : Found) {
    Unroll.prepare(*L);
    Unroll.unroll(*L, Count);
  }
  return !Found.empty();
}

static void joinBlocks(Function &F) {
  for (BasicBlock &Block : F)
    ConstantFoldTerminator(&Block, /*DeleteDeadConditions=*/true);
  EliminateUnreachableBlocks(F);
  for (BasicBlock &Block : make_early_inc_range(F))
    MergeBlockIntoPredecessor(&Block);
}

void showGroups(Function &F, FunctionAnalysisManager &FAM) {
  computeOnce(F, FAM.getResult<DominatorTreeAnalysis>(F));
  FAM.invalidate(F, PreservedAnalyses::none());
  if (!unrollRows(F, FAM))
    return;
  joinBlocks(F);
  FAM.invalidate(F, PreservedAnalyses::none());
}

} // namespace adgen
