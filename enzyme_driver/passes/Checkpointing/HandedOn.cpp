#include "Checkpointing/HandedOn.h"

#include "llvm/IR/PatternMatch.h"

using namespace llvm;
using namespace llvm::PatternMatch;

namespace adgen {

bool HandedOn::isMadeOf(Value &V, ArrayRef<const Value *> Known) const {
  auto *Met = dyn_cast<PHINode>(&V);
  return is_contained(Known, &V) ||
         (Met && Outer.contains(Met) && !Inner.contains(Met) && Met->getParent() != Outer.getHeader() &&
          all_of(Met->incoming_values(), [&](Value *Each) { return isMadeOf(*Each, Known); }));
}

Value &HandedOn::twin(Value &V) {
  if (Value *Known = Twins.lookup(&V))
    return *Known;
  auto &Met = cast<PHINode>(V);
  PHINode *New = PHINode::Create(Twins.front().second->getType(), Met.getNumIncomingValues(), Name, Met.getIterator());
  pair(V, *New);
  for (auto [Each, From] : zip(Met.incoming_values(), Met.blocks()))
    New->addIncoming(&twin(*Each), From);
  return *New;
}

Use *findComparison(Use &Condition, bool Holds, function_ref<bool(FCmpInst &)> Is) {
  auto *I = dyn_cast<Instruction>(Condition.get());
  if (auto *Compared = dyn_cast_or_null<FCmpInst>(I))
    return Is(*Compared) ? &Condition : nullptr;
  bool IsJoined = I && I->hasOneUse() &&
                  (Holds ? match(I, m_LogicalAnd(m_Value(), m_Value())) : match(I, m_LogicalOr(m_Value(), m_Value())));
  if (!IsJoined)
    return nullptr;
  unsigned Second = isa<SelectInst>(I) ? (Holds ? 1 : 2) : 1;
  Use *Found = findComparison(I->getOperandUse(0), Holds, Is);
  return Found ? Found : findComparison(I->getOperandUse(Second), Holds, Is);
}

bool isAlike(CmpInst::Predicate One, CmpInst::Predicate Other, bool AnyOrder) {
  return One == Other || (AnyOrder && FCmpInst::getOrderedPredicate(One) == FCmpInst::getOrderedPredicate(Other));
}

} // namespace adgen
