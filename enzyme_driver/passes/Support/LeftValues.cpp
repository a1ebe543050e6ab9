#include "Support/LeftValues.h"

#include "Support/Addresses.h"
#include "Support/Guards.h"

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/IR/Dominators.h"
#include "llvm/Transforms/Utils/LoopUtils.h"

using namespace llvm;

namespace adgen {
namespace {

// Whether the instruction is there where another iteration of a loop around begins.
bool isCarriedOn(const Loop &L, const PHINode &Phi, const LoopInfo &LI) {
  const Loop *Around = LI.getLoopFor(Phi.getParent());
  return Around && Around->getHeader() == Phi.getParent() && Around->contains(&L);
}

bool isLeftBy(const Loop &L, const User &Of, const LoopInfo &LI) {
  auto *Phi = dyn_cast<PHINode>(&Of);
  return !L.contains(cast<Instruction>(&Of)) && !(Phi && isCarriedOn(L, *Phi, LI));
}

// Whether this is what `hold` and `holdInVariable` make of a number.
bool keeps(const User *U) {
  auto *Store = dyn_cast<StoreInst>(U);
  auto *Touch = Store ? dyn_cast<CallBase>(Store->getNextNode()) : nullptr;
  return isHeld(U) || (Touch && isPin(*Touch));
}

// Those that were made; LLVM makes one at each exit, and drops what nothing uses.
SmallVector<PHINode *> makePhis(Instruction &I, const DominatorTree &DT, const LoopInfo &LI, ScalarEvolution *SE) {
  SmallVector<Instruction *> Leaving{&I};
  SmallVector<PHINode *> Made, Unused;
  formLCSSAForInstructions(Leaving, DT, LI, SE, &Unused, &Made);
  for (PHINode *Phi : Unused)
    if (Phi->use_empty()) {
      erase(Made, Phi);
      Phi->eraseFromParent();
    }
  return Made;
}

} // namespace

bool isUsedBehind(const Instruction &I, const Loop &L, const LoopInfo &LI) {
  return any_of(I.users(), [&](const User *U) { return isLeftBy(L, *U, LI); });
}

SmallVector<PHINode *> phisBehind(Instruction &I, const DominatorTree &DT, const LoopInfo &LI, ScalarEvolution *SE) {
  SmallSetVector<PHINode *, 8> Found;
  SmallVector<Instruction *> Next{&I};
  auto Add = [&](PHINode *Phi) {
    if (Found.insert(Phi))
      Next.push_back(Phi);
  };
  while (!Next.empty()) {
    Instruction *Left = Next.pop_back_val();
    const Loop *L = LI.getLoopFor(Left->getParent());
    if (!L)
      continue;
    for_each(makePhis(*Left, DT, LI, SE), Add);
    for (User *U : Left->users())
      if (auto *Phi = dyn_cast<PHINode>(U); Phi && isLeftBy(*L, *Phi, LI))
        Add(Phi);
  }
  Found.remove_if([](const PHINode *Phi) { return all_of(Phi->users(), keeps); });
  return Found.takeVector();
}

void holdBehind(Instruction &I, const DominatorTree &DT, const LoopInfo &LI, function_ref<bool(PHINode &)> Asks,
                ScalarEvolution *SE) {
  for (PHINode *Phi : phisBehind(I, DT, LI, SE))
    if (!isAddress(*Phi) && Asks(*Phi))
      Phi->getType()->isIntegerTy() ? hold(*Phi, Phi->getParent()->getFirstInsertionPt())
                                    : holdInVariable(*Phi, Phi->getParent()->getFirstInsertionPt());
}

} // namespace adgen
