// A thread that has nothing more to do in a loop, nor in the next run of the loop, says so in several ways:
//   for (...) { if (done) continue; ...; if (next < least) { done = true; continue; } ... }
//   for (...; through >= least; ...) { ...; through *= 1 - alpha; }
//   for (...) { if (alpha < least_alpha) continue; if (through < least) break; ...; through *= 1 - alpha; }
//   if (!active) continue; for (...; active && k < n; ...) { ...; if (next < least) { active = false; continue; } ... }
// All become the one that others know (adgen-count-stops): a flag that the loop around hands on, that keeps the loop
// from running, and that leaves it at its end. An iteration that does nothing but count is not run, and a number that
// is asked has a flag beside it, which is true where the number would be found to be so.
#include "Analysis/IdleWay.h"
#include "Checkpointing/Fading.h"
#include "Checkpointing/FlagForm.h"
#include "Checkpointing/HandedOn.h"
#include "Checkpointing/Nest.h"
#include "Support/Derivative.h"
#include "Support/Pass.h"

#include "llvm/Analysis/InstructionSimplify.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/PatternMatch.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/Local.h"
#include "llvm/Transforms/Utils/LoopUtils.h"

#define DEBUG_TYPE "adgen-name-stops"

using namespace llvm;
using namespace llvm::PatternMatch;

STATISTIC(NumFlags, "Number of loops that are left where a flag says so");

namespace adgen {
namespace {

// An iteration that does nothing but count where the flag is true, and neither does any behind it.
class Idle {
public:
  Idle(Nest &N, DominatorTree &DT, LoopInfo &LI) : N(N), DT(DT), LI(LI) {}

  bool run() {
    if (N.L.getExitingBlock() != N.Latch || N.Header == N.Latch || !N.leavesCarried())
      return false;
    auto Found = find_if(N.Header->phis(), [&](PHINode &Phi) { return isIdleBy(Phi); });
    if (Found == N.Header->phis().end())
      return false;
    ADGEN_COUNT(NumFlags, N.Header->getName());
    PHINode *Flag = &*Found;
    N.leaveBy(*Flag->getIncomingValueForBlock(N.Latch), *Flag->getIncomingValueForBlock(N.Before), DT, LI);
    Flag->replaceUsesWithIf(ConstantInt::getFalse(Flag->getContext()),
                            [&](Use &U) { return N.L.contains(cast<Instruction>(U.getUser())); });
    for (BasicBlock *Block : N.L.blocks()) {
      for (Instruction &I : make_early_inc_range(*Block))
        if (Value *Known = I.getType()->isIntegerTy(1) ? simplifyInstruction(&I, Block->getDataLayout()) : nullptr)
          I.replaceAllUsesWith(Known);
      ConstantFoldTerminator(Block, /*DeleteDeadConditions=*/true);
    }
    RecursivelyDeleteDeadPHINode(Flag);
    return true;
  }

private:
  bool isIdleBy(PHINode &Flag) {
    if (!Flag.getType()->isIntegerTy(1))
      return false;
    IdleWay Way(DT, LI);
    Way.assume(Flag, true);
    return Way.walk(nullptr, *N.Header, *N.Exit) &&
           all_of(N.Header->phis(), [&](PHINode &Phi) { return Way.stays(Phi) || N.isCounter(Phi); });
  }

  Nest &N;
  DominatorTree &DT;
  LoopInfo &LI;
};

// A flag beside a number, which is true where a comparison of the number would be.
class Beside {
public:
  Beside(Nest &N, DominatorTree &DT, LoopInfo &LI) : N(N), DT(DT), LI(LI), Flags(N.L, "stopped") {}

