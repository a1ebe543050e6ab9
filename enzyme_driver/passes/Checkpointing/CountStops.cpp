// A pixel that has become opaque has nothing more to do, in the tile at hand and in all that come: `done` is set within
// a loop, leaves it, and keeps the thread from running it again. Of each tile Enzyme keeps whether the thread was done,
// and how far it came. Here a variable has the one iteration, of both loops, in which that happened: every iteration
// before went on, and none came behind it. Both sweeps read it, the reverse one by loads that Enzyme repeats, and
// nothing is kept.
//
// The inner loop then runs as often as its counter says, as Enzyme has to know how often beforehand: in the forward
// sweep what is behind the stop does nothing, and the reverse sweep, which knows it, begins there.
#include "Analysis/Undo.h"
#include "Checkpointing/Breaks.h"
#include "Checkpointing/CarriedProduct.h"
#include "Checkpointing/LeftApart.h"
#include "Checkpointing/StoppedFlag.h"
#include "Support/Derivative.h"
#include "Support/Guards.h"
#include "Support/Pass.h"

#include "llvm/Analysis/DomTreeUpdater.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/IR/PatternMatch.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/LoopUtils.h"

#include <optional>

#define DEBUG_TYPE "adgen-count-stops"

using namespace llvm;
using namespace llvm::PatternMatch;

STATISTIC(NumStops, "Number of loops whose threads stop once and for all");

namespace adgen {
namespace {

struct Stop {
  Loop *Inner, *Outer;
  PHINode *Before;     // of the outer loop: whether it has happened
  PHINode *Behind;     // at its end
  BranchInst *Decides; // in the inner loop: its first way leads to it
  ICmpInst *Counts;    // whether the inner loop has run its number of times
  Value *Flag;         // whether it has happened in this iteration
  Value *Anchor;       // memory with a derivative
};

// The condition with which the branch leaves the loop, if that is its first way.
Value *leavingCondition(const Loop &L, const BranchInst &Branch) {
  return Branch.isConditional() && !L.contains(Branch.getSuccessor(0)) && L.contains(Branch.getSuccessor(1))
             ? Branch.getCondition()
             : nullptr;
}

class Finder {
public:
  Finder(DominatorTree &DT, LoopInfo &LI, ScalarEvolution &SE) : DT(DT), LI(LI), SE(SE) {}

  std::optional<Stop> find() {
    for (Loop *L : LI.getLoopsInPreorder())
      if (L->getParentLoop() && L->isLoopSimplifyForm() && L->getParentLoop()->isLoopSimplifyForm())
        if (std::optional<Stop> Found = examine(*L))
          return Found;
    return {};
  }

private:
  std::optional<Stop> examine(Loop &L) {
    Value *Anchor = anchor();
    if (!Anchor)
      return {};
    std::optional<Break> Found = breakOf(L);
    if (!Found && nameFlag(L, DT))
      Found = breakOf(L);
    if (Found && carried(*Found->Flag, L)) {
      joinBreak(L, *Found, DT, LI);
      SE.forgetLoop(&L);
    }
    BasicBlock *Latch = L.getLoopLatch();
    auto *Ends = dyn_cast<BranchInst>(Latch->getTerminator());
    Value *Leaves = Ends && L.getExitingBlock() == Latch ? leavingCondition(L, *Ends) : nullptr;
    Value *One, *Other;
    if (!Leaves || !match(Leaves, m_LogicalOr(m_Value(One), m_Value(Other))))
      return {};
    if (isa<ICmpInst>(One))
      std::swap(One, Other);
    Stop Of{&L, L.getParentLoop(), nullptr, nullptr, nullptr, dyn_cast<ICmpInst>(Other), One, Anchor};
    if (!Of.Counts || !isCounted(*Of.Counts, L) || !(Of.Decides = decision(*One, L)) ||
        !(Of.Before = carried(*One, L)) || !isCarriedPlainly(L))
      return {};
    Of.Behind = cast<PHINode>(Of.Before->getIncomingValueForBlock(Of.Outer->getLoopLatch()));
    return Of;
  }

