#include "Checkpointing/Fading.h"

#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/IR/PatternMatch.h"

#include <cmath>

using namespace llvm;
using namespace llvm::PatternMatch;

namespace adgen {
namespace {

// How the number compares to a constant where the condition came out so.
CmpInst::Predicate comparedTo(Value &Condition, bool Holds, const Value &Number, double &Bound) {
  auto *Compared = dyn_cast<FCmpInst>(&Condition);
  auto *Constant = Compared ? dyn_cast<ConstantFP>(Compared->getOperand(1)) : nullptr;
  if (!Constant || Compared->getOperand(0) != &Number)
    return CmpInst::BAD_FCMP_PREDICATE;
  Bound = Constant->getValueAPF().convertToDouble();
  return Holds ? Compared->getPredicate() : Compared->getInversePredicate();
}

// Whether only numbers that are at most two, and not none, let the condition come out so.
bool isBelow(Value &Condition, bool Holds, const Value &Number) {
  double Bound = NAN;
  Value *One, *Other;
  auto IsNumber = [&](Value &Each) {
    return comparedTo(Each, false, Number, Bound) == CmpInst::FCMP_ORD && !std::isnan(Bound);
  };
  auto IsLess = [&](Value &Each, bool EachHolds, ArrayRef<CmpInst::Predicate> Kinds) {
    return is_contained(Kinds, comparedTo(Each, EachHolds, Number, Bound)) && Bound <= 2;
  };
  if (!Holds && match(&Condition, m_Or(m_Value(One), m_Value(Other)))) {
    if (!IsNumber(*Other))
      std::swap(One, Other);
    return IsNumber(*Other) && IsLess(*One, false, {CmpInst::FCMP_ULT, CmpInst::FCMP_ULE});
  }
  return IsLess(Condition, Holds, {CmpInst::FCMP_OLT, CmpInst::FCMP_OLE});
}

class Fading {
public:
  explicit Fading(const DominatorTree &DT) : DT(DT) {}

  bool staysFinite(Value &V, BasicBlock *At) {
    if (auto *Constant = dyn_cast<ConstantFP>(&V))
      return Constant->getValueAPF().isFinite();
    auto *I = dyn_cast<Instruction>(&V);
    if (!I)
      return false;
    if (auto *Met = dyn_cast<PHINode>(I))
      return !Seen.insert(Met).second || all_of(zip(Met->incoming_values(), Met->blocks()), [&](const auto &Each) {
        return staysFinite(*std::get<0>(Each), std::get<1>(Each));
      });
    if (auto *Choice = dyn_cast<SelectInst>(I))
      return staysFinite(*Choice->getTrueValue(), At) && staysFinite(*Choice->getFalseValue(), At);
    if (I->getOpcode() != Instruction::FMul)
      return false;
    Value *One = I->getOperand(0), *Other = I->getOperand(1);
    return (lessens(*Other, *At) && staysFinite(*One, At)) || (lessens(*One, *At) && staysFinite(*Other, At));
  }

private:
  // One less what lies between 0 and 2.
  bool lessens(Value &Factor, BasicBlock &At) const {
    Value *Alpha;
    if (!match(&Factor, m_FSub(m_SpecificFP(1), m_Value(Alpha))))
      return false;
    auto *Choice = dyn_cast<SelectInst>(Alpha);
    if (!Choice)
      return false;
    auto IsOf = [&](Value *Most, Value *Number, bool Holds) {
      auto *Constant = dyn_cast<ConstantFP>(Most);
      return Constant && !Constant->isNegative() && Constant->getValueAPF().convertToDouble() <= 2 &&
             isBelow(*Choice->getCondition(), Holds, *Number);
    };
    return (IsOf(Choice->getTrueValue(), Choice->getFalseValue(), false) ||
            IsOf(Choice->getFalseValue(), Choice->getTrueValue(), true)) &&
           isPositive(*Alpha, At);
  }

  bool isPositive(const Value &Alpha, BasicBlock &At) const {
    for (auto *Node = DT.getNode(&At)->getIDom(); Node; Node = Node->getIDom()) {
      auto *Branch = dyn_cast<BranchInst>(Node->getBlock()->getTerminator());
      if (!Branch || !Branch->isConditional() || Branch->getSuccessor(0) == Branch->getSuccessor(1))
        continue;
      for (unsigned Way : {0, 1})
        if (DT.dominates(BasicBlockEdge(Branch->getParent(), Branch->getSuccessor(Way)), &At) &&
            isAbove(*Branch->getCondition(), Way == 0, Alpha))
          return true;
    }
    return false;
  }

  static bool isAbove(Value &Condition, bool Holds, const Value &Alpha) {
    Value *One, *Other;
    if (Holds ? match(&Condition, m_LogicalAnd(m_Value(One), m_Value(Other)))
              : match(&Condition, m_LogicalOr(m_Value(One), m_Value(Other))))
      return isAbove(*One, Holds, Alpha) || isAbove(*Other, Holds, Alpha);
    double Least = NAN;
    constexpr CmpInst::Predicate Above[] = {CmpInst::FCMP_OGT, CmpInst::FCMP_OGE, CmpInst::FCMP_UGT, CmpInst::FCMP_UGE};
    return is_contained(Above, comparedTo(Condition, Holds, Alpha, Least)) && Least >= 0;
  }

  const DominatorTree &DT;
  SmallPtrSet<const PHINode *, 8> Seen;
};

} // namespace

bool staysFinite(Value &Number, const DominatorTree &DT) {
  auto *I = dyn_cast<Instruction>(&Number);
  return I && (I->getType()->isFloatTy() || I->getType()->isDoubleTy()) &&
         Fading(DT).staysFinite(Number, I->getParent());
}

} // namespace adgen
