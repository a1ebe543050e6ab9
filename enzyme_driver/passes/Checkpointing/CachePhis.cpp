// Numbers that depend on which way was taken are kept by Enzyme as soon as they pass through a call that it can neither
// see through nor repeat: adgen_hold_i64(value), adgen_hold_ieee64(value). Else it finds out the way again in the
// reverse sweep, wherever the value is needed, also in the innermost loop, and nothing shows any more that what is
// computed from it was computed before. Outside of loops, where a kept value takes a register and no tape, and in loops
// where one choice follows another: each doubles the ways to the next one, and Enzyme writes down every way.
// A number that is only added up, and stored, is needed by no derivative.
// Integers carry no derivative; that of floating point is registered, and hands the cotangent on. StripGuards takes the
// calls away. Integers of C++ are sizes of memory as well, of which Enzyme has to see where they come from.
#include "Analysis/Needed.h"
#include "Support/Guards.h"
#include "Support/Pass.h"

#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IntrinsicInst.h"

#define DEBUG_TYPE "adgen-cache-phis"

using namespace llvm;

STATISTIC(NumPhis, "Number of phis cached");

namespace adgen {
namespace {

constexpr unsigned LeastBits = 32; // below are flags, which say which way was taken themselves

// The bits of a number of floating point carry a derivative.
bool staysInteger(PHINode &Join) {
  SmallVector<Value *> Next{&Join};
  SmallPtrSet<Value *, 16> Seen{&Join};
  while (!Next.empty())
    for (User *U : Next.pop_back_val()->users()) {
      if (isa<ICmpInst, GetElementPtrInst, UIToFPInst, SIToFPInst, SwitchInst>(U))
        continue;
      auto *Call = dyn_cast<IntrinsicInst>(U);
      bool Computes = isa<BinaryOperator, PHINode, SelectInst, FreezeInst, TruncInst, ZExtInst, SExtInst>(U) ||
                      (Call && !Call->mayReadOrWriteMemory());
      if (!Computes || !U->getType()->isIntegerTy())
        return false;
      if (Seen.insert(U).second)
        Next.push_back(U);
    }
  return true;
}

// Loops are not run again to find out what they leave behind.
bool isLeftByLoop(const Instruction &I, const LoopInfo &LI) {
  SmallSetVector<const Instruction *, 8> Ways;
  Ways.insert(&I);
  for (unsigned K = 0; K < Ways.size(); ++K) {
    if (LI.getLoopFor(Ways[K]->getParent()))
      return true;
    if (auto *Phi = dyn_cast<PHINode>(Ways[K]))
      for (const Use &U : Phi->incoming_values())
        if (auto *From = dyn_cast<Instruction>(U.get()))
          Ways.insert(From);
  }
  return false;
}

// Else the value is a choice among what is known already.
bool isComputedOnTheWay(const PHINode &Phi, const DominatorTree &DT, const LoopInfo &LI) {
  bool Computed = false;
  for (const Use &U : Phi.incoming_values())
    if (auto *I = dyn_cast<Instruction>(U.get()); I && !DT.dominates(I->getParent(), Phi.getParent())) {
      if (isLeftByLoop(*I, LI))
        return false;
      Computed = true;
    }
  return Computed;
}

// Whether it is of a kind that can be kept.
bool canBeHeld(PHINode &Phi) {
  Type *T = Phi.getType();
  if (Phi.getNumIncomingValues() < 2)
    return false;
  if (T->isIntegerTy())
    return Phi.getModule()->getTargetTriple().isNVPTX() && T->getIntegerBitWidth() >= LeastBits && staysInteger(Phi);
  return T->isFloatTy() || T->isDoubleTy();
}

bool isHeldOutsideOfLoops(const PHINode &Phi, const DominatorTree &DT, const LoopInfo &LI, const Constants &Known) {
  return !LI.getLoopFor(Phi.getParent()) &&
         (Phi.getType()->isIntegerTy() || (isComputedOnTheWay(Phi, DT, LI) && isNeeded(Phi, Known)));
}

// In how many ways Enzyme computes a phi again: for each way that leads to it, what comes from there, and again what
// decides about the way.
class Ways {
public:
  Ways(const DominatorTree &DT, const LoopInfo &LI, unsigned Many) : DT(DT), LI(LI), Many(Many) {}

