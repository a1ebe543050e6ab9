// What is computed in any case and dropped at a choice,
//   r = log(v); if (v == 0) r = k;
// has a cotangent of zero where it is dropped, and there the derivative may be infinite: zero times infinity is no
// number. It is computed where it is chosen:
//   if (v == 0) r = k; else r = log(v);
// This is done only where something among it has a pole (a quotient, a logarithm, a root). What comparisons alone use
// otherwise, stays before them and has no derivative. The gradient of what may be dropped all the same, in another loop
// or in memory, is marked: adgen-guard-zeros looks at its cotangents.
#include "Analysis/Poles.h"
#include "Support/Guards.h"
#include "Support/Iterations.h"
#include "Support/Pass.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/PatternMatch.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/Local.h"

#define DEBUG_TYPE "adgen-sink-singularities"

using namespace llvm;
using namespace llvm::PatternMatch;

STATISTIC(NumSunk, "Number of steps that move what is dropped at a choice to where it is chosen");
STATISTIC(NumDifferences, "Number of differences of a number and itself that become constants");

namespace adgen {
namespace {

constexpr unsigned MostOperations = 32;

bool isPure(const CallInst &Call) {
  return Call.getCalledFunction() && Call.doesNotAccessMemory() && !Call.isConvergent() && Call.willReturn() &&
         Call.doesNotThrow();
}

bool isArithmetic(const Instruction &I) {
  if (!I.getType()->isFloatingPointTy())
    return false;
  auto *Call = dyn_cast<CallInst>(&I);
  return Call ? isPure(*Call) : isa<BinaryOperator, UnaryOperator, FPExtInst, FPTruncInst>(I);
}

bool isComparison(const Instruction &I) {
  auto *Call = dyn_cast<IntrinsicInst>(&I);
  if (Call && Call->getIntrinsicID() == Intrinsic::fabs)
    return all_of(I.users(), [](const User *U) { return isComparison(*cast<Instruction>(U)); });
  return isa<FCmpInst>(I) || (Call && Call->getIntrinsicID() == Intrinsic::is_fpclass);
}

bool isExtremeCall(const User &U) {
  auto *Call = dyn_cast<IntrinsicInst>(&U);
  return Call && (Call->getIntrinsicID() == Intrinsic::minnum || Call->getIntrinsicID() == Intrinsic::maxnum);
}

// What is computed for these uses alone, but for comparisons: those on one way to a merge, or on one side of choices
// with one condition.
class Tree {
public:
  Tree(ArrayRef<const Use *> Uses, const Loop *Inside, const LoopInfo &LI)
      : Uses(Uses.begin(), Uses.end()), Inside(Inside), LI(LI) {
    for (const Use *Each : Uses)
      if (auto *Root = dyn_cast<Instruction>(Each->get()); Root && belongs(*Root))
        Parts.insert(Root);
    for (unsigned I = 0; I < Parts.size() && Parts.size() <= MostOperations; ++I)
      for (Value *Operand : Parts[I]->operands())
        if (auto *Part = dyn_cast<Instruction>(Operand); Part && belongs(*Part))
          Parts.insert(Part);
  }

  bool isWorthIt() const {
    return Parts.size() <= MostOperations && any_of(Parts, [](const Instruction *I) { return hasPole(*I); });
  }

  // Computes them anew there.
  DenseMap<Value *, Value *> copyTo(BasicBlock::iterator Place, const DominatorTree &DT) {
    SmallVector<Instruction *> Order(Parts.begin(), Parts.end());
    stable_sort(Order, [&](Instruction *A, Instruction *B) { return A != B && DT.dominates(A, B); });
    DenseMap<Value *, Value *> Copies;
    for (Instruction *Part : Order) {
      Instruction *Copy = Part->clone();
      Copy->insertBefore(Place);
      for (Use &Operand : Copy->operands())
        if (Value *Known = Copies.lookup(Operand))
          Operand.set(Known);
      Copies[Part] = Copy;
      Part->setMetadata(InactiveMark, MDNode::get(Part->getContext(), {})); // if it stays, for comparisons
    }
    return Copies;
  }

private:
  bool belongs(const Instruction &I) const {
    return isArithmetic(I) && !I.hasMetadata(InactiveMark) && LI.getLoopFor(I.getParent()) == Inside &&
           all_of(I.uses(), [&](const Use &U) {
             auto *User = cast<Instruction>(U.getUser());
             return Uses.contains(&U) || isComparison(*User) || Parts.contains(User);
           });
  }

