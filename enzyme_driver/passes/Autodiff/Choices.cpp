#include "Autodiff/Choices.h"

#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/PatternMatch.h"

using namespace llvm;
using namespace llvm::PatternMatch;

namespace adgen {
namespace {

using Answer = std::optional<bool>;

constexpr unsigned Deepest = 6;

Answer compared(const FCmpInst &Comparison, const Value &A, const Value &B, Order Is) {
  CmpInst::Predicate Kind = Comparison.getPredicate();
  if (Kind == CmpInst::FCMP_UNO || Kind == CmpInst::FCMP_ORD)
    return Kind == CmpInst::FCMP_ORD; // of numbers
  bool IsSame = Comparison.getOperand(0) == &A && Comparison.getOperand(1) == &B;
  if (!IsSame && !(Comparison.getOperand(0) == &B && Comparison.getOperand(1) == &A))
    return std::nullopt;
  double Left = Is == Order::Larger, Right = Is == Order::Smaller;
  if (!IsSame)
    std::swap(Left, Right);
  return FCmpInst::compare(APFloat(Left), APFloat(Right), Kind);
}

Answer asked(const Value &Condition, const Value &A, const Value &B, Order Is, unsigned Depth) {
  auto Ask = [&](const Value *Of) { return asked(*Of, A, B, Is, Depth + 1); };
  const Value *One, *Two, *Three;
  if (Depth > Deepest)
    return std::nullopt;
  if (auto *Known = dyn_cast<ConstantInt>(&Condition))
    return Known->isOne();
  if (auto *Comparison = dyn_cast<FCmpInst>(&Condition))
    return compared(*Comparison, A, B, Is);
  if (match(&Condition, m_Freeze(m_Value(One))))
    return Ask(One);
  if (match(&Condition, m_Xor(m_Value(One), m_Value(Two)))) {
    Answer First = Ask(One), Second = Ask(Two);
    return First && Second ? Answer(*First != *Second) : std::nullopt;
  }
  for (bool Decides : {true, false}) // one side is enough where it decides
    if (Decides ? match(&Condition, m_Or(m_Value(One), m_Value(Two)))
                : match(&Condition, m_And(m_Value(One), m_Value(Two)))) {
      Answer First = Ask(One), Second = Ask(Two);
      return First == Decides || Second == Decides ? Answer(Decides)
             : First && Second                     ? Answer(!Decides)
                                                   : std::nullopt;
    }
  if (match(&Condition, m_Select(m_Value(One), m_Value(Two), m_Value(Three)))) {
    if (Answer First = Ask(One))
      return Ask(*First ? Two : Three);
    Answer Second = Ask(Two);
    return Second && Second == Ask(Three) ? Second : std::nullopt;
  }
  return std::nullopt;
}

} // namespace

Answer saysOf(const Value &Condition, const Value &A, const Value &B, Order Is) {
  return asked(Condition, A, B, Is, 0);
}

std::optional<ChoiceOfTwo> choiceOf(Value &V) {
  if (auto *Call = dyn_cast<IntrinsicInst>(&V)) {
    bool Largest = is_contained({Intrinsic::maxnum, Intrinsic::maximum}, Call->getIntrinsicID());
    if (!Largest && !is_contained({Intrinsic::minnum, Intrinsic::minimum}, Call->getIntrinsicID()))
      return std::nullopt;
    return ChoiceOfTwo{Call->getArgOperand(0), Call->getArgOperand(1), Largest ? Extreme::Largest : Extreme::Smallest};
  }
  auto *Choice = dyn_cast<SelectInst>(&V);
  if (!Choice || !Choice->getCondition()->getType()->isIntegerTy(1))
    return std::nullopt;
  Value *A = Choice->getTrueValue(), *B = Choice->getFalseValue();
  auto Says = [&](Order Is) { return saysOf(*Choice->getCondition(), *A, *B, Is); };
  Answer IfLarger = Says(Order::Larger), IfSmaller = Says(Order::Smaller), IfEqual = Says(Order::Equal);
  if (!IfLarger || !IfSmaller || IfLarger == IfSmaller)
    return std::nullopt;
  Value *OfEqual = !IfEqual ? nullptr : *IfEqual ? A : B;
  return ChoiceOfTwo{A, B, *IfLarger ? Extreme::Largest : Extreme::Smallest, OfEqual};
}

} // namespace adgen
