// Loops that move on by an amount known only at run time, such as the length of a row (for (t = a; t < b; t += C)) or
// the threads of the grid, count their iterations. Nobody can say beforehand how often they run where the amount may be
// zero or negative, though such a loop would never end, or where the variable may overflow. Enzyme then has the values
// of each iteration in blocks that grow, with code for that at every value. Overflow of what has a sign is undefined in
// C++; where CUDA's unsigned sizes make it defined (i += blockDim.x), a loop whose variable would begin anew, which no
// program means, goes on. So do loops that ask two conditions in a row.
#include "Support/Pass.h"

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/PatternMatch.h"
#include "llvm/Transforms/Utils/ScalarEvolutionExpander.h"

#define DEBUG_TYPE "adgen-count-strides"

using namespace llvm;
using namespace llvm::PatternMatch;

STATISTIC(NumLoops, "Number of loops counted");

namespace adgen {
namespace {

constexpr unsigned MostAddends = 16;

// for (x = Start; ; ) { ... } while ((x += Step) < Bound), or with -= and >.
struct Stride {
  Value *Start = nullptr, *Step = nullptr, *Bound = nullptr;
  BinaryOperator *Next = nullptr;
  ICmpInst *Test = nullptr;
  CmpPredicate Continues;
  bool ExitsWhenTrue = false;
  bool MayWrap = false;