  SmallPtrSet<const Use *, 4> Uses;
  const Loop *Inside;
  const LoopInfo &LI;
  SmallSetVector<Instruction *, 16> Parts;
};

// Which of two numbers is the smaller, or the greater; what is no number is not chosen.
Value *isExtreme(IRBuilder<> &B, const IntrinsicInst &Extreme) {
  Value *One = Extreme.getArgOperand(0), *Other = Extreme.getArgOperand(1);
  bool IsLeast = Extreme.getIntrinsicID() == Intrinsic::minnum;
  Value *Chosen = B.CreateFCmp(IsLeast ? CmpInst::FCMP_OLT : CmpInst::FCMP_OGT, One, Other);
  return isa<ConstantFP>(Other) ? Chosen : B.CreateOr(Chosen, B.CreateFCmpUNO(Other, Other));
}

class Choices {
public:
  Choices(Function &F, FunctionAnalysisManager &FAM)
      : LI(FAM.getResult<LoopAnalysis>(F)), DT(FAM.getResult<DominatorTreeAnalysis>(F)) {}

  // Whether anything was done; the analyses do not hold any more then.
  bool change(Instruction &I) {
    if (!I.getType()->isFloatingPointTy())
      return false;
    auto *Phi = dyn_cast<PHINode>(&I);
    return Phi ? sinkInto(*Phi) : becomesBranch(I);
  }

private:
  // What is computed before ways part, and taken on one of them.
  bool sinkInto(PHINode &Phi) {
    BasicBlock &Merge = *Phi.getParent();
    if (LI.isLoopHeader(&Merge) || !DT.isReachableFromEntry(&Merge) || Phi.getNumIncomingValues() < 2)
      return false;
    for (Use &Incoming : Phi.incoming_values()) {
      BasicBlock *From = Phi.getIncomingBlock(Incoming);
      if (isComputedBefore(Incoming, Merge) && count(successors(From), &Merge) == 1 &&
          LI.getLoopFor(From) == LI.getLoopFor(&Merge) &&
          (sink({&Incoming}, From, Merge) || sink(allOf(From, Merge), From, Merge)))
        return true;
    }
    return false;
  }

  bool isComputedBefore(const Use &Incoming, const BasicBlock &Merge) const {
    auto *Root = dyn_cast<Instruction>(Incoming);
    return Root && DT.dominates(Root->getParent(), &Merge);
  }

  // All that comes on one way to a merge.
  SmallVector<Use *> allOf(BasicBlock *From, BasicBlock &Merge) const {
    SmallVector<Use *> Found;
    for (PHINode &Phi : Merge.phis())
      if (Use &Incoming = Phi.getOperandUse(Phi.getBasicBlockIndex(From)); isComputedBefore(Incoming, Merge))
        Found.push_back(&Incoming);
    return Found;
  }

  bool sink(ArrayRef<Use *> Brought, BasicBlock *From, BasicBlock &Merge) {
    Tree Dropped(SmallVector<const Use *>(Brought), LI.getLoopFor(&Merge), LI);
    if (!Dropped.isWorthIt())
      return false;
    BasicBlock *Way = From->getSingleSuccessor() ? From : SplitEdge(From, &Merge);
    const auto Copies = Dropped.copyTo(Way->getTerminator()->getIterator(), DT);
    SmallVector<WeakTrackingVH> Before;
    for (Use *Each : Brought)
      if (Value *Copy = Copies.lookup(Each->get())) {
        Before.push_back(Each->get());
        Each->set(Copy);
      }
    IRBuilder<>(Way->getTerminator()).CreateCall(declarePin(*Way->getModule(), "way")); // Enzyme would join the ways
    RecursivelyDeleteTriviallyDeadInstructionsPermissive(Before);
    return true;
  }

