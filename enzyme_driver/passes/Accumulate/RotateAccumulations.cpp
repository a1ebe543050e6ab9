// Loops in which all lanes of a warp accumulate into one element after the other, as the gradient of an interaction of
// all with all does. Each lane begins at an element of its own: of 32 iterations, lane l does the one with number (step
// + l) modulo 32. The sum of an element moves from lane to lane with the lanes that come to it, and once in 32 steps
// every lane adds the sum that it holds. That takes one shuffle a step and element, where adding up the lanes' values
// takes five, and no two lanes add to one element. Several steps are done at a time.
//
// An iteration may add under conditions, which lanes decide differently, as where only what is within a cutoff counts,
// and its sums may stay as they are then: they move on in any case, which costs less than lanes of which some add
// something, and not more than is gained otherwise where none does.
//
// The iterations of the loop have to be independent but for sums, and their number a multiple of 32, the same in all
// lanes, as the elements are; the warp has to be whole. The last two are found out when the kernel runs: otherwise the
// loop stays as it is.
//
// Where a lane adds the same in all iterations, as the gradient of a block's sum does whose threads all add up what the
// warps have, the lanes add up once before the loop, and share its iterations.
#include "Analysis/Accumulation.h"
#include "Analysis/Cycles.h"
#include "Analysis/Uniformity.h"
#include "Support/Pass.h"
#include "Support/Threads.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/IR/Operator.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "llvm/Transforms/Utils/LoopUtils.h"
#include "llvm/Transforms/Utils/PromoteMemToReg.h"
#include "llvm/Transforms/Utils/ScalarEvolutionExpander.h"

#define DEBUG_TYPE "adgen-rotate-accumulations"

using namespace llvm;

STATISTIC(NumLoops, "Number of loops rotated");
STATISTIC(NumShared, "Number of loops whose iterations lanes share");

namespace adgen {
namespace {

constexpr unsigned Lanes = 32;
constexpr size_t MostSeldom = 6;        // elements to which an iteration may add nothing at all
constexpr size_t FewInstructions = 100; // of an iteration, of which four are done at a time
constexpr int64_t WidestStep =
    16; // bytes between what neighbouring lanes read: further apart it is dearer than what is saved

// What is added to an element in an iteration, in one place or several.
using Additions = SmallVector<AtomicRMWInst *, 2>;

// What decides about a loop that can be rotated.
struct Rotation {
  Loop *L;
  BasicBlock *Exiting;
  MapVector<const SCEV *, Additions> Elements; // by address
  SmallVector<PHINode *> Counters;
  SmallPtrSet<const Instruction *, 8> Results; // of sums, which the loop leaves
  const SCEV *LastIteration;                   // how often the loop goes back
  bool IsSeldom = true;                        // no addition is made in every iteration

  // Whether a lane adds the same in all iterations, and nothing else is computed.
  bool repeats() const {
    return Exiting == L->getHeader() && L->getNumBlocks() <= 2 &&
           all_of(Elements,
                  [&](const auto &Item) {
                    return all_of(Item.second,
                                  [&](AtomicRMWInst *A) { return L->isLoopInvariant(A->getValOperand()); });
                  }) &&
           all_of(L->getHeader()->phis(), [&](PHINode &Phi) { return is_contained(Counters, &Phi); });
  }
};

class Finder {
public:
  Finder(Function &F, LoopInfo &Loops, const DominatorTree &Tree, ScalarEvolution &SE)
      : F(F), Loops(Loops), Tree(Tree), SE(SE), Threads(F, [&](const Value &V) { return kindOnDevice(V, F); }) {}

