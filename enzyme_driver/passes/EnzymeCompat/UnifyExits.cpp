// Gives a loop whose exits lead to loops of different depth (a `return` or a `break` out of two loops at once) one exit
// block, and so an outermost loop around others that is left to several places. Enzyme records such an inner loop's
// trip count on one of its exits only, and the reverse sweep of the others would read what was never written. The
// branch behind the new exit asks an opaque function, or Enzyme's own simplification would undo this; StripGuards takes
// the call away after Enzyme.
#include "Support/Guards.h"
#include "Support/Pass.h"

#include "llvm/Analysis/DomTreeUpdater.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/Instructions.h"
#include "llvm/Transforms/Utils/ControlFlowUtils.h"
#include "llvm/Transforms/Utils/LoopSimplify.h"
#include "llvm/Transforms/Utils/LoopUtils.h"

using namespace llvm;

namespace adgen {
namespace {

// The blocks from which the function returns. What only ends by an exception or the program's end has no reverse sweep.
class Returning {
  SmallPtrSet<const BasicBlock *, 16> Blocks;

public:
  explicit Returning(const Function &F) {
    SmallVector<const BasicBlock *> Next;
    for (const BasicBlock &Block : F)
      if (isa<ReturnInst>(Block.getTerminator()))
        Next.push_back(&Block);
    while (!Next.empty()) {
      const BasicBlock *Block = Next.pop_back_val();
      if (Blocks.insert(Block).second)
        append_range(Next, predecessors(Block));
    }
  }
  bool contains(const BasicBlock *Block) const { return Blocks.contains(Block); }
};

// Where a branch in the block leaves the loop to. Exceptions are not differentiated: their edges stay as they are.
BasicBlock *exitOf(const Loop &L, const BranchInst &Branch, unsigned Successor, const Returning &Known) {
  if (Successor >= Branch.getNumSuccessors() || L.contains(Branch.getSuccessor(Successor)))
    return nullptr;
  BasicBlock *Exit = Branch.getSuccessor(Successor);
  return Known.contains(Exit) ? Exit : nullptr;
}

SmallVector<BranchInst *> branchesOut(const Loop &L) {
  SmallVector<BasicBlock *> Exiting;
  L.getExitingBlocks(Exiting);
  SmallVector<BranchInst *> Found;
  for (BasicBlock *Block : Exiting)
    if (auto *Branch = dyn_cast<BranchInst>(Block->getTerminator()))
      Found.push_back(Branch);
  return Found;
}

bool leavesToDifferentLevels(const Loop &L, const LoopInfo &LI, const Returning &Known) {
  SmallPtrSet<Loop *, 4> Levels;
  for (BranchInst *Branch : branchesOut(L))
    for (unsigned Successor : {0u, 1u})
      if (BasicBlock *Exit = exitOf(L, *Branch, Successor, Known))
        Levels.insert(LI.getLoopFor(Exit));
  return Levels.size() > 1;
}

bool leavesToSeveralBlocks(const Loop &L, const Returning &Known) {
  SmallVector<BasicBlock *> Exits;
  L.getUniqueExitBlocks(Exits);
  return count_if(Exits, [&](const BasicBlock *Exit) { return Known.contains(Exit); }) > 1;
}

// An outermost loop needs one only where there are loops inside it.
bool needsOneExit(const Loop &L, const LoopInfo &LI, const Returning &Known) {
  if (L.getParentLoop())
    return leavesToDifferentLevels(L, LI, Known);
  return !L.isInnermost() && leavesToSeveralBlocks(L, Known);
}

void unify(Loop &L, DominatorTree &DT, LoopInfo &LI, const Returning &Known) {
  formLCSSARecursively(L, DT, &LI, nullptr); // then only phis of the exits use what the loop computed
  ControlFlowHub Hub;
  for (BranchInst *Branch : branchesOut(L))
    if (BasicBlock *First = exitOf(L, *Branch, 0, Known), *Second = exitOf(L, *Branch, 1, Known); First || Second)
      Hub.addBranch(Branch->getParent(), First, Second);
  DomTreeUpdater Updater(DT, DomTreeUpdater::UpdateStrategy::Eager);
  SmallVector<BasicBlock *> Guards;
  Hub.finalize(&Updater, Guards, "adgen.exit");
  for (BasicBlock *Guard : Guards)
    if (auto *Branch = dyn_cast<BranchInst>(Guard->getTerminator()); Branch && Branch->isConditional())
      Branch->setCondition(hidden(Branch->getCondition(), Branch->getIterator()));
}

// The innermost loop that is left, as unifying one changes the loops that are known.
Loop *next(LoopInfo &LI, const SmallPtrSetImpl<BasicBlock *> &Done, const Returning &Known) {
  auto Loops = LI.getLoopsInPreorder();
  for (Loop *L : reverse(Loops))
    if (!Done.contains(L->getHeader()) && needsOneExit(*L, LI, Known))
      return L;
  return nullptr;
}

void unifyAll(Function &F) {
  SmallPtrSet<BasicBlock *, 8> Done;
  for (;;) {
    DominatorTree DT(F);
    LoopInfo LI(DT);
    Loop *L = next(LI, Done, Returning(F));
    if (!L)
      return;
    Done.insert(L->getHeader());
    simplifyLoop(L, &DT, &LI, nullptr, nullptr, nullptr, /*PreserveLCSSA=*/false);
    unify(*L, DT, LI, Returning(F));
  }
}

} // namespace

ADGEN_DECLARE_PASS(UnifyExits);

PreservedAnalyses UnifyExits::run(Module &M, ModuleAnalysisManager &) {
  for (Function &F : M)
    if (!F.isDeclaration())
      unifyAll(F);
  return PreservedAnalyses::none();
}

} // namespace adgen
