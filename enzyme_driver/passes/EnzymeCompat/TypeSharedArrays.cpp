// Shared arrays that are declared as integers, but hold numbers.
#include "EnzymeCompat/CopyTyper.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/Operator.h"

using namespace llvm;

namespace adgen {

// The name of the rule, empty where it calls none.
static StringRef ruleCalled(const User &U) {
  auto *Call = dyn_cast<CallInst>(&U);
  StringRef Name = Call && Call->getCalledFunction() ? Call->getCalledFunction()->getName() : "";
  return Name.consume_front(RulePrefix) ? Name : "";
}

static bool isVectorOfHalves(const Type &T) {
  return isa<FixedVectorType>(T) && T.isFPOrFPVectorTy() && T.getScalarSizeInBits() == 16;
}

static bool isSeveralHalves(const Type &T) { return T.isIntegerTy(32) || T.isIntegerTy(64) || isVectorOfHalves(T); }

// Numbers that are put together to an integer are not looked for.
static bool isOneOrLoaded(const Value &V) { return V.getType()->isFPOrFPVectorTy() || isa<LoadInst>(V); }

// The numbers of 16 bits that an integer of several of them is taken apart into; nothing where more is done with it.
static std::optional<SmallVector<const BitCastInst *>> halvesOf(const LoadInst &Load) {
  if (!Load.getType()->isIntegerTy(32) && !Load.getType()->isIntegerTy(64))
    return std::nullopt;
  SmallVector<const BitCastInst *> Found;
  SmallVector<const Value *> Work{&Load};
  while (!Work.empty())
    for (const User *U : Work.pop_back_val()->users()) {
      auto *By = isa<LShrOperator>(U) ? dyn_cast<ConstantInt>(U->getOperand(1)) : nullptr;
      if (By && By->getZExtValue() % 16 == 0) {
        Work.push_back(U);
        continue;
      }
      if (!isa<TruncInst>(U) || !U->getType()->isIntegerTy(16))
        return std::nullopt;
      for (const User *Next : U->users()) {
        auto *Cast = dyn_cast<BitCastInst>(Next);
        if (!Cast || !Cast->getType()->isFloatingPointTy())
          return std::nullopt;
        Found.push_back(Cast);
      }
    }
  return Found;
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
      if (Load && Memory->Stride == 2 && (isVectorOfHalves(*Load->getType()) || halvesOf(*Load)))
        Loaded.insert(Load);
      else if (Store && Store->getPointerOperand() == Address && Memory->Stride == 2 &&
               isSeveralHalves(*Store->getValueOperand()->getType()) && isOneOrLoaded(*Store->getValueOperand()))
        Stored.push_back(Store->getValueOperand());
      else if (Load && DL.getTypeStoreSize(Load->getType()) == Memory->Stride &&
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
    if (!isNumber(*V, DL.getTypeStoreSize(V->getType()), Loaded))
      return;
    Numbers |= !isa<Constant>(V) && !Loaded.contains(V);
  }
  if (!Numbers)
    return;
  char Kind = Memory->Stride == 2 ? kindOfHalves(Stored, Loaded) : 'f';
  auto IsOther = [&](Value *V) {
    return isSeveralHalves(*V->getType()) && isa<LoadInst>(V) && !Loaded.contains(V) &&
           !areHalves(*cast<LoadInst>(V), Kind);
  };
  if (!Kind || (Memory->Stride == 2 && any_of(Stored, IsOther)))
    return;
  Layout Now{Memory->Stride, {{0, Kind, Memory->Stride}}};
  Body.addParamAttr(Array.getArgNo(), Attribute::get(Context, LayoutAttribute, print(Now)));
}

char CopyTyper::kindOfHalves(ArrayRef<Value *> Stored, const SmallPtrSetImpl<Value *> &Loaded) {
  bool Half = false, Brain = false;
  auto Look = [&](const Value *V) {
    auto *Cast = dyn_cast<BitCastInst>(V);
    Type *T = Cast ? Cast->getSrcTy() : V->getType();
    Half |= T->getScalarType()->isHalfTy();
    Brain |= T->getScalarType()->isBFloatTy();
  };
  for_each(Stored, Look);
  for (const Value *V : Loaded) {
    Look(V);
    auto *Load = dyn_cast<LoadInst>(V);
    for (const BitCastInst *Part : (Load ? halvesOf(*Load) : std::nullopt).value_or(SmallVector<const BitCastInst *>()))
      Half |= Part->getType()->isHalfTy(), Brain |= Part->getType()->isBFloatTy();
    for_each(V->users(), [&](const User *U) {
      if (isa<BitCastInst>(U))
        Half |= U->getType()->isHalfTy(), Brain |= U->getType()->isBFloatTy();
    });
  }
  return Half == Brain ? 0 : Half ? 'f' : 'b';
}

// Whether all that was loaded in one piece are numbers of this kind.
bool CopyTyper::areHalves(LoadInst &Load, char Kind) {
  auto Numbers = floatsAt(Load.getPointerOperand(), DL.getTypeStoreSize(Load.getType()));
  return Numbers && all_of(*Numbers, [&](const Leaf &Number) { return Number.Bytes == 2 && Number.Kind == Kind; });
}

bool CopyTyper::isNumber(Value &V, uint64_t Bytes, const SmallPtrSetImpl<Value *> &Loaded) {
  SmallVector<Value *> Work{&V};
  SmallPtrSet<Value *, 8> Seen;
  while (!Work.empty()) {
    Value *One = Work.pop_back_val();
    auto *Load = dyn_cast<LoadInst>(One);
    if (!Seen.insert(One).second || isa<Constant>(One) || Loaded.contains(One) || One->getType()->isFPOrFPVectorTy())
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
