// Lanes of a warp leave a loop in different iterations, as pixels do that have become opaque, and each walks back from
// where it left: in one step they are in different iterations, add to different elements, and read different places.
// Here they walk back together, from the last iteration of any of them, and each waits until its own comes. A lane for
// which the loop had no iteration comes along.
//
// What only some lanes of an iteration add to an element that is likely the same in all of them is added behind the
// iteration, where the others are back with a zero: the whole warp adds up (adgen-warp-aggregate-atomics). A lane that
// adds nothing may know no element: it has perhaps kept nothing of such an iteration, or not come to what leads to it.
// So it adds its zeros where a lane adds that does: that lane lends it what the address is computed from.
#include "Accumulate/HandOver.h"
#include "Accumulate/LaneOrigins.h"
#include "Analysis/Accumulation.h"
#include "Analysis/Uniformity.h"
#include "Support/Pass.h"

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/IR/PatternMatch.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/LoopUtils.h"
#include "llvm/Transforms/Utils/SSAUpdater.h"

#define DEBUG_TYPE "adgen-align-lanes"

using namespace llvm;

STATISTIC(NumLoops, "Number of loops that lanes walk back together");

namespace adgen {
namespace {

using namespace PatternMatch;

// Addresses are computed again from what a lane can lend another: numbers.
bool isComputed(const Value &V) {
  auto *I = dyn_cast<Instruction>(&V);
  return isa<GetElementPtrInst, CastInst, BinaryOperator>(V) && I && !I->isIntDivRem() &&
         !I->getType()->isFPOrFPVectorTy();
}

bool isTheSameEverywhere(const Value &V) { return isa<Constant, Argument>(V); }

bool isLendable(const Value &V) {
  if (isTheSameEverywhere(V))
    return true;
  if (isComputed(V))
    return all_of(cast<Instruction>(V).operands(), [](const Use &Operand) { return isLendable(*Operand); });
  Type *T = V.getType();
  return isa<Instruction>(V) && (T->isIntegerTy(32) || T->isIntegerTy(64));
}

// A loop that counts down to zero, in LCSSA form.
struct Walk {
  Loop *L;
  PHINode *Count;
  BasicBlock *Exiting, *Exit;
  SmallVector<AtomicRMWInst *> Additions; // that may be done at the end of their iteration
};

class Finder {
public:
  Finder(Function &F, const Meetings &Meet, LoopInfo &Loops)
      : Meet(Meet), Loops(Loops), Threads(F, [&](const Value &V) { return kindOnDevice(V, F); }),
        KeepsOwn(keepsOwnAddresses(F)) {}

  SmallVector<Walk> find() {
    SmallVector<Walk> Found;
    for (Loop *L : Loops.getLoopsInPreorder())
      if (L->isInnermost() && L->isLoopSimplifyForm())
        if (std::optional<Walk> W = examine(*L))
          Found.push_back(*W);
    return Found;
  }

private:
  std::optional<Walk> examine(Loop &L) {
    BasicBlock *Exiting = L.getExitingBlock(), *Latch = L.getLoopLatch();
    auto *Branch = Exiting ? dyn_cast<BranchInst>(Exiting->getTerminator()) : nullptr;
    if (!Branch || !L.getExitBlock() || (Latch != Exiting && Latch->getSinglePredecessor() != Exiting))
      return {};
    for (PHINode &Phi : L.getHeader()->phis()) {
      Value *Start = Phi.getIncomingValueForBlock(L.getLoopPreheader());
      if (Phi.getType()->isIntegerTy(64) && !isTheSameInLanes(*Start) && counts(Phi, *Latch) &&
          endsAtZero(*Branch, Phi, L)) {
        From.assumeAlike(Phi);
        Walk W{&L, &Phi, Exiting, L.getExitBlock(), additions(L)};
        return W.Additions.empty() || hasEffect(*Latch, Exiting) ? std::nullopt : std::optional(W);
      }
    }
    return {};
  }

