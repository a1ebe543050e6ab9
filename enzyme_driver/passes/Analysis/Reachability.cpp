#include "Analysis/Reachability.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/IR/CFG.h"

using namespace llvm;

namespace adgen {

using Sites = MapVector<const Function *, SmallSetVector<const Instruction *, 4>>;

// For each function that may run the instruction, itself or through others: its instructions that do.
static Sites sitesOf(const Instruction &I) {
  Sites Found;
  Found[I.getFunction()].insert(&I);
  SmallVector<const Function *> Next{I.getFunction()};
  while (!Next.empty())
    for (const User *U : Next.pop_back_val()->users())
      if (auto *Site = dyn_cast<Instruction>(U)) {
        bool IsNew = !Found.contains(Site->getFunction());
        Found[Site->getFunction()].insert(Site);
        if (IsNew)
          Next.push_back(Site->getFunction());
      }
  return Found;
}

// Without passing `Between`.
static bool canReach(const Instruction &From, const Instruction &To, const Instruction *Between) {
  SmallVector<const Instruction *> Begins;
  SmallPtrSet<const BasicBlock *, 32> Seen;
  auto Leave = [&](const BasicBlock &Block) {
    for (const BasicBlock *Next : successors(&Block))
      if (Seen.insert(Next).second)
        Begins.push_back(&Next->front());
  };
  From.isTerminator() ? Leave(*From.getParent()) : Begins.push_back(From.getNextNode());
  while (!Begins.empty()) {
    const Instruction *I = Begins.pop_back_val();
    const BasicBlock &Block = *I->getParent();
    while (I && I != &To && I != Between)
      I = I->getNextNode();
    if (I == &To)
      return true;
    if (!I)
      Leave(Block);
  }
  return false;
}

bool mayFollow(const Instruction &First, const Instruction &Then, const Instruction *Between) {
  Sites Of = sitesOf(First), Others = sitesOf(Then);
  return any_of(Of, [&](auto &Level) {
    auto Same = Others.find(Level.first);
    return Same != Others.end() && any_of(Level.second, [&](const Instruction *From) {
             return any_of(Same->second, [&](const Instruction *To) { return canReach(*From, *To, Between); });
           });
  });
}

} // namespace adgen
