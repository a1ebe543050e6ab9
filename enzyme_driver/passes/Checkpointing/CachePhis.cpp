// Numbers that depend on which way was taken are kept by Enzyme as soon as they pass through a call that it can neither
// see through nor repeat: adgen_hold_i64(value), adgen_hold_ieee64(value). Else it finds out the way again in the
// reverse sweep, wherever the value is needed, also in the innermost loop, and nothing shows any more that what is
// computed from it was computed before. Only outside of loops, where a kept value takes a register and no tape.
// Integers carry no derivative; that of floating point is registered, and hands the cotangent on. StripGuards takes the
// calls away. Integers of C++ are sizes of memory as well, of which Enzyme has to see where they come from.
#include "Support/Guards.h"
#include "Support/Iterations.h"
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
  auto Left = [&](const Use &U) {
    auto *From = dyn_cast<Instruction>(U.get());
    return From && isLeftByLoop(*From, LI);
  };
  return LI.getLoopFor(I.getParent()) || (isa<PHINode>(I) && any_of(I.operands(), Left));
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

bool isHeld(PHINode &Phi, const DominatorTree &DT, const LoopInfo &LI) {
  Type *T = Phi.getType();
  if (Phi.getNumIncomingValues() < 2)
    return false;
  if (T->isIntegerTy())
    return Phi.getModule()->getTargetTriple().isNVPTX() && T->getIntegerBitWidth() >= LeastBits && staysInteger(Phi);
  return (T->isFloatTy() || T->isDoubleTy()) && isComputedOnTheWay(Phi, DT, LI);
}

} // namespace

namespace {

void holdAll(Function &F) {
  DominatorTree DT(F);
  LoopInfo LI(DT);
  for (BasicBlock &Block : F)
    if (!LI.getLoopFor(&Block))
      for (PHINode &Phi : Block.phis())
        if (isHeld(Phi, DT, LI)) {
          ADGEN_COUNT(NumPhis, Phi);
          hold(Phi, Block.getFirstInsertionPt());
        }
}

// Enzyme finds a value out again without remembering what it has found out already: of a phi, what it chooses among and
// what decided, each along every way through what that is made of. Where chained conditions ask what earlier ones have
// changed, it does not end, so that numbers are kept, also in loops, before there are too many ways.
class Ways {
public:
  explicit Ways(Function &F) : DT(F), LI(DT) {
    for (BasicBlock *Block : ReversePostOrderTraversal<Function *>(&F))
      for (Instruction &I : *Block)
        Known[&I] = through(I);
    for (PHINode *Phi : TooMany) {
      ADGEN_COUNT(NumPhis, *Phi);
      hold(*Phi, Phi->getParent()->getFirstInsertionPt());
    }
  }

private:
  static constexpr double Most = 1e5;

  double of(const Value *V) const { return isa<Instruction>(V) ? Known.lookup(V) : 0; }

  double ofEnd(const BasicBlock &Block) const {
    auto *Branch = dyn_cast<BranchInst>(Block.getTerminator());
    return Branch && Branch->isConditional() ? of(Branch->getCondition()) : 0;
  }

  double through(Instruction &I) {
    auto *Phi = dyn_cast<PHINode>(&I);
    if (adgen::isHeld(&I) || (Phi && LI.isLoopHeader(Phi->getParent())))
      return 1;
    double Sum = 1;
    for (const Value *Operand : I.operands())
      Sum += of(Operand);
    auto *Node = Phi ? DT.getNode(Phi->getParent())->getIDom() : nullptr;
    if (!Node)
      return Sum;
    Sum += ofEnd(*Node->getBlock());
    for (const BasicBlock *From : predecessors(Phi->getParent()))
      Sum += From == Node->getBlock() ? 0 : ofEnd(*From);
    if (Sum < Most || !(Phi->getType()->isFloatTy() || Phi->getType()->isDoubleTy()))
      return Sum;
    TooMany.push_back(Phi);
    return 1;
  }

  DominatorTree DT;
  LoopInfo LI;
  DenseMap<const Value *, double> Known;
  SmallVector<PHINode *> TooMany;
};

} // namespace

ADGEN_DECLARE_PASS(CachePhis);

PreservedAnalyses CachePhis::run(Module &M, ModuleAnalysisManager &) {
  for (Function &F : M)
    if (!F.isDeclaration()) {
      if (F.getName().starts_with(BodyPrefix))
        holdAll(F);
      if (F.getName().starts_with(BodyPrefix) || F.getName().starts_with(RegionPrefix) ||
          F.getName().starts_with(IterationPrefix))
        Ways Limited(F);
    }
  return PreservedAnalyses::none();
}

} // namespace adgen
