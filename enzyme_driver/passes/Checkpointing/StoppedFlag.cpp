#include "Checkpointing/StoppedFlag.h"

#include "Checkpointing/Fading.h"
#include "Checkpointing/HandedOn.h"
#include "Checkpointing/Nest.h"

#include "llvm/IR/IRBuilder.h"

using namespace llvm;

namespace adgen {
namespace {

class Told {
public:
  Told(const Nest &N, DominatorTree &DT) : N(N), L(N.L), Outer(N.Outer), DT(DT), Flags(N.L, "stopped") {}

  bool name() {
    if (!findBreak() || !findGuard())
      return false;
    auto *Flag = PHINode::Create(Type::getInt1Ty(Runs->getContext()), 2, "stopped", N.Exit->begin());
    Flag->addIncoming(ConstantInt::getTrue(Flag->getContext()), From);
    Flag->addIncoming(ConstantInt::getFalse(Flag->getContext()), N.Latch);
    auto *Carried = PHINode::Create(Flag->getType(), 2, "stopped", Outer.getHeader()->begin());
    Flags.pair(*Number, *Carried);
    Flags.pair(*Left, *Flag);
    IRBuilder<> Start(Outer.getLoopPreheader()->getTerminator());
    Value *First = Number->getIncomingValueForBlock(Outer.getLoopPreheader());
    Carried->addIncoming(
        Start.CreateFCmp(RunsIf ? Runs->getInversePredicate() : Runs->getPredicate(), First, Runs->getOperand(1)),
        Outer.getLoopPreheader());
    Carried->addIncoming(&Flags.twin(*Number->getIncomingValueForBlock(Outer.getLoopLatch())), Outer.getLoopLatch());
    ask(*Carried);
    return true;
  }

private:
  // `if (number <= least) break;`
  bool findBreak() {
    SmallVector<BasicBlock *> Exiting;
    L.getExitingBlocks(Exiting);
    if (Exiting.size() != 2 || !is_contained(Exiting, N.Latch) || pred_size(N.Exit) != 2)
      return false;
    From = Exiting[Exiting[0] == N.Latch];
    auto *Branch = dyn_cast<BranchInst>(From->getTerminator());
    Ends = Branch ? dyn_cast<FCmpInst>(Branch->getCondition()) : nullptr;
    IfTrue = Branch && Branch->getSuccessor(0) == N.Exit;
    return Ends && isa<ConstantFP>(Ends->getOperand(1));
  }

  // `if (number > least)` in front of the loop, of a number that the loop around hands on.
  bool findGuard() {
    Asks = N.guard();
    if (!Asks)
      return false;
    RunsIf = Asks->getSuccessor(0) == N.Before;
    Asked = findComparison(Asks->getOperandUse(0), RunsIf, [&](FCmpInst &Compared) {
      Runs = &Compared;
      return says(Compared, RunsIf);
    });
    return Asked;
  }

  // Whether the loop runs by that as long as it has not been left. Of `!(through <= least)` and `through > least` only
  // the first is true of a number that is none.
  bool says(const FCmpInst &Compared, bool Holds) {
    CmpInst::Predicate Goes = IfTrue ? Ends->getInversePredicate() : Ends->getPredicate();
    CmpInst::Predicate Runs = Holds ? Compared.getPredicate() : Compared.getInversePredicate();
    Number = dyn_cast<PHINode>(Compared.getOperand(0));
    if (!Number || Number->getParent() != Outer.getHeader() || Compared.getOperand(1) != Ends->getOperand(1) ||
        !isAlike(Goes, Runs, Compared.hasNoNaNs() || staysFinite(*Number, DT)))
      return false;
    for (PHINode &Phi : N.Exit->phis()) {
      Left = &Phi;
      if (Phi.getIncomingValueForBlock(From) == Ends->getOperand(0) &&
          isAbove(*Phi.getIncomingValueForBlock(N.Latch), *N.Latch, *N.Header) &&
          Flags.isMadeOf(*Number->getIncomingValueForBlock(Outer.getLoopLatch()), {Number, Left}))
        return true;
    }
    return false;
  }

  // What was compared and has not led out of the loop, or what there was before.
  bool isAbove(Value &V, BasicBlock &At, const BasicBlock &Next) {
    auto *Met = dyn_cast<PHINode>(&V);
    const BasicBlock *On = From->getTerminator()->getSuccessor(IfTrue ? 1 : 0);
    if (&V == Ends->getOperand(0) && (&At == From ? &Next == On : DT.dominates(BasicBlockEdge(From, On), &At)))
      return true;
    if (!Met || !L.contains(Met))
      return false;
    if (Met->getParent() == N.Header)
      return Met->getIncomingValueForBlock(N.Before) == Number &&
             Met->getIncomingValueForBlock(N.Latch) == Left->getIncomingValueForBlock(N.Latch);
    return all_of(zip(Met->incoming_values(), Met->blocks()),
                  [&](const auto &Each) { return isAbove(*std::get<0>(Each), *std::get<1>(Each), *Met->getParent()); });
  }

  // The flag in place of the number.
  void ask(PHINode &Flag) {
    Asked->set(ConstantInt::getBool(Flag.getContext(), RunsIf));
    Value *Skips = conditionOf(*Asks, *Asks->getSuccessor(Asks->getSuccessor(0) == N.Before));
    Asks->setCondition(IRBuilder<>(Asks).CreateLogicalOr(&Flag, Skips));
  }

  const Nest &N;
  Loop &L, &Outer;
  DominatorTree &DT;
  BasicBlock *From = nullptr; // from where the loop is left
  FCmpInst *Ends = nullptr, *Runs = nullptr;
  BranchInst *Asks = nullptr; // whether the loop runs
  Use *Asked = nullptr;
  PHINode *Number = nullptr, *Left = nullptr; // in the loop around, and behind the inner one
  bool IfTrue = false, RunsIf = true;
  HandedOn Flags;
};

} // namespace

bool nameFlag(Loop &L, DominatorTree &DT) {
  std::optional<Nest> N = Nest::of(L);
  return N && Told(*N, DT).name();
}

} // namespace adgen
