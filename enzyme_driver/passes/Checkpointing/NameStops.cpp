// A thread that has nothing more to do in a loop, nor in the next run of the loop, says so in several ways:
//   for (...) { if (done) continue; ...; if (next < least) { done = true; continue; } ... }
//   for (...; through >= least; ...) { ...; through *= 1 - alpha; }
//   for (...) { if (alpha < least_alpha) continue; if (through < least) break; ...; through *= 1 - alpha; }
// All become the one that others know (adgen-count-stops): a flag that the loop around hands on, that keeps the loop
// from running, and that leaves it at its end. An iteration that does nothing but count is not run, and a number that
// is asked has a flag beside it, which is true where the number would be found to be so.
#include "Checkpointing/Fading.h"
#include "Support/Derivative.h"
#include "Support/Pass.h"

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

// A loop in another one, which is left at its end by its counter; what leaves it has been carried by it.
struct Nest {
  Loop &L, &Outer;
  BasicBlock *Header, *Latch, *Exit, *Before;
  BranchInst *Ends;
  Value *Flag = nullptr, *FirstFlag = nullptr; // that leaves it, and what it was before

  static std::optional<Nest> of(Loop &L) {
    Loop *Outer = L.getParentLoop();
    if (!Outer || !L.isLoopSimplifyForm() || !Outer->isLoopSimplifyForm())
      return {};
    Nest N{L, *Outer, L.getHeader(), L.getLoopLatch(), L.getUniqueExitBlock(), L.getLoopPreheader(), nullptr};
    N.Ends = dyn_cast<BranchInst>(N.Latch->getTerminator());
    if (!N.Exit || !N.Ends || !N.Ends->isConditional() || !Outer->contains(N.Exit))
      return {};
    return N;
  }

  PHINode *carriedBy(const Value *Next) const {
    for (PHINode &Phi : Header->phis())
      if (Phi.getIncomingValueForBlock(Latch) == Next)
        return &Phi;
    return nullptr;
  }

