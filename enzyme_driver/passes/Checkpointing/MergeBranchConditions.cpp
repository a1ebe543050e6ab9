// Two conditions, one after the other, that lead past the same code are asked together:
//   if (a) f(); else if (b) g(); else goto end; both(); end:   becomes   if (a || b) { if (a) f(); else g(); both(); }
//   end:
// The optimiser makes the first of `if (a) f(); if (a || b) both();`. Enzyme finds out in the reverse sweep which way
// the forward sweep came by one condition, which does not say it at the end, so it would keep that for each iteration,
// and compute the primal once more to do so. Nor does it find by which of two conditions it came where a third one has
// decided which is asked,
//   if (a ? b : c) f();   which the optimiser makes two branches of,
// so that this is one branch again.
#include "Support/Pass.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

#define DEBUG_TYPE "adgen-merge-branch-conditions"

using namespace llvm;

STATISTIC(NumConditions, "Number of conditions merged");

namespace adgen {
namespace {

constexpr unsigned MostAskedInVain =
    4; // operations for the second condition, which were not done where the first one holds

BranchInst *choiceOf(BasicBlock &B) {
  auto *Choice = dyn_cast<BranchInst>(B.getTerminator());
  return Choice && Choice->isConditional() && Choice->getSuccessor(0) != Choice->getSuccessor(1) ? Choice : nullptr;
}

bool isCheapToAsk(const BasicBlock &B) {
  return B.size() <= MostAskedInVain + 1 && !isa<PHINode>(B.front()) && all_of(B, [](const Instruction &I) {
           return I.isTerminator() || (isSafeToSpeculativelyExecute(&I) && !I.mayReadFromMemory());
         });
}

// What a block computes but for its end is computed there.
void askBefore(BranchInst &End, BranchInst &There) {
  BasicBlock &Block = *End.getParent();
  while (&Block.front() != &End)
    Block.front().moveBefore(There.getIterator());
}

struct Conditions {
  BranchInst *First, *Second;
  bool IntoSecond, PastSecond; // the sides that lead to the second condition, and from there past the code
  BasicBlock *End;
};

// Whether the other way to the end is one behind both conditions. By which way a loop is left is kept once for all of
// its iterations.
bool isLeftByBoth(const Conditions &C, const DominatorTree &DT, const LoopInfo &LI) {
  if (const Loop *L = LI.getLoopFor(C.Second->getParent()); L && !L->contains(C.End))
    return false;
  BasicBlock *Second = C.Second->getParent(), *First = C.First->getParent(),
             *AtOnce = C.First->getSuccessor(!C.IntoSecond);
  SmallSetVector<BasicBlock *, 4> Ways(pred_begin(C.End), pred_end(C.End));
  if (AtOnce == C.Second->getSuccessor(!C.PastSecond) || Ways.size() != 2 || !Ways.remove(Second))
    return false;
  BasicBlock *Other = Ways.front();
  return DT.dominates(First, Other) && Other != First && !DT.dominates(Second, Other) &&
         !DT.dominates(BasicBlockEdge(First, AtOnce), Other);
}

std::optional<Conditions> conditionsFrom(BasicBlock &B, const DominatorTree &DT, const LoopInfo &LI) {
  BranchInst *First = choiceOf(B);
  for (unsigned Side : {0, 1}) {
    BasicBlock *Next = First ? First->getSuccessor(Side) : nullptr;
    BranchInst *Second = Next && Next->getSinglePredecessor() ? choiceOf(*Next) : nullptr;
    if (!Second || !isCheapToAsk(*Next))
      continue;
    for (unsigned Past : {0, 1}) {
      Conditions Found{First, Second, Side == 1, Past == 1, Second->getSuccessor(Past)};
      if (isLeftByBoth(Found, DT, LI))
        return Found;
    }
  }
  return std::nullopt;
}

void askTogether(const Conditions &C) {
  BasicBlock *First = C.First->getParent(), *Second = C.Second->getParent();
  BasicBlock *AtOnce = C.First->getSuccessor(!C.IntoSecond), *Later = C.Second->getSuccessor(!C.PastSecond);
  askBefore(*C.Second, *C.First);
  IRBuilder<> B(C.First);
  Value *One = C.IntoSecond ? C.First->getCondition() : B.CreateNot(C.First->getCondition());
  Value *Other = C.PastSecond ? C.Second->getCondition() : B.CreateNot(C.Second->getCondition());
  B.CreateCondBr(B.CreateLogicalOr(One, Other), Second, C.End);
  IRBuilder<>(C.Second).CreateCondBr(One, AtOnce, Later);
  C.End->replacePhiUsesWith(Second, First);
  AtOnce->replacePhiUsesWith(First, Second);
  C.First->eraseFromParent();
  C.Second->eraseFromParent();
}

// Where both sides of a choice ask for nothing but which of the same two ways to go.
struct Alternatives {
  BranchInst *Choice, *Yes, *No;
  bool Crossed; // the way of one where it holds is that of the other where it does not
};

BranchInst *asksAlone(BasicBlock &B) {
  BranchInst *Asked = B.getSinglePredecessor() && isCheapToAsk(B) ? choiceOf(B) : nullptr;
  return Asked && !is_contained(successors(&B), &B) ? Asked : nullptr;
}

std::optional<Alternatives> alternativesFrom(BasicBlock &B) {
  BranchInst *Choice = choiceOf(B), *Yes = Choice ? asksAlone(*Choice->getSuccessor(0)) : nullptr,
             *No = Yes ? asksAlone(*Choice->getSuccessor(1)) : nullptr;
  if (!No)
    return std::nullopt;
  for (bool Crossed : {false, true})
    if (Yes->getSuccessor(0) == No->getSuccessor(Crossed) && Yes->getSuccessor(1) == No->getSuccessor(!Crossed))
      return Alternatives{Choice, Yes, No, Crossed};
  return std::nullopt;
}

void askOnce(const Alternatives &A) {
  BasicBlock *Before = A.Choice->getParent(), *Yes = A.Yes->getParent(), *No = A.No->getParent();
  for (BranchInst *Asked : {A.Yes, A.No})
    askBefore(*Asked, *A.Choice);
  IRBuilder<> B(A.Choice);
  Value *Condition = A.Choice->getCondition();
  for (BasicBlock *Way : successors(Yes))
    for (PHINode &Phi : Way->phis()) {
      Value *If = Phi.getIncomingValueForBlock(Yes), *Else = Phi.getIncomingValueForBlock(No);
      Phi.removeIncomingValue(No, /*DeletePHIIfEmpty=*/false);
      Phi.setIncomingValueForBlock(Yes, If == Else ? If : B.CreateSelect(Condition, If, Else, Phi.getName()));
      Phi.replaceIncomingBlockWith(Yes, Before);
    }
  Value *Other = A.Crossed ? B.CreateNot(A.No->getCondition()) : A.No->getCondition();
  B.CreateCondBr(B.CreateSelect(Condition, A.Yes->getCondition(), Other), A.Yes->getSuccessor(0),
                 A.Yes->getSuccessor(1));
  BasicBlock *Ways[] = {A.Yes->getSuccessor(0), A.Yes->getSuccessor(1)};
  A.Choice->eraseFromParent();
  Yes->eraseFromParent();
  No->eraseFromParent();
  for (BasicBlock *Way : Ways)
    if (Way->getSinglePredecessor())
      FoldSingleEntryPHINodes(Way);
}

} // namespace

ADGEN_DECLARE_PASS(MergeBranchConditions);

PreservedAnalyses MergeBranchConditions::run(Module &M, ModuleAnalysisManager &MAM) {
  auto &FAM = MAM.getResult<FunctionAnalysisManagerModuleProxy>(M).getManager();
  for (Function &F : M) {
    if (F.isDeclaration())
      continue;
    auto &DT = FAM.getResult<DominatorTreeAnalysis>(F);
    for (BasicBlock &B : F)
      while (std::optional<Alternatives> Found = DT.isReachableFromEntry(&B) ? alternativesFrom(B) : std::nullopt) {
        ADGEN_COUNT(NumConditions, B.getName());
        askOnce(*Found);
        DT.recalculate(F);
      }
    LoopInfo LI(DT);
    for (BasicBlock &B : F)
      if (std::optional<Conditions> Found = DT.isReachableFromEntry(&B) ? conditionsFrom(B, DT, LI) : std::nullopt) {
        ADGEN_COUNT(NumConditions, B.getName());
        askTogether(*Found);
        DT.recalculate(F);
      }
  }
  return PreservedAnalyses::none();
}

} // namespace adgen