  // After which the choice is a phi.
  bool becomesBranch(Instruction &I) {
    auto *Select = dyn_cast<SelectInst>(&I);
    if (!isExtremeCall(I) && !(Select && Select->getCondition()->getType()->isIntegerTy(1)))
      return false;
    const unsigned First = Select ? 1 : 0; // of the two numbers among the operands
    SmallVector<Instruction *> Together{&I};
    if (!isWorthIt(Together, First)) {
      if (Select)
        append_range(Together, othersLike(*Select));
      if (Together.size() == 1 || !isWorthIt(Together, First))
        return false;
    }
    IRBuilder<> B(&I);
    branch(Together, First, Select ? Select->getCondition() : isExtreme(B, cast<IntrinsicInst>(I)));
    return true;
  }

  // Whether something with a pole is computed for one side of these choices.
  bool isWorthIt(ArrayRef<Instruction *> Choices, unsigned First) const {
    return any_of(ArrayRef<unsigned>{First, First + 1}, [&](unsigned Side) {
      SmallVector<const Use *> Uses(map_range(Choices, [&](Instruction *I) { return &I->getOperandUse(Side); }));
      return Tree(Uses, LI.getLoopFor(Choices.front()->getParent()), LI).isWorthIt();
    });
  }

  // Choices behind it with the same condition, among what can be computed before it.
  SmallVector<Instruction *> othersLike(SelectInst &First) const {
    SmallVector<Instruction *> Found;
    for (Instruction &I : make_range(std::next(First.getIterator()), First.getParent()->end())) {
      auto *Other = dyn_cast<SelectInst>(&I);
      if (Other && Other->getCondition() == First.getCondition() && I.getType()->isFloatingPointTy() &&
          canPrecede(*Other->getTrueValue(), First) && canPrecede(*Other->getFalseValue(), First))
        Found.push_back(&I);
    }
    return Found;
  }

  bool canPrecede(const Value &V, const Instruction &Place) const {
    auto *I = dyn_cast<Instruction>(&V);
    return !I || DT.dominates(I, &Place) ||
           (isArithmetic(*I) && all_of(I->operands(), [&](const Use &U) { return canPrecede(*U, Place); }));
  }

  void movePreceding(Value &V, Instruction &Place) const {
    auto *I = dyn_cast<Instruction>(&V);
    if (!I || DT.dominates(I, &Place))
      return;
    for (Use &Operand : I->operands())
      movePreceding(*Operand, Place);
    if (!I->comesBefore(&Place))
      I->moveBefore(Place.getIterator());
  }

  void branch(ArrayRef<Instruction *> Choices, unsigned First, Value *Chosen) {
    Instruction &Place = *Choices.front();
    for (Instruction *Each : Choices)
      for (unsigned Side : {First, First + 1})
        movePreceding(*Each->getOperand(Side), Place);
    BasicBlock *Head = Place.getParent();
    Instruction *Way = SplitBlockAndInsertIfThen(Chosen, Place.getIterator(), /*Unreachable=*/false);
    BasicBlock *Merge = Place.getParent();
    for (Instruction *Each : Choices) {
      PHINode *Phi = PHINode::Create(Each->getType(), 2, Each->getName(), Merge->begin());
      Phi->addIncoming(Each->getOperand(First), Way->getParent());
      Phi->addIncoming(Each->getOperand(First + 1), Head);
      Phi->setDebugLoc(Each->getDebugLoc());
      Each->replaceAllUsesWith(Phi);
      Each->eraseFromParent();
    }
  }