  // All that is used behind the loop; for each a phi at its exit, which has what was there before if it does not run.
  bool leavesCarried() const {
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

  Value *first(Value *Next) const {
    if (Next == Flag)
      return FirstFlag;
    PHINode *Phi = carriedBy(Next);
    return Phi ? Phi->getIncomingValueForBlock(Before) : Next;
  }
};

// An integer that moves on by the same in each iteration, and that nobody asks behind the loop.
bool isCounter(const PHINode &Phi, const Nest &N) {
  auto *Next = dyn_cast<Instruction>(Phi.getIncomingValueForBlock(N.Latch));
  auto IsInside = [&](const User *U) { return N.L.contains(cast<Instruction>(U)); };
  return Phi.getType()->isIntegerTy() && Next && Next->getOpcode() == Instruction::Add &&
         is_contained(Next->operands(), &Phi) && all_of(Phi.users(), IsInside) && all_of(Next->users(), IsInside);
}

// The branch's condition, where its first way becomes that to the block.
Value *conditionOf(BranchInst &Branch, const BasicBlock &First) {
  if (Branch.getSuccessor(0) == &First)
    return Branch.getCondition();
  Branch.swapSuccessors();
  Value *Condition = Branch.getCondition();
  auto *Compared = dyn_cast<CmpInst>(Condition);
  if (!Compared || !Compared->hasOneUse())
    return IRBuilder<>(&Branch).CreateNot(Condition);
  Compared->setPredicate(Compared->getInversePredicate());
  return Compared;
}

// The branch that keeps the loop from running, where behind the loop there is then what there would be without it.
BranchInst *guardOf(const Nest &N) {
  BasicBlock *Guard = N.Before->getSinglePredecessor();
  auto *Asks = Guard ? dyn_cast<BranchInst>(Guard->getTerminator()) : nullptr;
  if (!Asks || !Asks->isConditional() || !N.Outer.contains(Asks))
    return nullptr;
  BasicBlock *Behind = Asks->getSuccessor(Asks->getSuccessor(0) == N.Before);
  if (N.Exit->getSingleSuccessor() != Behind || pred_size(Behind) != 2)
    return nullptr;
  bool IsSame = all_of(Behind->phis(), [&](const PHINode &Met) {
    Value *Left = Met.getIncomingValueForBlock(N.Exit);
    auto *Phi = dyn_cast<PHINode>(Left);
    if (Phi && Phi->getParent() == N.Exit)
      Left = Phi->getIncomingValueForBlock(N.Latch);
    return Met.getIncomingValueForBlock(Guard) == N.first(Left);
  });
  return IsSame ? Asks : nullptr;
}

// Where the loop ends, it is left by the flag, too, and where that was true before, the loop does not run.
void leaveBy(Value &Flag, Value &First, Nest &N, DominatorTree &DT, LoopInfo &LI) {
  N.Flag = &Flag;
  N.FirstFlag = &First;
  Value *Counts = conditionOf(*N.Ends, *N.Exit);
  N.Ends->setCondition(IRBuilder<>(N.Ends).CreateLogicalOr(&Flag, Counts));
  if (match(&First, m_Zero()))
    return;
  if (BranchInst *Asks = guardOf(N)) {
    Value *Skips = conditionOf(*Asks, *Asks->getSuccessor(Asks->getSuccessor(0) == N.Before));
    Asks->setCondition(IRBuilder<>(Asks).CreateLogicalOr(&First, Skips));
    return;
  }
  BasicBlock *Guard = N.Before;
  N.Before = SplitBlock(Guard, Guard->getTerminator(), &DT, &LI);
  ReplaceInstWithInst(Guard->getTerminator(), BranchInst::Create(N.Exit, N.Before, &First));
  for (PHINode &Left : N.Exit->phis())
    Left.addIncoming(N.first(Left.getIncomingValueForBlock(N.Latch)), Guard);
  DT.insertEdge(Guard, N.Exit);
  formDedicatedExitBlocks(&N.L, &DT, &LI, nullptr, /*PreserveLCSSA=*/false);
}

// What an iteration does where the flag is true: nothing, and neither does any behind it.
class Idle {
public:
  Idle(Nest &N, DominatorTree &DT, LoopInfo &LI) : N(N), DT(DT), LI(LI) {}

  bool run() {
    if (N.L.getExitingBlock() != N.Latch || N.Header == N.Latch || !isIdle() || !N.leavesCarried())
      return false;
    ADGEN_COUNT(NumFlags, N.Header->getName());
    Value *First = Flag->getIncomingValueForBlock(N.Before);
    Value *Next = Flag->getIncomingValueForBlock(N.Latch);
    leaveBy(*Next, *First, N, DT, LI);
    Flag->replaceUsesWithIf(ConstantInt::getFalse(Flag->getContext()),
                            [&](Use &U) { return N.L.contains(cast<Instruction>(U.getUser())); });
    BasicBlock *On = Skips->getSuccessor(1);
    for (PHINode &Phi : make_early_inc_range(N.Latch->phis()))
      Phi.removeIncomingValue(N.Header, /*DeletePHIIfEmpty=*/false);
    ReplaceInstWithInst(Skips, BranchInst::Create(On));
    DT.deleteEdge(N.Header, N.Latch);
    RecursivelyDeleteDeadPHINode(Flag);
    return true;
  }

private:
  bool isIdle() {
    Skips = dyn_cast<BranchInst>(N.Header->getTerminator());
    if (!Skips || !Skips->isConditional())
      return false;
    Flag = dyn_cast<PHINode>(Skips->getCondition());
    if (!Flag || Flag->getParent() != N.Header || Skips->getSuccessor(0) != N.Latch ||
        Skips->getSuccessor(1) == N.Latch)
      return false;
    auto IsPlain = [](const Instruction &I) { return !I.mayHaveSideEffects() && !I.mayReadFromMemory(); };
    if (!all_of(*N.Header, IsPlain) || !all_of(*N.Latch, IsPlain))
      return false;
    for (PHINode &Phi : N.Header->phis()) {
      Value *Next = Phi.getIncomingValueForBlock(N.Latch);
      auto *Met = dyn_cast<PHINode>(Next);
      if (Met && Met->getParent() == N.Latch)
        Next = Met->getIncomingValueForBlock(N.Header);
      bool Stays = Next == &Phi || (&Phi == Flag && match(Next, m_One()));
      if (!Stays && !isCounter(Phi, N))
        return false;
    }
    return true;
  }

