#include "Sequence.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Analysis/CFG.h"

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

static bool canReach(const Instruction &From, const Instruction &To) {
  if (!From.isTerminator())
    return isPotentiallyReachable(From.getNextNode(), &To);
  return any_of(successors(From.getParent()),
                [&](const BasicBlock *Next) { return isPotentiallyReachable(&Next->front(), &To); });
}

bool mayFollow(const Instruction &First, const Instruction &Then) {
  Sites Of = sitesOf(First), Others = sitesOf(Then);
  return any_of(Of, [&](auto &Level) {
    auto Same = Others.find(Level.first);
    return Same != Others.end() && any_of(Level.second, [&](const Instruction *From) {
      return any_of(Same->second, [&](const Instruction *To) { return canReach(*From, *To); });
    });
  });
}

} // namespace adgen
