// What is computed in any case and dropped at a choice,
//   r = log(v); if (v == 0) r = k;
// has a cotangent of zero where it is dropped, and there the derivative may be infinite: zero times infinity is no
// number. It is computed where it is chosen:
//   if (v == 0) r = k; else r = log(v);
// This is done only where something among it has a pole (a quotient, a logarithm, a root). What comparisons alone use
// otherwise, stays before them and has no derivative.
#include "Support/Guards.h"
#include "Support/Iterations.h"
#include "Support/Pass.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/Local.h"

#define DEBUG_TYPE "adgen-sink-singularities"

using namespace llvm;

STATISTIC(NumSunk, "Number of steps that move what is dropped at a choice to where it is chosen");

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

bool hasPole(const Instruction &I) {
  if (I.getOpcode() == Instruction::FDiv)
    return !isa<Constant>(I.getOperand(1));
  auto *Call = dyn_cast<CallInst>(&I);
  if (!Call)
    return false;
  StringRef Name = Call->getCalledFunction()->getName();
  return any_of(ArrayRef<StringRef>{"log", "pow", "sqrt", "cbrt", "acos", "asin", "atanh", "gamma", "div", "rcp", "inv",
                                    "hypot", "norm"},
                [&](StringRef Word) { return Name.contains(Word); });
}

bool isComparison(const Instruction &I) {
  auto *Call = dyn_cast<IntrinsicInst>(&I);
  if (Call && Call->getIntrinsicID() == Intrinsic::fabs)
    return all_of(I.users(), [](const User *U) { return isComparison(*cast<Instruction>(U)); });
  return isa<FCmpInst>(I) || (Call && Call->getIntrinsicID() == Intrinsic::is_fpclass);
}

// What is computed for one use alone, but for comparisons.
class Tree {
public:
  Tree(const Use &Only, const Loop *Inside, const LoopInfo &LI) : Only(Only), Inside(Inside), LI(LI) {
    auto *Root = dyn_cast<Instruction>(Only.get());
    if (!Root || !belongs(*Root))
      return;
    Parts.insert(Root);
    for (unsigned I = 0; I < Parts.size() && Parts.size() <= MostOperations; ++I)
      for (Value *Operand : Parts[I]->operands())
        if (auto *Part = dyn_cast<Instruction>(Operand); Part && belongs(*Part))
          Parts.insert(Part);
  }

  bool isWorthIt() const {
    return Parts.size() <= MostOperations && any_of(Parts, [](const Instruction *I) { return hasPole(*I); });
  }

  // Computes it anew there.
  Value *copyTo(BasicBlock::iterator Place, const DominatorTree &DT) {
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
    return Copies[Only.get()];
  }

private:
  bool belongs(const Instruction &I) const {
    return isArithmetic(I) && !I.hasMetadata(InactiveMark) && LI.getLoopFor(I.getParent()) == Inside &&
           all_of(I.uses(), [&](const Use &U) {
             auto *User = cast<Instruction>(U.getUser());
             return &U == &Only || isComparison(*User) || Parts.contains(User);
           });
  }

  const Use &Only;
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
    if (LI.isLoopHeader(&Merge) || !DT.isReachableFromEntry(&Merge))
      return false;
    for (Use &Incoming : Phi.incoming_values()) {
      auto *Root = dyn_cast<Instruction>(Incoming);
      BasicBlock *From = Phi.getIncomingBlock(Incoming);
      if (!Root || Phi.getNumIncomingValues() < 2 || count(successors(From), &Merge) != 1 ||
          LI.getLoopFor(From) != LI.getLoopFor(&Merge) || !DT.dominates(Root->getParent(), &Merge))
        continue;
      Tree Dropped(Incoming, LI.getLoopFor(&Merge), LI);
      if (!Dropped.isWorthIt())
        continue;
      BasicBlock *Way = From->getSingleSuccessor() ? From : SplitEdge(From, &Merge);
      Incoming.set(Dropped.copyTo(Way->getTerminator()->getIterator(), DT));
      IRBuilder<>(Way->getTerminator()).CreateCall(declarePin(*Way->getModule(), "way")); // Enzyme would join the ways
      RecursivelyDeleteTriviallyDeadInstructions(Root);
      return true;
    }
    return false;
  }

  // After which the choice is a phi.
  bool becomesBranch(Instruction &I) {
    auto *Select = dyn_cast<SelectInst>(&I);
    auto *Extreme = dyn_cast<IntrinsicInst>(&I);
    if (Extreme && Extreme->getIntrinsicID() != Intrinsic::minnum && Extreme->getIntrinsicID() != Intrinsic::maxnum)
      return false;
    if (!Extreme && !(Select && Select->getCondition()->getType()->isIntegerTy(1)))
      return false;
    Use &One = I.getOperandUse(Select ? 1 : 0), &Other = I.getOperandUse(Select ? 2 : 1);
    const Loop *Inside = LI.getLoopFor(I.getParent());
    if (!Tree(One, Inside, LI).isWorthIt() && !Tree(Other, Inside, LI).isWorthIt())
      return false;
    IRBuilder<> B(&I);
    Value *Chosen = Select ? Select->getCondition() : isExtreme(B, *Extreme);
    BasicBlock *Head = I.getParent();
    Instruction *Way = SplitBlockAndInsertIfThen(Chosen, I.getIterator(), /*Unreachable=*/false);
    PHINode *Phi = PHINode::Create(I.getType(), 2, I.getName(), I.getParent()->begin());
    Phi->addIncoming(One, Way->getParent());
    Phi->addIncoming(Other, Head);
    Phi->setDebugLoc(I.getDebugLoc());
    I.replaceAllUsesWith(Phi);
    I.eraseFromParent();
    return true;
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

} // namespace

ADGEN_DECLARE_PASS(SinkSingularities);

PreservedAnalyses SinkSingularities::run(Module &M, ModuleAnalysisManager &MAM) {
  auto &FAM = MAM.getResult<FunctionAnalysisManagerModuleProxy>(M).getManager();
  bool Changed = false;
  for (Function &F : M)
    if ((F.getName().starts_with(BodyPrefix) || F.getName().starts_with(RegionPrefix)) && !F.isDeclaration())
      Changed |= sinkIn(F, FAM);
  return Changed ? PreservedAnalyses::none() : PreservedAnalyses::all();
}

} // namespace adgen
