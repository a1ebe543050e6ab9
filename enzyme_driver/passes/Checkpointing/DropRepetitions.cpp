// Loops whose iterations all compute the same, as a benchmark repeats the work of an element that is to cost more:
//   for (r = 0; r < n; ++r) { x = f(a[i]); y[i] = g(x); }
// run once, if they run at all. Each iteration overwrites what the one before has left, with what it is already, and
// the reverse sweep would walk through all of them, although only the last counts.
#include "Support/Pass.h"

#include "llvm/Analysis/AliasAnalysis.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IntrinsicInst.h"

#define DEBUG_TYPE "adgen-drop-repetitions"

using namespace llvm;

STATISTIC(NumLoops, "Number of loops that run once");

namespace adgen {
namespace {

class Repetition {
public:
  Repetition(const Loop &L, AAResults &AA) : L(L), AA(AA) {}

  bool isOne() {
    auto *Latch = L.getLoopLatch();
    Again = Latch && L.getLoopPreheader() && L.getExitingBlock() == Latch && L.getExitBlock()
                ? dyn_cast<BranchInst>(Latch->getTerminator())
                : nullptr;
    return Again && Again->isConditional() && touchesNothingTwice() &&
           all_of(L.getHeader()->phis(), [&](const PHINode &Phi) { return onlyCounts(Phi) || onlyStays(Phi); });
  }

private:
  using Instructions = SmallPtrSet<const Instruction *, 16>;

  // What is computed of a number in the same iteration.
  Instructions madeOf(const PHINode &Phi) const {
    SmallVector<const Instruction *> Work{&Phi};
    Instructions Found{&Phi};
    while (!Work.empty())
      for (const User *U : Work.pop_back_val()->users())
        if (auto *I = cast<Instruction>(U); L.contains(I) && !isHeaderPhi(*I) && Found.insert(I).second)
          Work.push_back(I);
    return Found;
  }

  bool isHeaderPhi(const Instruction &I) const { return isa<PHINode>(I) && I.getParent() == L.getHeader(); }

  // The number of an iteration, which nothing depends on but whether there is another one.
  bool onlyCounts(const PHINode &Phi) const {
    return all_of(madeOf(Phi), [&](const Instruction *I) {
      return (I == Again || !I->isTerminator()) && !I->mayHaveSideEffects() && all_of(I->users(), [&](const User *U) {
               auto *By = cast<Instruction>(U);
               return By == &Phi || (L.contains(By) && !isHeaderPhi(*By));
             });
    });
  }

  // A number that an iteration takes from the one before, or replaces, by what is the same for all.
  bool onlyStays(const PHINode &Phi) const {
    const Value *Left = Phi.getIncomingValueForBlock(L.getLoopLatch());
    const Instructions Made = madeOf(Phi);
    return all_of(Made, [&](const Instruction *I) {
      const bool IsChosen = isa<SelectInst, PHINode>(I) && all_of(I->users(), [&](const User *U) {
                              auto *By = cast<Instruction>(U);
                              return By == &Phi || (L.contains(By) ? !isHeaderPhi(*By) : I == Left);
                            });
      auto *Choice = dyn_cast<SelectInst>(I);
      return IsChosen && !(Choice && Made.contains(dyn_cast<Instruction>(Choice->getCondition())));
    });
  }

  // Whether an iteration leaves the same in memory as the one before, whose results it does not read.
  bool touchesNothingTwice() const {
    SmallVector<const StoreInst *> Stores;
    SmallVector<const LoadInst *> Loads;
    for (const BasicBlock *Block : L.blocks())
      for (const Instruction &I : *Block) {
        if (auto *Store = dyn_cast<StoreInst>(&I); Store && Store->isSimple())
          Stores.push_back(Store);
        else if (auto *Load = dyn_cast<LoadInst>(&I); Load && Load->isSimple())
          Loads.push_back(Load);
        else if (!isAssumeLike(I) && (I.mayReadOrWriteMemory() || I.mayHaveSideEffects() || isConvergent(I)))
          return false;
      }
    return none_of(Stores, [&](const StoreInst *Store) {
      return any_of(Loads, [&](const LoadInst *Load) { return mayMeet(*Store, *Load); });
    });
  }

  static bool isConvergent(const Instruction &I) {
    auto *Call = dyn_cast<CallBase>(&I);
    return Call && Call->isConvergent();
  }

  static bool isAssumeLike(const Instruction &I) {
    auto *Call = dyn_cast<IntrinsicInst>(&I);
    return Call && Call->isAssumeLikeIntrinsic();
  }

  // Arrays that a kernel writes overlap no other one, which the runtime checks.
  bool mayMeet(const StoreInst &Store, const LoadInst &Load) const {
    const Value *To = getUnderlyingObject(Store.getPointerOperand(), /*MaxLookup=*/0);
    const Value *From = getUnderlyingObject(Load.getPointerOperand(), /*MaxLookup=*/0);
    if (To != From && isa<Argument>(To) && isa<Argument>(From))
      return false;
    return !AA.isNoAlias(MemoryLocation::get(&Store), MemoryLocation::get(&Load));
  }

  const Loop &L;
  AAResults &AA;
  const BranchInst *Again = nullptr;
};

void runOnce(const Loop &L) {
  BasicBlock *Latch = L.getLoopLatch(), *Header = L.getHeader(), *Exit = L.getExitBlock();
  Header->removePredecessor(Latch);
  Instruction *Again = Latch->getTerminator();
  BranchInst::Create(Exit, Again->getIterator());
  Again->eraseFromParent();
}

bool runOnceIn(Function &F, FunctionAnalysisManager &FAM) {
  auto &AA = FAM.getResult<AAManager>(F);
  for (Loop *L : FAM.getResult<LoopAnalysis>(F).getLoopsInPreorder())
    if (Repetition(*L, AA).isOne()) {
      ADGEN_COUNT(NumLoops, *L);
      runOnce(*L);
      return true;
    }
  return false;
}

} // namespace

ADGEN_DECLARE_PASS(DropRepetitions);

PreservedAnalyses DropRepetitions::run(Module &M, ModuleAnalysisManager &MAM) {
  auto &FAM = MAM.getResult<FunctionAnalysisManagerModuleProxy>(M).getManager();
  bool Changed = false;
  for (Function &F : M)
    while (F.getName().starts_with(BodyPrefix) && !F.isDeclaration() && runOnceIn(F, FAM)) {
      FAM.invalidate(F, PreservedAnalyses::none());
      Changed = true;
    }
  return Changed ? PreservedAnalyses::none() : PreservedAnalyses::all();
}

} // namespace adgen
