// Gives blocks that three or more branches lead to another block in front, for those of them that come from under one
// branch. Enzyme finds out in the reverse sweep which way the forward sweep came, and with three ways, or what it
// simplifies to three, evaluates both conditions at once: in
//   if (i >= n || mask[i]) return;
// it would read mask[i] for every i. Where two ways meet, it asks for one condition, and only where that was asked
// before. A call stands in the new block, or Enzyme's own simplification would undo this; StripGuards takes it away
// after Enzyme.
#include "Support/Guards.h"
#include "Support/Pass.h"

#include "llvm/Analysis/DomTreeUpdater.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/Local.h"

using namespace llvm;

namespace adgen {
namespace {

constexpr unsigned AskedAtOnce = 3;
constexpr StringLiteral PinPrefix = "adgen_pin_", JoinName = "join";

SmallVector<BasicBlock *> uniquePredecessors(BasicBlock &Join) {
  SmallSetVector<BasicBlock *, 4> Found(pred_begin(&Join), pred_end(&Join));
  return Found.takeVector();
}

// Those of the predecessors that come from under one branch, but not all of them do; none if there are no such.
SmallVector<BasicBlock *> inner(BasicBlock &Join, ArrayRef<BasicBlock *> Predecessors, const DominatorTree &DT) {
  for (BasicBlock *Way : Predecessors)
    for (const DomTreeNode *Above = DT.getNode(Way); Above && Above != DT.getNode(&Join)->getIDom();
         Above = Above->getIDom()) {
      SmallVector<BasicBlock *> Under;
      for (BasicBlock *Other : Predecessors)
        if (DT.dominates(Above->getBlock(), Other))
          Under.push_back(Other);
      if (Under.size() > 1 && Under.size() < Predecessors.size())
        return Under;
    }
  return {};
}

// What a block in front of another merges for it has no derivative either.
void keepMarks(BasicBlock &First, const BasicBlock &Join) {
  for (const PHINode &Phi : Join.phis())
    if (MDNode *Mark = Phi.getMetadata(InactiveMark))
      if (auto *Part = dyn_cast<PHINode>(Phi.getIncomingValueForBlock(&First)); Part && Part->getParent() == &First)
        Part->setMetadata(InactiveMark, Mark);
}

bool isPutInFront(const BasicBlock &Block) {
  auto *Call = dyn_cast<CallInst>(&*Block.getFirstNonPHIIt());
  return Call && isCallOf(*Call, (PinPrefix + JoinName).str()) && isa<BranchInst>(Call->getNextNode()) &&
         Block.getSingleSuccessor();
}

// Whether another branch leads to the block behind from under the one that parts what merges in front.
bool isBetween(BasicBlock &Front, const DominatorTree &DT) {
  BasicBlock *Join = Front.getSingleSuccessor();
  const BasicBlock *Parts = DT.getNode(&Front)->getIDom()->getBlock();
  return any_of(predecessors(Join), [&](BasicBlock *From) { return From != &Front && DT.dominates(Parts, From); });
}

// What merges in front is led to the block behind again, where another way that leads there since lies between.
void dissolve(Function &F, DominatorTree &DT, LoopInfo &LI) {
  DomTreeUpdater Update(DT, DomTreeUpdater::UpdateStrategy::Eager);
  for (BasicBlock &Block : make_early_inc_range(F)) {
    if (!DT.isReachableFromEntry(&Block) || !isPutInFront(Block) || LI.isLoopHeader(&Block) ||
        LI.isLoopHeader(Block.getSingleSuccessor()) || !isBetween(Block, DT))
      continue;
    auto *Call = cast<CallInst>(&*Block.getFirstNonPHIIt());
    Loop *L = LI.getLoopFor(&Block);
    Call->removeFromParent();
    LI.removeBlock(&Block);
    if (TryToSimplifyUncondBranchFromEmptyBlock(&Block, &Update)) {
      Call->deleteValue();
      continue;
    }
    Call->insertBefore(Block.getTerminator()->getIterator());
    if (L)
      L->addBasicBlockToLoop(&Block, LI);
  }
}

void nest(Function &F, DominatorTree &DT, LoopInfo &LI) {
  SmallVector<BasicBlock *> Joins;
  for (BasicBlock &Block : F)
    if (!Block.isEHPad() && DT.isReachableFromEntry(&Block) && !LI.isLoopHeader(&Block))
      Joins.push_back(&Block);
  while (!Joins.empty()) {
    BasicBlock *Join = Joins.pop_back_val();
    SmallVector<BasicBlock *> Predecessors = uniquePredecessors(*Join);
    if (Predecessors.size() < AskedAtOnce)
      continue;
    SmallVector<BasicBlock *> Inner = inner(*Join, Predecessors, DT);
    if (Inner.empty())
      continue;
    BasicBlock *First = SplitBlockPredecessors(Join, Inner, ".join", &DT, &LI);
    keepMarks(*First, *Join);
    IRBuilder<>(First->getTerminator()).CreateCall(declarePin(*F.getParent(), JoinName));
    Joins.append({Join, First});
  }
}

} // namespace

ADGEN_DECLARE_PASS(SplitMultiwayMerges);

PreservedAnalyses SplitMultiwayMerges::run(Module &M, ModuleAnalysisManager &MAM) {
  auto &FAM = MAM.getResult<FunctionAnalysisManagerModuleProxy>(M).getManager();
  for (Function &F : M)
    if (!F.isDeclaration()) {
      auto &DT = FAM.getResult<DominatorTreeAnalysis>(F);
      auto &LI = FAM.getResult<LoopAnalysis>(F);
      dissolve(F, DT, LI);
      nest(F, DT, LI);
    }
  return PreservedAnalyses::none();
}

} // namespace adgen