  bool run() {
    if (!(findEnd() || findBreak()) || !isHandedOn() || !(Breaks || findGuard()) || !N.leavesCarried())
      return false;
    ADGEN_COUNT(NumFlags, N.Header->getName());
    const bool IsNumber = isa<ConstantFP>(Least) && !cast<ConstantFP>(Least)->isNaN() && staysFinite(*Around, DT);
    if (Breaks)
      dropBreak();
    auto *FirstFlag = PHINode::Create(Type::getInt1Ty(Number->getContext()), 2, "stopped", Around->getIterator());
    Flags.pair(*Around, *FirstFlag);
    Flags.pair(*Number, *ConstantInt::getFalse(Number->getContext()));
    Value *Flag = inside(*Next, *N.Latch);
    Flags.pair(*Next, *Flag);
    IRBuilder<> Start(N.Outer.getLoopPreheader()->getTerminator());
    FirstFlag->addIncoming(
        Start.CreateFCmp(Leaves, Around->getIncomingValueForBlock(N.Outer.getLoopPreheader()), Least),
        N.Outer.getLoopPreheader());
    FirstFlag->addIncoming(&Flags.twin(*Around->getIncomingValueForBlock(N.Outer.getLoopLatch())),
                           N.Outer.getLoopLatch());
    drop(Asked, AskedHolds);
    drop(Ended, EndedHolds);
    N.leaveBy(*Flag, *FirstFlag, DT, LI);
    askElsewhere(IsNumber);
    return true;
  }

private:
  // `through >= least` of what the next iteration has, beside the counter.
  bool findEnd() {
    if (N.L.getExitingBlock() != N.Latch)
      return false;
    EndedHolds = N.L.contains(N.Ends->getSuccessor(0));
    Ended = findComparison(N.Ends->getOperandUse(0), EndedHolds, [&](FCmpInst &Compared) {
      Number = N.carriedBy(Compared.getOperand(0));
      Next = Compared.getOperand(0);
      Leaves = EndedHolds ? Compared.getInversePredicate() : Compared.getPredicate();
      Least = Compared.getOperand(1);
      return Number && isLeast(*Least);
    });
    return Ended;
  }

  bool isLeast(const Value &V) const { return N.Outer.isLoopInvariant(&V); }

  // The loop breaks by a comparison of what the iteration began with, before which, and on ways around which, nothing
  // changes: wherever it would break, it may as well be left at once.
  bool findBreak() {
    SmallVector<BasicBlock *> Exiting;
    N.L.getExitingBlocks(Exiting);
    if (Exiting.size() != 2 || !is_contained(Exiting, N.Latch) || pred_size(N.Exit) != 2)
      return false;
    BasicBlock *From = Exiting[Exiting[0] == N.Latch];
    Breaks = dyn_cast<BranchInst>(From->getTerminator());
    auto *Compared = Breaks ? dyn_cast<FCmpInst>(Breaks->getCondition()) : nullptr;
    bool Is = Compared && isBreak(*Compared, *From);
    if (!Is)
      Breaks = nullptr;
    return Is;
  }

  bool isBreak(FCmpInst &Compared, BasicBlock &From) {
    Number = dyn_cast<PHINode>(Compared.getOperand(0));
    if (!Number || Number->getParent() != N.Header || !isLeast(*Compared.getOperand(1)))
      return false;
    Next = Number->getIncomingValueForBlock(N.Latch);
    Least = Compared.getOperand(1);
    Leaves = Breaks->getSuccessor(0) == N.Exit ? Compared.getPredicate() : Compared.getInversePredicate();
    const BasicBlock *On = Breaks->getSuccessor(Breaks->getSuccessor(0) == N.Exit);
    BasicBlockEdge Goes(&From, On);
    for (BasicBlock *Block : N.L.blocks())
      for (Instruction &I : *Block)
        if (I.mayHaveSideEffects() && !DT.dominates(Goes, Block))
          return false;
    for (PHINode &Phi : N.Header->phis())
      if (!N.isCounter(Phi) && !staysUnless(*Phi.getIncomingValueForBlock(N.Latch), *N.Latch, Phi, Goes))
        return false;
    for (PHINode &Left : N.Exit->phis()) {
      Value *Broken = Left.getIncomingValueForBlock(&From), *Ended = Left.getIncomingValueForBlock(N.Latch);
      if (Broken != Ended && Broken != N.carriedBy(Ended))
        return false;
    }
    return true;
  }

