#include "Analysis/Poles.h"
#include "Support/Adgen.h"

#include "llvm/Analysis/CFG.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"

using namespace llvm;

namespace adgen {

bool hasPole(const Instruction &I) {
  if (I.getOpcode() == Instruction::FDiv)
    return !isa<Constant>(I.getOperand(1));
  auto *Call = dyn_cast<CallInst>(&I);
  if (!Call || !Call->getCalledFunction())
    return false;
  StringRef Name = Call->getCalledFunction()->getName();
  return any_of(ArrayRef<StringRef>{"log", "pow", "sqrt", "cbrt", "acos", "asin", "atanh", "gamma", "div", "rcp", "inv",
                                    "hypot", "norm"},
                [&](StringRef Word) { return Name.contains(Word); });
}

KeptNumbers::KeptNumbers(Function &F) : F(F), PDT(F) {
  for (Instruction &I : instructions(F))
    if (auto *Store = dyn_cast<StoreInst>(&I))
      Stores[getUnderlyingObject(Store->getPointerOperand(), 0)].push_back(Store);
}

bool KeptNumbers::dropsPoles() {
  return any_of(instructions(F), [&](const Instruction &I) {
    return I.getType()->isFloatingPointTy() && hasPole(I) && !I.hasMetadata(InactiveMark) && !isKept(I);
  });
}

// A phi takes a number on one way, and drops it where the others have no phi that takes it as well.
bool KeptNumbers::isUsedAlways(const Use &U, const Instruction &Number) const {
  auto *User = cast<Instruction>(U.getUser());
  auto *Phi = dyn_cast<PHINode>(User);
  if (!Phi || Phi->getNumIncomingValues() == 1)
    return PDT.dominates(User->getParent(), Number.getParent());
  const BasicBlock *From = Phi->getIncomingBlock(U);
  return PDT.dominates(From, Number.getParent()) && all_of(successors(From), [&](const BasicBlock *To) {
           return any_of(To->phis(),
                         [&](const PHINode &Each) { return Each.getIncomingValueForBlock(From) == &Number; });
         });
}

// What a loop carries is kept where something behind the loop is.
bool KeptNumbers::isKept(const Instruction &Number) {
  auto [Entry, IsNew] = Known.try_emplace(&Number, false);
  if (!IsNew)
    return Entry->second;
  bool Found = any_of(Number.uses(), [&](const Use &U) { return isUsedAlways(U, Number) && isKeptBy(U); });
  return Known[&Number] = Found;
}

bool KeptNumbers::isKeptBy(const Use &U) {
  auto *User = cast<Instruction>(U.getUser());
  if (auto *Store = dyn_cast<StoreInst>(User))
    return isResult(*Store);
  if (isa<AtomicRMWInst, ReturnInst>(User))
    return true;
  if (isa<SelectInst, CmpInst>(User))
    return false;
  if (auto *Call = dyn_cast<CallInst>(User)) {
    Intrinsic::ID ID = Call->getIntrinsicID();
    if (ID == Intrinsic::minnum || ID == Intrinsic::maxnum)
      return false;
    return Call->getType()->isVoidTy() || isKept(*Call);
  }
  Type *T = User->getType();
  return (T->isFPOrFPVectorTy() || T->isAggregateType()) && isKept(*User);
}

// Another store behind it may replace it: to the same address, or on some way to an address that is not known.
bool KeptNumbers::isResult(const StoreInst &Store) const {
  const Value *Object = getUnderlyingObject(Store.getPointerOperand(), 0);
  return isa<Argument>(Object) && none_of(Stores.lookup(Object), [&](const StoreInst *Other) {
           bool IsSame = Other->getPointerOperand() == Store.getPointerOperand();
           return Other != &Store && (IsSame || !PDT.dominates(Other->getParent(), Store.getParent())) &&
                  isPotentiallyReachable(&Store, Other);
         });
}

} // namespace adgen