  // That of a barrier: threads that share tiles have one.
  Value *anchor() const {
    const Function &Body = *LI.getLoopsInPreorder().front()->getHeader()->getParent();
    for (const Instruction &I : instructions(Body))
      if (isCallOf(I, (RulePrefix + "barrier").str()))
        return cast<CallInst>(I).getArgOperand(0);
    return nullptr;
  }

  // `k + 1 >= n`, with k from 0 on.
  bool isCounted(const ICmpInst &Counts, const Loop &L) {
    auto *Next = dyn_cast<SCEVAddRecExpr>(SE.getSCEV(Counts.getOperand(0)));
    CmpInst::Predicate Kind = Counts.getPredicate();
    return Next && Next->getLoop() == &L && Next->isAffine() && Next->getStart()->isOne() &&
           Next->getStepRecurrence(SE)->isOne() && L.isLoopInvariant(Counts.getOperand(1)) && Counts.hasOneUse() &&
           (Kind == CmpInst::ICMP_SGE || Kind == CmpInst::ICMP_UGE || Kind == CmpInst::ICMP_EQ);
  }

  // The branch whose first way alone makes the flag true.
  BranchInst *decision(Value &Flag, const Loop &L) {
    BranchInst *Found = nullptr;
    SmallVector<PHINode *> Work;
    SmallPtrSet<PHINode *, 4> Seen;
    SmallVector<std::pair<BasicBlock *, BasicBlock *>> True, False;
    SmallVector<std::pair<PHINode *, BasicBlock *>> Compared;
    if (auto *Phi = dyn_cast<PHINode>(&Flag))
      Work.push_back(Phi);
    while (!Work.empty()) {
      PHINode *Phi = Work.pop_back_val();
      if (!L.contains(Phi) || Phi->getParent() == L.getHeader())
        return nullptr;
      if (!Seen.insert(Phi).second)
        continue;
      for (const auto &[Value, From] : zip(Phi->incoming_values(), Phi->blocks())) {
        if (auto *Constant = dyn_cast<ConstantInt>(Value))
          (Constant->isOne() ? True : False).push_back({From, Phi->getParent()});
        else if (auto *Next = dyn_cast<PHINode>(Value); Next && Next->getParent() == From)
          Work.push_back(Next);
        else if (isa<CmpInst>(Value) && cast<CmpInst>(Value)->getParent() == From && From->getSingleSuccessor())
          Compared.push_back({Phi, From});
        else
          return nullptr;
      }
    }
    if (True.empty() && Compared.size() == 1)
      return branchBy(*Compared.front().first, *Compared.front().second);
    if (True.size() != 1 || !Compared.empty())
      return nullptr;
    auto [From, To] = True.front();
    BasicBlock *Way = To;
    if (From->getSingleSuccessor() && From->getSinglePredecessor()) {
      Way = From;
      From = From->getSinglePredecessor();
    }
    Found = dyn_cast<BranchInst>(From->getTerminator());
    bool Decides = Found && Found->isConditional() && Found->getSuccessor(0) != Found->getSuccessor(1) &&
                   isa<Instruction>(Found->getCondition());
    if (!Decides)
      return nullptr;
    IRBuilder<> B(Found);
    if (Found->getSuccessor(0) != Way)
      InvertBranch(Found, B); // the first way is the one on which it happens
    return Found;
  }