  // Whether all lanes that come to it find the same number, also where others do not come.
  bool isTheSameInLanes(const Value &V) const {
    auto *I = dyn_cast<Instruction>(&V);
    bool IsComputed = I && isa<BinaryOperator, CastInst, CmpInst, SelectInst, FreezeInst, MinMaxIntrinsic>(I);
    return Threads.isUniform(&V) ||
           (IsComputed && all_of(I->operands(), [&](const Use &Operand) { return isTheSameInLanes(*Operand); }));
  }

  static bool counts(PHINode &Phi, BasicBlock &Latch) {
    return match(Phi.getIncomingValueForBlock(&Latch), m_Add(m_Specific(&Phi), m_AllOnes()));
  }

  static bool endsAtZero(const BranchInst &Branch, PHINode &Phi, const Loop &L) {
    CmpPredicate Kind;
    if (!Branch.isConditional() || !match(Branch.getCondition(), m_ICmp(Kind, m_Specific(&Phi), m_Zero())))
      return false;
    return Kind == (L.contains(Branch.getSuccessor(0)) ? CmpInst::ICMP_NE : CmpInst::ICMP_EQ);
  }

  // What stands behind the decision is done by lanes that wait, too.
  static bool hasEffect(const BasicBlock &Latch, const BasicBlock *Exiting) {
    return &Latch != Exiting && any_of(Latch, [](const Instruction &I) {
      return I.mayReadOrWriteMemory() || (!I.isTerminator() && !isa<PHINode>(I) && !isSafeToSpeculativelyExecute(&I));
    });
  }

  SmallVector<AtomicRMWInst *> additions(const Loop &L) {
    SmallVector<AtomicRMWInst *> Found;
    for (BasicBlock *Block : L.blocks())
      for (Instruction &I : *Block)
        if (AtomicRMWInst *Atomic = asAccumulation(I); Atomic && isCommon(*Atomic) && mayWait(*Atomic, L))
          Found.push_back(Atomic);
    return Found;
  }

  // An element that is the same in all lanes which are in one iteration.
  bool isCommon(const AtomicRMWInst &Atomic) {
    Type *T = Atomic.getType();
    const LaneOrigin &Where = From.of(const_cast<Value *>(Atomic.getPointerOperand()));
    return (T->isFloatTy() || T->isDoubleTy()) && !Where.X && !Where.OtherAxes && !Where.Unknown &&
           (isa<Argument>(getUnderlyingObject(Atomic.getPointerOperand())) || !KeepsOwn);
  }

  bool mayWait(const AtomicRMWInst &Atomic, const Loop &L) const {
    return isLendable(*Atomic.getPointerOperand()) && none_of(L.blocks(), [&](BasicBlock *Block) {
             return any_of(*Block, [&](const Instruction &I) {
               return Meet.mayMeet(I, Atomic.getPointerOperand(), Atomic.getType());
             });
           });
  }

  const Meetings &Meet;
  LoopInfo &Loops;
  Uniformity Threads;
  LaneOrigins From{/*Counts=*/true};
  bool KeepsOwn;
};

class Aligner {
public:
  explicit Aligner(const Walk &W)
      : L(*W.L), Count(*W.Count), Exiting(W.Exiting), Exit(W.Exit), Header(L.getHeader()), Before(L.getLoopPreheader()),
        Latch(L.getLoopLatch()), Own(Count.getIncomingValueForBlock(Before)), Inside(L.block_begin(), L.block_end()) {}

  void run(ArrayRef<AtomicRMWInst *> Additions) {
    SmallPtrSet<const BasicBlock *, 8> Back{Header};
    if (Latch != Exiting)
      Back.insert(Latch);
    enter();
    wait(Back);
    MapVector<BasicBlock *, SmallVector<AtomicRMWInst *>> ByBlock;
    for (AtomicRMWInst *Atomic : Additions)
      ByBlock[Atomic->getParent()].push_back(Atomic);
    for (auto &[Block, Members] : ByBlock)
      addBehind(*Block, Members);
  }

private:
  // All lanes begin with the last iteration of any.
  void enter() {
    BasicBlock *Guard = Before->getSinglePredecessor();
    auto *Branch = Guard ? dyn_cast<BranchInst>(Guard->getTerminator()) : nullptr;
    BasicBlock *Behind = Exit->getSingleSuccessor();
    bool Passes = Branch && Branch->isConditional() && Behind &&
                  Exit->getFirstNonPHIIt() == Exit->getTerminator()->getIterator() &&
                  is_contained(successors(Guard), Behind);
    if (Passes)
      takeAlong(*Guard, *Behind);
    IRBuilder<> B(Before->getTerminator());
    Value *Active = B.CreateIntrinsic(Intrinsic::nvvm_activemask, ArrayRef<Type *>(), ArrayRef<Value *>());
    Value *Most = callTogether(B, MostOfLanes, B.getInt64Ty(), {Active, Own});
    BasicBlock *Entry = Before;
    if (Passes) {
      Entry = SplitEdge(Before, Header);
      ReplaceInstWithInst(
          Before->getTerminator(),
          BranchInst::Create(Entry, Behind, IRBuilder<>(Before->getTerminator()).CreateICmpSGE(Most, B.getInt64(0))));
    }
    Count.setIncomingValueForBlock(Entry, Most);
  }