  // Whether it is the number that the iteration began with, but on ways that have gone on behind the break.
  bool staysUnless(Value &V, BasicBlock &At, const PHINode &Carried, const BasicBlockEdge &Goes) {
    if (&V == &Carried || DT.dominates(Goes, &At))
      return true;
    auto *Met = dyn_cast<PHINode>(&V);
    return Met && N.L.contains(Met) && Met->getParent() != N.Header && all_of(Met->incoming_values(), [&](Use &U) {
             BasicBlock *From = Met->getIncomingBlock(U);
             bool IsGoing = From == Goes.getStart() && Met->getParent() == Goes.getEnd();
             return IsGoing || staysUnless(*U.get(), *From, Carried, Goes);
           });
  }

  void dropBreak() {
    BasicBlock *From = Breaks->getParent(), *On = Breaks->getSuccessor(Breaks->getSuccessor(0) == N.Exit);
    auto *Old = cast<Instruction>(Breaks->getCondition());
    for (PHINode &Left : make_early_inc_range(N.Exit->phis()))
      Left.removeIncomingValue(From, /*DeletePHIIfEmpty=*/false);
    ReplaceInstWithInst(Breaks, BranchInst::Create(On));
    if (Old->use_empty())
      Old->eraseFromParent();
    DT.deleteEdge(From, N.Exit);
  }

  // Outside of the loop nothing but phis takes it on.
  bool isHandedOn() {
    Around = dyn_cast<PHINode>(Number->getIncomingValueForBlock(N.Before));
    if (!Around || Around->getParent() != N.Outer.getHeader())
      return false;
    SmallVector<const Value *> Known{Around, Next};
    if (Breaks)
      Known.push_back(Number);
    return Flags.isMadeOf(*Around->getIncomingValueForBlock(N.Outer.getLoopLatch()), Known);
  }

  // The same comparison keeps the loop from running.
  bool findGuard() {
    BranchInst *Asks = N.guard();
    if (!Asks)
      return false;
    AskedHolds = Asks->getSuccessor(0) == N.Before;
    Asked = findComparison(Asks->getOperandUse(0), AskedHolds, [&](FCmpInst &Compared) {
      CmpInst::Predicate Is = AskedHolds ? Compared.getInversePredicate() : Compared.getPredicate();
      return Compared.getOperand(0) == Around && Compared.getOperand(1) == Least && Is == Leaves;
    });
    return Asked;
  }

  // A number that has not changed has not become so.
  Value *inside(Value &V, BasicBlock &At) {
    if (&V == Number)
      return ConstantInt::getFalse(V.getContext());
    auto *Met = dyn_cast<PHINode>(&V);
    if (Met && N.L.contains(Met) && Met->getParent() != N.Header) {
      Value *&Known = Inside[Met];
      if (Known)
        return Known;
      PHINode *New =
          PHINode::Create(Type::getInt1Ty(V.getContext()), Met->getNumIncomingValues(), "stops", Met->getIterator());
      Known = New;
      for (auto [Value, From] : zip(Met->incoming_values(), Met->blocks()))
        New->addIncoming(inside(*Value, *From), From);
      return New;
    }
    IRBuilder<> B(At.getTerminator());
    return B.CreateFCmp(Leaves, &V, Least);
  }

