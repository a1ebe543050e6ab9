// An integer that an inner loop moves on, where that loop may run no time at all,
//   for (...) { for (j = 0; j < n; ++j) ++at; }   is at the end of an iteration   at, or at + n:
// a choice that says nothing to ScalarEvolution. Where what decides is the same in all iterations of the outer loop, so
// is the step, and the integer becomes an induction,
//   step = n > 0 ? n : 0; for (...) { ...; at = begin + step; }
// whose value follows from the iteration; Enzyme would keep it for each. What the outer loop adds besides, as behind a
// row of a matrix, is part of the step. A value that is one thing in the first iteration and another in all that
// follow,
//   first = true; for (...) { ...; first = false; }
// follows from the iteration, too; the optimiser makes such values of what counts two iterations. So does what goes on
// where the loop does, `if (through < least) break; ++step;`, of which the optimiser makes a sum with the condition.
#include "Support/Pass.h"

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/PatternMatch.h"
#include "llvm/Transforms/Utils/Local.h"
#include "llvm/Transforms/Utils/ScalarEvolutionExpander.h"

#define DEBUG_TYPE "adgen-expose-inductions"

using namespace llvm;

STATISTIC(NumExposed, "Number of loops with exposed inductions");

namespace adgen {
namespace {

constexpr unsigned MostChoices = 4;    // in each other
constexpr unsigned MostOperations = 3; // behind a condition, to the next iteration

class Inductions {
public:
  Inductions(const Loop &L, ScalarEvolution &SE, const DominatorTree &DT) : L(L), SE(SE), DT(DT) {}

  bool expose() {
    if (!L.getLoopPreheader() || !L.getLoopLatch())
      return false;
    bool Changed = exposeFirst();
    Changed |= exposeDecided();
    SmallVector<WeakTrackingVH> Dead;
    for (PHINode &Begin : make_early_inc_range(L.getHeader()->phis()))
      if (Begin.getType()->isIntegerTy() && SE.isSCEVable(Begin.getType())) {
        auto *Walk = dyn_cast<SCEVAddRecExpr>(SE.getSCEV(&Begin));
        Changed |= Walk ? writeOut(Begin, *Walk, Dead) : expose(Begin);
      }
    RecursivelyDeleteTriviallyDeadInstructionsPermissive(Dead);
    return Changed;
  }

private:
  // What another iteration begins with follows from conditions that would have left the loop.
  bool exposeDecided() {
    BasicBlock *Latch = L.getLoopLatch();
    SmallVector<BasicBlock *> Exiting;
    L.getExitingBlocks(Exiting);
    DenseMap<const Value *, bool> Decided;
    for (BasicBlock *Block : Exiting) {
      auto *Branch = dyn_cast<BranchInst>(Block->getTerminator());
      if (!Branch || isa<Constant>(Branch->getCondition()))
        continue;
      BasicBlockEdge On(Block, Branch->getSuccessor(L.contains(Branch->getSuccessor(0)) ? 0 : 1));
      if (Block == Latch || DT.dominates(On, Latch))
        Decided[Branch->getCondition()] = L.contains(Branch->getSuccessor(0));
    }
    bool Changed = false;
    for (PHINode &Begin : L.getHeader()->phis()) {
      Value *Next = Begin.getIncomingValueForBlock(Latch);
      if (!Begin.getType()->isIntOrPtrTy() || Begin.getType()->isIntegerTy(1))
        continue;
      if (Value *Known = whereDecided(*Next, Decided, MostOperations); Known != Next) {
        Begin.setIncomingValueForBlock(Latch, Known);
        RecursivelyDeleteTriviallyDeadInstructions(Next);
        Changed = true;
      }
    }
    if (Changed)
      SE.forgetLoop(&L);
    return Changed;
  }

  Value *whereDecided(Value &V, const DenseMap<const Value *, bool> &Decided, unsigned Operations) {
    auto *I = dyn_cast<Instruction>(&V);
    if (!I || !L.contains(I) || !Operations)
      return &V;
    if (auto *Choice = dyn_cast<SelectInst>(I)) {
      auto Known = Decided.find(Choice->getCondition());
      if (Known != Decided.end())
        return Known->second ? Choice->getTrueValue() : Choice->getFalseValue();
    }
    if (isa<ZExtInst, SExtInst>(I)) {
      auto Known = Decided.find(I->getOperand(0));
      if (Known != Decided.end())
        return ConstantInt::getSigned(I->getType(), !Known->second ? 0 : isa<ZExtInst>(I) ? 1 : -1);
    }
    if (!isa<BinaryOperator, GetElementPtrInst, CastInst>(I))
      return &V;
    SmallVector<Value *> Operands;
    for (Value *Each : I->operands())
      Operands.push_back(whereDecided(*Each, Decided, Operations - 1));
    if (equal(Operands, I->operand_values()))
      return &V;
    Instruction *Known = I->clone();
    for (auto [Index, Each] : enumerate(Operands))
      Known->setOperand(Index, Each);
    Known->insertBefore(L.getLoopLatch()->getTerminator()->getIterator());
    return Known;
  }

