// On the host, in C++: memory that every iteration of a loop allocates and gives back is allocated once before the loop
// and given back behind it, if it always is of the same size. Iterations that are computed again allocate what they
// keep and their own arrays (OutlineIterations), which would cost small ones more time than their arithmetic.
#include "Analysis/EnzymeCaches.h"
#include "Support/Allocations.h"
#include "Support/Pass.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/MustExecute.h"
#include "llvm/Analysis/PostDominators.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/IntrinsicInst.h"

#define DEBUG_TYPE "adgen-hoist-allocations"

using namespace llvm;

STATISTIC(NumHoisted, "Number of allocations moved out of loops");

namespace adgen {
namespace {

bool allocates(const Instruction &I) {
  auto *Call = dyn_cast<CallInst>(&I);
  return Call && !releaseFor(*Call).empty();
}

class AllocatingLoop {
public:
  AllocatingLoop(Loop &L, const LoopInfo &Loops, const DominatorTree &Tree, const PostDominatorTree &Ends)
      : L(L), Loops(Loops), Tree(Tree), Ends(Ends) {}

  // Whether there is a place before it and one behind it. Every iteration comes to the block in which it is left,
  // unless the process ends before.
  bool hasPlaces() {
    SmallVector<Loop::Edge> Exits;
    L.getExitEdges(Exits);
    erase_if(Exits, [](const Loop::Edge &Exit) { return isa<UnreachableInst>(Exit.second->getTerminator()); });
    if (!L.getLoopPreheader() || !L.getLoopLatch() || Exits.size() != 1)
      return false;
    std::tie(End, Behind) = Exits.front();
    return Behind->getSinglePredecessor() == End && Tree.dominates(End, L.getLoopLatch());
  }

  // One after the other: what may throw lets nothing behind it begin early, and an allocation may.
  void hoistAll() {
    SmallVector<CallInst *> Found;
    for (BasicBlock *Block : L.blocks())
      for (Instruction &I : *Block)
        if (allocates(I))
          Found.push_back(cast<CallInst>(&I));
    while (erase_if(Found, [&](CallInst *Allocation) { return hoist(*Allocation); }), Moved)
      Moved = false;
    for (CallInst *Allocation : Found)
      if (isCacheAllocation(Allocation) && Loops.getLoopFor(Allocation->getParent()) == &L)
        hoistUnderConditions(*Allocation);
  }

private:
  bool hoist(CallInst &Allocation) {
    CallInst *Release = releaseOf(Allocation);
    ICFLoopSafetyInfo Safety;
    Safety.computeLoopSafetyInfo(&L);
    bool Changed = false;
    if (!Release || !Safety.isGuaranteedToExecute(Allocation, &Tree, &L) ||
        !L.makeLoopInvariant(Allocation.getArgOperand(0), Changed))
      return false;
    ADGEN_COUNT(NumHoisted, Allocation);
    Allocation.moveBefore(L.getLoopPreheader()->getTerminator()->getIterator());
    Release->moveBefore(Behind->getFirstInsertionPt());
    return Moved = true;
  }

  // Of a cache that all iterations have or none, by conditions that stay the same.
  void hoistUnderConditions(CallInst &Allocation) {
    SmallVector<CallInst *> Releases = releasesHere(Allocation);
    SmallVector<std::pair<Value *, bool>> Conditions;
    bool Changed = false;
    if (Releases.empty() || !findConditions(*Allocation.getParent(), Conditions) ||
        !L.makeLoopInvariant(Allocation.getArgOperand(0), Changed))
      return;
    ADGEN_COUNT(NumHoisted, Allocation);
    IRBuilder<> B(L.getLoopPreheader()->getTerminator());
    Value *Size = B.CreateFreeze(Allocation.getArgOperand(0));
    for (auto [Condition, Wanted] : Conditions) {
      Value *Asked = B.CreateFreeze(Condition), *None = Constant::getNullValue(Size->getType());
      Size = Wanted ? B.CreateSelect(Asked, Size, None) : B.CreateSelect(Asked, None, Size);
    }
    Allocation.moveBefore(L.getLoopPreheader()->getTerminator()->getIterator());
    Allocation.setArgOperand(0, Size);
    Allocation.removeRetAttr(Attribute::NonNull);
    auto *Release = cast<CallInst>(Releases.front()->clone());
    Release->setArgOperand(0, &Allocation);
    Release->insertBefore(Behind->getFirstInsertionPt());
    for (CallInst *Each : Releases)
      Each->eraseFromParent();
  }

