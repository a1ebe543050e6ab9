// (x + C) - C with a C so large that nothing behind the point is left in between is x rounded: a step, which has slope
// 0. Enzyme sees an addition and a subtraction, whose slope is 1; what x is short of the step would have none, and with
// it the sine or exponential of it. What is made of the bits of x + C is a step as well.
#include "Analysis/Bits.h"
#include "Support/Pass.h"

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/PatternMatch.h"

using namespace llvm;
using namespace llvm::PatternMatch;

namespace adgen {
namespace {

// A table of so many steps between two whole numbers is the finest in use.
constexpr int FinestSteps = 8;

// 1.5 or 1 times the power of two at which floats are whole numbers; the former, as nobody writes it otherwise, for
// fractions as well.
bool leavesSteps(const APFloat &Constant) {
  int Whole = APFloat::semanticsPrecision(Constant.getSemantics()) - 1;
  if (!Constant.isFiniteNonZero())
    return false;
  int Exponent = ilogb(Constant);
  double Mantissa = abs(scalbn(Constant, -Exponent, APFloat::rmNearestTiesToEven)).convertToDouble();
  return (Mantissa == 1.5 && Exponent >= Whole - FinestSteps) || (Mantissa == 1.0 && Exponent >= Whole);
}

// A product and sum of libdevice or of the C library, which a witness keeps as a call.
bool isFusedCall(const Value *V, const APFloat *&Added) {
  auto *Call = dyn_cast<CallInst>(V);
  const Function *Called = Call ? Call->getCalledFunction() : nullptr;
  return Called && is_contained({"__nv_fmaf", "__nv_fma", "fmaf", "fma"}, Called->getName()) && Call->arg_size() == 3 &&
         match(Call->getArgOperand(2), m_APFloat(Added));
}

// What the value was increased by so that its fraction went.
const APFloat *addedSteps(Value *V) {
  const APFloat *C;
  bool Adds = match(V, m_c_FAdd(m_Value(), m_APFloat(C))) ||
              match(V, m_Intrinsic<Intrinsic::fma>(m_Value(), m_Value(), m_APFloat(C))) ||
              match(V, m_Intrinsic<Intrinsic::fmuladd>(m_Value(), m_Value(), m_APFloat(C))) || isFusedCall(V, C);
  if (Adds)
    return leavesSteps(*C) ? C : nullptr;
  return match(V, m_FSub(m_Value(), m_APFloat(C))) && leavesSteps(*C) ? C : nullptr;
}

} // namespace

// The number less what it was increased by, or its bits, from which people take the whole number.
bool isRounding(Instruction &I) {
  Value *V;
  const APFloat *C;
  if (I.getType()->isVectorTy())
    return false;
  if (auto *Bits = dyn_cast<BitCastInst>(&I))
    return Bits->getType()->isIntegerTy() && addedSteps(Bits->getOperand(0));
  if (!match(&I, m_FSub(m_Value(V), m_APFloat(C))) && !match(&I, m_c_FAdd(m_Value(V), m_APFloat(C))))
    return false;
  const APFloat *Added = addedSteps(V);
  return Added && abs(*Added).bitwiseIsEqual(abs(*C));
}

void hideRoundings(Function &F) {
  for (Instruction &I : make_early_inc_range(instructions(F))) {
    if (!isRounding(I))
      continue;
    Value *Number = isa<BitCastInst>(I) ? I.getOperand(0) : &I;
    CallInst *Step =
        IRBuilder<>(I.getNextNode()).CreateCall(hiddenFrom(*F.getParent(), Number->getType(), I.getType()), Number);
    I.replaceUsesWithIf(Step, [&](const Use &U) { return U.getUser() != Step; });
    if (I.use_empty())
      I.eraseFromParent();
  }
}

} // namespace adgen
