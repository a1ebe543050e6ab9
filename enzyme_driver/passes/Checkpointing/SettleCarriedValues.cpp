// A value that a loop carries on where it has got no new one,
//   for (...) { switch (kind) { case 0: step = a[i]; break; case 1: step = b[i]; } use(step); }
// and where what decides is the same in all iterations: the way on which it is carried is taken in all of them or in
// none, so that it is on this way what it was before the loop. Variables that are declared in a loop and get a value on
// some ways alone look so, since mem2reg knows nothing of where they begin. Enzyme would keep the value for each
// iteration.
#include "Support/Pass.h"

#include "llvm/Analysis/CFG.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/PostDominators.h"
#include "llvm/IR/Dominators.h"
#include "llvm/Transforms/Utils/Local.h"

#define DEBUG_TYPE "adgen-settle-carried-values"

using namespace llvm;

STATISTIC(NumValues, "Number of values that are carried on no way that changes them");

namespace adgen {
namespace {

class Settler {
public:
  Settler(const Loop &L, const LoopInfo &LI, const DominatorTree &DT, const PostDominatorTree &PDT)
      : L(L), LI(LI), DT(DT), PDT(PDT) {}

  bool run() {
    if (!L.getLoopPreheader() || !L.getLoopLatch())
      return false;
    bool Changed = false;
    for (PHINode &Carried : make_early_inc_range(L.getHeader()->phis()))
      Changed |= settle(Carried);
    return Changed;
  }

private:
  bool settle(PHINode &Carried) {
    auto *Next = dyn_cast<PHINode>(Carried.getIncomingValueForBlock(L.getLoopLatch()));
    SmallVector<Use *> Ways;
    if (!Next || Next == &Carried || !collect(*Next, Carried, Ways) || !Carried.hasNUses(Ways.size()))
      return false; // what an iteration uses, as a sum does its value so far, is carried on in any case
    for (Use *Way : Ways)
      Way->set(Carried.getIncomingValueForBlock(L.getLoopPreheader()));
    RecursivelyDeleteDeadPHINode(&Carried);
    return true;
  }

  // The uses by which the value goes on as it is; false where it may be another one when it does.
  bool collect(PHINode &Merge, const PHINode &Carried, SmallVectorImpl<Use *> &Ways) {
    if (!L.contains(&Merge) || Merge.getParent() == L.getHeader() || LI.getLoopFor(Merge.getParent()) != &L)
      return false;
    for (auto [V, From] : zip(Merge.incoming_values(), Merge.blocks())) {
      if (V.get() == &Carried) {
        if (!isDecidedAlike(*From))
          return false;
        Ways.push_back(&V);
      } else if (auto *Before = dyn_cast<PHINode>(V.get());
                 Before && L.contains(Before) && reaches(*Before, Carried) &&
                 (!leadsHereAlone(*Before, Merge) || !collect(*Before, Carried, Ways))) {
        return false;
      }
    }
    return true;
  }

  // Whether the carried value is among those that a phi of the loop may be, through other phis.
  bool reaches(const PHINode &Phi, const PHINode &Carried) {
    SmallPtrSet<const PHINode *, 8> Seen{&Phi};
    SmallVector<const PHINode *> Left{&Phi};
    while (!Left.empty())
      for (const Value *V : Left.pop_back_val()->incoming_values()) {
        auto *Next = dyn_cast<PHINode>(V);
        if (Next == &Carried)
          return true;
        if (Next && L.contains(Next) && Seen.insert(Next).second)
          Left.push_back(Next);
      }
    return false;
  }

  // Whether control that has come by one phi can't come to another one by a way on which that is another value.
  bool leadsHereAlone(const PHINode &Before, const PHINode &Merge) {
    SmallPtrSet<BasicBlock *, 1> Again{L.getHeader()};
    return all_of(zip(Merge.incoming_values(), Merge.blocks()), [&](auto Way) {
      auto [V, From] = Way;
      return V.get() == &Before ||
             (From != Before.getParent() && !isPotentiallyReachable(Before.getParent(), From, &Again, &DT, &LI));
    });
  }

  // Whether the end of a block is left by the same way in all iterations or in none.
  bool isDecidedAlike(const BasicBlock &Block) {
    auto IsSame = [&](const BasicBlock &Decides) {
      const Instruction &End = *Decides.getTerminator();
      if (auto *Branch = dyn_cast<BranchInst>(&End))
        return Branch->isUnconditional() || L.isLoopInvariant(Branch->getCondition());
      auto *Switch = dyn_cast<SwitchInst>(&End);
      return Switch && L.isLoopInvariant(Switch->getCondition());
    };
    if (LI.getLoopFor(&Block) != &L || !IsSame(Block))
      return false;
    for (const BasicBlock *Here = &Block; Here != L.getHeader();) {
      const BasicBlock *Above = DT.getNode(Here)->getIDom()->getBlock();
      bool Anyway = PDT.dominates(Here, Above);
      if (!Anyway && (Here->getSinglePredecessor() != Above || !IsSame(*Above)))
        return false;
      Here = Above;
    }
    return true;
  }

  const Loop &L;
  const LoopInfo &LI;
  const DominatorTree &DT;
  const PostDominatorTree &PDT;
};

} // namespace

ADGEN_DECLARE_PASS(SettleCarriedValues);

PreservedAnalyses SettleCarriedValues::run(Module &M, ModuleAnalysisManager &MAM) {
  auto &FAM = MAM.getResult<FunctionAnalysisManagerModuleProxy>(M).getManager();
  for (Function &F : M) {
    if (!F.getName().starts_with(BodyPrefix) || F.isDeclaration())
      continue;
    const auto &LI = FAM.getResult<LoopAnalysis>(F);
    const auto &DT = FAM.getResult<DominatorTreeAnalysis>(F);
    const auto &PDT = FAM.getResult<PostDominatorTreeAnalysis>(F);
    for (const Loop *L : LI.getLoopsInPreorder())
      if (Settler(*L, LI, DT, PDT).run())
        ADGEN_COUNT(NumValues, F.getName());
  }
  return PreservedAnalyses::none();
}

} // namespace adgen