  // Lanes without an iteration, which went past the loop, come to its beginning too.
  void takeAlong(BasicBlock &Guard, BasicBlock &Behind) {
    BasicBlock *Alone = Before;
    Before = SplitBlock(Alone, Alone->getTerminator());
    Guard.getTerminator()->replaceSuccessorWith(&Behind, Before);
    auto Meeting = [&](Value *Mine, Value *Other) {
      auto *Met = dyn_cast<PHINode>(Mine);
      PHINode *Phi = PHINode::Create(Mine->getType(), 2, "", Before->begin());
      Phi->addIncoming(Met && Met->getParent() == Before ? Met->getIncomingValueForBlock(Alone) : Mine, Alone);
      Phi->addIncoming(Other, &Guard);
      return Phi;
    };
    for (Instruction &I : *Alone)
      if (I.isUsedOutsideOfBlock(Alone)) {
        PHINode *Phi = Meeting(&I, PoisonValue::get(I.getType()));
        I.replaceUsesWithIf(Phi, [&](const Use &U) {
          return cast<Instruction>(U.getUser())->getParent() != Alone && U.getUser() != Phi;
        });
      }
    Own = Meeting(Count.getIncomingValueForBlock(Before), ConstantInt::getSigned(Own->getType(), -1));
    for (PHINode &Phi : Behind.phis()) {
      int Past = Phi.getBasicBlockIndex(&Guard);
      Value *Passed = Phi.getIncomingValue(Past);
      Phi.setIncomingBlock(Past, Before);
      keep(Phi, Passed, Meeting);
    }
  }

  // What a lane without an iteration brings is what it has after the loop.
  void keep(PHINode &Phi, Value *Passed, function_ref<PHINode *(Value *, Value *)> Meeting) {
    Value *Left = Phi.getIncomingValueForBlock(Exit);
    auto *AtExit = dyn_cast<PHINode>(Left);
    Value *Last = AtExit && AtExit->getParent() == Exit ? AtExit->getIncomingValueForBlock(Exiting) : Left;
    SmallVector<PHINode *> Carriers;
    for (PHINode &Each : Header->phis())
      if (Each.getIncomingValueForBlock(Latch) == Last)
        Carriers.push_back(&Each);
    if (Carriers.size() == 1) {
      Value *First = Carriers.front()->getIncomingValueForBlock(Before);
      if (First != Passed)
        Carriers.front()->setIncomingValueForBlock(Before, Meeting(First, Passed));
      return;
    }
    if (Left == Passed)
      return;
    IRBuilder<> B(Exit->getTerminator());
    Value *Ran = B.CreateICmpSGE(Own, ConstantInt::get(Own->getType(), 0));
    Phi.setIncomingValueForBlock(Exit, B.CreateSelect(Ran, Left, Passed));
  }

