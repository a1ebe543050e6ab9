#include "Checkpointing/StoppedFlag.h"

#include "Checkpointing/Fading.h"

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/PatternMatch.h"

using namespace llvm;
using namespace llvm::PatternMatch;

namespace adgen {
namespace {

class Told {
public:
  Told(Loop &L, DominatorTree &DT) : L(L), Outer(*L.getParentLoop()), DT(DT) {}

  bool name() {
    if (!findBreak() || !findGuard())
      return false;
    auto *Flag = PHINode::Create(Type::getInt1Ty(Runs->getContext()), 2, "stopped", Exit->begin());
    Flag->addIncoming(ConstantInt::getTrue(Flag->getContext()), From);
    Flag->addIncoming(ConstantInt::getFalse(Flag->getContext()), L.getLoopLatch());
    auto *Carried = PHINode::Create(Flag->getType(), 2, "stopped", Outer.getHeader()->begin());
    Twins = {{Number, Carried}, {Left, Flag}};
    IRBuilder<> Start(Outer.getLoopPreheader()->getTerminator());
    Value *First = Number->getIncomingValueForBlock(Outer.getLoopPreheader());
    Carried->addIncoming(
        Start.CreateFCmp(RunsIf ? Runs->getInversePredicate() : Runs->getPredicate(), First, Runs->getOperand(1)),
        Outer.getLoopPreheader());
    Carried->addIncoming(twin(*Number->getIncomingValueForBlock(Outer.getLoopLatch())), Outer.getLoopLatch());
    ask(*Carried);
    return true;
  }

private:
  // `if (number <= least) break;`
  bool findBreak() {
    SmallVector<BasicBlock *> Exiting;
    L.getExitingBlocks(Exiting);
    Exit = L.getUniqueExitBlock();
    BasicBlock *Latch = L.getLoopLatch();
    if (!Exit || !Latch || Exiting.size() != 2 || !is_contained(Exiting, Latch) || pred_size(Exit) != 2)
      return false;
    From = Exiting[Exiting[0] == Latch];
    auto *Branch = dyn_cast<BranchInst>(From->getTerminator());
    Ends = Branch ? dyn_cast<FCmpInst>(Branch->getCondition()) : nullptr;
    IfTrue = Branch && Branch->getSuccessor(0) == Exit;
    return Ends && isa<ConstantFP>(Ends->getOperand(1));
  }

  // `if (number > least)` in front of the loop, of a number that the loop around hands on.
  bool findGuard() {
    BasicBlock *Guard = L.getLoopPreheader() ? L.getLoopPreheader()->getSinglePredecessor() : nullptr;
    Asks = Guard ? dyn_cast<BranchInst>(Guard->getTerminator()) : nullptr;
    if (!Asks || !Asks->isConditional() || !Outer.contains(Guard) || !Outer.getLoopPreheader() || !Outer.getLoopLatch())
      return false;
    return findIn(Asks->getOperandUse(0), Asks->getSuccessor(0) == L.getLoopPreheader());
  }

  bool findIn(Use &Condition, bool Holds) {
    auto *I = dyn_cast<Instruction>(Condition.get());
    if (!I)
      return false;
    if (Holds ? match(I, m_LogicalAnd(m_Value(), m_Value())) : match(I, m_LogicalOr(m_Value(), m_Value()))) {
      if (!I->hasOneUse())
        return false;
      if (auto *Choice = dyn_cast<SelectInst>(I))
        return findIn(Choice->getOperandUse(0), Holds) || findIn(Choice->getOperandUse(Holds ? 1 : 2), Holds);
      return findIn(I->getOperandUse(0), Holds) || findIn(I->getOperandUse(1), Holds);
    }
    auto *Compared = dyn_cast<FCmpInst>(I);
    if (!Compared || !says(*Compared, Holds))
      return false;
    Runs = Compared;
    Asked = &Condition;
    RunsIf = Holds;
    return true;
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
    for (PHINode &Phi : Exit->phis()) {
      Left = &Phi;
      if (Phi.getIncomingValueForBlock(From) == Ends->getOperand(0) &&
          isAbove(*Phi.getIncomingValueForBlock(L.getLoopLatch()), *L.getLoopLatch(), *L.getHeader()) &&
          isHandedOn(*Number->getIncomingValueForBlock(Outer.getLoopLatch())))
        return true;
    }
    return false;
  }

