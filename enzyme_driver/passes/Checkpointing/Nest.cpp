#include "Checkpointing/Nest.h"

#include "llvm/IR/PatternMatch.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/LoopUtils.h"

using namespace llvm;
using namespace llvm::PatternMatch;

namespace adgen {

std::optional<Nest> Nest::of(Loop &L) {
  Loop *Outer = L.getParentLoop();
  if (!Outer || !L.isLoopSimplifyForm() || !Outer->isLoopSimplifyForm())
    return {};
  Nest N{L, *Outer, L.getHeader(), L.getLoopLatch(), L.getUniqueExitBlock(), L.getLoopPreheader(), nullptr};
  N.Ends = dyn_cast<BranchInst>(N.Latch->getTerminator());
  if (!N.Exit || !N.Ends || !N.Ends->isConditional() || !Outer->contains(N.Exit))
    return {};
  return N;
}

PHINode *Nest::carriedBy(const Value *Next) const {
  for (PHINode &Phi : Header->phis())
    if (Phi.getIncomingValueForBlock(Latch) == Next)
      return &Phi;
  return nullptr;
}

bool Nest::leavesCarried() const {
  for (PHINode &Left : Exit->phis())
    if (auto *I = dyn_cast<Instruction>(Left.getIncomingValueForBlock(Latch)); I && L.contains(I) && !carriedBy(I))
      return false;
  for (BasicBlock *Block : L.blocks())
    for (Instruction &I : *Block)
      for (User *U : I.users()) {
        auto *Outside = cast<Instruction>(U);
        if (!L.contains(Outside) && !(isa<PHINode>(Outside) && Outside->getParent() == Exit) && !carriedBy(&I))
          return false;
      }
  return true;
}

Value *Nest::first(Value *Next) const {
  if (Next == Flag)
    return FirstFlag;
  PHINode *Phi = carriedBy(Next);
  return Phi ? Phi->getIncomingValueForBlock(Before) : Next;
}

bool Nest::isCounter(const PHINode &Phi) const {
  auto *Next = dyn_cast<Instruction>(Phi.getIncomingValueForBlock(Latch));
  auto IsInside = [&](const User *U) { return L.contains(cast<Instruction>(U)); };
  return Phi.getType()->isIntegerTy() && Next && Next->getOpcode() == Instruction::Add &&
         is_contained(Next->operands(), &Phi) && all_of(Phi.users(), IsInside) && all_of(Next->users(), IsInside);
}

Value *negated(Value &Condition, IRBuilder<> &B) {
  Value *One, *Other;
  if (match(&Condition, m_Not(m_Value(One))))
    return One;
  auto *Compared = dyn_cast<CmpInst>(&Condition);
  if (Compared && Compared->hasOneUse()) {
    Compared->setPredicate(Compared->getInversePredicate());
    return Compared;
  }
  if (Condition.hasOneUse() && match(&Condition, m_LogicalAnd(m_Value(One), m_Value(Other))))
    return B.CreateLogicalOr(negated(*One, B), negated(*Other, B));
  if (Condition.hasOneUse() && match(&Condition, m_LogicalOr(m_Value(One), m_Value(Other))))
    return B.CreateLogicalAnd(negated(*One, B), negated(*Other, B));
  return B.CreateNot(&Condition);
}

Value *conditionOf(BranchInst &Branch, const BasicBlock &First) {
  if (Branch.getSuccessor(0) == &First)
    return Branch.getCondition();
  IRBuilder<> B(&Branch);
  Branch.setCondition(negated(*Branch.getCondition(), B));
  Branch.swapSuccessors();
  return Branch.getCondition();
}

BranchInst *Nest::guard() const {
  BasicBlock *Guard = Before->getSinglePredecessor();
  auto *Asks = Guard ? dyn_cast<BranchInst>(Guard->getTerminator()) : nullptr;
  return Asks && Asks->isConditional() && Outer.contains(Asks) ? Asks : nullptr;
}

// Where behind the loop there is then what there would be without it.
BranchInst *Nest::plainGuard() const {
  BranchInst *Asks = guard();
  if (!Asks)
    return nullptr;
  BasicBlock *Behind = Asks->getSuccessor(Asks->getSuccessor(0) == Before);
  if (Exit->getSingleSuccessor() != Behind || pred_size(Behind) != 2)
    return nullptr;
  bool IsSame = all_of(Behind->phis(), [&](const PHINode &Met) {
    Value *Left = Met.getIncomingValueForBlock(Exit);
    auto *Phi = dyn_cast<PHINode>(Left);
    if (Phi && Phi->getParent() == Exit)
      Left = Phi->getIncomingValueForBlock(Latch);
    return Met.getIncomingValueForBlock(Asks->getParent()) == first(Left);
  });
  return IsSame ? Asks : nullptr;
}

void Nest::leaveBy(Value &Flag, Value &First, DominatorTree &DT, LoopInfo &LI) {
  this->Flag = &Flag;
  FirstFlag = &First;
  Value *Counts = conditionOf(*Ends, *Exit);
  Ends->setCondition(IRBuilder<>(Ends).CreateLogicalOr(&Flag, Counts));
  if (match(&First, m_Zero()))
    return;
  if (BranchInst *Asks = plainGuard()) {
    Value *Skips = conditionOf(*Asks, *Asks->getSuccessor(Asks->getSuccessor(0) == Before));
    Asks->setCondition(IRBuilder<>(Asks).CreateLogicalOr(&First, Skips));
    return;
  }
  BasicBlock *Guard = Before;
  Before = SplitBlock(Guard, Guard->getTerminator(), &DT, &LI);
  ReplaceInstWithInst(Guard->getTerminator(), BranchInst::Create(Exit, Before, &First));
  for (PHINode &Left : Exit->phis())
    Left.addIncoming(first(Left.getIncomingValueForBlock(Latch)), Guard);
  DT.insertEdge(Guard, Exit);
  formDedicatedExitBlocks(&L, &DT, &LI, nullptr, /*PreserveLCSSA=*/false);
}

} // namespace adgen