  // What moves on by an induction,   for (...; at += first + n * more)   is   begin + n * first + n * (n - 1) / 2 *
  // more.
  bool writeOut(PHINode &Begin, const SCEVAddRecExpr &Walk, SmallVectorImpl<WeakTrackingVH> &Dead) {
    if (Walk.getLoop() != &L || Walk.getNumOperands() != 3 ||
        !all_of(Walk.operands(), [&](const SCEV *Each) { return isExpandable(Each); }))
      return false;
    Type *T = Begin.getType();
    SCEVExpander Expander(SE, "step");
    auto Before = L.getLoopPreheader()->getTerminator()->getIterator();
    Value *Parts[3];
    for (auto [Part, Each] : zip(Parts, Walk.operands()))
      Part = Expander.expandCodeFor(Each, T, Before);
    PHINode *Turn = turn();
    IRBuilder<> B(L.getHeader(), L.getHeader()->getFirstInsertionPt());
    Value *N = B.CreateZExtOrTrunc(Turn, T);
    // One of the two is even.
    Value *Pairs = B.CreateMul(B.CreateLShr(N, 1), B.CreateOr(B.CreateSub(N, ConstantInt::get(T, 1)), 1));
    Value *Way = B.CreateAdd(B.CreateMul(N, Parts[1]), B.CreateMul(Pairs, Parts[2]));
    Value *At = B.CreateAdd(Parts[0], Way, Begin.getName());
    SE.forgetLoop(&L);
    SE.forgetValue(&Begin);
    Dead.push_back(Begin.getIncomingValueForBlock(L.getLoopLatch()));
    Begin.replaceAllUsesWith(At);
    Begin.eraseFromParent();
    return true;
  }

  // Values that change behind the first iteration and never again.
  bool exposeFirst() {
    SmallVector<PHINode *> Found;
    for (PHINode &Phi : L.getHeader()->phis())
      if ((Phi.getType()->isIntegerTy() || Phi.getType()->isFloatingPointTy()) &&
          all_of(Phi.incoming_values(), [&](const Use &Each) { return L.isLoopInvariant(Each); }))
        Found.push_back(&Phi);
    if (Found.empty())
      return false;
    PHINode *Turn = turn();
    IRBuilder<> B(L.getHeader(), L.getHeader()->getFirstInsertionPt());
    Value *IsFirst = B.CreateICmpEQ(Turn, ConstantInt::get(Turn->getType(), 0), "is.first");
    for (PHINode *Phi : Found) {
      Value *First = Phi->getIncomingValueForBlock(L.getLoopPreheader()),
            *Later = Phi->getIncomingValueForBlock(L.getLoopLatch());
      Value *Chosen =
          match(First, PatternMatch::m_One()) && Phi->getType()->isIntegerTy(1) && match(Later, PatternMatch::m_Zero())
              ? IsFirst
              : B.CreateSelect(IsFirst, First, Later, Phi->getName());
      SE.forgetValue(Phi);
      Phi->replaceAllUsesWith(Chosen);
      Phi->eraseFromParent();
    }
    SE.forgetLoop(&L);
    return true;
  }

  // What counts the iterations from zero.
  PHINode *turn() {
    if (PHINode *Counter = L.getCanonicalInductionVariable(); Counter && Counter->getType()->getIntegerBitWidth() >= 32)
      return Counter; // which does not begin anew
    IRBuilder<> B(L.getHeader(), L.getHeader()->begin());
    PHINode *Turn = B.CreatePHI(B.getInt64Ty(), 2, "turn");
    B.SetInsertPoint(L.getHeader(), L.getHeader()->getFirstInsertionPt());
    Turn->addIncoming(B.getInt64(0), L.getLoopPreheader());
    Turn->addIncoming(B.CreateNUWAdd(Turn, B.getInt64(1), "turn.next"), L.getLoopLatch());
    return Turn;
  }

  bool expose(PHINode &Begin) {
    auto *End = dyn_cast<Instruction>(Begin.getIncomingValueForBlock(L.getLoopLatch()));
    if (!End || End == &Begin || !L.contains(End) || !isStep(*End, Begin, MostChoices))
      return false;
    SCEVExpander Expander(SE, "step");
    Value *Step = stepTo(*End, Begin, Expander);
    IRBuilder<> B(End->getParent(), isa<PHINode>(End) ? End->getParent()->getFirstInsertionPt() : End->getIterator());
    Value *Next = B.CreateAdd(&Begin, Step, End->getName());
    SE.forgetLoop(&L);
    SE.forgetValue(End);
    // In a loop inside, it is so far only behind the last iteration.
    const Loop *Inside = loopInside(*End);
    End->replaceUsesWithIf(
        Next, [&](const Use &Each) { return !Inside || !Inside->contains(cast<Instruction>(Each.getUser())); });
    return true;
  }

  // The outermost of the loops in this one that it lies in.
  const Loop *loopInside(const Instruction &I) const {
    for (const Loop *Inside : L.getSubLoops())
      if (Inside->contains(&I))
        return Inside;
    return nullptr;
  }

