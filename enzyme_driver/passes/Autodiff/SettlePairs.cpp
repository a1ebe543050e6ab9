// Of two numbers a thread takes the larger one, and somewhere else the smaller one, as where it sorts them: what it has
// then are both. Where they are equal the two choices may be of the same number, which would have the cotangents of
// both, the other one none, although a sum of the two is as smooth as that of the numbers. Here the smaller one is the
// one that the larger one is not. Which it is shows in no value.
#include "Autodiff/Choices.h"
#include "Support/Pass.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/PatternMatch.h"

#define DEBUG_TYPE "adgen-settle-pairs"

using namespace llvm;
using namespace llvm::PatternMatch;

STATISTIC(NumPairs, "Number of smaller numbers that are the other one");

namespace adgen {
namespace {

using Key = std::pair<const Value *, const Value *>;

// What a number was read from stands for it: nothing else may have been stored there meanwhile, or then it does no
// harm.
const Value *placeOf(const Value *V) {
  auto *Load = dyn_cast<LoadInst>(V);
  return Load ? Load->getPointerOperand() : V;
}

bool isReceived(const Value *V) {
  auto *Load = dyn_cast<LoadInst>(V);
  auto *Call = Load ? dyn_cast_or_null<CallInst>(Load->getPrevNode()) : nullptr;
  return Call && Call->getCalledFunction() && Call->getCalledFunction()->getName().starts_with(RulePrefix);
}

// Both of a pair, unless one or the other is taken, as where threads sort: then each keeps its own.
bool areBoth(const Instruction &Larger, const Instruction &Smaller, const DominatorTree &DT) {
  if (!DT.dominates(Larger.getParent(), Smaller.getParent()) && !DT.dominates(Smaller.getParent(), Larger.getParent()))
    return false;
  return none_of(Larger.users(),
                 [&](const User *U) { return isa<SelectInst, PHINode>(U) && is_contained(U->operands(), &Smaller); });
}

// A condition, with the other answer where the two are equal.
Value *turned(IRBuilder<> &B, Value *Condition, const ChoiceOfTwo &Of) {
  Value *Left, *Right;
  auto *Comparison = dyn_cast<FCmpInst>(Condition);
  if (Comparison && !Comparison->isEquality() && saysOf(*Comparison, *Of.A, *Of.B, Order::Larger)) {
    CmpInst::Predicate Kind = Comparison->getPredicate(), Strict = CmpInst::getStrictPredicate(Kind);
    CmpInst::Predicate Other = Kind == Strict ? CmpInst::getNonStrictPredicate(Kind) : Strict;
    if (Other != Kind)
      return B.CreateFCmp(Other, Comparison->getOperand(0), Comparison->getOperand(1));
  }
  if (match(Condition, m_LogicalOr(m_Value(Left), m_Value(Right))) && isa<FCmpInst>(Left) && isa<FCmpInst>(Right))
    for (auto [One, Two] : {std::pair(Left, Right), {Right, Left}})
      if (cast<FCmpInst>(Two)->getPredicate() == CmpInst::FCMP_UNO)
        return B.CreateLogicalOr(turned(B, One, Of), Two);
  return B.CreateXor(Condition, B.CreateFCmpOEQ(Of.A, Of.B));
}

// Nothing makes an operation of the choice any more that would not say which of the two it takes.
void keepOrder(Instruction &I) {
  if (isa<SelectInst>(I) && isa<FPMathOperator>(I)) {
    I.setHasNoNaNs(false);
    I.setHasNoSignedZeros(false);
  }
}

// Has a choice take the one of two equal numbers that is of this place, or the other one.
bool take(Instruction &I, const Value *Place, bool Other) {
  ChoiceOfTwo Of = *choiceOf(I);
  Value *Wanted = (placeOf(Of.A) == Place) != Other ? Of.A : Of.B;
  keepOrder(I);
  if (Of.OfEqual == Wanted)
    return false;
  auto *Select = dyn_cast<SelectInst>(&I);
  IRBuilder<> B(Select ? &I : I.getNextNode());
  if (Select) {
    Select->setCondition(turned(B, Select->getCondition(), Of));
    return true;
  }
  Value *Told = B.CreateSelect(B.CreateFCmpOEQ(Of.A, Of.B), Wanted, &I);
  I.replaceUsesWithIf(Told, [&](Use &U) { return U.getUser() != Told; });
  return true;
}

// The choices between two numbers.
struct Pair {
  SmallVector<Instruction *> Larger, Smaller;

  bool areTaken(const DominatorTree &DT) const {
    return any_of(Larger, [&](const Instruction *One) {
      return any_of(Smaller, [&](const Instruction *Other) { return areBoth(*One, *Other, DT); });
    });
  }

  bool settle() {
    ChoiceOfTwo First = *choiceOf(*Larger.front());
    const Value *Place = placeOf(First.OfEqual ? First.OfEqual : First.A);
    bool Changed = false;
    for (Instruction *I : Larger)
      Changed |= take(*I, Place, false);
    for (Instruction *I : Smaller)
      if (take(*I, Place, true)) {
        ADGEN_COUNT(NumPairs, *I);
        Changed = true;
      }
    return Changed;
  }
};

bool settleIn(Function &Body, const DominatorTree &DT) {
  MapVector<Key, Pair> Pairs;
  for (Instruction &I : instructions(Body)) {
    auto Of = I.getType()->isFloatingPointTy() ? choiceOf(I) : std::nullopt;
    if (!Of || (isa<SelectInst>(I) && !Of->OfEqual) || isReceived(Of->A) || isReceived(Of->B))
      continue;
    Key Places(placeOf(Of->A), placeOf(Of->B));
    if (Places.first == Places.second)
      continue;
    Pair &Both = Pairs[std::less<>()(Places.second, Places.first) ? Key(Places.second, Places.first) : Places];
    (Of->Kind == Extreme::Largest ? Both.Larger : Both.Smaller).push_back(&I);
  }
  bool Changed = false;
  for (auto &Each : Pairs)
    if (Each.second.areTaken(DT))
      Changed |= Each.second.settle();
  return Changed;
}

} // namespace

ADGEN_DECLARE_PASS(SettlePairs);

PreservedAnalyses SettlePairs::run(Module &M, ModuleAnalysisManager &MAM) {
  auto &Analyses = MAM.getResult<FunctionAnalysisManagerModuleProxy>(M).getManager();
  bool Changed = false;
  for (Function &F : M)
    if (!F.isDeclaration())
      Changed |= settleIn(F, Analyses.getResult<DominatorTreeAnalysis>(F));
  return Changed ? PreservedAnalyses::none() : PreservedAnalyses::all();
}

} // namespace adgen
