#include "Accumulate/ShowGroups.h"

#include "Accumulate/AccumulationGroups.h"
#include "Support/Unrolling.h"

#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/Cloning.h"
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

using Rows = SmallVector<std::pair<Loop *, unsigned>>;

static Rows rowsOf(Function &F, LoopInfo &Loops, ScalarEvolution &SE, FunctionAnalysisManager &FAM) {
  Meetings Meet(F, FAM.getResult<AAManager>(F));
  GroupFinder Known(F, Meet, Loops);
  Rows Found;
  for (Loop *L : Loops.getLoopsInPreorder())
    if (unsigned Count = Known.countOfRows(*L, SE))
      Found.push_back({L, Count});
  return Found;
}

static void joinBlocks(Function &F) {
  for (BasicBlock &Block : F)
    ConstantFoldTerminator(&Block, /*DeleteDeadConditions=*/true);
  EliminateUnreachableBlocks(F);
  for (BasicBlock &Block : make_early_inc_range(F))
    MergeBlockIntoPredecessor(&Block);
}

// A loop that adds to one element of each row in an iteration becomes straight code.
static bool unrollRows(Function &F, FunctionAnalysisManager &FAM) {
  Unroller Unroll(F, FAM);
  const Rows Found = rowsOf(F, Unroll.Loops, Unroll.SE, FAM);
  for (auto [L, Count] : Found) {
    Unroll.prepare(*L);
    Unroll.unroll(*L, Count);
  }
  if (!Found.empty())
    joinBlocks(F);
  FAM.invalidate(F, PreservedAnalyses::none());
  return !Found.empty();
}

static size_t groupsIn(Function &F, FunctionAnalysisManager &FAM) {
  Meetings Meet(F, FAM.getResult<AAManager>(F));
  return GroupFinder(F, Meet, FAM.getResult<LoopAnalysis>(F)).find().size();
}

static void seeThrough(Function &F, FunctionAnalysisManager &FAM) {
  computeOnce(F, FAM.getResult<DominatorTreeAnalysis>(F));
  FAM.invalidate(F, PreservedAnalyses::none());
}

static bool unroll(Function &F, FunctionAnalysisManager &FAM) {
  seeThrough(F, FAM);
  return unrollRows(F, FAM);
}

static bool hasInnerLoop(Function &F, FunctionAnalysisManager &FAM) {
  auto &SE = FAM.getResult<ScalarEvolutionAnalysis>(F);
  return any_of(FAM.getResult<LoopAnalysis>(F).getLoopsInPreorder(), [&](const Loop *L) {
    return L->isInnermost() && SE.getSmallConstantTripCount(L) && any_of(L->blocks(), [](BasicBlock *Block) {
             return any_of(*Block, [](Instruction &I) { return asAccumulation(I); });
           });
  });
}

// Straight code is longer: where a copy of it shows no more groups the loops stay.
void showGroups(Function &F, FunctionAnalysisManager &FAM) {
  if (!hasInnerLoop(F, FAM))
    return seeThrough(F, FAM);
  ValueToValueMapTy Values;
  Function *Copy = CloneFunction(&F, Values);
  bool ShowsMore = unroll(*Copy, FAM) && groupsIn(*Copy, FAM) > groupsIn(F, FAM);
  FAM.clear(*Copy, Copy->getName());
  Copy->eraseFromParent();
  if (ShowsMore)
    unroll(F, FAM);
}

} // namespace adgen