  Nest &N;
  DominatorTree &DT;
  LoopInfo &LI;
  BranchInst *Skips = nullptr;
  PHINode *Flag = nullptr;
};

// A flag beside a number, which is true where a comparison of the number would be. Only where the loop around may be
// left early, as threads do that have all stopped: else what is kept of the inner loop costs less.
class Beside {
public:
  Beside(Nest &N, DominatorTree &DT, LoopInfo &LI) : N(N), DT(DT), LI(LI) {}

  bool run() {
    if (N.Outer.getExitingBlock() || !(findEnd() || findBreak()) || !isHandedOn() || !(Breaks || findGuard()) ||
        !N.leavesCarried())
      return false;
    ADGEN_COUNT(NumFlags, N.Header->getName());
    const bool IsNumber = isa<ConstantFP>(Least) && !cast<ConstantFP>(Least)->isNaN() && staysFinite(*Around, DT);
    if (Breaks)
      dropBreak();
    auto *FirstFlag = PHINode::Create(Type::getInt1Ty(Number->getContext()), 2, "stopped", Around->getIterator());
    Twins[Around] = FirstFlag;
    Twins[Number] = ConstantInt::getFalse(Number->getContext());
    Value *Flag = inside(*Next, *N.Latch);
    Twins[Next] = Flag;
    IRBuilder<> Start(N.Outer.getLoopPreheader()->getTerminator());
    FirstFlag->addIncoming(
        Start.CreateFCmp(Leaves, Around->getIncomingValueForBlock(N.Outer.getLoopPreheader()), Least),
        N.Outer.getLoopPreheader());
    FirstFlag->addIncoming(outside(*Around->getIncomingValueForBlock(N.Outer.getLoopLatch())), N.Outer.getLoopLatch());
    drop(Asked, AskedHolds);
    drop(Ended, EndedHolds);
    leaveBy(*Flag, *FirstFlag, N, DT, LI);
    askElsewhere(IsNumber);
    return true;
  }

private:
  // `through >= least` of what the next iteration has, beside the counter.
  bool findEnd() {
    if (N.L.getExitingBlock() != N.Latch)
      return false;
    Use &Condition = N.Ends->getOperandUse(0);
    return findIn(
        Condition, N.L.contains(N.Ends->getSuccessor(0)),
        [&](FCmpInst &Compared, bool GoesOn) {
          Number = N.carriedBy(Compared.getOperand(0));
          Next = Compared.getOperand(0);
          if (!Number || !isLeast(*Compared.getOperand(1)))
            return false;
          Leaves = GoesOn ? Compared.getInversePredicate() : Compared.getPredicate();
          Least = Compared.getOperand(1);
          return true;
        },
        Ended, EndedHolds);
  }

  bool isLeast(const Value &V) const { return N.Outer.isLoopInvariant(&V); }

