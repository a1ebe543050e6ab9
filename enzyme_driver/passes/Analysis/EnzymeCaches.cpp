#include "Analysis/EnzymeCaches.h"

using namespace llvm;

namespace adgen {

bool isCacheAllocation(const Value *V) {
  auto *Call = dyn_cast_or_null<CallInst>(V);
  return Call && Call->hasMetadata(CacheAllocation);
}

bool isCacheRelease(const Instruction &I) { return isa<CallInst>(I) && I.hasMetadata(CacheRelease); }

bool EnzymeCache::isOnlyBegin(const PHINode &Phi) const {
  return all_of(Phi.incoming_values(), [&](const Value *Each) {
    return isa<UndefValue>(Each) || Each == &Phi ||
           (isa<Instruction>(Each) && Begins.contains(cast<Instruction>(Each)));
  });
}

bool EnzymeCache::collect(const LoopInfo &LI) {
  Begins.insert(Memory);
  SmallVector<Instruction *> Pointers{Memory};
  while (!Pointers.empty()) {
    Instruction *Pointer = Pointers.pop_back_val();
    for (User *U : Pointer->users()) {
      auto *I = cast<Instruction>(U);
      auto *Kept = dyn_cast<StoreInst>(I);
      auto *Load = dyn_cast<LoadInst>(I);
      if (isa<GetElementPtrInst>(I)) {
        Pointers.push_back(I);
        Addresses.push_back(I);
      } else if (auto *Phi = dyn_cast<PHINode>(I);
                 Phi && Begins.contains(Pointer) && isOnlyBegin(*Phi) && !LI.isLoopHeader(Phi->getParent())) {
        if (Begins.insert(Phi))
          Pointers.push_back(Phi);
      } else if (Kept && Kept->isSimple() && Kept->getValueOperand() != Pointer && !Store)
        Store = Kept;
      else if (Load && Load->isSimple())
        Loads.push_back(Load);
      else if (isCacheRelease(*I))
        Releases.push_back(cast<CallInst>(I));
      else
        return false;
    }
  }
  return Store && all_of(Loads, [&](LoadInst *Load) { return Load->getType() == Store->getValueOperand()->getType(); });
}

Instruction *EnzymeCache::beginIn(const BasicBlock &Block) const {
  auto Found = find_if(Begins, [&](const Instruction *Begin) { return Begin->getParent() == &Block; });
  return Found == Begins.end() ? nullptr : *Found;
}

bool EnzymeCache::isAccompaniedBy(const EnzymeCache &Other) const {
  return all_of(Begins, [&](const Instruction *Begin) {
    auto *Phi = dyn_cast<PHINode>(Begin);
    Instruction *Its = Other.beginIn(*Begin->getParent());
    if (!Phi || !Its)
      return Its != nullptr;
    return isa<PHINode>(Its) && all_of(Phi->blocks(), [&](const BasicBlock *From) {
             auto *Mine = dyn_cast<Instruction>(Phi->getIncomingValueForBlock(From));
             return !Mine || cast<PHINode>(Its)->getIncomingValueForBlock(From) == Other.beginIn(*Mine->getParent());
           });
  });
}

} // namespace adgen
