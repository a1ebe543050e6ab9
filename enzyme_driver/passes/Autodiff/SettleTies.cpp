// The largest number of a warp, by exchanges with the lane that one bit tells apart (`m = max(m, shfl_xor(m, d))`): of
// two that are equal each of the two lanes would take its own, and the derivative of what they all hold would be of one
// number in some lanes and of another in others. A softmax does not depend on the maximum that it takes away, but only
// as long as that is the same number everywhere: its gradient was wrong wherever two were the largest. Here both lanes
// take the number of the lower one. Which it is shows in no value.
#include "Support/Adgen.h"
#include "Support/Pass.h"

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/IR/PatternMatch.h"

#define DEBUG_TYPE "adgen-settle-ties"

using namespace llvm;
using namespace llvm::PatternMatch;

STATISTIC(NumTies, "Number of choices settled");

namespace adgen {
namespace {

constexpr unsigned OffsetOperand = 2;

bool isExchange(const Instruction &I) {
  auto *Call = dyn_cast<CallInst>(&I);
  const Function *Callee = Call ? Call->getCalledFunction() : nullptr;
  return Callee && (Callee->getIntrinsicID() == Intrinsic::nvvm_shfl_sync_bfly_f32 ||
                    Callee->getName() == "_Z15__shfl_xor_syncjdii");
}

// A choice between the number that came from the other lane and the own one, by comparing them.
class Tie {
public:
  Tie(SelectInst &Choice, CallInst &Exchange)
      : Choice(Choice), Exchange(Exchange), TakesOther(Choice.getTrueValue() == &Exchange),
        Own(TakesOther ? Choice.getFalseValue() : Choice.getTrueValue()) {}

  bool settle() {
    IRBuilder<> B(&Choice);
    Value *Settled = settled(B, Choice.getCondition());
    if (!Settled)
      return false;
    ADGEN_COUNT(NumTies, Choice);
    Choice.setCondition(Settled);
    return true;
  }

private:
  // The condition, true for equal numbers in one of the two lanes alone; null where it asks something else.
  Value *settled(IRBuilder<> &B, Value *Condition) {
    Value *Left, *Right;
    if (match(Condition, m_LogicalOr(m_Value(Left), m_Value(Right)))) { // as fmaxf asks for NaN
      Value *New = settled(B, Left);
      return New ? B.CreateLogicalOr(New, Right) : nullptr;
    }
    auto *Comparison = dyn_cast<FCmpInst>(Condition);
    if (!Comparison || !compares(*Comparison))
      return nullptr;
    CmpInst::Predicate Strict = CmpInst::getStrictPredicate(Comparison->getPredicate());
    CmpInst::Predicate NonStrict = CmpInst::getNonStrictPredicate(Strict);
    if (Strict == NonStrict) // asks whether they are equal, or numbers
      return nullptr;
    Value *With = compare(B, *Comparison, NonStrict), *Without = compare(B, *Comparison, Strict);
    return TakesOther ? B.CreateSelect(isLower(B), Without, With) : B.CreateSelect(isLower(B), With, Without);
  }

  bool compares(const FCmpInst &Comparison) const {
    const Value *One = Comparison.getOperand(0), *Two = Comparison.getOperand(1);
    return (One == &Exchange && Two == Own) || (One == Own && Two == &Exchange);
  }

  static Value *compare(IRBuilder<> &B, FCmpInst &Comparison, CmpInst::Predicate Kind) {
    Value *New = B.CreateFCmp(Kind, Comparison.getOperand(0), Comparison.getOperand(1));
    cast<Instruction>(New)->copyFastMathFlags(&Comparison);
    return New;
  }

  Value *isLower(IRBuilder<> &B) const {
    Value *Lane = B.CreateIntrinsic(B.getInt32Ty(), Intrinsic::nvvm_read_ptx_sreg_laneid, {});
    return B.CreateICmpULT(Lane, B.CreateXor(Lane, Exchange.getArgOperand(OffsetOperand)));
  }

  SelectInst &Choice;
  CallInst &Exchange;
  bool TakesOther;
  Value *Own;
};

} // namespace

ADGEN_DECLARE_PASS(SettleTies);

PreservedAnalyses SettleTies::run(Module &M, ModuleAnalysisManager &) {
  bool Changed = false;
  for (Function &F : M)
    if (F.getName().starts_with(BodyPrefix))
      for (Instruction &I : make_early_inc_range(instructions(F)))
        if (isExchange(I))
          for (User *U : make_early_inc_range(I.users()))
            if (auto *Choice = dyn_cast<SelectInst>(U); Choice && Choice->getCondition() != &I)
              Changed |= Tie(*Choice, cast<CallInst>(I)).settle();
  return Changed ? PreservedAnalyses::none() : PreservedAnalyses::all();
}

} // namespace adgen