  // A condition in a conjunction (in a disjunction where what goes on is false) that is found, and what it is where the
  // loop goes on.
  template <class Is> bool findIn(Use &Condition, bool GoesOn, Is Found, Use *&Which, bool &Holds) {
    auto *I = dyn_cast<Instruction>(Condition.get());
    if (!I)
      return false;
    if (auto *Compared = dyn_cast<FCmpInst>(I)) {
      if (!Found(*Compared, GoesOn))
        return false;
      Which = &Condition;
      Holds = GoesOn;
      return true;
    }
    bool IsJoined = GoesOn ? match(I, m_LogicalAnd(m_Value(), m_Value())) : match(I, m_LogicalOr(m_Value(), m_Value()));
    if (!IsJoined || !I->hasOneUse())
      return false;
    unsigned Second = isa<SelectInst>(I) ? (GoesOn ? 1 : 2) : 1;
    return findIn(I->getOperandUse(0), GoesOn, Found, Which, Holds) ||
           findIn(I->getOperandUse(Second), GoesOn, Found, Which, Holds);
  }

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
      if (!isCounter(Phi, N) && !staysUnless(*Phi.getIncomingValueForBlock(N.Latch), *N.Latch, Phi, Goes))
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
    return Around && Around->getParent() == N.Outer.getHeader() &&
           isHandedOn(*Around->getIncomingValueForBlock(N.Outer.getLoopLatch()));
  }

  bool isHandedOn(Value &V) const {
    auto *Met = dyn_cast<PHINode>(&V);
    if (&V == Around || &V == Next || (&V == Number && Breaks))
      return true;
    return Met && N.Outer.contains(Met) && !N.L.contains(Met) && Met->getParent() != N.Outer.getHeader() &&
           all_of(Met->incoming_values(), [&](Value *Each) { return isHandedOn(*Each); });
  }

  // The same comparison keeps the loop from running.
  bool findGuard() {
    BasicBlock *Guard = N.Before->getSinglePredecessor();
    auto *Asks = Guard ? dyn_cast<BranchInst>(Guard->getTerminator()) : nullptr;
    if (!Asks || !Asks->isConditional() || !N.Outer.contains(Guard))
      return false;
    return findIn(
        Asks->getOperandUse(0), Asks->getSuccessor(0) == N.Before,
        [&](FCmpInst &Compared, bool GoesOn) {
          CmpInst::Predicate Is = GoesOn ? Compared.getInversePredicate() : Compared.getPredicate();
          return Compared.getOperand(0) == Around && Compared.getOperand(1) == Least && Is == Leaves;
        },
        Asked, AskedHolds);
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

  Value *outside(Value &V) {
    if (Value *Known = Twins.lookup(&V))
      return Known;
    auto &Met = cast<PHINode>(V);
    PHINode *New =
        PHINode::Create(Type::getInt1Ty(V.getContext()), Met.getNumIncomingValues(), "stopped", Met.getIterator());
    Twins[&V] = New;
    for (auto [Value, From] : zip(Met.incoming_values(), Met.blocks()))
      New->addIncoming(outside(*Value), From);
    return New;
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
    for (auto [V, Flag] : SmallVector<std::pair<Value *, Value *>>(Twins.begin(), Twins.end()))
      for (User *U : make_early_inc_range(V->users())) {
        auto *Compared = dyn_cast<FCmpInst>(U);
        if (!Compared || N.L.contains(Compared) || !N.Outer.contains(Compared) || Compared->getOperand(0) != V ||
            Compared->getOperand(1) != Least || isa<Constant>(Flag))
          continue;
        bool AnyOrder = IsNumber || Compared->hasNoNaNs();
        bool IsSame = isAlike(Compared->getPredicate(), AnyOrder);
        if (!IsSame && !isAlike(Compared->getInversePredicate(), AnyOrder))
          continue;
        IRBuilder<> B(Compared);
        Compared->replaceAllUsesWith(IsSame ? Flag : B.CreateNot(Flag));
        Compared->eraseFromParent();
      }
  }

  // Of `through < least` and `!(through >= least)` only the second is true of a number that is none.
  bool isAlike(CmpInst::Predicate Kind, bool AnyOrder) const {
    return AnyOrder ? FCmpInst::getOrderedPredicate(Kind) == FCmpInst::getOrderedPredicate(Leaves) : Kind == Leaves;
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
  DenseMap<Value *, Value *> Twins, Inside;
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
    if (std::optional<Nest> N = Nest::of(*L); N && (Idle(*N, DT, LI).run() || Beside(*N, DT, LI).run()))
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
