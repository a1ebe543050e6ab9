#include "Analysis/Tickets.h"

#include "Support/Adgen.h"

#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/InstIterator.h"

using namespace llvm;

namespace adgen {
namespace {

class Number {
public:
  explicit Number(const AtomicRMWInst &Counter) : Body(*Counter.getFunction()) {}

  bool isOnlyAsked(const Value &V) {
    return !Seen.insert(&V).second || all_of(V.users(), [&](const User *U) {
      if (isa<CmpInst>(U))
        return true;
      if (auto *Store = dyn_cast<StoreInst>(U))
        return Store->getValueOperand() == &V && isHandedOn(*Store);
      return isa<BinaryOperator, CastInst, PHINode, SelectInst, FreezeInst>(U) && !U->getType()->isPointerTy() &&
             isOnlyAsked(*U);
    });
  }

private:
  // In a variable of the block, of which all who read it only ask.
  bool isHandedOn(const StoreInst &Store) {
    const Value *Variable = getUnderlyingObject(Store.getPointerOperand(), /*MaxLookup=*/0);
    return isSharedMemory(*Variable) && all_of(instructions(Body), [&](const Instruction &I) {
             auto *Load = dyn_cast<LoadInst>(&I);
             bool IsOfIt = Load && Load->getType()->isIntegerTy() &&
                           getUnderlyingObject(Load->getPointerOperand(), /*MaxLookup=*/0) == Variable;
             return !IsOfIt || isOnlyAsked(*Load);
           });
  }

  const Function &Body;
  SmallPtrSet<const Value *, 16> Seen;
};

} // namespace

bool isCounter(AtomicRMWInst::BinOp How) {
  return is_contained({AtomicRMWInst::Add, AtomicRMWInst::Sub, AtomicRMWInst::UIncWrap, AtomicRMWInst::UDecWrap}, How);
}

bool isOnlyAsked(const AtomicRMWInst &Counter) { return Number(Counter).isOnlyAsked(Counter); }

} // namespace adgen