  SmallVector<Rotation> find() {
    SmallVector<Rotation> Found;
    for (Loop *L : Loops.getLoopsInPreorder())
      if (L->isInnermost() && L->isLoopSimplifyForm() && !hasCycleWithEntries(*L, Loops))
        if (std::optional<Rotation> R = examine(*L))
          Found.push_back(*R);
    return Found;
  }

private:
  // All that has an effect stands before what decides about the end.
  std::optional<Rotation> examine(Loop &L) {
    BasicBlock *Exiting = L.getExitingBlock(), *Latch = L.getLoopLatch();
    auto *Branch = Exiting ? dyn_cast<BranchInst>(Exiting->getTerminator()) : nullptr;
    if (!Branch || !Branch->isConditional() || !L.getExitBlock() ||
        (Latch != Exiting && Latch->getSinglePredecessor() != Exiting) || !isSameInLanes(Branch->getCondition(), L))
      return {};
    Rotation R{&L, Exiting, {}, {}, {}, SE.getBackedgeTakenCount(&L)};
    if (isa<SCEVCouldNotCompute>(R.LastIteration) || SE.getTypeSizeInBits(R.LastIteration->getType()) > 64 ||
        !examinePhis(L, R))
      return {};
    for (BasicBlock *Block : L.blocks())
      for (Instruction &I : *Block)
        if (!examine(I, R))
          return {};
    return R.Elements.empty() || (R.IsSeldom && R.Elements.size() > MostSeldom) ? std::nullopt
                                                                                : std::optional(std::move(R));
  }

  bool examinePhis(const Loop &L, Rotation &R) {
    for (PHINode &Phi : L.getHeader()->phis()) {
      if (isSum(Phi, R))
        continue;
      auto *Counted = Phi.getType()->isIntegerTy() ? dyn_cast<SCEVAddRecExpr>(SE.getSCEV(&Phi)) : nullptr;
      if (!Counted || Counted->getLoop() != &L || !isa<SCEVConstant>(Counted->getStepRecurrence(SE)))
        return false;
      R.Counters.push_back(&Phi);
    }
    return true;
  }

  // A number to which something is added in an iteration, or not, and which nothing else looks at before the end.
  static bool isSum(PHINode &Phi, Rotation &R) {
    auto *Next = dyn_cast<Instruction>(Phi.getIncomingValueForBlock(R.L->getLoopLatch()));
    if (!Phi.getType()->isFloatingPointTy() || !Next)
      return false;
    SmallSetVector<Instruction *, 8> Same;
    Same.insert(&Phi);
    for (unsigned Number = 0; Number < Same.size(); ++Number)
      for (User *U : Same[Number]->users())
        if (auto *I = cast<Instruction>(U); R.L->contains(I))
          Same.insert(I);
    auto IsSame = [&](const Value *V) { return Same.contains(dyn_cast<Instruction>(const_cast<Value *>(V))); };
    bool IsOnlyAdded =
        IsSame(Next) && all_of(Same, [&](const Instruction *I) {
          return I == &Phi ||
                 (addsUp(*I, IsSame) && (I->getParent() != R.L->getLoopLatch() || R.Exiting == R.L->getLoopLatch()));
        });
    if (IsOnlyAdded)
      R.Results.insert(Next);
    return IsOnlyAdded;
  }

  // Whether it is the sum so far, or that and something.
  static bool addsUp(const Instruction &I, function_ref<bool(const Value *)> IsSum) {
    if (auto *Join = dyn_cast<PHINode>(&I))
      return all_of(Join->incoming_values(), [&](const Use &U) { return IsSum(U); });
    if (auto *Choice = dyn_cast<SelectInst>(&I))
      return IsSum(Choice->getTrueValue()) && IsSum(Choice->getFalseValue());
    if (I.getOpcode() == Instruction::FSub)
      return IsSum(I.getOperand(0)) && !IsSum(I.getOperand(1));
    return I.getOpcode() == Instruction::FAdd && IsSum(I.getOperand(0)) != IsSum(I.getOperand(1));
  }