  // Upon what it depends that an iteration comes to the block.
  bool findConditions(BasicBlock &Block, SmallVectorImpl<std::pair<Value *, bool>> &Found) {
    for (BasicBlock *Of = &Block; Of != L.getHeader();) {
      BasicBlock *Above = Tree.getNode(Of)->getIDom()->getBlock();
      auto *Way = dyn_cast<BranchInst>(Above->getTerminator());
      if (Loops.getLoopFor(Above) != &L) { // an inner loop, which ends
        Of = Above;
        continue;
      }
      if (!Way)
        return false;
      if (Way->isConditional()) {
        bool ByFirst = Tree.dominates(BasicBlockEdge(Above, Way->getSuccessor(0)), &Block);
        bool BySecond = Tree.dominates(BasicBlockEdge(Above, Way->getSuccessor(1)), &Block);
        bool Changed = false;
        if ((ByFirst || BySecond) && !L.makeLoopInvariant(Way->getCondition(), Changed))
          return false;
        if (ByFirst || BySecond)
          Found.emplace_back(Way->getCondition(), ByFirst);
        else if (!isJoin(*Of))
          return false;
      }
      Of = Above;
    }
    return true;
  }

  // Whether an iteration that comes to what dominates the block comes to it, too, whichever way it takes.
  bool isJoin(const BasicBlock &Block) const {
    return Ends.dominates(&Block, Tree.getNode(&Block)->getIDom()->getBlock());
  }

  // Where the cache is given back, if nothing but this loop has its address. It may come through choices between it and
  // nothing.
  SmallVector<CallInst *> releasesHere(CallInst &Allocation) const {
    SmallVector<CallInst *> Found;
    SmallSetVector<Instruction *, 8> Addresses;
    Addresses.insert(&Allocation);
    for (unsigned I = 0; I < Addresses.size(); ++I)
      for (User *U : Addresses[I]->users()) {
        auto *By = cast<Instruction>(U);
        auto *Phi = dyn_cast<PHINode>(By);
        auto *Store = dyn_cast<StoreInst>(By);
        bool IsChoice = Phi && Phi->getParent() != L.getHeader() && all_of(Phi->incoming_values(), [&](Value *Each) {
                          return isa<UndefValue>(Each) || Addresses.contains(dyn_cast<Instruction>(Each));
                        });
        if (!L.contains(By))
          return {};
        if (IsChoice || isa<GetElementPtrInst>(By))
          Addresses.insert(By);
        else if (isCacheRelease(*By))
          Found.push_back(cast<CallInst>(By));
        else if (!isa<LoadInst, MemSetInst>(By) && !(Store && Store->getValueOperand() != Addresses[I]))
          return {};
      }
    return Found;
  }

  // What gives it back in each iteration that goes on; then nothing else can.
  CallInst *releaseOf(CallInst &Allocation) const {
    for (User *U : Allocation.users()) {
      auto *Call = dyn_cast<CallInst>(U);
      if (Call && isRelease(*Call) && Call->getArgOperand(0) == &Allocation && isOncePerIteration(*Call) &&
          all_of(drop_begin(Call->args()), [&](const Use &U) { return L.isLoopInvariant(U.get()); }))
        return isOncePerIteration(Allocation) ? Call : nullptr;
    }
    return nullptr;
  }

  bool isOncePerIteration(const Instruction &I) const {
    return Loops.getLoopFor(I.getParent()) == &L && Tree.dominates(I.getParent(), End);
  }

  Loop &L;
  const LoopInfo &Loops;
  const DominatorTree &Tree;
  const PostDominatorTree &Ends;
  BasicBlock *End = nullptr, *Behind = nullptr;
  bool Moved = false;
};

} // namespace

ADGEN_DECLARE_PASS(HoistAllocations);

PreservedAnalyses HoistAllocations::run(Module &M, ModuleAnalysisManager &MAM) {
  auto &FAM = MAM.getResult<FunctionAnalysisManagerModuleProxy>(M).getManager();
  for (Function &F : M) {
    if (F.isDeclaration())
      continue;
    auto &Loops = FAM.getResult<LoopAnalysis>(F);
    auto &Tree = FAM.getResult<DominatorTreeAnalysis>(F);
    auto &Ends = FAM.getResult<PostDominatorTreeAnalysis>(F);
    SmallVector<Loop *, 4> Order = Loops.getLoopsInPreorder();
    for (Loop *L : reverse(Order)) // from the innermost outwards
      if (AllocatingLoop Of(*L, Loops, Tree, Ends); Of.hasPlaces())
        Of.hoistAll();
  }
  return PreservedAnalyses::none();
}

} // namespace adgen
