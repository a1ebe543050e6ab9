#include "Analysis/EnzymeCaches.h"

#include "llvm/ADT/SmallPtrSet.h"

using namespace llvm;

namespace adgen {

bool isCacheAllocation(const Value *V) {
  auto *Call = dyn_cast_or_null<CallInst>(V);
  return Call && Call->hasMetadata(CacheAllocation);
}

bool isCacheRelease(const Instruction &I) { return isa<CallInst>(I) && I.hasMetadata(CacheRelease); }

StoreInst *onlyStoreTo(CallInst &Cache, const LoopInfo &LI) {
  // Where the memory begins: what allocates it, or that on the ways that come from there.
  SmallPtrSet<const Value *, 4> Begins{&Cache};
  auto IsBegin = [&](const PHINode &Phi) {
    return !LI.isLoopHeader(Phi.getParent()) && all_of(Phi.incoming_values(), [&](const Value *Each) {
      return isa<UndefValue>(Each) || Each == &Phi || Begins.contains(Each);
    });
  };
  StoreInst *Only = nullptr;
  SmallVector<LoadInst *> Loads;
  SmallVector<Instruction *> Pointers{&Cache};
  while (!Pointers.empty()) {
    Instruction *Pointer = Pointers.pop_back_val();
    for (User *U : Pointer->users()) {
      auto *I = cast<Instruction>(U);
      auto *Store = dyn_cast<StoreInst>(I);
      auto *Load = dyn_cast<LoadInst>(I);
      auto *Phi = dyn_cast<PHINode>(I);
      if (isa<GetElementPtrInst>(I))
        Pointers.push_back(I);
      else if (Phi && Begins.contains(Pointer) && IsBegin(*Phi)) {
        if (Begins.insert(Phi).second)
          Pointers.push_back(Phi);
      } else if (Store && Store->isSimple() && Store->getValueOperand() != Pointer && !Only)
        Only = Store;
      else if (Load && Load->isSimple())
        Loads.push_back(Load);
      else if (!isCacheRelease(*I))
        return nullptr;
    }
  }
  auto IsOfType = [&](const LoadInst *Load) { return Load->getType() == Only->getValueOperand()->getType(); };
  return Only && all_of(Loads, IsOfType) ? Only : nullptr;
}

} // namespace adgen