  bool examine(Instruction &I, Rotation &R) {
    const BasicBlock *Block = I.getParent();
    if (AtomicRMWInst *Atomic = asAccumulation(I)) {
      if ((Block == R.L->getLoopLatch() && Block != R.Exiting) || !isPossible(*Atomic, *R.L))
        return false;
      R.Elements[SE.getSCEV(Atomic->getPointerOperand())].push_back(Atomic);
      R.IsSeldom &= !Tree.dominates(Block, R.Exiting);
      return true;
    }
    bool Leaves = any_of(I.users(), [&](const User *U) { return !R.L->contains(cast<Instruction>(U)); });
    return (!Leaves || R.Results.contains(&I)) && (I.isTerminator() || isa<PHINode>(I) || isSafeAtAnyTime(I, *R.L));
  }

  bool isPossible(const AtomicRMWInst &Atomic, const Loop &L) const {
    Type *T = Atomic.getType();
    Value *Pointer = const_cast<Value *>(Atomic.getPointerOperand());
    return (T->isFloatTy() || T->isDoubleTy()) && isShadow(getUnderlyingObject(Pointer)) && isSameInLanes(Pointer, L) &&
           bytesAStep(Pointer, L).value_or(0);
  }

  // Follows from the iteration alone, whichever way it takes, and wherever other lanes are that do not come to the
  // loop.
  bool isSameInLanes(const Value *V, const Loop &L) const {
    if (Threads.isUniform(V))
      return true;
    auto *I = dyn_cast<Instruction>(V);
    if (auto *Phi = dyn_cast<PHINode>(V))
      return Phi->getParent() == L.getHeader() && Phi->getType()->isIntegerTy() &&
             isSameInLanes(Phi->getIncomingValueForBlock(L.getLoopPreheader()), L);
    return I && isa<GetElementPtrInst, CastInst, BinaryOperator, CmpInst, SelectInst, MinMaxIntrinsic>(I) &&
           (!L.contains(I) || isSafeToSpeculativelyExecute(I)) &&
           all_of(I->operands(), [&](const Use &U) { return isa<Function>(U) || isSameInLanes(U, L); });
  }

  // What is read is nothing that is accumulated into, and near to what the neighbour reads.
  bool isSafeAtAnyTime(Instruction &I, const Loop &L) const {
    auto *Load = dyn_cast<LoadInst>(&I);
    if (I.mayHaveSideEffects())
      return false;
    if (!Load)
      return !I.mayReadFromMemory();
    const Value *Object = getUnderlyingObject(Load->getPointerOperand());
    return Load->isSimple() && isa<Argument>(Object) && !isShadow(Object) && bytesAStep(Load->getPointerOperand(), L);
  }

  bool isShadow(const Value *Object) const {
    auto *A = dyn_cast<Argument>(Object);
    return A && (F.hasParamAttribute(A->getArgNo(), ShadowAttribute) ||
                 F.hasParamAttribute(A->getArgNo(), SharedShadowAttribute));
  }

  // How far a pointer moves in an iteration, if that is not far.
  std::optional<int64_t> bytesAStep(Value *Pointer, const Loop &L) const {
    std::optional<int64_t> Bytes = changeAStep(Pointer, L);
    return Bytes && std::abs(*Bytes) <= WidestStep ? Bytes : std::nullopt;
  }

  // Of a number or a pointer that is counted in multiples; where a cast wraps around, the pointer only is dearer than
  // it seems.
  std::optional<int64_t> changeAStep(Value *V, const Loop &L) const {
    if (L.isLoopInvariant(V))
      return 0;
    if (isa<CastInst>(V) && V->getType()->isIntegerTy())
      return changeAStep(cast<CastInst>(V)->getOperand(0), L);
    if (auto *Address = dyn_cast<GEPOperator>(V))
      return changeAStep(*Address, L);
    auto *Counted = V->getType()->isIntegerTy() ? dyn_cast<SCEVAddRecExpr>(SE.getSCEV(V)) : nullptr;
    auto *Step = Counted && Counted->getLoop() == &L ? dyn_cast<SCEVConstant>(Counted->getStepRecurrence(SE)) : nullptr;
    return Step ? std::optional(Step->getAPInt().getSExtValue()) : std::nullopt;
  }