  // `done = through < least` becomes a branch.
  BranchInst *branchBy(PHINode &Flag, BasicBlock &From) {
    Value *Condition = Flag.getIncomingValueForBlock(&From);
    DomTreeUpdater Updater(DT, DomTreeUpdater::UpdateStrategy::Eager);
    Instruction *Yes, *No;
    SplitBlockAndInsertIfThenElse(Condition, From.getTerminator()->getIterator(), &Yes, &No, nullptr, &Updater, &LI);
    BasicBlock *Met = Yes->getSuccessor(0);
    IRBuilder<> B(Met, Met->begin());
    PHINode *Outcome = B.CreatePHI(B.getInt1Ty(), 2, "stops");
    Outcome->addIncoming(B.getTrue(), Yes->getParent());
    Outcome->addIncoming(B.getFalse(), No->getParent());
    Flag.setIncomingValueForBlock(Met, Outcome);
    return cast<BranchInst>(From.getTerminator());
  }

  // The phi of the outer loop that is set by the flag alone, and keeps the inner loop from running.
  PHINode *carried(Value &Flag, const Loop &L) const {
    Loop &Outer = *L.getParentLoop();
    BasicBlock *Guard = L.getLoopPreheader()->getSinglePredecessor();
    auto *Branch = Guard ? dyn_cast<BranchInst>(Guard->getTerminator()) : nullptr;
    if (!Branch || !Branch->isConditional() || Branch->getSuccessor(1) != L.getLoopPreheader())
      return nullptr;
    for (PHINode &Phi : Outer.getHeader()->phis()) {
      if (!Phi.getType()->isIntegerTy(1))
        continue;
      if (isOneOf(Phi, *Branch->getCondition()) &&
          isSetBy(Flag, Phi, *Phi.getIncomingValueForBlock(Outer.getLoopLatch()), L))
        return &Phi;
    }
    return nullptr;
  }

  // `Condition` holds where the flag does.
  static bool isOneOf(const Value &Flag, Value &Condition) {
    Value *One, *Other;
    return &Condition == &Flag || (match(&Condition, m_LogicalOr(m_Value(One), m_Value(Other))) &&
                                   (isOneOf(Flag, *One) || isOneOf(Flag, *Other)));
  }

  // Outside of the inner loop, nothing but phis takes the flag to the next iteration, and what keeps it for each.
  static bool isSetBy(Value &Flag, PHINode &Phi, Value &Next, const Loop &L) {
    auto *Met = dyn_cast<PHINode>(&Next);
    const Loop &Outer = *L.getParentLoop();
    if (!Met || !Outer.contains(Met) || L.contains(Met) || Met->getParent() == Outer.getHeader())
      return false;
    return all_of(Met->incoming_values(), [&](const Use &U) {
      Value *V = isHeld(U.get()) && U->hasOneUse() ? cast<CallInst>(U.get())->getArgOperand(0) : U.get();
      return V == &Phi || V == &Flag || (isa<PHINode>(V) && V->hasOneUse() && isSetBy(Flag, Phi, *V, L));
    });
  }

  // What the loop leaves behind is carried by its header, so that an iteration that does nothing leaves it as it is;
  // whole numbers are made so.
  bool isCarriedPlainly(Loop &L) const {
    BasicBlock *Latch = L.getLoopLatch();
    for (BasicBlock *Block : L.blocks())
      for (Instruction &I : *Block) {
        auto *Phi = dyn_cast<PHINode>(&I);
        bool IsCarried =
            any_of(L.getHeader()->phis(), [&](PHINode &Each) { return Each.getIncomingValueForBlock(Latch) == &I; });
        bool IsLeft = any_of(I.users(), [&](const User *U) { return !L.contains(cast<Instruction>(U)); });
        bool IsWhole = I.getType()->isIntegerTy(), IsNumber = I.getType()->isFloatingPointTy();
        if (IsLeft && !IsWhole && !(IsNumber && (IsCarried || (Phi && Phi->getParent() == L.getHeader()))))
          return false;
      }
    return L.getNumBlocks() > 1;
  }

