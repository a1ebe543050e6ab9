// Loops in which all lanes of a warp accumulate into one element after the other, as the gradient of an interaction of
// all with all does. Each lane begins at an element of its own: of 32 iterations, lane l does the one with number (step
// + l) modulo 32. The sum of an element moves from lane to lane with the lanes that come to it, and once in 32 steps
// every lane adds the sum that it holds. That takes one shuffle a step and element, where adding up the lanes' values
// takes five, and no two lanes add to one element. Several steps are done at a time.
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

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/IR/Operator.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "llvm/Transforms/Utils/LoopUtils.h"
#include "llvm/Transforms/Utils/ScalarEvolutionExpander.h"

#define DEBUG_TYPE "adgen-rotate-accumulations"

using namespace llvm;

STATISTIC(NumLoops, "Number of loops rotated");
STATISTIC(NumShared, "Number of loops whose iterations lanes share");

namespace adgen {
namespace {

constexpr unsigned Lanes = 32;
constexpr size_t FewInstructions = 100; // of an iteration, of which four are done at a time
constexpr int64_t WidestStep =
    16; // bytes between what neighbouring lanes read: further apart it is dearer than what is saved

// What decides about a loop that can be rotated.
struct Rotation {
  Loop *L;
  SmallVector<AtomicRMWInst *> Additions;
  SmallVector<PHINode *> Counters;
  const SCEV *LastIteration; // how often the loop goes back

  // Whether a lane adds the same in all iterations, and nothing else is computed.
  bool repeats() const {
    return all_of(Additions, [&](AtomicRMWInst *A) { return L->isLoopInvariant(A->getValOperand()); }) &&
           all_of(L->getHeader()->phis(), [&](PHINode &Phi) { return is_contained(Counters, &Phi); });
  }
};

class Finder {
public:
  Finder(Function &F, LoopInfo &Loops, ScalarEvolution &SE)
      : F(F), Loops(Loops), SE(SE), Threads(F, [&](const Value &V) { return kindOnDevice(V, F); }) {}

  SmallVector<Rotation> find() {
    SmallVector<Rotation> Found;
    for (Loop *L : Loops.getLoopsInPreorder())
      if (L->isInnermost() && L->isLoopSimplifyForm() && !hasCycleWithEntries(*L, Loops))
        if (std::optional<Rotation> R = examine(*L))
          Found.push_back(*R);
    return Found;
  }

private:
  // All that has an effect stands in the header, which decides about the end.
  std::optional<Rotation> examine(Loop &L) {
    BasicBlock *Header = L.getHeader();
    auto *Branch = dyn_cast<BranchInst>(Header->getTerminator());
    if (!Branch || !Branch->isConditional() || L.getExitingBlock() != Header || !L.getExitBlock() ||
        L.getNumBlocks() > 2 || Threads.isDivergent(Header) || !Threads.isUniform(Branch->getCondition()))
      return {};
    Rotation R{&L, {}, {}, SE.getBackedgeTakenCount(&L)};
    if (isa<SCEVCouldNotCompute>(R.LastIteration) || SE.getTypeSizeInBits(R.LastIteration->getType()) > 64 ||
        !examinePhis(L, R))
      return {};
    for (BasicBlock *Block : L.blocks())
      for (Instruction &I : *Block)
        if (!examine(I, R))
          return {};
    return R.Additions.empty() ? std::nullopt : std::optional(R);
  }

  bool examinePhis(const Loop &L, Rotation &R) {
    for (PHINode &Phi : L.getHeader()->phis()) {
      if (isSum(Phi, L))
        continue;
      auto *Counted = Phi.getType()->isIntegerTy() ? dyn_cast<SCEVAddRecExpr>(SE.getSCEV(&Phi)) : nullptr;
      bool Leaves = any_of(Phi.users(), [&](const User *U) { return !L.contains(cast<Instruction>(U)); });
      if (!Counted || Leaves || Counted->getLoop() != &L || !isa<SCEVConstant>(Counted->getStepRecurrence(SE)))
        return false;
      R.Counters.push_back(&Phi);
    }
    return true;
  }

  // A number to which something is added in every iteration, and which nothing else looks at before the end.
  static bool isSum(const PHINode &Phi, const Loop &L) {
    auto *Next = dyn_cast<BinaryOperator>(Phi.getIncomingValueForBlock(L.getLoopLatch()));
    if (!Next || !Phi.hasOneUse() || Phi.user_back() != Next || Next->getParent() != L.getHeader())
      return false;
    bool Added = Next->getOpcode() == Instruction::FAdd ||
                 (Next->getOpcode() == Instruction::FSub && Next->getOperand(0) == &Phi);
    return Added &&
           all_of(Next->users(), [&](const User *U) { return U == &Phi || !L.contains(cast<Instruction>(U)); });
  }

  bool examine(Instruction &I, Rotation &R) {
    if (I.isTerminator() || isa<PHINode>(I))
      return true;
    if (AtomicRMWInst *Atomic = asAccumulation(I)) {
      R.Additions.push_back(Atomic);
      return I.getParent() == R.L->getHeader() && isPossible(*Atomic, *R.L);
    }
    if (I.mayHaveSideEffects() || !isSafeAtAnyTime(I, *R.L))
      return false;
    bool IsSum = any_of(
        I.users(), [&](const User *U) { return isa<PHINode>(U) && cast<PHINode>(U)->getParent() == R.L->getHeader(); });
    bool Leaves = any_of(I.users(), [&](const User *U) { return !R.L->contains(cast<Instruction>(U)); });
    return !Leaves || (IsSum && I.getType()->isFloatingPointTy());
  }