  std::optional<int64_t> changeAStep(const GEPOperator &Address, const Loop &L) const {
    const DataLayout &Layout = F.getDataLayout();
    unsigned Bits = Layout.getIndexTypeSizeInBits(Address.getType());
    SmallMapVector<Value *, APInt, 4> Scales;
    APInt Constant(Bits, 0);
    std::optional<int64_t> Change = changeAStep(const_cast<Value *>(Address.getPointerOperand()), L);
    if (!Change || !Address.collectOffset(Layout, Bits, Scales, Constant))
      return {};
    for (auto &[Index, Scale] : Scales) {
      std::optional<int64_t> OfIndex = changeAStep(Index, L);
      if (!OfIndex)
        return {};
      *Change += *OfIndex * Scale.getSExtValue();
    }
    return Change;
  }

  Function &F;
  LoopInfo &Loops;
  const DominatorTree &Tree;
  ScalarEvolution &SE;
  Uniformity Threads;
};

class Rotator {
public:
  Rotator(Function &F, LoopInfo &Loops, DominatorTree &Tree, ScalarEvolution &SE, const Rotation &R)
      : Loops(Loops), Tree(Tree), SE(SE), R(R), Repeats(R.repeats()), B(F.getContext()) {}

  void run() {
    formLCSSA(*R.L, Tree, &Loops, &SE);
    BasicBlock *Before = R.L->getLoopPreheader();
    SCEVExpander Expander(SE, "rotate");
    Last = Expander.expandCodeFor(R.LastIteration, R.LastIteration->getType(), Before->getTerminator()->getIterator());
    B.SetInsertPoint(Before->getTerminator());
    Value *Whole = isWhole();
    Last = B.CreateZExtOrTrunc(Last, B.getInt32Ty());
    BasicBlock *Own = SplitBlock(Before, Before->getTerminator(), &Tree, &Loops);
    copyLoop(Before, Own);
    ReplaceInstWithInst(Before->getTerminator(), BranchInst::Create(cast<BasicBlock>(Copies[Own]), Own, Whole));
    Repeats ? share() : rotate();
  }

private:
  // All lanes are here, and each has its turn with every element.
  Value *isWhole() {
    Value *Active = activeLanes(B);
    Value *All = B.CreateICmpEQ(Active, B.getInt32(~0u));
    Value *Steps = B.CreateZExt(Last, B.getInt64Ty()), *Turn = B.getInt64(Lanes - 1);
    if (Repeats)
      return B.CreateAnd(All, B.CreateICmpULE(Steps, B.getInt64(INT32_MAX)), "whole");
    Value *Turns = B.CreateICmpEQ(B.CreateAnd(Steps, Turn), Turn), *Few = B.CreateICmpULE(Steps, B.getInt64(~0u));
    return B.CreateAnd(B.CreateAnd(All, Turns), Few, "whole");
  }

  void copyLoop(BasicBlock *Before, BasicBlock *Own) {
    SmallVector<BasicBlock *> Blocks;
    cloneLoopWithPreheader(Own, Before, R.L, Copies, ".rotated", &Loops, &Tree, Blocks);
    remapInstructionsInBlocks(Blocks, Copies);
    Inside.insert_range(Blocks);
    for (PHINode &Phi : R.L->getExitBlock()->phis()) {
      Value *V = Phi.getIncomingValueForBlock(R.Exiting);
      Value *Copy = Copies.lookup(V);
      Phi.addIncoming(Copy ? Copy : V, cast<BasicBlock>(Copies[R.Exiting]));
    }
  }

  template <class T> T *copyOf(T *Original) { return cast<T>(Copies[Original]); }

