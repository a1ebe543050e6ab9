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
#include "Accumulate/Lending.h"
#include "Analysis/Accumulation.h"
#include "Analysis/Cycles.h"
#include "Analysis/Uniformity.h"
#include "Support/Pass.h"
#include "Support/Threads.h"

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

constexpr unsigned FewestTogether = 3; // branches

// A loop that counts down to zero, in LCSSA form.
struct Walk {
  Loop *L;
  PHINode *Count;
  BasicBlock *Exiting, *Exit;
  // That may be done at the end of their iteration: those whose addresses a lane knows that does any of them.
  SmallVector<SmallVector<AtomicRMWInst *>> Additions;
};

class Finder {
public:
  Finder(Function &F, const Meetings &Meet, LoopInfo &Loops, const DominatorTree &DT)
      : Meet(Meet), Loops(Loops), DT(DT), Threads(F, [&](const Value &V) { return kindOnDevice(V, F); }),
        KeepsOwn(keepsOwnAddresses(F)) {}

  SmallVector<Walk> find() {
    SmallVector<Walk> Found;
    for (Loop *L : Loops.getLoopsInPreorder())
      if (L->isInnermost() && L->isLoopSimplifyForm() && !hasCycleWithEntries(*L, Loops))
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

  SmallVector<SmallVector<AtomicRMWInst *>> additions(const Loop &L) {
    SmallVector<SmallVector<AtomicRMWInst *>> Found;
    for (BasicBlock *Block : L.blocks())
      for (Instruction &I : *Block)
        if (AtomicRMWInst *Atomic = asAccumulation(I); Atomic && isCommon(*Atomic) && mayWait(*Atomic, L)) {
          auto *Like = find_if(Found, [&](ArrayRef<AtomicRMWInst *> Group) { return knowsAlike(Group, *Atomic, L); });
          Like == Found.end() ? Found.push_back({Atomic}) : Like->push_back(Atomic);
        }
    return Found;
  }

  // Whether who comes to one of the additions knows the addresses of all.
  bool knowsAlike(ArrayRef<AtomicRMWInst *> Group, const AtomicRMWInst &Other, const Loop &L) const {
    return Group.front()->getType() == Other.getType() && all_of(Group, [&](const AtomicRMWInst *Member) {
             return Member->getParent() == Other.getParent() ||
                    (isKnownIn(*Member->getPointerOperand(), *Other.getParent(), L) &&
                     isKnownIn(*Other.getPointerOperand(), *Member->getParent(), L));
           });
  }

  bool isKnownIn(const Value &V, const BasicBlock &Block, const Loop &L) const {
    auto *I = dyn_cast<Instruction>(&V);
    if (!I || !L.contains(I))
      return true;
    return isComputed(V) ? all_of(I->operands(), [&](const Use &U) { return isKnownIn(*U, Block, L); })
                         : DT.properlyDominates(I->getParent(), &Block);
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
  const DominatorTree &DT;
  Uniformity Threads;
  LaneOrigins From{/*Counts=*/true};
  bool KeepsOwn;
};

class Aligner {
public:
  explicit Aligner(const Walk &W)
      : L(*W.L), Count(*W.Count), Exiting(W.Exiting), Exit(W.Exit), Header(L.getHeader()), Before(L.getLoopPreheader()),
        Latch(L.getLoopLatch()), Own(Count.getIncomingValueForBlock(Before)), Inside(L.block_begin(), L.block_end()) {}

  void run(ArrayRef<SmallVector<AtomicRMWInst *>> Additions) {
    SmallPtrSet<const BasicBlock *, 8> Back{Header};
    if (Latch != Exiting)
      Back.insert(Latch);
    enter();
    wait(Back);
    for (ArrayRef<AtomicRMWInst *> Group : Additions) {
      MapVector<BasicBlock *, SmallVector<AtomicRMWInst *>> ByBlock;
      for (AtomicRMWInst *Atomic : Group)
        ByBlock[Atomic->getParent()].push_back(Atomic);
      SmallVector<Part> Parts;
      for (auto &[Block, Members] : ByBlock)
        Parts.push_back(partOf(*Block, Members));
      BasicBlock *Met = Parts.size() >= FewestTogether ? addTogether(Parts) : nullptr;
      for (const Part &Each : Parts)
        addBehind(Each);
      Join = Met ? Met : Join;
    }
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

  struct Lending {
    Value &Active, &Adding;
    Instruction &Place;
    bool IsOfCount = false; // the address: each lane knows it
    DenseMap<const Value *, Value *> Again = DenseMap<const Value *, Value *>();
  };

  // Additions of a block.
  struct Part {
    BasicBlock *Block;
    SmallVector<AtomicRMWInst *> Members;
    Value *Adds;                  // whether this lane does
    SmallVector<Value *> Numbers; // zero where it does not
  };

  Part partOf(BasicBlock &Block, ArrayRef<AtomicRMWInst *> Members) const {
    IRBuilder<> B(Block.getContext());
    Part New{&Block, SmallVector<AtomicRMWInst *>(Members), here(Block, *B.getTrue(), *B.getFalse()), {}};
    for (AtomicRMWInst *Member : Members)
      New.Numbers.push_back(here(Block, *Member->getValOperand(), *Constant::getNullValue(Member->getType())));
    return New;
  }

  // Lanes that have nothing to add here add zeros, if any lane has something.
  void addBehind(const Part &P) {
    IRBuilder<> B(Join->getTerminator());
    Value *Active = activeLanes(B), *Adding = lanesThat(B, Active, P.Adds);
    Instruction *Then =
        SplitBlockAndInsertIfThen(B.CreateIsNotNull(Adding), Join->getTerminator()->getIterator(), false);
    Lending Lend{*Active, *Adding, *Then}, Counted{*Active, *Adding, *Then, true};
    for (auto [Member, Number] : zip_equal(P.Members, P.Numbers)) {
      add(*Member, *Number, Lend, Counted);
      Member->eraseFromParent();
    }
    Join = cast<BranchInst>(Then)->getSuccessor(0);
  }

  // Where some lane comes to each of the additions, and the addresses of all lanes that come to any are the same, all
  // are done at once, which the lanes then share. Else they stay apart: no lane may add to an element to which none of
  // the primal's iterations leads. Returns where both ways meet.
  BasicBlock *addTogether(ArrayRef<Part> Parts) {
    BasicBlock *Met = SplitBlock(Join, Join->getTerminator());
    BasicBlock *Compare = newBlock(*Met), *Together = newBlock(*Met), *Apart = newBlock(*Met);
    IRBuilder<> B(Join->getTerminator());
    Value *Active = activeLanes(B), *Any = nullptr, *All = nullptr, *Comes = nullptr;
    for (const Part &Each : Parts) {
      Value *Adding = lanesThat(B, Active, Each.Adds), *Some = B.CreateIsNotNull(Adding);
      Any = Any ? B.CreateOr(Any, Adding) : Adding;
      All = All ? B.CreateAnd(All, Some) : Some;
      Comes = Comes ? B.CreateOr(Comes, Each.Adds) : Each.Adds;
    }
    ReplaceInstWithInst(Join->getTerminator(), BranchInst::Create(Compare, Apart, All));
    Instruction *Then = BranchInst::Create(Met, Together), *Decides = BranchInst::Create(Met, Compare);
    Lending Lend{*Active, *Any, *Decides}, Counted{*Active, *Any, *Then, true};
    Value *Alike = ConstantInt::getTrue(B.getContext());
    for (const Part &Each : Parts)
      for (AtomicRMWInst *Member : Each.Members)
        if (!followsFromCount(*Member->getPointerOperand()))
          Alike = lendToAll(*Member->getPointerOperand(), *Comes, *Alike, Lend);
    B.SetInsertPoint(Decides);
    Value *AllAlike = B.CreateIntrinsic(Intrinsic::nvvm_vote_all_sync, ArrayRef<Type *>(), {Active, Alike});
    ReplaceInstWithInst(Decides, BranchInst::Create(Together, Apart, AllAlike));
    Lending Known{*Active, *Any, *Then, false, Lend.Again};
    for (const Part &Each : Parts)
      for (auto [Member, Number] : zip_equal(Each.Members, Each.Numbers)) {
        add(*Member, *Number, Known, Counted);
        Member->setMetadata(SeldomMark, MDNode::get(B.getContext(), {}));
      }
    BranchInst::Create(Met, Apart);
    Join = Apart;
    return Met;
  }

  static BasicBlock *newBlock(BasicBlock &Before) {
    return BasicBlock::Create(Before.getContext(), "", Before.getParent(), &Before);
  }

  // What the address is computed from, as the first lane has it that adds; whether all others that add have the same.
  Value *lendToAll(Value &V, Value &Comes, Value &Alike, Lending &Lend) const {
    if (isTheSameEverywhere(V) || Lend.Again.contains(&V))
      return &Alike;
    if (isComputed(V)) {
      Value *All = &Alike;
      for (Value *Operand : cast<Instruction>(V).operands())
        All = lendToAll(*Operand, Comes, *All, Lend);
      return All;
    }
    IRBuilder<> B(&Lend.Place);
    Value *Wide = wide(B, own(V)),
          *Lent = callTogether(B, LentToAll, B.getInt64Ty(), {&Lend.Active, &Lend.Adding, Wide});
    Lend.Again[&V] = narrow(B, Lent, V.getType());
    return B.CreateAnd(&Alike, B.CreateOr(B.CreateICmpEQ(Wide, Lent), B.CreateNot(&Comes)));
  }

  void add(AtomicRMWInst &Member, Value &Number, Lending &Lend, Lending &Counted) const {
    Value &Pointer = *Member.getPointerOperand();
    Instruction *Again = Member.clone();
    Again->setOperand(0, lent(Pointer, followsFromCount(Pointer) ? Counted : Lend));
    Again->setOperand(1, &Number);
    Again->insertBefore(Lend.Place.getIterator());
  }

  // At the end of the iteration: what the block has, or what there is without it.
  Value *here(BasicBlock &Block, Value &Number, Value &Else) const {
    SSAUpdater Updater;
    Updater.Initialize(Number.getType(), "behind");
    Updater.AddAvailableValue(&Block, &Number);
    Updater.AddAvailableValue(Header, &Else);
    return Updater.GetValueInMiddleOfBlock(Join);
  }

  // Whether a lane in the same iteration has the same, and one that is in another has one of an iteration that some
  // lane had.
  bool followsFromCount(const Value &V) const {
    return isTheSameEverywhere(V) || &V == &Count ||
           (isComputed(V) &&
            all_of(cast<Instruction>(V).operands(), [&](const Use &Operand) { return followsFromCount(*Operand); }));
  }

  // At the end of the iteration: what the lane has, if it came by.
  Value *own(Value &V) const {
    auto *I = cast<Instruction>(&V);
    bool Reaches = !Inside.contains(I->getParent()) || I->getParent() == Header;
    return Reaches ? &V : here(*I->getParent(), V, *Constant::getNullValue(V.getType()));
  }

  // What a lane has that adds, be it this one or another.
  Value *lent(Value &V, Lending &Lend) const {
    if (isTheSameEverywhere(V) || (Lend.IsOfCount && &V == &Count))
      return &V;
    if (Value *Known = Lend.Again.lookup(&V))
      return Known;
    if (!isComputed(V)) {
      IRBuilder<> B(&Lend.Place);
      Value *Arguments[] = {&Lend.Active, &Lend.Adding, wide(B, own(V))};
      return Lend.Again[&V] = narrow(B, callTogether(B, LentByLane, B.getInt64Ty(), Arguments), V.getType());
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
      for (const Walk &W : Finder(F, Meet, Loops, FAM.getResult<DominatorTreeAnalysis>(F)).find()) {
        formLCSSA(*W.L, FAM.getResult<DominatorTreeAnalysis>(F), &Loops, nullptr);
        ADGEN_COUNT(NumLoops, F.getName());
        Aligner(W).run(W.Additions);
      }
    }
  return PreservedAnalyses::none();
}

} // namespace adgen
