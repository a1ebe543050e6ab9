// On the host, in C++: memory that every iteration of a loop allocates and gives back is allocated once before the loop
// and given back behind it, if it always is of the same size. Iterations that are computed again allocate what they
// keep and their own arrays (OutlineIterations), which would cost small ones more time than their arithmetic.
#include "Support/Allocations.h"
#include "Support/Pass.h"

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/MustExecute.h"
#include "llvm/IR/Dominators.h"

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
  AllocatingLoop(Loop &L, const LoopInfo &Loops, const DominatorTree &Tree) : L(L), Loops(Loops), Tree(Tree) {}

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
    SmallVector<Loop *, 4> Order = Loops.getLoopsInPreorder();
    for (Loop *L : reverse(Order)) // from the innermost outwards
      if (AllocatingLoop Of(*L, Loops, Tree); Of.hasPlaces())
        Of.hoistAll();
  }
  return PreservedAnalyses::none();
}

} // namespace adgen