  void rotate() {
    BasicBlock *Header = copyOf(R.L->getHeader()), *Latch = copyOf(R.L->getLoopLatch()), *Exiting = copyOf(R.Exiting),
               *Before = copyOf(R.L->getLoopPreheader());
    B.SetInsertPoint(Header, Header->begin());
    PHINode *Step = B.CreatePHI(B.getInt32Ty(), 2, "step");
    SmallVector<PHINode *> Sums;
    for (auto &[Address, Added] : R.Elements)
      Sums.push_back(B.CreatePHI(Added.front()->getType(), 2, "sum"));
    B.SetInsertPoint(Header, Header->getFirstInsertionPt());
    Value *Lane = readRegister(B, Intrinsic::nvvm_read_ptx_sreg_laneid);
    Value *Turn = B.CreateAnd(B.CreateAdd(Step, Lane), B.getInt32(Lanes - 1));
    replaceCounters(B.CreateOr(B.CreateAnd(Step, B.getInt32(~(Lanes - 1))), Turn), *Before);
    auto *End = cast<BranchInst>(Exiting->getTerminator());
    SmallVector<Value *> Totals = sumUp(Sums, *End);
    B.SetInsertPoint(End);
    Value *IsLastTurn = B.CreateICmpEQ(B.CreateAnd(Step, B.getInt32(Lanes - 1)), B.getInt32(Lanes - 1));
    B.SetInsertPoint(SplitBlockAndInsertIfThen(IsLastTurn, End->getIterator(), false));
    addTotals(Totals);
    B.SetInsertPoint(End);
    Value *Neighbour = B.CreateAnd(B.CreateAdd(Lane, B.getInt32(1)), B.getInt32(Lanes - 1));
    Value *Next = B.CreateAdd(Step, B.getInt32(1));
    endWith(*End, *Next, *Before);
    BasicBlock *Back = Latch == Exiting ? End->getParent() : Latch;
    takeSeveralAtOnce(*Back->getTerminator());
    Step->addIncoming(B.getInt32(0), Before);
    Step->addIncoming(Next, Back);
    for (auto [Sum, Total] : zip(Sums, Totals)) {
      Constant *Zero = ConstantFP::get(Sum->getType(), 0.0);
      Sum->addIncoming(Zero, Before);
      Sum->addIncoming(B.CreateSelect(IsLastTurn, Zero, fromLane(Total, Neighbour)), Back);
    }
    promote();
  }

  // Lane l does iterations l, l + 32 and so on, if there are so many, and adds what all lanes would add.
  void share() {
    BasicBlock *Header = copyOf(R.L->getHeader()), *Latch = copyOf(R.L->getLoopLatch()),
               *Before = copyOf(R.L->getLoopPreheader());
    B.SetInsertPoint(Before->getTerminator());
    Value *Lane = readRegister(B, Intrinsic::nvvm_read_ptx_sreg_laneid);
    SmallVector<Value *> Totals;
    for (const auto &[Address, Added] : R.Elements) {
      Value *Number = copyOf(Added.front())->getValOperand();
      for (AtomicRMWInst *Other : drop_begin(Added))
        Number = B.CreateFAdd(Number, copyOf(Other)->getValOperand());
      Totals.push_back(sumOfLanes(Number, Lane));
    }
    B.SetInsertPoint(Header, Header->begin());
    PHINode *Step = B.CreatePHI(B.getInt32Ty(), 2, "step");
    B.SetInsertPoint(Header, Header->getFirstInsertionPt());
    Value *Number = B.CreateAdd(Step, Lane);
    replaceCounters(Number, *Before);
    auto *End = cast<BranchInst>(Header->getTerminator());
    B.SetInsertPoint(End);
    B.SetInsertPoint(SplitBlockAndInsertIfThen(B.CreateICmpULE(Number, Last), End->getIterator(), false));
    addTotals(Totals);
    B.SetInsertPoint(End);
    Value *Next = B.CreateAdd(Step, B.getInt32(Lanes));
    bool ExitsFirst = End->getSuccessor(0) == R.L->getExitBlock();
    End->setCondition(ExitsFirst ? B.CreateICmpUGT(Next, Last) : B.CreateICmpULE(Next, Last));
    Step->addIncoming(B.getInt32(0), Before);
    Step->addIncoming(Next, Latch == Header ? End->getParent() : Latch);
  }

