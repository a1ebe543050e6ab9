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
#include "Accumulate/Rotations.h"
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
constexpr size_t FewInstructions = 100; // of an iteration, of which four are done at a time

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
    for (const Rotation &R : rotationsIn(F, Loops, Tree, SE)) {
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
