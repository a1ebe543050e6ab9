// Loops that halve or double until a bound, as reductions and scans do (for (s = blockDim.x / 2; s > 0; s /= 2), or
// s > 32 where a warp does the rest), count their iterations: how many there are follows from the number of leading
// zeros, and the variable from the count; so do variables that other loops double or halve beside their counter, as
// parallel cyclic reduction does. Enzyme then keeps neither, where a loop of unknown length has its values in a
// block that grows.
#include "Support/Pass.h"

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/PatternMatch.h"

#define DEBUG_TYPE "adgen-canonicalize-geometric-loops"

using namespace llvm;
using namespace llvm::PatternMatch;

STATISTIC(NumLoops, "Number of loops counted");
STATISTIC(NumFollowers, "Number of variables that follow from a loop's counter");

namespace adgen {
namespace {

// for (x = start; ; x = x >> 1 or x << 1), left at the end of an iteration as the branch says.
struct Stepping {
  PHINode *Variable = nullptr;
  Value *Start = nullptr;
  Value *Bound = nullptr; // of a doubling; null for a halving
  APInt Least;            // of a halving: another iteration follows where the variable was at least that
  bool IsSigned = false;  // the comparison with the bound of a doubling
  bool ExitsWhenTrue = false;
};

// Whether another iteration follows where the halved variable, or what it becomes, is above a constant.
bool endsHalving(const ICmpInst &Test, const PHINode *Variable, const Value *Next, Stepping &Found) {
  const Value *Tested = Test.getOperand(0);
  const APInt *Constant;
  if ((Tested != Variable && Tested != Next) || !match(Test.getOperand(1), m_APInt(Constant)))
    return false;
  CmpInst::Predicate Continues = Found.ExitsWhenTrue ? Test.getInversePredicate() : Test.getPredicate();
  if (Tested == Next && Constant->isNonNegative()) // and so is what was halved
    Continues = ICmpInst::getUnsignedPredicate(Continues);
  ConstantRange Range = ConstantRange::makeExactICmpRegion(Continues, *Constant);
  Found.Least = Range.getUnsignedMin();
  if (Range.isEmptySet() || Range.isWrappedSet() || !Range.getUnsignedMax().isMaxValue() || Found.Least.isZero())
    return false;
  if (Tested == Variable)
    return Found.Least.ugt(1);
  bool Overflows;
  Found.Least = Found.Least.umul_ov(APInt(Found.Least.getBitWidth(), 2), Overflows);
  return !Overflows;
}

// The bound that the doubled variable reaches or passes at the end; null where the comparison is another one. Half of a
// constant one is what the optimiser compares the variable itself with.
Value *boundOfDoubling(const ICmpInst &Test, const PHINode *Variable, const Value *Next, const Loop &L,
                       Stepping &Found) {
  CmpPredicate Continues = Found.ExitsWhenTrue ? CmpPredicate(Test.getInversePredicate()) : Test.getCmpPredicate();
  Found.IsSigned = Continues == ICmpInst::ICMP_SLT;
  if (!Found.IsSigned && Continues != ICmpInst::ICMP_ULT)
    return nullptr;
  const APInt *Half;
  if (Test.getOperand(0) == Variable && match(Test.getOperand(1), m_APInt(Half)) &&
      Half->getActiveBits() + 1 < Half->getBitWidth())
    return ConstantInt::get(Variable->getType(), *Half << 1);
  return Test.getOperand(0) == Next && L.isLoopInvariant(Test.getOperand(1)) ? Test.getOperand(1) : nullptr;
}

bool recognise(const Loop &L, Stepping &Found) {
  BasicBlock *Latch = L.getLoopLatch(), *Before = L.getLoopPreheader();
  auto *Branch =
      Latch && Before && L.getExitingBlock() == Latch ? dyn_cast<BranchInst>(Latch->getTerminator()) : nullptr;
  auto *Test = Branch && Branch->isConditional() ? dyn_cast<ICmpInst>(Branch->getCondition()) : nullptr;
  if (!Test)
    return false;
  Found.ExitsWhenTrue = !L.contains(Branch->getSuccessor(0));
  for (PHINode &Phi : L.getHeader()->phis()) {
    Value *Next = Phi.getIncomingValueForBlock(Latch), *Start = Phi.getIncomingValueForBlock(Before);
    Found.Variable = &Phi;
    Found.Start = Start;
    Found.Bound = nullptr;
    if (match(Next, m_LShr(m_Specific(&Phi), m_One())) && endsHalving(*Test, &Phi, Next, Found))
      return true;
    Found.Bound = boundOfDoubling(*Test, &Phi, Next, L, Found);
    if (match(Next, m_Shl(m_Specific(&Phi), m_One())) && match(Start, m_One()) && Found.Bound)
      return true;
  }
  return false;
}

// How often the loop runs: at least once, as it is left at its end only. A signed variable that is doubled beyond its
// largest number is negative, below every bound: what would never end stops there.
Value *iterations(IRBuilder<> &B, const Stepping &S) {
  Type *T = S.Variable->getType();
  Value *Largest = S.Start;
  if (S.Bound) {
    Value *Bound =
        B.CreateBinaryIntrinsic(S.IsSigned ? Intrinsic::smax : Intrinsic::umax, S.Bound, ConstantInt::get(T, 2));
    Largest = B.CreateSub(Bound, ConstantInt::get(T, 1));
  }
  CallInst *Zeros = B.CreateIntrinsic(Intrinsic::ctlz, {T}, {Largest, B.getFalse()});
  unsigned Width = T->getIntegerBitWidth();
  Zeros->addRangeRetAttr(ConstantRange(APInt(Width, 0), APInt(Width, Width + 1)));
  Value *Bits = B.CreateSub(ConstantInt::get(T, Width), Zeros, "", /*HasNUW=*/true, /*HasNSW=*/true);
  if (S.Bound || S.Least == 2)
    return B.CreateBinaryIntrinsic(Intrinsic::umax, Bits, ConstantInt::get(T, 1), {}, "halvings");
  // until it has as many bits as the bound, and once more where it is not below that yet
  Value *Shorter = B.CreateBinaryIntrinsic(Intrinsic::usub_sat, Bits, ConstantInt::get(T, S.Least.getActiveBits()));
  Value *Above = B.CreateICmpUGE(B.CreateLShr(S.Start, Shorter), ConstantInt::get(T, S.Least));
  Value *Further = B.CreateAdd(Shorter, B.CreateZExt(Above, T), "", /*HasNUW=*/true, /*HasNSW=*/true);
  Value *Most = ConstantInt::get(T, Width - 1); // never more; ScalarEvolution does not see it
  Further = B.CreateBinaryIntrinsic(Intrinsic::umin, Further, Most);
  return B.CreateAdd(Further, ConstantInt::get(T, 1), "halvings", /*HasNUW=*/true, /*HasNSW=*/true);
}

// x doubled or halved so often. Where the loop may run more often than x has bits, nothing is left of it at last.
Value *stepped(IRBuilder<> &B, const BinaryOperator &Step, Value *X, Value *By, bool MayBeAll) {
  Type *T = X->getType();
  Value *Most = ConstantInt::get(T, T->getIntegerBitWidth() - 1);
  Value *Bits = MayBeAll ? B.CreateBinaryIntrinsic(Intrinsic::umin, By, Most) : By;
  auto Kind = Step.getOpcode();
  if (Kind == Instruction::SDiv) { // towards zero: what is negative is rounded up
    Value *Below = B.CreateNot(B.CreateShl(Constant::getAllOnesValue(T), Bits));
    X = B.CreateAdd(X, B.CreateAnd(B.CreateAShr(X, Most), Below));
    Kind = Instruction::AShr;
  }
  Value *Result = B.CreateBinOp(Kind, X, Bits);
  if (!MayBeAll || Step.getOpcode() == Instruction::AShr)
    return Result;
  return B.CreateSelect(B.CreateICmpULE(By, Most), Result, Constant::getNullValue(T));
}

// Other variables that are doubled or halved in each iteration follow from the count, too.
bool followCount(PHINode &Phi, Loop &L, Value *Index, IRBuilder<> &B, bool MayBeAll) {
  Value *Next = Phi.getIncomingValueForBlock(L.getLoopLatch()),
        *Start = Phi.getIncomingValueForBlock(L.getLoopPreheader());
  auto *Step = dyn_cast<BinaryOperator>(Next);
  if (!match(Next, m_Shift(m_Specific(&Phi), m_One())) && !match(Next, m_SDiv(m_Specific(&Phi), m_SpecificInt(2))))
    return false;
  Value *By = B.CreateZExtOrTrunc(Index, Phi.getType());
  Phi.replaceAllUsesWith(stepped(B, *Step, Start, By, MayBeAll));
  Phi.eraseFromParent();
  return true;
}

// Those of a loop that is counted from zero on already.
void followCounter(Loop &L) {
  PHINode *Index = L.getCanonicalInductionVariable();
  if (!Index || !L.getLoopPreheader() || !L.getLoopLatch())
    return;
  IRBuilder<> B(L.getHeader(), L.getHeader()->getFirstInsertionPt());
  for (PHINode &Phi : make_early_inc_range(L.getHeader()->phis()))
    if (&Phi != Index && Phi.getType()->isIntegerTy() &&
        Phi.getType()->getIntegerBitWidth() >= Index->getType()->getIntegerBitWidth() &&
        followCount(Phi, L, Index, B, true))
      ADGEN_COUNT(NumFollowers, L);
}

void count(Loop &L, const Stepping &S) {
  BasicBlock *Latch = L.getLoopLatch(), *Header = L.getHeader();
  Type *T = S.Variable->getType();
  IRBuilder<> B(L.getLoopPreheader()->getTerminator());
  Value *Count = iterations(B, S);

  B.SetInsertPoint(Header, Header->begin());
  PHINode *Index = B.CreatePHI(T, 2, "halving");
  auto *Branch = cast<BranchInst>(Latch->getTerminator());
  B.SetInsertPoint(Branch);
  Value *Next = B.CreateAdd(Index, ConstantInt::get(T, 1), "halving.next", /*HasNUW=*/true, /*HasNSW=*/true);
  Index->addIncoming(ConstantInt::get(T, 0), L.getLoopPreheader());
  Index->addIncoming(Next, Latch);
  Branch->setCondition(S.ExitsWhenTrue ? B.CreateICmpEQ(Next, Count) : B.CreateICmpNE(Next, Count));

  B.SetInsertPoint(Header, Header->getFirstInsertionPt());
  Value *Variable = S.Bound ? B.CreateShl(S.Start, Index) : B.CreateLShr(S.Start, Index);
  S.Variable->replaceAllUsesWith(Variable);
  S.Variable->eraseFromParent();
  for (PHINode &Phi : make_early_inc_range(Header->phis()))
    if (Phi.getType()->isIntegerTy() && Phi.getType()->getIntegerBitWidth() >= T->getIntegerBitWidth())
      followCount(Phi, L, Index, B, false);
}

} // namespace

ADGEN_DECLARE_PASS(CanonicalizeGeometricLoops);

PreservedAnalyses CanonicalizeGeometricLoops::run(Module &M, ModuleAnalysisManager &) {
  for (Function &F : M) {
    if (!F.getName().starts_with(BodyPrefix) || F.isDeclaration())
      continue;
    DominatorTree DT(F);
    LoopInfo Loops(DT);
    for (Loop *L : Loops.getLoopsInPreorder())
      if (Stepping S; recognise(*L, S)) {
        ADGEN_COUNT(NumLoops, *L);
        count(*L, S);
      } else {
        followCounter(*L);
      }
  }
  return PreservedAnalyses::none();
}

} // namespace adgen
