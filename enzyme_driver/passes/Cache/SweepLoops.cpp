#include "Cache/SweepLoops.h"

#include "llvm/Analysis/ScalarEvolutionExpressions.h"

using namespace llvm;

namespace adgen {

bool endsInChoice(const BasicBlock &Block) {
  auto *Way = dyn_cast<BranchInst>(Block.getTerminator());
  return Way && Way->isConditional();
}

bool isUnusedOutside(const Loop &L) {
  return all_of(L.blocks(), [&](const BasicBlock *Block) {
    return all_of(*Block, [&](const Instruction &I) {
      return all_of(I.users(), [&](const User *U) { return L.contains(cast<Instruction>(U)); });
    });
  });
}

bool SweepLoops::findForward(Loop &L, Counted &Found) {
  BasicBlock *Latch = L.getLoopLatch();
  if (!L.isLoopSimplifyForm() || L.getExitingBlock() != Latch || !L.getExitBlock() || !endsInChoice(*Latch))
    return false;
  Found = {&L, Latch, nullptr, SE.getBackedgeTakenCount(&L)};
  for (PHINode &Phi : L.getHeader()->phis()) {
    auto *Steps = Phi.getType()->isIntegerTy() ? dyn_cast<SCEVAddRecExpr>(SE.getSCEV(&Phi)) : nullptr;
    if (Steps && Steps->getLoop() == &L && Steps->isAffine() && Steps->getStart()->isZero() &&
        Steps->getStepRecurrence(SE)->isOne())
      Found.Counter = &Phi, Found.Number = Steps;
  }
  return Found.Counter && !isa<SCEVCouldNotCompute>(Found.Last);
}

// The block that decides whether the loop runs or control goes to the join at once; null where the join is reached
// otherwise too.
static BasicBlock *decisionBetween(const Loop &L, const BasicBlock &Join) {
  if (pred_size(&Join) != 2)
    return nullptr;
  const BasicBlock *Begin = L.getLoopPreheader();
  while (BasicBlock *Up = const_cast<BasicBlock *>(Begin->getSinglePredecessor())) {
    if (endsInChoice(*Up))
      return Up->getTerminator()->getSuccessor(Up->getTerminator()->getSuccessor(0) == Begin ? 1 : 0) == &Join
                 ? Up
                 : nullptr;
    Begin = Up;
  }
  return nullptr;
}

bool SweepLoops::findReverse(LoopPair &P, bool InOrder) {
  Loop &L = *P.Forward.L;
  Value *Condition = nullptr;
  bool Polarity = false;
  for (BasicBlock *Block = L.getExitBlock(), *Before = L.getLoopLatch(); P.Between.size() < LoopPair::MostBetween;) {
    if (LI.getLoopFor(Block) != L.getParentLoop()) {
      Loop *Next = LI.getLoopFor(Block);
      return Next && Next->getHeader() == Block && Next->getParentLoop() == L.getParentLoop() &&
             isReversal(*Next, P, InOrder);
    }
    if (Block->getSinglePredecessor() != Before) {
      if (P.Join || !(P.Decision = decisionBetween(L, *Block)))
        return false;
      auto *Choice = cast<BranchInst>(P.Decision->getTerminator());
      Condition = Choice->getCondition();
      Polarity = Choice->getSuccessor(1) == Block;
      P.Join = Block;
      P.Last = Before;
    }
    P.Between.push_back(Block);
    Before = Block;
    auto *Way = dyn_cast<BranchInst>(Block->getTerminator());
    if (!Way || (Way->isConditional() && Way->getCondition() != Condition))
      return false;
    Block = Way->getSuccessor(Way->isConditional() && !Polarity ? 1 : 0);
  }
  return false;
}

bool SweepLoops::isReversal(Loop &L, LoopPair &P, bool InOrder) {
  BasicBlock *Exiting = L.getExitingBlock(), *Latch = L.getLoopLatch();
  if (!L.isLoopSimplifyForm() || !Exiting || !L.getExitBlock() || !endsInChoice(*Exiting))
    return false;
  bool GoesRound = Exiting == Latch ||
                   (Latch->getSinglePredecessor() == Exiting &&
                    none_of(*Latch, [](const Instruction &I) { return I.mayReadOrWriteMemory() || isa<PHINode>(I); }));
  if (!GoesRound || (!InOrder && (!hasSingleElement(L.getHeader()->phis()) || !isUnusedOutside(L))))
    return false;
  P.Reverse = {&L, Exiting, nullptr, SE.getBackedgeTakenCount(&L)};
  return areEqual(P.Reverse.Last, P.Forward.Last) &&
         any_of(L.getHeader()->phis(), [&](PHINode &Counter) { return goesBack(Counter, P); });
}

// Whether it counts the iterations down.
bool SweepLoops::goesBack(PHINode &Counter, LoopPair &P) {
  auto *Steps = Counter.getType()->isIntegerTy() ? dyn_cast<SCEVAddRecExpr>(SE.getSCEV(&Counter)) : nullptr;
  if (!Steps || Steps->getLoop() != P.Reverse.L || !Steps->isAffine() ||
      !Steps->getStepRecurrence(SE)->isAllOnesValue() || Counter.getType() != P.Forward.Counter->getType())
    return false;
  const SCEV *Last =
      SE.getNoopOrZeroExtend(P.Reverse.Last, SE.getWiderType(P.Reverse.Last->getType(), Counter.getType()));
  auto *Ahead =
      Last->getType() == Counter.getType() ? dyn_cast<SCEVConstant>(SE.getMinusSCEV(Steps->getStart(), Last)) : nullptr;
  if (!Ahead)
    return false;
  P.Reverse.Counter = &Counter;
  P.Reverse.Ahead = Ahead->getValue();
  P.Reverse.Number = SE.getMinusSCEV(Steps, Ahead);
  return true;
}

// A number by whose value a loop has ended is one, frozen or not.
static const SCEV *thawed(const SCEV *Expression, ScalarEvolution &SE) {
  ValueToSCEVMapTy Frozen;
  SCEVExprContains(Expression, [&](const SCEV *S) {
    auto *Of = dyn_cast<SCEVUnknown>(S);
    if (auto *Freeze = Of ? dyn_cast<FreezeInst>(Of->getValue()) : nullptr)
      Frozen[Freeze] = SE.getSCEV(Freeze->getOperand(0));
    return false;
  });
  return Frozen.empty() ? Expression : SCEVParameterRewriter::rewrite(Expression, SE, Frozen);
}

// The first choice of a value that an expression asks.
static SelectInst *choiceIn(const SCEV *Expression) {
  const SCEV *Found = nullptr;
  SCEVExprContains(Expression, [&](const SCEV *S) {
    auto *Of = dyn_cast<SCEVUnknown>(S);
    if (Of && isa<SelectInst>(Of->getValue()))
      Found = S;
    return Found != nullptr;
  });
  return Found ? cast<SelectInst>(cast<SCEVUnknown>(Found)->getValue()) : nullptr;
}

bool SweepLoops::areEqual(const SCEV *A, const SCEV *B) {
  if (isa<SCEVCouldNotCompute>(A) || isa<SCEVCouldNotCompute>(B))
    return false;
  Type *Wider = SE.getWiderType(A->getType(), B->getType());
  A = thawed(SE.getNoopOrZeroExtend(A, Wider), SE);
  B = thawed(SE.getNoopOrZeroExtend(B, Wider), SE);
  if (A == B)
    return true;
  SelectInst *One = choiceIn(A), *Other = choiceIn(B);
  if (!One || !Other || One->getCondition() != Other->getCondition())
    return false;
  auto Chosen = [&](const SCEV *Of, SelectInst *Choice, Value *Arm) {
    ValueToSCEVMapTy Known{{Choice, SE.getSCEV(Arm)}};
    return SCEVParameterRewriter::rewrite(Of, SE, Known);
  };
  return Chosen(A, One, One->getTrueValue()) == Chosen(B, Other, Other->getTrueValue()) &&
         Chosen(A, One, One->getFalseValue()) == Chosen(B, Other, Other->getFalseValue());
}

} // namespace adgen