  // Until its own iteration comes, a lane leaves everything as it is.
  void wait(const SmallPtrSetImpl<const BasicBlock *> &Back) {
    bool IsWhole = Exiting == Header, TurnsHere = Latch == Exiting;
    BasicBlock *Body = SplitBlock(Header, Header->getFirstNonPHIIt());
    BasicBlock *Last = IsWhole ? Body : Exiting;
    Join = SplitBlock(Last, Last->getTerminator());
    if (TurnsHere)
      Latch = Join;
    auto *Ends = cast<BranchInst>(Join->getTerminator());
    auto *Compared = cast<ICmpInst>(Ends->getCondition());
    Ends->setCondition(
        IRBuilder<>(Ends).CreateICmp(Compared->getPredicate(), &Count, ConstantInt::get(Count.getType(), 0)));
    Count.setIncomingValueForBlock(
        Latch, IRBuilder<>(Latch->getTerminator()).CreateAdd(&Count, ConstantInt::getSigned(Count.getType(), -1)));
    IRBuilder<> B(Header->getTerminator());
    ReplaceInstWithInst(Header->getTerminator(), BranchInst::Create(Body, Join, B.CreateICmpSLE(&Count, Own, "comes")));
    Inside.insert(Body);
    SmallVector<Instruction *> Computed;
    for (BasicBlock *Block : Inside)
      if (!Back.contains(Block) && Block != Join)
        for (Instruction &I : *Block)
          Computed.push_back(&I);
    for (Instruction *I : Computed)
      repair(*I, *Last, Back);
    hold(*Header->getTerminator()->getOperand(0));
  }

  // What is carried on and is no number of the iteration, such as a zero, does not come before the first own one
  // either.
  void hold(Value &Comes) {
    for (PHINode &Phi : Header->phis()) {
      Value *Next = Phi.getIncomingValueForBlock(Latch);
      auto *Joined = dyn_cast<PHINode>(Next);
      if (&Phi != &Count && Next != &Phi && !(Joined && Joined->getParent() == Join))
        Phi.setIncomingValueForBlock(Latch, IRBuilder<>(Latch->getTerminator()).CreateSelect(&Comes, Next, &Phi));
    }
  }

  // Of a number that is used behind the iteration: what it was before it, where lanes wait.
  void repair(Instruction &I, BasicBlock &Last, const SmallPtrSetImpl<const BasicBlock *> &Back) {
    auto IsBehind = [&](const Use &U) {
      auto *User = cast<Instruction>(U.getUser());
      auto *Phi = dyn_cast<PHINode>(User);
      BasicBlock *Where = Phi ? Phi->getIncomingBlock(U) : User->getParent();
      if (Phi && Phi->getParent() == Join)
        return false;
      return Where == Join || !Inside.contains(Where) || (Back.contains(Where) && Where != Header);
    };
    auto Joined = [&](Value *Waiting) {
      PHINode *Phi = PHINode::Create(I.getType(), 2, "", Join->begin());
      Phi->addIncoming(&I, &Last);
      Phi->addIncoming(Waiting, Header);
      return Phi;
    };
    PHINode *Any = nullptr;
    for (PHINode &Phi : Header->phis())
      if (Phi.getIncomingValueForBlock(Latch) == &I)
        Phi.setIncomingValueForBlock(Latch, Any = Joined(&Phi));
    if (any_of(I.uses(), IsBehind)) {
      PHINode *Phi = Any ? Any : Joined(PoisonValue::get(I.getType()));
      I.replaceUsesWithIf(Phi, IsBehind);
    }
  }

  // Lanes that have nothing to add here add zeros, if any lane has something.
  void addBehind(BasicBlock &Block, ArrayRef<AtomicRMWInst *> Members) {
    IRBuilder<> B(Join->getTerminator());
    Value *Adds = here(Block, *B.getTrue(), *B.getFalse());
    SmallVector<Value *> Numbers;
    for (AtomicRMWInst *Member : Members)
      Numbers.push_back(here(Block, *Member->getValOperand(), *Constant::getNullValue(Member->getType())));
    Value *Active = B.CreateIntrinsic(Intrinsic::nvvm_activemask, ArrayRef<Type *>(), ArrayRef<Value *>());
    Value *Adding = B.CreateIntrinsic(Intrinsic::nvvm_vote_ballot_sync, ArrayRef<Type *>(), {Active, Adds});
    Instruction *Then =
        SplitBlockAndInsertIfThen(B.CreateIsNotNull(Adding), Join->getTerminator()->getIterator(), false);
    Lending Lend{Block, *Active, *Adding, *Then}, Counted{Block, *Active, *Adding, *Then, true};
    for (auto [Member, Number] : zip_equal(Members, Numbers)) {
      Value &Pointer = *Member->getPointerOperand();
      Value *Where = lent(Pointer, followsFromCount(Pointer) ? Counted : Lend);
      Member->moveBefore(Then->getIterator());
      Member->setOperand(0, Where);
      Member->setOperand(1, Number);
    }
    Join = cast<BranchInst>(Then)->getSuccessor(0);
  }