  bool isPossible(const AtomicRMWInst &Atomic, const Loop &L) const {
    Type *T = Atomic.getType();
    Value *Pointer = const_cast<Value *>(Atomic.getPointerOperand());
    return (T->isFloatTy() || T->isDoubleTy()) && isShadow(getUnderlyingObject(Pointer)) &&
           Threads.isUniform(Pointer) && bytesAStep(Pointer, L).value_or(0);
  }

  // What is read is nothing that is accumulated into, and near to what the neighbour reads.
  bool isSafeAtAnyTime(Instruction &I, const Loop &L) const {
    auto *Load = dyn_cast<LoadInst>(&I);
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
    BasicBlock *Header = R.L->getHeader();
    for (PHINode &Phi : R.L->getExitBlock()->phis()) {
      Value *V = Phi.getIncomingValueForBlock(Header);
      Value *Copy = Copies.lookup(V);
      Phi.addIncoming(Copy ? Copy : V, cast<BasicBlock>(Copies[Header]));
    }
  }

  template <class T> T *copyOf(T *Original) { return cast<T>(Copies[Original]); }

  void rotate() {
    BasicBlock *Header = copyOf(R.L->getHeader()), *Latch = copyOf(R.L->getLoopLatch()),
               *Before = copyOf(R.L->getLoopPreheader());
    B.SetInsertPoint(Header, Header->begin());
    PHINode *Step = B.CreatePHI(B.getInt32Ty(), 2, "step");
    SmallVector<PHINode *> Sums;
    for (AtomicRMWInst *A : R.Additions)
      Sums.push_back(B.CreatePHI(A->getType(), 2, "sum"));
    B.SetInsertPoint(Header, Header->getFirstInsertionPt());
    Value *Lane = readRegister(B, Intrinsic::nvvm_read_ptx_sreg_laneid);
    Value *Turn = B.CreateAnd(B.CreateAdd(Step, Lane), B.getInt32(Lanes - 1));
    replaceCounters(B.CreateOr(B.CreateAnd(Step, B.getInt32(~(Lanes - 1))), Turn), *Before);
    SmallVector<Value *> Totals = sumUp(Sums);
    auto *End = cast<BranchInst>(Header->getTerminator());
    B.SetInsertPoint(End);
    Value *IsLastTurn = B.CreateICmpEQ(B.CreateAnd(Step, B.getInt32(Lanes - 1)), B.getInt32(Lanes - 1));
    B.SetInsertPoint(SplitBlockAndInsertIfThen(IsLastTurn, End->getIterator(), false));
    addTotals(Totals);
    B.SetInsertPoint(End);
    Value *Neighbour = B.CreateAnd(B.CreateAdd(Lane, B.getInt32(1)), B.getInt32(Lanes - 1));
    Value *Next = B.CreateAdd(Step, B.getInt32(1));
    endWith(*End, *Next, *Before);
    BasicBlock *Back = Latch == Header ? End->getParent() : Latch;
    takeSeveralAtOnce(*Back->getTerminator());
    Step->addIncoming(B.getInt32(0), Before);
    Step->addIncoming(Next, Back);
    for (auto [Sum, Total] : zip(Sums, Totals)) {
      Constant *Zero = ConstantFP::get(Sum->getType(), 0.0);
      Sum->addIncoming(Zero, Before);
      Sum->addIncoming(B.CreateSelect(IsLastTurn, Zero, fromLane(Total, Neighbour)), Back);
    }
  }

  // Lane l does iterations l, l + 32 and so on, if there are so many, and adds what all lanes would add.
  void share() {
    BasicBlock *Header = copyOf(R.L->getHeader()), *Latch = copyOf(R.L->getLoopLatch()),
               *Before = copyOf(R.L->getLoopPreheader());
    B.SetInsertPoint(Before->getTerminator());
    Value *Lane = readRegister(B, Intrinsic::nvvm_read_ptx_sreg_laneid);
    SmallVector<Value *> Totals;
    for (AtomicRMWInst *A : R.Additions)
      Totals.push_back(sumOfLanes(copyOf(A)->getValOperand(), Lane));
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

  SmallVector<Value *> sumUp(ArrayRef<PHINode *> Sums) {
    SmallVector<Value *> Totals;
    for (auto [Original, Sum] : zip(R.Additions, Sums)) {
      AtomicRMWInst *A = copyOf(Original);
      IRBuilder<> Here(A);
      FastMathFlags Flags;
      Flags.setAllowContract();
      Here.setFastMathFlags(Flags);
      Totals.push_back(Here.CreateFAdd(Sum, A->getValOperand()));
    }
    return Totals;
  }

  void addTotals(ArrayRef<Value *> Totals) {
    for (auto [Original, Total] : zip(R.Additions, Totals)) {
      AtomicRMWInst *A = copyOf(Original);
      A->moveBefore(*B.GetInsertBlock(), B.GetInsertPoint());
      A->setOperand(1, Total);
    }
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
    const size_t Size = R.L->getHeader()->size();
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
    for (const Rotation &R : Finder(F, Loops, SE).find()) {
      ADGEN_COUNT(NumLoops, F.getName());
      if (R.repeats())
        ADGEN_COUNT(NumShared, F.getName());
      Rotator(F, Loops, FAM.getResult<DominatorTreeAnalysis>(F), SE, R).run();
    }
    FAM.invalidate(F, PreservedAnalyses::none());
  }
  return PreservedAnalyses::none();
}

} // namespace adgen