  DominatorTree &DT;
  LoopInfo &LI;
  ScalarEvolution &SE;
};

// The iteration of both loops in which a thread stops.
class Place {
public:
  explicit Place(Function &Body) {
    IRBuilder<> B(&Body.getEntryBlock(), Body.getEntryBlock().begin());
    for (AllocaInst *&Each : Variables)
      Each = B.CreateAlloca(B.getInt64Ty(), nullptr, "stop");
    Past = B.CreateAlloca(B.getInt64Ty(), nullptr, "past");
  }

  // Whether an iteration lies behind the stop, which none does that the reverse sweep comes to.
  Value *past(IRBuilder<> &B, Value *Is) {
    B.CreateStore(B.CreateZExt(Is, B.getInt64Ty()), Past);
    return B.CreateICmpNE(read(B, *Past), B.getInt64(0), "past");
  }

  // Behind the inner loop; with memory that has a derivative, or Enzyme would leave it out.
  void forget(IRBuilder<> &B, Value &Anchor) {
    Undo Rule = declareUndo(*B.GetInsertBlock()->getModule(), "forget", {B.getPtrTy()});
    if (Rule.IsNew) {
      IRBuilder<> Reverse(&Rule.Reverse->getEntryBlock());
      Reverse.CreateStore(Reverse.getInt64(0), Rule.Reverse->getArg(2));
      Reverse.CreateRetVoid();
    }
    B.CreateCall(Rule.Primal, {&Anchor, Past});
  }

  void set(IRBuilder<> &B, Value *Outer, Value *Inner) {
    B.CreateStore(Outer, Variables[0]);
    B.CreateStore(Inner, Variables[1]);
  }

  Value *outer(IRBuilder<> &B) { return read(B, *Variables[0]); }
  Value *inner(IRBuilder<> &B) { return read(B, *Variables[1]); }

private:
  static Value *read(IRBuilder<> &B, AllocaInst &From) {
    return B.CreateIntrinsic(Intrinsic::nvvm_ldu_global_i, {B.getInt64Ty(), From.getType()}, {&From, B.getInt32(8)});
  }