  // At the end of the iteration: what the block has, or what there is without it.
  Value *here(BasicBlock &Block, Value &Number, Value &Else) const {
    SSAUpdater Updater;
    Updater.Initialize(Number.getType(), "behind");
    Updater.AddAvailableValue(&Block, &Number);
    Updater.AddAvailableValue(Header, &Else);
    return Updater.GetValueInMiddleOfBlock(Join);
  }

  struct Lending {
    BasicBlock &Block; // of the additions
    Value &Active, &Adding;
    Instruction &Place;
    bool IsOfCount = false; // the address: each lane knows it
    DenseMap<const Value *, Value *> Again = DenseMap<const Value *, Value *>();
  };

  // Whether a lane in the same iteration has the same, and one that is in another has one of an iteration that some
  // lane had.
  bool followsFromCount(const Value &V) const {
    return isTheSameEverywhere(V) || &V == &Count ||
           (isComputed(V) &&
            all_of(cast<Instruction>(V).operands(), [&](const Use &Operand) { return followsFromCount(*Operand); }));
  }

  // What a lane has that adds, be it this one or another.
  Value *lent(Value &V, Lending &Lend) const {
    if (isTheSameEverywhere(V) || (Lend.IsOfCount && &V == &Count))
      return &V;
    if (Value *Known = Lend.Again.lookup(&V))
      return Known;
    if (!isComputed(V)) {
      auto *I = cast<Instruction>(&V);
      bool Reaches = !Inside.contains(I->getParent()) || I->getParent() == Header;
      Value *Own = Reaches ? &V : here(Lend.Block, V, *Constant::getNullValue(V.getType()));
      IRBuilder<> B(&Lend.Place);
      const bool IsAddress = V.getType()->isPointerTy(); // which the alignment itself has merged
      Value *Wide = IsAddress ? B.CreatePtrToInt(Own, B.getInt64Ty()) : B.CreateZExt(Own, B.getInt64Ty());
      Value *Lent = callTogether(B, LentByLane, B.getInt64Ty(), {&Lend.Active, &Lend.Adding, Wide});
      return Lend.Again[&V] = IsAddress ? B.CreateIntToPtr(Lent, V.getType()) : B.CreateTrunc(Lent, V.getType());
    }
    Instruction *Copy = cast<Instruction>(V).clone();
    for (Use &Operand : Copy->operands())
      Operand.set(lent(*Operand, Lend));
    Copy->insertBefore(Lend.Place.getIterator());
    return Lend.Again[&V] = Copy;
  }

  Loop &L;
  PHINode &Count;
  BasicBlock *Exiting, *Exit, *Header, *Before, *Latch, *Join = nullptr;
  Value *Own; // the last iteration of the lane
  SmallSetVector<BasicBlock *, 16> Inside;
};

} // namespace

ADGEN_DECLARE_PASS(AlignLanes);

PreservedAnalyses AlignLanes::run(Module &M, ModuleAnalysisManager &MAM) {
  auto &FAM = MAM.getResult<FunctionAnalysisManagerModuleProxy>(M).getManager();
  for (Function &F : M)
    if (F.hasFnAttribute(ActivityAttribute) && !F.isDeclaration()) {
      auto &Loops = FAM.getResult<LoopAnalysis>(F);
      Meetings Meet(F, FAM.getResult<AAManager>(F));
      for (const Walk &W : Finder(F, Meet, Loops).find()) {
        formLCSSA(*W.L, FAM.getResult<DominatorTreeAnalysis>(F), &Loops, nullptr);
        ADGEN_COUNT(NumLoops, F.getName());
        Aligner(W).run(W.Additions);
      }
    }
  return PreservedAnalyses::none();
}

} // namespace adgen