  unsigned to(const PHINode &Phi) {
    auto [At, IsNew] = Known.try_emplace(&Phi, 0);
    if (!IsNew || LI.isLoopHeader(Phi.getParent())) // what a loop carries is kept anyway
      return At->second;
    unsigned Found = 0;
    for (const Value *Incoming : Phi.incoming_values())
      Found = std::min(Found + std::max(1U, toOperands(Incoming)), Many);
    for (const Value *Decision : decisionsOf(Phi))
      Found = std::min(Found + toOperands(Decision), Many);
    return Known[&Phi] = Found;
  }

  void keep(const PHINode &Phi) { Known[&Phi] = 0; }

private:
  // The conditions of the branches in which the ways to the phi part.
  SmallSetVector<const Value *, 4> decisionsOf(const PHINode &Phi) const {
    SmallSetVector<const Value *, 4> Found;
    auto Add = [&](const BasicBlock *Block) {
      if (auto *Branch = dyn_cast<BranchInst>(Block->getTerminator()); Branch && Branch->isConditional())
        Found.insert(Branch->getCondition());
    };
    if (const DomTreeNode *Node = DT.getNode(Phi.getParent()); Node && Node->getIDom())
      Add(Node->getIDom()->getBlock());
    for (const BasicBlock *From : Phi.blocks())
      Add(From);
    return Found;
  }

  unsigned toOperands(const Value *V) {
    unsigned Found = 0;
    SmallPtrSet<const Value *, 16> Seen;
    SmallVector<const Value *> Next{V};
    while (!Next.empty() && Found < Many) {
      auto *I = dyn_cast<Instruction>(Next.pop_back_val());
      if (!I || !Seen.insert(I).second || I->mayReadOrWriteMemory() || (isa<CallBase>(I) && !isa<IntrinsicInst>(I)))
        continue;
      if (auto *Phi = dyn_cast<PHINode>(I))
        Found += to(*Phi);
      else
        Next.append(I->op_begin(), I->op_end());
    }
    return Found;
  }

  const DominatorTree &DT;
  const LoopInfo &LI;
  const unsigned Many;
  DenseMap<const PHINode *, unsigned> Known;
};

// Calls `Keep` with each phi that is to be kept where so many ways are too many, `Find` with the ways to the others.
template <typename VisitKept, typename VisitFound>
void forEachPhi(Function &F, const DominatorTree &DT, const LoopInfo &LI, unsigned Many, VisitKept Keep,
                VisitFound Find) {
  const Constants Known(F, knownActivities(F));
  Ways Again(DT, LI, Many);
  for (BasicBlock *Block : ReversePostOrderTraversal<Function *>(&F))
    for (PHINode &Phi : Block->phis()) {
      if (!canBeHeld(Phi))
        continue;
      if (isHeldOutsideOfLoops(Phi, DT, LI, Known) || Again.to(Phi) >= Many) {
        Keep(Phi);
        Again.keep(Phi);
      } else {
        Find(Again.to(Phi));
      }
    }
}

// From how many ways on a choice in a loop is kept. What is kept makes a tape; but many choices, each along less than
// so many ways, are too many together.
unsigned manyWays(Function &F, const DominatorTree &DT, const LoopInfo &LI) {
  constexpr unsigned Many = 1024, Few = 32, MostInAll = 8 * Many;
  unsigned InAll = 0;
  forEachPhi(F, DT, LI, Many, [](PHINode &) {}, [&](unsigned Found) { InAll += Found; });
  return InAll > MostInAll ? Few : Many;
}

void holdAll(Function &F) {
  DominatorTree DT(F);
  LoopInfo LI(DT);
  auto Keep = [&](PHINode &Phi) {
    ADGEN_COUNT(NumPhis, Phi);
    hold(Phi, Phi.getParent()->getFirstInsertionPt());
  };
  forEachPhi(F, DT, LI, manyWays(F, DT, LI), Keep, [](unsigned) {});
}

} // namespace

ADGEN_DECLARE_PASS(CachePhis);

PreservedAnalyses CachePhis::run(Module &M, ModuleAnalysisManager &) {
  for (Function &F : M)
    if (F.getName().starts_with(BodyPrefix) && !F.isDeclaration())
      holdAll(F);
  return PreservedAnalyses::none();
}

} // namespace adgen