  const LoopInfo &LI;
  const DominatorTree &DT;
};

bool sinkIn(Function &F, FunctionAnalysisManager &FAM) {
  bool Changed = false;
  for (bool Again = true; Again;) {
    Choices Of(F, FAM);
    Again = any_of(instructions(F), [&](Instruction &I) { return Of.change(I); });
    if (Again) {
      ADGEN_COUNT(NumSunk, F.getName());
      FAM.invalidate(F, PreservedAnalyses::none());
      Changed = true;
    }
  }
  return Changed;
}

Value *takenFromItself(IRBuilder<> &B, Value *X) {
  Type *Ty = X->getType();
  Value *IsFinite = B.CreateFCmpOLT(B.CreateUnaryIntrinsic(Intrinsic::fabs, X), ConstantFP::getInfinity(Ty));
  return B.CreateSelect(IsFinite, ConstantFP::getZero(Ty), ConstantFP::getNaN(Ty));
}

// What x is of x - x, or of c ? x - x : x + y, which the optimiser writes as x + (c ? -x : y).
Value *withoutItself(BinaryOperator &I) {
  Value *X, *Y, *Chosen;
  if (match(&I, m_FSub(m_Value(X), m_Deferred(X)))) {
    IRBuilder<> B(&I);
    return takenFromItself(B, X);
  }
  if (!match(&I, m_FAdd(m_Value(X), m_Value(Chosen))))
    return nullptr;
  for (auto [One, Other] : {std::pair(X, Chosen), std::pair(Chosen, X)}) {
    Value *Condition;
    const bool First = match(Other, m_OneUse(m_Select(m_Value(Condition), m_FNeg(m_Specific(One)), m_Value(Y))));
    if (!First && !match(Other, m_OneUse(m_Select(m_Value(Condition), m_Value(Y), m_FNeg(m_Specific(One))))))
      continue;
    IRBuilder<> B(&I);
    Value *Nothing = takenFromItself(B, One), *Sum = B.CreateFAddFMF(One, Y, &I);
    return B.CreateSelect(Condition, First ? Nothing : Sum, First ? Sum : Nothing);
  }
  return nullptr;
}

bool dropDifferences(Function &F) {
  SmallVector<WeakTrackingVH> Dropped;
  for (Instruction &I : instructions(F))
    if (auto *Operator = dyn_cast<BinaryOperator>(&I); Operator && I.getType()->isFloatingPointTy())
      if (Value *Constant = withoutItself(*Operator)) {
        ADGEN_COUNT(NumDifferences, F.getName());
        I.replaceAllUsesWith(Constant);
        Dropped.push_back(&I);
      }
  return RecursivelyDeleteTriviallyDeadInstructionsPermissive(Dropped);
}

bool isBody(const Function &F) {
  return !F.isDeclaration() && (F.getName().starts_with(BodyPrefix) || F.getName().starts_with(RegionPrefix));
}

// That of a body itself, or of all that may lead to a parallel region.
void markGradients(const Function &Dropping, Module &M) {
  StringRef Symbol = Dropping.getName();
  bool IsRegion = !Symbol.consume_front(BodyPrefix);
  for (Function &F : M)
    if (StringRef Name = F.getName(); Name.consume_front(GradientPrefix) && (IsRegion || Name == Symbol))
      F.addFnAttr(DroppedPolesAttribute);
}

} // namespace

ADGEN_DECLARE_PASS(SinkSingularities);

PreservedAnalyses SinkSingularities::run(Module &M, ModuleAnalysisManager &MAM) {
  auto &FAM = MAM.getResult<FunctionAnalysisManagerModuleProxy>(M).getManager();
  bool Changed = false;
  for (Function &F : M)
    if (isBody(F)) {
      Changed |= dropDifferences(F);
      Changed |= sinkIn(F, FAM);
      if (KeptNumbers Of(F); Of.dropsPoles()) {
        Of.mark();
        markGradients(F, M);
        Changed = true;
      }
    }
  return Changed ? PreservedAnalyses::none() : PreservedAnalyses::all();
}

} // namespace adgen
