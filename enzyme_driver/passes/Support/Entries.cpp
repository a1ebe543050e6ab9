#include "Support/Entries.h"

#include "llvm/ADT/GenericCycleImpl.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/CycleInfo.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

using namespace llvm;

using Edge = std::pair<BasicBlock *, BasicBlock *>;

static void findEdges(const Cycle &C, SmallSetVector<Edge, 8> &Found) {
  for (const Cycle *Inner : C.children())
    findEdges(*Inner, Found);
  if (C.isReducible())
    return;
  for (BasicBlock *Entry : C.getEntries())
    for (BasicBlock *From : predecessors(Entry)) {
      auto isEntry = [&](BasicBlock *To) { return C.isEntry(To); };
      if (C.contains(From) && (From == Entry || count_if(successors(From), isEntry) > 1))
        Found.insert({From, Entry});
    }
}

bool adgen::splitEntryEdges(Function &F) {
  CycleInfo Cycles;
  Cycles.compute(F);
  SmallSetVector<Edge, 8> Found;
  for (const Cycle *C : Cycles.toplevel_cycles())
    findEdges(*C, Found);
  for (auto [From, To] : Found)
    SplitEdge(From, To);
  return !Found.empty();
}