  static bool isAlike(CmpInst::Predicate One, CmpInst::Predicate Other, bool AnyOrder) {
    return One == Other || (AnyOrder && FCmpInst::getOrderedPredicate(One) == FCmpInst::getOrderedPredicate(Other));
  }

  // What was compared and has not led out of the loop, or what there was before.
  bool isAbove(Value &V, BasicBlock &At, const BasicBlock &Next) {
    auto *Met = dyn_cast<PHINode>(&V);
    const BasicBlock *On = From->getTerminator()->getSuccessor(IfTrue ? 1 : 0);
    if (&V == Ends->getOperand(0) && (&At == From ? &Next == On : DT.dominates(BasicBlockEdge(From, On), &At)))
      return true;
    if (!Met || !L.contains(Met))
      return false;
    if (Met->getParent() == L.getHeader())
      return Met->getIncomingValueForBlock(L.getLoopPreheader()) == Number &&
             Met->getIncomingValueForBlock(L.getLoopLatch()) == Left->getIncomingValueForBlock(L.getLoopLatch());
    return all_of(zip(Met->incoming_values(), Met->blocks()),
                  [&](const auto &Each) { return isAbove(*std::get<0>(Each), *std::get<1>(Each), *Met->getParent()); });
  }

  bool isHandedOn(Value &V) const {
    auto *Met = dyn_cast<PHINode>(&V);
    if (&V == Number || &V == Left)
      return true;
    return Met && Outer.contains(Met) && !L.contains(Met) && Met->getParent() != Outer.getHeader() &&
           all_of(Met->incoming_values(), [&](Value *Each) { return isHandedOn(*Each); });
  }

  Value *twin(Value &V) {
    if (Value *Known = Twins.lookup(&V))
      return Known;
    auto &Met = cast<PHINode>(V);
    PHINode *New =
        PHINode::Create(Type::getInt1Ty(V.getContext()), Met.getNumIncomingValues(), "stopped", Met.getIterator());
    Twins[&V] = New;
    for (auto [Value, Before] : zip(Met.incoming_values(), Met.blocks()))
      New->addIncoming(twin(*Value), Before);
    return New;
  }

  // The flag in place of the number.
  void ask(PHINode &Flag) {
    BasicBlock *Before = L.getLoopPreheader(), *Behind = Asks->getSuccessor(Asks->getSuccessor(0) == Before);
    Asked->set(ConstantInt::getBool(Flag.getContext(), RunsIf));
    IRBuilder<> B(Asks);
    Value *Skips = RunsIf ? B.CreateNot(Asks->getCondition()) : Asks->getCondition();
    Asks->setCondition(B.CreateLogicalOr(&Flag, Skips));
    Asks->setSuccessor(0, Behind);
    Asks->setSuccessor(1, Before);
  }

  Loop &L, &Outer;
  DominatorTree &DT;
  BasicBlock *Exit = nullptr, *From = nullptr; // from where the loop is left
  FCmpInst *Ends = nullptr, *Runs = nullptr;
  BranchInst *Asks = nullptr; // whether the loop runs
  Use *Asked = nullptr;
  PHINode *Number = nullptr, *Left = nullptr; // in the loop around, and behind the inner one
  bool IfTrue = false, RunsIf = true;
  DenseMap<Value *, Value *> Twins;
};

} // namespace

bool nameFlag(Loop &L, DominatorTree &DT) { return Told(L, DT).name(); }

} // namespace adgen