  // Whether it is further than at the beginning by what is the same in all iterations.
  bool isStep(Value &V, PHINode &Begin, unsigned Left) {
    if (const SCEV *Distance = distance(V, Begin))
      return isExpandable(Distance);
    if (auto *Sum = asSum(V))
      return isExpandable(SE.getSCEV(Sum->getOperand(1))) && isStep(*Sum->getOperand(0), Begin, Left);
    auto *Phi = dyn_cast<PHINode>(&V);
    BranchInst *Choice = Phi && Left ? choiceBefore(*Phi) : nullptr;
    return Choice && isStep(*onSide(*Phi, *Choice, true), Begin, Left - 1) &&
           isStep(*onSide(*Phi, *Choice, false), Begin, Left - 1);
  }

  Value *stepTo(Value &V, PHINode &Begin, SCEVExpander &Expander) {
    Instruction *Before = L.getLoopPreheader()->getTerminator();
    if (const SCEV *Distance = distance(V, Begin))
      return Expander.expandCodeFor(Distance, Begin.getType(), Before->getIterator());
    if (auto *Sum = asSum(V)) {
      Value *Rest = Expander.expandCodeFor(SE.getSCEV(Sum->getOperand(1)), Begin.getType(), Before->getIterator());
      return IRBuilder<>(Before).CreateAdd(stepTo(*Sum->getOperand(0), Begin, Expander), Rest, "step");
    }
    auto &Phi = cast<PHINode>(V);
    BranchInst *Choice = choiceBefore(Phi);
    Value *Yes = stepTo(*onSide(Phi, *Choice, true), Begin, Expander),
          *No = stepTo(*onSide(Phi, *Choice, false), Begin, Expander);
    return IRBuilder<>(Before).CreateSelect(Choice->getCondition(), Yes, No, "step");
  }

  // Of something in the loop and what is the same in all iterations.
  BinaryOperator *asSum(Value &V) {
    auto *Sum = dyn_cast<BinaryOperator>(&V);
    bool Is = Sum && Sum->getOpcode() == Instruction::Add && L.contains(Sum) &&
              SE.isLoopInvariant(SE.getSCEV(Sum->getOperand(1)), &L);
    return Is ? Sum : nullptr;
  }

  const SCEV *distance(Value &V, PHINode &Begin) {
    const SCEV *Distance = SE.getMinusSCEV(SE.getSCEVAtScope(&V, &L), SE.getSCEV(&Begin));
    return SE.isLoopInvariant(Distance, &L) ? Distance : nullptr;
  }

  bool isExpandable(const SCEV *Distance) {
    return SCEVExpander(SE, "step").isSafeToExpandAt(Distance, L.getLoopPreheader()->getTerminator());
  }

  // The branch that decides which of two values it is, if it decides alike in all iterations.
  BranchInst *choiceBefore(const PHINode &Phi) const {
    const BasicBlock *Merge = Phi.getParent();
    if (Phi.getNumIncomingValues() != 2 || !L.contains(Merge) || Merge == L.getHeader())
      return nullptr;
    const DomTreeNode *Above = DT.getNode(Merge)->getIDom();
    auto *Branch = dyn_cast<BranchInst>(Above->getBlock()->getTerminator());
    bool Decides = Branch && Branch->isConditional() && L.contains(Branch) &&
                   L.isLoopInvariant(Branch->getCondition()) && onSide(Phi, *Branch, true) &&
                   onSide(Phi, *Branch, false);
    return Decides ? Branch : nullptr;
  }

  // The value that comes where the branch is taken, or is not.
  Value *onSide(const PHINode &Phi, const BranchInst &Branch, bool Taken) const {
    BasicBlockEdge Way(Branch.getParent(), Branch.getSuccessor(Taken ? 0 : 1));
    for (const Use &Each : Phi.incoming_values())
      if (Way.isSingleEdge() && DT.dominates(Way, Each))
        return Each;
    return nullptr;
  }

  const Loop &L;
  ScalarEvolution &SE;
  const DominatorTree &DT;
};

} // namespace

ADGEN_DECLARE_PASS(ExposeInductions);

PreservedAnalyses ExposeInductions::run(Module &M, ModuleAnalysisManager &MAM) {
  auto &FAM = MAM.getResult<FunctionAnalysisManagerModuleProxy>(M).getManager();
  bool Changed = false;
  for (Function &F : M) {
    if (F.isDeclaration())
      continue;
    auto &SE = FAM.getResult<ScalarEvolutionAnalysis>(F);
    auto &DT = FAM.getResult<DominatorTreeAnalysis>(F);
    for (const Loop *L : FAM.getResult<LoopAnalysis>(F).getLoopsInPreorder())
      if (Inductions(*L, SE, DT).expose()) {
        ADGEN_COUNT(NumExposed, F.getName());
        Changed = true;
      }
  }
  return Changed ? PreservedAnalyses::none() : PreservedAnalyses::all();
}

} // namespace adgen