  // A conjunction with what holds is its other side.
  static void drop(Use *Condition, bool Holds) {
    if (!Condition)
      return;
    auto *Old = cast<Instruction>(Condition->get());
    Condition->set(ConstantInt::getBool(Old->getContext(), Holds));
    if (Old->use_empty())
      Old->eraseFromParent();
    auto *Of = cast<Instruction>(Condition->getUser());
    Value *One, *Other;
    if (!(match(Of, m_LogicalAnd(m_Value(One), m_Value(Other))) ||
          match(Of, m_LogicalOr(m_Value(One), m_Value(Other)))))
      return;
    Value *Rest = isa<Constant>(One) ? Other : One;
    Of->replaceAllUsesWith(Rest);
    RecursivelyDeleteTriviallyDeadInstructions(Of);
  }

  // Threads that tell each other how many have stopped ask the number.
  void askElsewhere(bool IsNumber) {
    for (auto [V, Flag] : Flags.all())
      for (User *U : make_early_inc_range(V->users())) {
        auto *Compared = dyn_cast<FCmpInst>(U);
        if (!Compared || N.L.contains(Compared) || !N.Outer.contains(Compared) || Compared->getOperand(0) != V ||
            Compared->getOperand(1) != Least || isa<Constant>(Flag))
          continue;
        bool AnyOrder = IsNumber || Compared->hasNoNaNs();
        bool IsSame = isAlike(Compared->getPredicate(), Leaves, AnyOrder);
        if (!IsSame && !isAlike(Compared->getInversePredicate(), Leaves, AnyOrder))
          continue;
        IRBuilder<> B(Compared);
        Compared->replaceAllUsesWith(IsSame ? Flag : B.CreateNot(Flag));
        Compared->eraseFromParent();
      }
  }

  Nest &N;
  DominatorTree &DT;
  LoopInfo &LI;
  PHINode *Number = nullptr, *Around = nullptr; // in this loop, and in the one around
  Value *Next = nullptr, *Least = nullptr;
  CmpInst::Predicate Leaves = CmpInst::BAD_FCMP_PREDICATE;
  BranchInst *Breaks = nullptr;
  Use *Ended = nullptr, *Asked = nullptr;
  bool EndedHolds = false, AskedHolds = false;
  HandedOn Flags;
  DenseMap<Value *, Value *> Inside;
};

// Only where threads meet are tiles shared, whose threads stop one after the other.
bool hasBarrier(const Function &Body) {
  return any_of(instructions(Body), [](const Instruction &I) { return isCallOf(I, (RulePrefix + "barrier").str()); });
}

// All that loops leave goes through phis at their exits, as this looks for there.
bool nameOne(Function &Body, FunctionAnalysisManager &FAM) {
  auto &DT = FAM.getResult<DominatorTreeAnalysis>(Body);
  auto &LI = FAM.getResult<LoopAnalysis>(Body);
  for (Loop *L : LI)
    formLCSSARecursively(*L, DT, &LI, nullptr);
  for (Loop *L : LI.getLoopsInPreorder())
    if (std::optional<Nest> N = Nest::of(*L);
        N && (bringToForm(*N) || Idle(*N, DT, LI).run() || Beside(*N, DT, LI).run()))
      return true;
  return false;
}

void nameAll(Function &Body, FunctionAnalysisManager &FAM) {
  while (nameOne(Body, FAM)) {
    for (BasicBlock &Block : make_early_inc_range(Body))
      MergeBlockIntoPredecessor(&Block);
    FAM.invalidate(Body, PreservedAnalyses::none());
  }
  for (BasicBlock &Block : Body)
    if (Block.getSinglePredecessor())
      FoldSingleEntryPHINodes(&Block);
}

} // namespace

ADGEN_DECLARE_PASS(NameStops);

PreservedAnalyses NameStops::run(Module &M, ModuleAnalysisManager &MAM) {
  if (asksForTangents(M))
    return PreservedAnalyses::all();
  auto &FAM = MAM.getResult<FunctionAnalysisManagerModuleProxy>(M).getManager();
  for (Function &F : M)
    if (F.getName().starts_with(BodyPrefix) && !F.isDeclaration() && hasBarrier(F))
      nameAll(F, FAM);
  return PreservedAnalyses::none();
}

} // namespace adgen
