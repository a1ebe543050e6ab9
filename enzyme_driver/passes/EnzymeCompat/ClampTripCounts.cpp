// Loops inside others that may not run at all. Enzyme has memory for what such a loop keeps before it is known whether
// it runs, of as many elements as it has iterations: the bound less one, without a sign, plus one, which for a bound of
// zero is 2^32. Under the condition that the loop is entered,
//   if (low < high) for (...; ... != high; ...)
// the bound becomes max(high, low + 1), which is the same there and small elsewhere.
//
// And loops that go on while x >= high. Enzyme asks whether x > high - 1, and takes that for the addition of 2^32 - 1
// without overflow, which the counts of all loops up to high then follow from. So the loop itself asks that, where x
// goes in steps; elsewhere nothing can follow from the condition, and it is hidden.
#include "Support/Guards.h"
#include "Support/Pass.h"

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/PatternMatch.h"
#include "llvm/Transforms/Utils/LoopUtils.h"

#include <optional>

using namespace llvm;
using namespace PatternMatch;

namespace adgen {
namespace {

// The loop is entered where Low < High, or Low <= High.
struct Guard {
  Value *Low, *High;
  bool Signed, Strict;
};

std::optional<Guard> ordered(CmpInst::Predicate Predicate, Value *X, Value *Y) {
  if (Predicate == CmpInst::ICMP_NE && match(Y, m_Zero()))
    return Guard{Y, X, /*Signed=*/false, /*Strict=*/true};
  if (!CmpInst::isRelational(Predicate))
    return std::nullopt;
  bool XIsLow = ICmpInst::isLT(Predicate) || ICmpInst::isLE(Predicate);
  return Guard{XIsLow ? X : Y, XIsLow ? Y : X, CmpInst::isSigned(Predicate), CmpInst::isStrictPredicate(Predicate)};
}

// What holds where the condition does (or, with Holds false, where it does not), as far as it orders integers.
void collect(Value *Condition, bool Holds, SmallVectorImpl<Guard> &Found) {
  Value *X, *Y;
  if (Holds ? match(Condition, m_LogicalAnd(m_Value(X), m_Value(Y)))
            : match(Condition, m_LogicalOr(m_Value(X), m_Value(Y)))) {
    collect(X, Holds, Found);
    collect(Y, Holds, Found);
    return;
  }
  auto *Compare = dyn_cast<ICmpInst>(Condition);
  if (!Compare || !Compare->getOperand(0)->getType()->isIntegerTy())
    return;
  CmpInst::Predicate Asked = Holds ? Compare->getPredicate() : Compare->getInversePredicate();
  if (std::optional<Guard> G = ordered(Asked, Compare->getOperand(0), Compare->getOperand(1));
      G && !isa<Constant>(G->High))
    Found.push_back(*G);
}

// What the branches ask for that lead to the preheader, within the loop around.
SmallVector<Guard> guardsOf(const BasicBlock *Preheader, const Loop &Around) {
  SmallVector<Guard> Found;
  const BasicBlock *Block = Preheader;
  while (Block != Around.getHeader() && Block->getSinglePredecessor()) {
    const BasicBlock *Before = Block->getSinglePredecessor();
    auto *Branch = dyn_cast<BranchInst>(Before->getTerminator());
    if (Branch && Branch->isConditional() && Branch->getSuccessor(0) != Branch->getSuccessor(1))
      collect(Branch->getCondition(), Branch->getSuccessor(0) == Block, Found);
    Block = Before;
  }
  return Found;
}

class Floor {
public:
  Floor(const Guard &G, BasicBlock &Preheader) : G(G), B(Preheader.getTerminator()) {}

  // Of the guard's bound, or of the bound in more bits; whether it is that.
  bool apply(Use &U) {
    Value *Before = U.get();
    if (U.get() == G.High)
      U.set(high());
    else if (auto *Cast = dyn_cast<CastInst>(U.get());
             Cast && isa<SExtInst, ZExtInst>(Cast) && Cast->getOperand(0) == G.High)
      U.set(B.CreateCast(Cast->getOpcode(), high(), Cast->getType(), Cast->getName()));
    return U.get() != Before;
  }

private:
  Value *high() {
    if (Made)
      return Made;
    Value *Least = G.Strict ? B.CreateAdd(G.Low, ConstantInt::get(G.Low->getType(), 1), "least") : G.Low;
    Made = B.CreateBinaryIntrinsic(G.Signed ? Intrinsic::smax : Intrinsic::umax, G.High, Least, nullptr, "bound");
    return Made;
  }