  Value *sumOfLanes(Value *Number, Value *Lane) {
    for (unsigned Far = 1; Far < Lanes; Far *= 2)
      Number = B.CreateFAdd(Number, fromLane(Number, B.CreateXor(Lane, B.getInt32(Far))));
    return Number;
  }

  // Iteration `Number` in place of the one that it is.
  void replaceCounters(Value *Number, BasicBlock &Before) {
    for (PHINode *Original : R.Counters) {
      PHINode *Counter = copyOf(Original);
      const auto *Counted = cast<SCEVAddRecExpr>(SE.getSCEV(Original));
      const APInt &Step = cast<SCEVConstant>(Counted->getStepRecurrence(SE))->getAPInt();
      Value *Moved =
          B.CreateMul(B.CreateZExtOrTrunc(Number, Counter->getType()), ConstantInt::get(Counter->getType(), Step));
      Value *Place = B.CreateAdd(Counter->getIncomingValueForBlock(&Before), Moved);
      Counter->replaceUsesWithIf(Place, [&](const Use &U) { return U.getUser() != Moved && U.getUser() != Place; });
    }
  }

  // What the elements have got so far at the end of the iteration.
  SmallVector<Value *> sumUp(ArrayRef<PHINode *> Sums, BranchInst &End) {
    SmallVector<Value *> Totals;
    for (auto [Item, Sum] : zip(R.Elements, Sums)) {
      AllocaInst *Total = variable(*Sum);
      for (AtomicRMWInst *Original : Item.second) {
        AtomicRMWInst *A = copyOf(Original);
        IRBuilder<> Here(A);
        FastMathFlags Flags;
        Flags.setAllowContract();
        Here.setFastMathFlags(Flags);
        Value *Before = Here.CreateLoad(Sum->getType(), Total);
        Here.CreateStore(Here.CreateFAdd(Before, A->getValOperand()), Total);
      }
      Totals.push_back(IRBuilder<>(&End).CreateLoad(Sum->getType(), Total));
    }
    return Totals;
  }

  // Set when an iteration begins.
  AllocaInst *variable(Value &First) {
    BasicBlock &Entry = R.L->getHeader()->getParent()->getEntryBlock();
    auto *Made = new AllocaInst(First.getType(), Entry.getDataLayout().getAllocaAddrSpace(), "", Entry.begin());
    BasicBlock *Header = copyOf(R.L->getHeader());
    IRBuilder<>(Header, Header->getFirstInsertionPt()).CreateStore(&First, Made);
    Variables.push_back(Made);
    return Made;
  }

  void promote() {
    Tree.recalculate(*R.L->getHeader()->getParent());
    PromoteMemToReg(Variables, Tree);
  }

  void addTotals(ArrayRef<Value *> Totals) {
    for (auto [Item, Total] : zip(R.Elements, Totals)) {
      for (AtomicRMWInst *Other : drop_begin(Item.second))
        copyOf(Other)->eraseFromParent();
      AtomicRMWInst *A = copyOf(Item.second.front());
      A->moveBefore(*B.GetInsertBlock(), B.GetInsertPoint());
      A->setOperand(0, knownHere(A->getPointerOperand(), *A));
      A->setOperand(1, Total);
    }
  }

  // An address that follows from the iteration, computed in this place.
  Value *knownHere(Value *V, Instruction &Place) {
    auto *I = dyn_cast<Instruction>(V);
    if (!I || isa<PHINode>(I) || !Inside.contains(I->getParent()) || I->getParent() == copyOf(R.L->getHeader()))
      return V;
    Instruction *Copy = I->clone();
    Copy->insertBefore(Place.getIterator());
    for (Use &U : Copy->operands())
      U.set(knownHere(U, *Copy));
    return Copy;
  }

