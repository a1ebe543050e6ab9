// Shared arrays that are declared as integers, but hold numbers.
#include "EnzymeCompat/CopyTyper.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace adgen {

// The name of the rule, empty where it calls none.
static StringRef ruleCalled(const User &U) {
  auto *Call = dyn_cast<CallInst>(&U);
  StringRef Name = Call && Call->getCalledFunction() ? Call->getCalledFunction()->getName() : "";
  return Name.consume_front(RulePrefix) ? Name : "";
}

Argument *CopyTyper::sharedArray(StringRef Name) {
  return find_if(Body.args(), [&](Argument &A) { return A.getName() == Name; });
}

void CopyTyper::typeShared(Argument &Array) {
  Attribute Text = Array.getParent()->getAttributeAtIndex(Array.getArgNo() + 1, LayoutAttribute);
  std::shared_ptr<const Layout> Memory = Text.isValid() ? parseLayout(Text.getValueAsString()) : nullptr;
  if (!Memory || !Memory->isUniform() || Memory->holdsFloats() || !is_contained({2u, 4u, 8u}, Memory->Stride))
    return;
  SmallPtrSet<Value *, 8> Loaded;
  SmallVector<Value *> Stored, Work{&Array};
  bool Numbers = false;
  while (!Work.empty()) {
    Value *Address = Work.pop_back_val();
    for (User *U : Address->users()) {
      auto *Load = dyn_cast<LoadInst>(U);
      auto *Store = dyn_cast<StoreInst>(U);
      if (Load && DL.getTypeStoreSize(Load->getType()) == Memory->Stride &&
          !(isInteger(Load->getType()) && isCountedWith(*Load)))
        Loaded.insert(Load);
      else if (Store && Store->getPointerOperand() == Address &&
               DL.getTypeStoreSize(Store->getValueOperand()->getType()) == Memory->Stride)
        Stored.push_back(Store->getValueOperand());
      else if (isa<GetElementPtrInst, AddrSpaceCastInst>(U))
        Work.push_back(U);
      else if (StringRef Rule = ruleCalled(*U); Rule.empty())
        return;
      else
        Numbers |= Rule.starts_with(ChoicePrefix); // among which the threads choose
    }
  }
  for (Value *V : Stored) {
    if (!isNumber(*V, Memory->Stride, Loaded))
      return;
    Numbers |= !isa<Constant>(V) && !Loaded.contains(V);
  }
  if (!Numbers)
    return;
  char Kind = Memory->Stride == 2 ? kindOfHalves(Stored, Loaded) : 'f';
  if (!Kind)
    return;
  Layout Now{Memory->Stride, {{0, Kind, Memory->Stride}}};
  Body.addParamAttr(Array.getArgNo(), Attribute::get(Context, LayoutAttribute, print(Now)));
}

char CopyTyper::kindOfHalves(ArrayRef<Value *> Stored, const SmallPtrSetImpl<Value *> &Loaded) {
  bool Half = false, Brain = false;
  auto Look = [&](const Value *V) {
    auto *Cast = dyn_cast<BitCastInst>(V);
    Type *T = Cast ? Cast->getSrcTy() : V->getType();
    Half |= T->isHalfTy();
    Brain |= T->isBFloatTy();
  };
  for_each(Stored, Look);
  for (const Value *V : Loaded) {
    Look(V);
    for_each(V->users(), [&](const User *U) {
      if (isa<BitCastInst>(U))
        Half |= U->getType()->isHalfTy(), Brain |= U->getType()->isBFloatTy();
    });
  }
  return Half == Brain ? 0 : Half ? 'f' : 'b';
}

bool CopyTyper::isNumber(Value &V, uint64_t Bytes, const SmallPtrSetImpl<Value *> &Loaded) {
  SmallVector<Value *> Work{&V};
  SmallPtrSet<Value *, 8> Seen;
  while (!Work.empty()) {
    Value *One = Work.pop_back_val();
    auto *Load = dyn_cast<LoadInst>(One);
    if (!Seen.insert(One).second || isa<Constant>(One) || Loaded.contains(One) || One->getType()->isFloatingPointTy())
      continue;
    if (auto *Cast = dyn_cast<BitCastInst>(One); Cast && Cast->getSrcTy()->isFloatingPointTy())
      continue;
    if (isa<PHINode>(One))
      Work.append(cast<PHINode>(One)->value_op_begin(), cast<PHINode>(One)->value_op_end());
    else if (auto *Select = dyn_cast<SelectInst>(One))
      Work.append({Select->getTrueValue(), Select->getFalseValue()});
    else if (!Load || !floatsAt(Load->getPointerOperand(), Bytes))
      return false;
  }
  return true;
}

} // namespace adgen
