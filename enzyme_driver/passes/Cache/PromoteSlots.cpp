#include "Cache/PromoteSlots.h"
#include "Analysis/EnzymeCaches.h"
#include "Support/Pass.h"

#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/IR/InstIterator.h"

using namespace llvm;

namespace adgen {
namespace {

// What is done with a cache: its elements' addresses, reads and writes, and giving it back.
class Slot {
public:
  Slot(CallInst &Cache, ScalarEvolution &SE) : Cache(Cache), SE(SE) {}

  bool mayBeVariable() { return collect() && isFilledOnce() && areInside(); }

  void becomeVariable() {
    Function &F = *Cache.getFunction();
    IRBuilder<> Entry(&*F.getEntryBlock().getFirstInsertionPt());
    AllocaInst *Variable = Entry.CreateAlloca(Element);
    BasicBlock *Begin = Number->getLoop()->getHeader();
    IRBuilder<>(Begin, Begin->getFirstInsertionPt()).CreateStore(UndefValue::get(Element), Variable);
    for (GetElementPtrInst *Address : Addresses) {
      Address->replaceAllUsesWith(Variable);
      Address->eraseFromParent();
    }
    for (Instruction *Each : Left)
      Each->eraseFromParent();
    Cache.eraseFromParent();
  }

private:
  bool collect() {
    for (User *U : Cache.users())
      if (auto *Address = dyn_cast<GetElementPtrInst>(U); Address ? !collect(*Address) : !isLeft(*U))
        return false;
    return !Addresses.empty();
  }

  // It is given back, by itself or where the way around the loop has come in.
  bool isLeft(User &U) {
    auto *Phi = dyn_cast<PHINode>(&U);
    if (Phi && any_of(Phi->incoming_values(), [&](Value *V) { return V != &Cache && !isa<UndefValue>(V); }))
      return false;
    if (Phi && !all_of(Phi->users(), [&](User *Release) { return isLeft(*Release); }))
      return false;
    auto *I = cast<Instruction>(&U);
    if (!is_contained(Left, I))
      Left.push_back(I);
    return Phi || isCacheRelease(*I);
  }

  bool collect(GetElementPtrInst &Address) {
    if (Address.getNumIndices() != 1)
      return false;
    auto *Index = dyn_cast<SCEVAddRecExpr>(SE.getSCEV(Address.getOperand(1)));
    if (!Index || !Index->isAffine() || !Index->getStepRecurrence(SE)->isOne() || (Number && Index != Number))
      return false;
    Number = Index;
    Addresses.push_back(&Address);
    return all_of(Address.users(), [&](User *U) {
      auto *Load = dyn_cast<LoadInst>(U);
      auto *Store = dyn_cast<StoreInst>(U);
      bool Accesses =
          (Load && Load->isSimple()) || (Store && Store->isSimple() && Store->getValueOperand() != &Address);
      if (!Accesses || (Element && Element != getLoadStoreType(U)))
        return false;
      Element = getLoadStoreType(U);
      return Element == Address.getSourceElementType();
    });
  }

  // By one run of the loop: no other one finds there what an earlier one has left.
  bool isFilledOnce() const {
    const Loop &L = *Number->getLoop(), *Around = L.getParentLoop();
    return !L.contains(&Cache) && (!Around || Around->contains(&Cache));
  }

  bool areInside() const {
    return Element && all_of(Addresses, [&](GetElementPtrInst *Address) {
             return all_of(Address->users(),
                           [&](User *U) { return Number->getLoop()->contains(cast<Instruction>(U)); });
           });
  }

  CallInst &Cache;
  ScalarEvolution &SE;
  const SCEVAddRecExpr *Number = nullptr;
  Type *Element = nullptr;
  SmallVector<GetElementPtrInst *> Addresses;
  SmallVector<Instruction *> Left; // users before what they use
};

} // namespace

bool promoteSlots(Function &F, ScalarEvolution &SE) {
  SmallVector<Slot> Slots;
  for (Instruction &I : instructions(F))
    if (isCacheAllocation(&I))
      if (Slot Found(cast<CallInst>(I), SE); Found.mayBeVariable())
        Slots.push_back(std::move(Found));
  for (Slot &Each : Slots)
    Each.becomeVariable();
  return !Slots.empty();
}

} // namespace adgen
