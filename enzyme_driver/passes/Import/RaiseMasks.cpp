// Bits that are chosen by a mask become a choice. Where a mask has all bits or none ((c ? ~0u : 0), -(unsigned)c, the
// sign shifted through the word), x & m | y & ~m is c ? x : y, and t = (x ^ y) & m; x ^= t; y ^= t swaps x and y if c.
// Of numbers whose bits are chosen so, Enzyme stops at the arithmetic with integers; of a choice it knows the
// derivative. LLVM's own optimiser leaves what has more than one use, as the swap has.
#include "Support/Pass.h"

#include "llvm/Analysis/InstructionSimplify.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/PatternMatch.h"
#include "llvm/Transforms/Utils/Local.h"

using namespace llvm;
using namespace PatternMatch;

namespace adgen {
namespace {

// One of two values.
struct Choice {
  Value *Condition, *True, *False;
};

std::optional<Choice> choiceOf(Value *V) {
  Value *Condition, *True, *False;
  if (match(V, m_Select(m_Value(Condition), m_Value(True), m_Value(False))))
    return Choice{Condition, True, False};
  bool IsMask = match(V, m_SExt(m_Value(Condition))) || match(V, m_Neg(m_ZExt(m_Value(Condition))));
  if (!IsMask || !Condition->getType()->isIntOrIntVectorTy(1))
    return std::nullopt;
  return Choice{Condition, Constant::getAllOnesValue(V->getType()), Constant::getNullValue(V->getType())};
}

// The same bits chosen instead of computed; null where a way has something left to compute.
Value *raised(BinaryOperator &I, const SimplifyQuery &Query) {
  for (unsigned Operand : {0u, 1u}) {
    std::optional<Choice> Chosen = choiceOf(I.getOperand(Operand));
    if (!Chosen)
      continue;
    Value *Along = I.getOperand(1 - Operand), *OnTrue = Along, *OnFalse = Along;
    if (std::optional<Choice> Other = choiceOf(Along)) {
      if (Other->Condition == Chosen->Condition)
        std::tie(OnTrue, OnFalse) = std::pair(Other->True, Other->False);
      else if (isKnownInversion(Other->Condition, Chosen->Condition))
        std::tie(OnTrue, OnFalse) = std::pair(Other->False, Other->True);
    }
    Value *True = simplifyBinOp(I.getOpcode(), Chosen->True, OnTrue, Query);
    Value *False = simplifyBinOp(I.getOpcode(), Chosen->False, OnFalse, Query);
    if (True && False)
      return IRBuilder<>(&I).CreateSelect(Chosen->Condition, True, False);
  }
  return nullptr;
}

// A sign that is shifted through the word is a mask.
bool chooseBySigns(Function &F) {
  bool Changed = false;
  for (Instruction &I : make_early_inc_range(instructions(F))) {
    Value *Number;
    if (!match(&I, m_AShr(m_Value(Number), m_SpecificInt(I.getType()->getScalarSizeInBits() - 1))) ||
        none_of(I.users(), [](User *U) { return cast<Instruction>(U)->isBitwiseLogicOp(); }))
      continue;
    IRBuilder<> B(&I);
    I.replaceAllUsesWith(B.CreateSExt(B.CreateIsNeg(Number), I.getType()));
    I.eraseFromParent();
    Changed = true;
  }
  return Changed;
}

bool raiseMasks(Function &F) {
  bool Changed = chooseBySigns(F), Again = true;
  while (std::exchange(Again, false))
    for (Instruction &I : make_early_inc_range(instructions(F))) {
      auto *Binary = dyn_cast<BinaryOperator>(&I);
      if (!Binary || !Binary->isBitwiseLogicOp() || Binary->getType()->isIntOrIntVectorTy(1))
        continue;
      if (Value *Chosen = raised(*Binary, SimplifyQuery(F.getDataLayout(), Binary))) {
        Binary->replaceAllUsesWith(Chosen);
        Binary->eraseFromParent();
        Changed = Again = true;
      }
    }
  return Changed;
}

void eraseUnused(Function &F) {
  SmallVector<WeakTrackingVH> Unused;
  for (Instruction &I : instructions(F))
    if (isInstructionTriviallyDead(&I))
      Unused.emplace_back(&I);
  RecursivelyDeleteTriviallyDeadInstructions(Unused);
}

} // namespace

ADGEN_DECLARE_PASS(RaiseMasks);

PreservedAnalyses RaiseMasks::run(Module &M, ModuleAnalysisManager &) {
  bool Changed = false;
  for (Function &F : M)
    if (!F.isDeclaration() && F.getName().starts_with(BodyPrefix) && raiseMasks(F)) {
      eraseUnused(F); // Enzyme stops at arithmetic with bits though nothing uses it
      Changed = true;
    }
  return Changed ? PreservedAnalyses::none() : PreservedAnalyses::all();
}

} // namespace adgen