  bool isDown() const { return ICmpInst::isGT(Continues); }
  bool isSigned() const { return ICmpInst::isSigned(Continues); }
  // The last number on the way.
  APInt end() const {
    unsigned Bits = Start->getType()->getIntegerBitWidth();
    if (isDown())
      return isSigned() ? APInt::getSignedMinValue(Bits) : APInt::getMinValue(Bits);
    return isSigned() ? APInt::getSignedMaxValue(Bits) : APInt::getMaxValue(Bits);
  }
};

// Whether the variable is moved on towards the bound.
bool moves(Value *Next, const PHINode &Phi, Stride &Found) {
  bool IsKnown = Found.isDown() ? match(Next, m_Sub(m_Specific(&Phi), m_Value(Found.Step)))
                                : match(Next, m_c_Add(m_Specific(&Phi), m_Value(Found.Step)));
  if (!IsKnown)
    return false;
  Found.Next = cast<BinaryOperator>(Next);
  Found.MayWrap = Found.isSigned() ? !Found.Next->hasNoSignedWrap() : !Found.Next->hasNoUnsignedWrap();
  return true;
}

// Whether the iterations can be counted before the loop as it stands.
bool isCounted(const Loop &L, ScalarEvolution &SE) {
  const SCEV *Count = SE.getBackedgeTakenCount(&L);
  return !isa<SCEVCouldNotCompute>(Count) && SCEVExpander(SE, "count").isSafeToExpand(Count);
}

// What leads back to the beginning of the loop at its only exit, its end.
BranchInst *decision(const Loop &L) {
  BasicBlock *Latch = L.getLoopLatch();
  auto *Branch = Latch && L.getLoopPreheader() && L.getExitingBlock() == Latch
                     ? dyn_cast<BranchInst>(Latch->getTerminator())
                     : nullptr;
  return Branch && Branch->isConditional() ? Branch : nullptr;
}

// The comparisons of which each has to hold, or of which none may, for the loop to go on.
void collectTests(Value *Condition, bool ExitsWhenTrue, SmallVectorImpl<ICmpInst *> &Tests) {
  Value *Left, *Right;
  if (ExitsWhenTrue ? match(Condition, m_LogicalOr(m_Value(Left), m_Value(Right)))
                    : match(Condition, m_LogicalAnd(m_Value(Left), m_Value(Right)))) {
    collectTests(Left, ExitsWhenTrue, Tests);
    collectTests(Right, ExitsWhenTrue, Tests);
  } else if (auto *Test = dyn_cast<ICmpInst>(Condition)) {
    Tests.push_back(Test);
  }
}

bool recognise(const Loop &L, ICmpInst &Test, ScalarEvolution &SE, Stride &Found) {
  BasicBlock *Latch = L.getLoopLatch(), *Before = L.getLoopPreheader();
  Found.Test = &Test;
  Found.ExitsWhenTrue = !L.contains(cast<BranchInst>(Latch->getTerminator())->getSuccessor(0));
  Found.Continues = Found.ExitsWhenTrue ? CmpPredicate(Test.getInversePredicate()) : Test.getCmpPredicate();
  Value *Next = Test.getOperand(0);
  Found.Bound = Test.getOperand(1);
  if (!ICmpInst::isStrictPredicate(Found.Continues) || !L.isLoopInvariant(Found.Bound))
    return false;
  for (PHINode &Phi : L.getHeader()->phis()) {
    Found.Start = Phi.getIncomingValueForBlock(Before);
    if (Next == Phi.getIncomingValueForBlock(Latch) && moves(Next, Phi, Found))
      return L.isLoopInvariant(Found.Step) && !isa<Constant>(Found.Step) &&
             (!Found.MayWrap ||
              SE.isLoopEntryGuardedByCond(&L, Found.Continues, SE.getSCEV(Found.Start), SE.getSCEV(Found.Bound)));
  }
  return false;
}

// At least once, as the loop is left at its end only; 0 stands for 2^n. The way is below 2^n, whatever the signs of its
// ends.
Value *iterations(IRBuilder<> &B, const Stride &S) {
  Type *T = S.Start->getType();
  Value *One = ConstantInt::get(T, 1);
  Value *Way = S.isDown() ? B.CreateSub(S.Start, S.Bound) : B.CreateSub(S.Bound, S.Start);
  Value *Last =
      B.CreateSelect(B.CreateICmp(S.Continues, S.Start, S.Bound), B.CreateSub(Way, One), ConstantInt::get(T, 0));
  bool HasSign = S.isSigned() && !S.MayWrap;
  Value *Step = B.CreateBinaryIntrinsic(HasSign ? Intrinsic::smax : Intrinsic::umax, S.Step, One); // else without end
  Value *Count = B.CreateAdd(B.CreateUDiv(Last, Step), One, "strides");
  if (!S.MayWrap)
    return Count;
  // What is moved on last lies before the bound.
  Value *End = B.getInt(S.end());
  Value *Room = S.isDown() ? B.CreateSub(S.Bound, End) : B.CreateSub(End, S.Bound);
  Value *Wraps = B.CreateICmpUGT(B.CreateSub(S.Step, One), Room);
  return B.CreateSelect(Wraps, ConstantInt::get(T, 0), Count, "strides");
}

// The other conditions of a loop that has several may end it where the variable overflows.
void count(Loop &L, const Stride &S, bool IsAlone) {
  BasicBlock *Latch = L.getLoopLatch();
  Type *T = S.Start->getType();
  IRBuilder<> B(L.getLoopPreheader()->getTerminator());
  Value *Count = iterations(B, S);

  B.SetInsertPoint(L.getHeader(), L.getHeader()->begin());
  PHINode *Index = B.CreatePHI(T, 2, "stride");
  B.SetInsertPoint(S.Test);
  Value *Next = B.CreateAdd(Index, ConstantInt::get(T, 1), "stride.next");
  Index->addIncoming(ConstantInt::get(T, 0), L.getLoopPreheader());
  Index->addIncoming(Next, Latch);
  S.Test->replaceAllUsesWith(S.ExitsWhenTrue ? B.CreateICmpEQ(Next, Count) : B.CreateICmpNE(Next, Count));
  if (!IsAlone)
    return;
  // Where the variable would begin anew, the loop goes on: in what ends it does not, and what is indexed by it shows.
  S.isSigned() ? S.Next->setHasNoSignedWrap() : S.Next->setHasNoUnsignedWrap();
}

// The numbers of which a number is the sum, if no sum of them overflows.
bool collectAddends(Value *V, SmallVectorImpl<Value *> &Addends) {
  Value *Left, *Right;
  if (Addends.size() == MostAddends)
    return false;
  if (match(V, m_NSWAdd(m_Value(Left), m_Value(Right))))
    return collectAddends(Left, Addends) && collectAddends(Right, Addends);
  Addends.push_back(V);
  return true;
}

// Sum of what `These` have and `Others` do not have, in a type in which it can't overflow.
Value *sumWithout(IRBuilder<> &B, ArrayRef<Value *> These, ArrayRef<Value *> Others) {
  SmallVector<Value *> Left(Others);
  Value *Sum = B.getInt64(0);
  for (Value *Each : These)
    if (auto *Known = find(Left, Each); Known != Left.end())
      Left.erase(Known);
    else
      Sum = B.CreateAdd(Sum, B.CreateSExt(Each, B.getInt64Ty()));
  return Sum;
}

// for (t = first + i; t < last + i; t += C) with a barrier: the threads of a block leave such a loop together, which
// the numbers of iterations show where the two conditions of the loop do not. Sums are still the user's here.
bool countTogether(Loop &L) {
  BasicBlock *Latch = L.getLoopLatch(), *Header = L.getHeader(), *Before = L.getLoopPreheader();
  auto *Branch =
      Latch && Before && L.getExitingBlock() == Header ? dyn_cast<BranchInst>(Header->getTerminator()) : nullptr;
  auto *Test = Branch && Branch->isConditional() ? dyn_cast<ICmpInst>(Branch->getCondition()) : nullptr;
  auto *Phi = Test ? dyn_cast<PHINode>(Test->getOperand(0)) : nullptr;
  if (!Phi || Phi->getParent() != Header || !Phi->getType()->isIntegerTy(32) || Latch == Header)
    return false;
  Stride S;
  S.ExitsWhenTrue = !L.contains(Branch->getSuccessor(0));
  S.Continues = S.ExitsWhenTrue ? CmpPredicate(Test->getInversePredicate()) : Test->getCmpPredicate();
  S.Start = Phi->getIncomingValueForBlock(Before);
  S.Bound = Test->getOperand(1);
  bool Moved = false;
  if (S.Continues != ICmpInst::ICMP_SLT || !moves(Phi->getIncomingValueForBlock(Latch), *Phi, S) || S.MayWrap ||
      !L.makeLoopInvariant(S.Step, Moved) || !L.makeLoopInvariant(S.Bound, Moved))
    return false;
  SmallVector<Value *, MostAddends> First, Last;
  if (!collectAddends(S.Start, First) || !collectAddends(S.Bound, Last) ||
      none_of(First, [&](Value *Each) { return !isa<Constant>(Each) && is_contained(Last, Each); }))
    return false;

  IRBuilder<> B(Before->getTerminator());
  Value *Way = B.CreateSub(sumWithout(B, Last, First), sumWithout(B, First, Last));
  Value *IsAhead = B.CreateICmpSGT(Way, B.getInt64(0));
  Value *Step = B.CreateBinaryIntrinsic(Intrinsic::smax, S.Step, B.getInt32(1));
  Value *Steps = B.CreateUDiv(B.CreateTrunc(B.CreateSub(Way, B.getInt64(1)), B.getInt32Ty()), Step);
  Value *Count = B.CreateSelect(IsAhead, B.CreateAdd(Steps, B.getInt32(1)), B.getInt32(0), "strides");

  B.SetInsertPoint(Header, Header->begin());
  PHINode *Index = B.CreatePHI(B.getInt32Ty(), 2, "stride");
  B.SetInsertPoint(Latch->getTerminator());
  Index->addIncoming(B.getInt32(0), Before);
  Index->addIncoming(B.CreateAdd(Index, B.getInt32(1), "stride.next", /*HasNUW=*/true), Latch);
  B.SetInsertPoint(Branch);
  Branch->setCondition(S.ExitsWhenTrue ? B.CreateICmpUGE(Index, Count) : B.CreateICmpULT(Index, Count));
  return true;
}

// for (t = 0; t < 32 && first + t < last; ++t) asks two conditions in a row, each of which says how often the loop
// runs: it runs as often as the smaller number says. Enzyme knows that of one comparison only.
bool countBoth(Loop &L, ScalarEvolution &SE) {
  BasicBlock *Latch = L.getLoopLatch(), *Before = L.getLoopPreheader();
  BranchInst *Branch = decision(L);
  if (!Branch ||
      !match(Branch->getCondition(),
             m_CombineOr(m_LogicalAnd(m_Value(), m_Value()), m_LogicalOr(m_Value(), m_Value()))) ||
      !isCounted(L, SE))
    return false;
  const SCEV *Count = SE.getBackedgeTakenCount(&L);
  SCEVExpander Expander(SE, "both");
  Value *Last = Expander.expandCodeFor(Count, Count->getType(), Before->getTerminator());
  IRBuilder<> B(L.getHeader(), L.getHeader()->begin());
  PHINode *Index = B.CreatePHI(Count->getType(), 2, "both");
  B.SetInsertPoint(Branch);
  Index->addIncoming(ConstantInt::get(Count->getType(), 0), Before);
  Index->addIncoming(B.CreateAdd(Index, ConstantInt::get(Count->getType(), 1), "both.next"), Latch);
  Branch->setCondition(L.contains(Branch->getSuccessor(0)) ? B.CreateICmpNE(Index, Last) : B.CreateICmpEQ(Index, Last));
  return true;
}

// for (; t < bound && k < last; t += C, ++k): each condition that asks how far a variable has come by a step.
bool countTests(Loop &L, ScalarEvolution &SE) {
  BranchInst *Branch = decision(L);
  if (!Branch || isCounted(L, SE))
    return false;
  SmallVector<ICmpInst *> Tests;
  collectTests(Branch->getCondition(), !L.contains(Branch->getSuccessor(0)), Tests);
  SmallVector<Stride> Strides;
  for (ICmpInst *Test : Tests)
    if (Stride S; recognise(L, *Test, SE, S))
      Strides.push_back(S);
  for (const Stride &S : Strides)
    count(L, S, Branch->getCondition() == S.Test);
  if (Strides.empty())
    return false;
  SE.forgetLoop(&L);
  countBoth(L, SE);
  return true;
}

} // namespace

ADGEN_DECLARE_PASS(CountStrides);

PreservedAnalyses CountStrides::run(Module &M, ModuleAnalysisManager &MAM) {
  for (Function &F : M) {
    if (!F.getName().starts_with(BodyPrefix) || F.isDeclaration())
      continue;
    auto &FAM = MAM.getResult<FunctionAnalysisManagerModuleProxy>(M).getManager();
    auto &Loops = FAM.getResult<LoopAnalysis>(F);
    auto &SE = FAM.getResult<ScalarEvolutionAnalysis>(F);
    for (Loop *L : Loops.getLoopsInPreorder()) {
      if (!countTogether(*L) && !countTests(*L, SE) && !countBoth(*L, SE))
        continue;
      ADGEN_COUNT(NumLoops, *L);
      SE.forgetLoop(L);
    }
  }
  return PreservedAnalyses::none();
}

} // namespace adgen