  AllocaInst *Variables[2], *Past;
};

PHINode *count(Loop &L) {
  Type *T = Type::getInt64Ty(L.getHeader()->getContext());
  PHINode *Phi = PHINode::Create(T, 2, "count", L.getHeader()->begin());
  Phi->addIncoming(ConstantInt::get(T, 0), L.getLoopPreheader());
  auto *Next = BinaryOperator::CreateNSW(Instruction::Add, Phi, ConstantInt::get(T, 1), "",
                                         L.getLoopLatch()->getTerminator()->getIterator());
  Next->setHasNoUnsignedWrap();
  Phi->addIncoming(Next, L.getLoopLatch());
  return Phi;
}

// `k + 1` of k.
bool isStep(const Instruction &I, const PHINode &Of) {
  return I.getOpcode() == Instruction::Add && I.getOperand(0) == &Of && isa<ConstantInt>(I.getOperand(1));
}

SmallVector<Instruction *> leftBehind(const Loop &L) {
  SmallVector<Instruction *> Left;
  for (BasicBlock *Block : L.blocks())
    for (Instruction &I : *Block)
      if (!I.getType()->isIntegerTy(1) &&
          any_of(I.users(), [&](const User *U) { return !L.contains(cast<Instruction>(U)); }))
        Left.push_back(&I);
  return Left;
}

// A phi of the header has it in the next iteration, and no counter goes on to count.
bool isCarried(const Instruction &I, const Loop &L, const BasicBlock &Latch) {
  return I.getParent() != L.getHeader() && any_of(L.getHeader()->phis(), [&](const PHINode &Phi) {
           return Phi.getIncomingValueForBlock(&Latch) == &I && !isStep(I, Phi);
         });
}

// What nothing carries, such as how many have contributed, or the number that the last iteration began with: behind the
// loop it is that of the last iteration that was not behind the stop.
void carryWhatIsLeft(ArrayRef<Instruction *> Left, Loop &L, BasicBlock &Acts, BasicBlock &Join) {
  for (Instruction *I : Left) {
    PHINode *Last = PHINode::Create(I->getType(), 2, "last", L.getHeader()->begin());
    PHINode *Met = PHINode::Create(I->getType(), 2, "left", Join.begin());
    Last->addIncoming(Constant::getNullValue(I->getType()), L.getLoopPreheader());
    Last->addIncoming(Met, &Join);
    I->replaceUsesWithIf(Met, [&](Use &U) { return !L.contains(cast<Instruction>(U.getUser())); });
    Met->addIncoming(I, &Acts);
    Met->addIncoming(Last, L.getHeader());
  }
}

// The iterations behind the stop come to the latch at once.
void skipBehind(Loop &L, PHINode &Outer, PHINode &Inner, Place &At, DominatorTree &DT, LoopInfo &LI) {
  BasicBlock *Header = L.getHeader(), *Old = L.getLoopLatch();
  BasicBlock *Join = SplitBlock(Old, Old->getTerminator(), &DT, &LI);
  BasicBlock *Acts = SplitBlock(Header, Header->getFirstInsertionPt(), &DT, &LI);
  if (Old == Header)
    Old = Acts;
  SmallVector<Instruction *> Left = leftBehind(L);
  erase_if(Left, [&](Instruction *I) { return isCarried(*I, L, *Join); });
  IRBuilder<> B(Header->getTerminator());
  Value *Past = At.past(B, B.CreateAnd(B.CreateICmpEQ(At.outer(B), &Outer), B.CreateICmpSGT(&Inner, At.inner(B))));
  ReplaceInstWithInst(Header->getTerminator(), BranchInst::Create(Join, Acts, Past));
  for (PHINode &Phi : Header->phis()) {
    Value *Next = Phi.getIncomingValueForBlock(Join);
    if (auto *Step = dyn_cast<Instruction>(Next); Step && isStep(*Step, Phi)) {
      Step->moveBefore(Header->getTerminator()->getIterator()); // known in either case
      continue;
    }
    if (!isa<Instruction>(Next) || Next == &Phi)
      continue;
    PHINode *Met = PHINode::Create(Phi.getType(), 2, "", Join->begin());
    Met->addIncoming(Next, Old);
    Met->addIncoming(&Phi, Header);
    Next->replaceUsesWithIf(Met, [&](Use &U) {
      auto *User = cast<Instruction>(U.getUser());
      return User != Met && (!L.contains(User) || User->getParent() == Join || User->getParent() == Header);
    });
    Phi.setIncomingValueForBlock(Join, Met);
  }
  carryWhatIsLeft(Left, L, *Old, *Join);
  DT.recalculate(*Header->getParent());
}

void countOnce(Stop Of, DominatorTree &DT, LoopInfo &LI) {
  ADGEN_COUNT(NumStops, *Of.Inner);
  Loop &L = *Of.Inner, &Outer = *Of.Outer;
  Function &Body = *L.getHeader()->getParent();
  leaveApart(L, *Of.Decides, DT, LI);
  Place At(Body);
  PHINode *OuterCount = count(Outer), *InnerCount = count(L);
  Type *T = OuterCount->getType();
  Constant *Never = ConstantInt::get(T, INT64_MAX), *Always = ConstantInt::getSigned(T, -1);

  IRBuilder<> Start(Outer.getLoopPreheader()->getTerminator());
  Value *Done = Of.Before->getIncomingValueForBlock(Outer.getLoopPreheader());
  At.set(Start, Start.CreateSelect(Done, Always, Never), Never);

  IRBuilder<> Head(Outer.getHeader(), Outer.getHeader()->getFirstInsertionPt());
  Of.Before->replaceAllUsesWith(Head.CreateICmpSLT(At.outer(Head), OuterCount, "done"));

  IRBuilder<> Tail(Of.Behind->getParent(), Of.Behind->getParent()->getFirstInsertionPt());
  Value *DoneBehind = Tail.CreateICmpSLE(At.outer(Tail), OuterCount, "done");
  Of.Behind->replaceUsesWithIf(DoneBehind, [&](Use &U) { return U.getUser() != Of.Before; });

  // How often it runs, which only the reverse sweep knows to be fewer times.
  IRBuilder<> B(L.getLoopPreheader()->getTerminator());
  Value *StopsHere = B.CreateICmpEQ(At.outer(B), OuterCount);
  Value *Limit = Of.Counts->getOperand(1);
  Value *Times = Of.Counts->isSigned() ? B.CreateSExt(Limit, T) : B.CreateZExt(Limit, T);
  Times = B.CreateBinaryIntrinsic(Intrinsic::smax, Times, ConstantInt::get(T, 1));
  Value *Until = B.CreateSelect(StopsHere, B.CreateNSWAdd(At.inner(B), ConstantInt::get(T, 1)), Never);
  Times = B.CreateBinaryIntrinsic(Intrinsic::smin, Times, Until, nullptr, "times");

  Instruction *Found = cast<Instruction>(Of.Decides->getCondition());
  IRBuilder<> Decide(Of.Decides);
  MDNode *Mark = MDNode::get(Body.getContext(), {});
  auto Latest = [&](Value *Now, Value *Known) {
    auto *Chosen = SelectInst::Create(Found, Now, Known, "", Decide.GetInsertPoint());
    Chosen->setMetadata(OutcomeMetadata, Mark);
    return Chosen;
  };
  Value *LastOuter = Latest(OuterCount, At.outer(Decide)), *LastInner = Latest(InnerCount, At.inner(Decide));
  At.set(Decide, LastOuter, LastInner);
  Value *Again = Decide.CreateAnd(Decide.CreateICmpEQ(At.outer(Decide), OuterCount),
                                  Decide.CreateICmpEQ(At.inner(Decide), InnerCount));
  Of.Decides->setCondition(Again);
  Of.Decides->setMetadata(OutcomeMetadata, Mark);

  skipBehind(L, *OuterCount, *InnerCount, At, DT, LI);
  IRBuilder<> Behind(L.getExitBlock(), L.getExitBlock()->getFirstInsertionPt());
  At.forget(Behind, *Of.Anchor);
  auto *Ends = cast<BranchInst>(L.getLoopLatch()->getTerminator());
  IRBuilder<> End(Ends);
  Ends->setCondition(End.CreateICmpEQ(InnerCount->getIncomingValueForBlock(L.getLoopLatch()), Times));
}

void eraseDead(Function &Body) {
  for (BasicBlock &Block : Body)
    DeleteDeadPHIs(&Block);
  for (Instruction &I : make_early_inc_range(instructions(Body)))
    if (isHeld(&I) && I.use_empty())
      I.eraseFromParent();
  for (BasicBlock &Block : Body)
    DeleteDeadPHIs(&Block);
}

} // namespace

ADGEN_DECLARE_PASS(CountStops);

PreservedAnalyses CountStops::run(Module &M, ModuleAnalysisManager &MAM) {
  if (asksForTangents(M))
    return PreservedAnalyses::all();
  auto &FAM = MAM.getResult<FunctionAnalysisManagerModuleProxy>(M).getManager();
  for (Function &F : M) {
    if (!F.getName().starts_with(BodyPrefix) || F.isDeclaration())
      continue;
    for (;;) {
      auto &DT = FAM.getResult<DominatorTreeAnalysis>(F);
      auto &LI = FAM.getResult<LoopAnalysis>(F);
      std::optional<Stop> Found = Finder(DT, LI, FAM.getResult<ScalarEvolutionAnalysis>(F)).find();
      if (!Found)
        break;
      countOnce(*Found, DT, LI);
      eraseDead(F);
      FAM.invalidate(F, PreservedAnalyses::none());
    }
  }
  return PreservedAnalyses::none();
}

} // namespace adgen
