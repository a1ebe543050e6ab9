// Gives a loop whose exits lead to loops of different depth (a `return` or a `break` out of two loops at once) one exit
// block, and so an outermost loop around others that is left to several places. Enzyme records such an inner loop's
// trip count on one of its exits only, and the reverse sweep of the others would read what was never written. The
// branch behind the new exit asks an opaque function, or Enzyme's own simplification would undo this; StripGuards takes
// the call away after Enzyme.
#include "Support/Opaque.h"
#include "Support/Pass.h"

#include "llvm/Analysis/DomTreeUpdater.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
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

// What RematerializeSharedLoads has repeated are loads again.
static void restoreLoads(Function &F) {
  for (BasicBlock &Block : F)
    for (Instruction &I : make_early_inc_range(Block))
      if (auto *Call = dyn_cast<IntrinsicInst>(&I); Call && Call->getIntrinsicID() == Intrinsic::nvvm_ldu_global_f) {
        MaybeAlign Alignment(cast<ConstantInt>(Call->getArgOperand(1))->getZExtValue());
        auto *Load = new LoadInst(Call->getType(), Call->getArgOperand(0), "", false, Alignment.valueOrOne(),
                                  Call->getIterator());
        Load->setDebugLoc(Call->getDebugLoc());
        Call->replaceAllUsesWith(Load);
        Call->eraseFromParent();
      }
}

// The number of iterations of a loop that counts down without a sign comes as `add nuw limit, -1`, which is wrong for
// all limits but 0.
static void dropWrongFlag(Instruction &I) {
  auto *Limit = I.getOpcode() == Instruction::Add ? dyn_cast<ConstantInt>(I.getOperand(1)) : nullptr;
  if (Limit && Limit->isNegative())
    I.setHasNoUnsignedWrap(false);
}

// What had Enzyme keep a number (CachePhis) is that number again.
static void releaseHeld(Module &M) {
  for (Function &F : make_early_inc_range(M))
    if (F.isDeclaration() && F.getName().starts_with(HoldPrefix)) {
      for (User *U : make_early_inc_range(F.users())) {
        auto *Call = cast<CallInst>(U);
        Call->replaceAllUsesWith(Call->getArgOperand(0));
        Call->eraseFromParent();
      }
      F.eraseFromParent();
    }
}

// What kept calls of our rules in the forward sweep (PinRules), and what used results (UseResults).
static void removePins(Module &M) {
  for (Function &F : make_early_inc_range(M))
    if (F.getName().starts_with(PinPrefix) || (F.isDeclaration() && F.getName().starts_with(UsePrefix))) {
      for (User *U : make_early_inc_range(F.users()))
        cast<CallInst>(U)->eraseFromParent();
      F.eraseFromParent();
    }
}

ADGEN_DECLARE_PASS(StripGuards);

// After Enzyme: guards are what they were, and the pointer to a cache that grows is not invariant.
PreservedAnalyses StripGuards::run(Module &M, ModuleAnalysisManager &) {
  if (Function *Opaque = M.getFunction(OpaqueName)) {
    for (User *U : make_early_inc_range(Opaque->users())) {
      auto *Call = cast<CallInst>(U);
      Call->replaceAllUsesWith(Call->getArgOperand(0));
      Call->eraseFromParent();
    }
    Opaque->eraseFromParent();
  }
  releaseHeld(M);
  removePins(M);
  for (Function &F : M) {
    restoreLoads(F);
    for (BasicBlock &Block : F)
      for (Instruction &I : Block) {
        I.setMetadata(LLVMContext::MD_invariant_group, nullptr);
        dropWrongFlag(I);
      }
  }
  return PreservedAnalyses::none();
}

} // namespace adgen