  // That there are so many turns of all lanes is written so that the optimiser sees it.
  void endWith(BranchInst &End, Value &Next, BasicBlock &Before) {
    IRBuilder<> Once(Before.getTerminator());
    Value *Steps = Once.CreateAdd(Once.CreateAnd(Last, Once.getInt32(~(Lanes - 1))), Once.getInt32(Lanes), "steps");
    bool ExitsFirst = End.getSuccessor(0) == R.L->getExitBlock();
    End.setCondition(ExitsFirst ? B.CreateICmpEQ(&Next, Steps) : B.CreateICmpNE(&Next, Steps));
  }

  // Steps wait for each other only by their sums.
  void takeSeveralAtOnce(Instruction &Back) {
    size_t Size = 0;
    for (const BasicBlock *Block : R.L->blocks())
      Size += Block->size();
    const unsigned Together = Size <= FewInstructions ? 4 : Size <= 2 * FewInstructions ? 2 : 1;
    LLVMContext &C = Back.getContext();
    Metadata *Count[] = {MDString::get(C, "llvm.loop.unroll.count"), ConstantAsMetadata::get(B.getInt32(Together))};
    Metadata *Said[] = {nullptr, MDNode::get(C, Count)};
    MDNode *Loop = MDNode::getDistinct(C, Said);
    Loop->replaceOperandWith(0, Loop);
    Back.setMetadata(LLVMContext::MD_loop, Loop);
  }

  Value *fromLane(Value *V, Value *Lane) {
    auto Move = [&](Value *Word) -> Value * {
      return B.CreateIntrinsic(Intrinsic::nvvm_shfl_sync_idx_i32, {},
                               {B.getInt32(~0u), Word, Lane, B.getInt32(Lanes - 1)});
    };
    if (V->getType()->isFloatTy())
      return B.CreateBitCast(Move(B.CreateBitCast(V, B.getInt32Ty())), V->getType());
    Value *Bits = B.CreateBitCast(V, B.getInt64Ty());
    Value *Low = Move(B.CreateTrunc(Bits, B.getInt32Ty())),
          *High = Move(B.CreateTrunc(B.CreateLShr(Bits, Lanes), B.getInt32Ty()));
    Value *Moved = B.CreateOr(B.CreateShl(B.CreateZExt(High, B.getInt64Ty()), 32), B.CreateZExt(Low, B.getInt64Ty()));
    return B.CreateBitCast(Moved, V->getType());
  }

  LoopInfo &Loops;
  DominatorTree &Tree;
  ScalarEvolution &SE;
  const Rotation &R;
  const bool Repeats;
  IRBuilder<> B;
  ValueToValueMapTy Copies;
  SmallPtrSet<const BasicBlock *, 8> Inside; // blocks of the copy
  SmallVector<AllocaInst *> Variables;
  Value *Last = nullptr;
};

} // namespace

ADGEN_DECLARE_PASS(RotateAccumulations);

PreservedAnalyses RotateAccumulations::run(Module &M, ModuleAnalysisManager &MAM) {
  auto &FAM = MAM.getResult<FunctionAnalysisManagerModuleProxy>(M).getManager();
  for (Function &F : M) {
    if (!F.hasFnAttribute(ActivityAttribute) || F.isDeclaration())
      continue;
    auto &Loops = FAM.getResult<LoopAnalysis>(F);
    auto &SE = FAM.getResult<ScalarEvolutionAnalysis>(F);
    auto &Tree = FAM.getResult<DominatorTreeAnalysis>(F);
    for (const Rotation &R : Finder(F, Loops, Tree, SE).find()) {
      ADGEN_COUNT(NumLoops, F.getName());
      if (R.repeats())
        ADGEN_COUNT(NumShared, F.getName());
      Rotator(F, Loops, Tree, SE, R).run();
    }
    FAM.invalidate(F, PreservedAnalyses::none());
  }
  return PreservedAnalyses::none();
}

} // namespace adgen