  const Guard &G;
  IRBuilder<> B;
  Value *Made = nullptr;
};

// Where a loop around has no count that is known, Enzyme would find the beginning again from its iteration while that
// has no other value yet than the first, and take it for one number: it is held.
void floorCount(Loop &L, const Guard &G, BasicBlock &Preheader, bool IsHeld) {
  Floor F(G, Preheader);
  SmallVector<Value *> Starts;
  for (PHINode &Phi : L.getHeader()->phis())
    if (Use &Start = Phi.getOperandUse(Phi.getBasicBlockIndex(&Preheader)); F.apply(Start))
      Starts.push_back(Start.get());
  SmallVector<BasicBlock *> Exiting;
  L.getExitingBlocks(Exiting);
  for (BasicBlock *Block : Exiting)
    if (auto *Branch = dyn_cast<BranchInst>(Block->getTerminator()); Branch && Branch->isConditional())
      if (auto *Compare = dyn_cast<ICmpInst>(Branch->getCondition()); Compare && L.contains(Compare))
        for (Use &U : Compare->operands())
          F.apply(U);
  if (IsHeld)
    for (Value *Start : Starts)
      hold(*Start, Preheader.getTerminator()->getIterator());
}

bool hasCount(const Loop *L, ScalarEvolution &SE) {
  return !L || (SE.hasLoopInvariantBackedgeTakenCount(L) && hasCount(L->getParentLoop(), SE));
}

void floorCount(Loop &L, DominatorTree &DT, LoopInfo &LI, ScalarEvolution &SE) {
  BasicBlock *Preheader = L.getLoopPreheader();
  if (!Preheader)
    Preheader = InsertPreheaderForLoop(&L, &DT, &LI, nullptr, /*PreserveLCSSA=*/false);
  if (!Preheader)
    return;
  for (const Guard &G : guardsOf(Preheader, *L.getParentLoop()))
    floorCount(L, G, *Preheader, !hasCount(L.getParentLoop(), SE));
}

// Where a loop goes on while X and Y are in that order, Enzyme subtracts one from Y; ScalarEvolution does it itself,
// and rightly, where Y cannot be the least number.
bool subtracts(CmpInst::Predicate GoesOn, const SCEV *Y, ScalarEvolution &SE) {
  return (GoesOn == CmpInst::ICMP_SGE && SE.getSignedRangeMin(Y).isMinSignedValue()) ||
         (GoesOn == CmpInst::ICMP_UGE && SE.getUnsignedRangeMin(Y).isMinValue());
}

// One of the comparisons that a condition is made of, by which a loop goes on that does so where the condition is true.
struct Asked {
  Value *X, *Y;
  CmpInst::Predicate GoesOn;
};

SmallVector<Asked> subtracting(const Loop &L, Value *Condition, bool GoesOnIfTrue, ScalarEvolution &SE) {
  Value *A, *B;
  if (match(Condition, m_LogicalAnd(m_Value(A), m_Value(B))) || match(Condition, m_LogicalOr(m_Value(A), m_Value(B)))) {
    SmallVector<Asked> Found = subtracting(L, A, GoesOnIfTrue, SE);
    append_range(Found, subtracting(L, B, GoesOnIfTrue, SE));
    return Found;
  }
  auto *Compare = dyn_cast<ICmpInst>(Condition);
  if (!Compare || !Compare->getOperand(0)->getType()->isIntegerTy())
    return {};
  Value *X = Compare->getOperand(0), *Y = Compare->getOperand(1);
  CmpInst::Predicate GoesOn = GoesOnIfTrue ? Compare->getPredicate() : Compare->getInversePredicate();
  if (SE.isLoopInvariant(SE.getSCEV(X), &L) && !SE.isLoopInvariant(SE.getSCEV(Y), &L)) {
    std::swap(X, Y);
    GoesOn = CmpInst::getSwappedPredicate(GoesOn);
  }
  if (subtracts(GoesOn, SE.getSCEV(Y), SE))
    return {{X, Y, GoesOn}};
  return {};
}

// With one exit the loop goes on for ever where Y is the least number, from which one cannot be subtracted.
void askStrictly(const Loop &L, BranchInst &Branch, ScalarEvolution &SE) {
  bool GoesOnIfTrue = L.contains(Branch.getSuccessor(0));
  Value *Condition = Branch.getCondition();
  SmallVector<Asked> Found = subtracting(L, Condition, GoesOnIfTrue, SE);
  if (Found.empty())
    return;
  auto [X, Y, GoesOn] = Found.front();
  auto *Steps = dyn_cast<SCEVAddRecExpr>(SE.getSCEV(X));
  if (!isa<ICmpInst>(Condition) || !L.getExitingBlock() || !Steps || Steps->getLoop() != &L) {
    Branch.setCondition(hidden(Condition, Branch.getIterator()));
    return;
  }
  IRBuilder<> B(&Branch);
  Value *Less = B.CreateAdd(Y, Constant::getAllOnesValue(Y->getType()), "below");
  CmpInst::Predicate Strict = CmpInst::getStrictPredicate(GoesOn);
  Branch.setCondition(B.CreateICmp(GoesOnIfTrue ? Strict : CmpInst::getInversePredicate(Strict), X, Less));
}

void askStrictly(const Loop &L, ScalarEvolution &SE) {
  SmallVector<BasicBlock *> Exiting;
  L.getExitingBlocks(Exiting);
  for (BasicBlock *Block : Exiting)
    if (auto *Branch = dyn_cast<BranchInst>(Block->getTerminator()); Branch && Branch->isConditional())
      askStrictly(L, *Branch, SE);
}

} // namespace

ADGEN_DECLARE_PASS(ClampTripCounts);

PreservedAnalyses ClampTripCounts::run(Module &M, ModuleAnalysisManager &MAM) {
  auto &FAM = MAM.getResult<FunctionAnalysisManagerModuleProxy>(M).getManager();
  for (Function &F : M) {
    if (F.isDeclaration())
      continue;
    auto &DT = FAM.getResult<DominatorTreeAnalysis>(F);
    auto &LI = FAM.getResult<LoopAnalysis>(F);
    auto &SE = FAM.getResult<ScalarEvolutionAnalysis>(F);
    for (Loop *L : LI.getLoopsInPreorder()) {
      if (L->getParentLoop())
        floorCount(*L, DT, LI, SE);
      askStrictly(*L, SE);
    }
  }
  return PreservedAnalyses::none();
}

} // namespace adgen
