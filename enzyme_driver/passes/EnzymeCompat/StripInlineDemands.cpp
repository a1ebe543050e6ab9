// Takes the demand to inline away from functions that call themselves, or each other in a circle: Enzyme inlines what
// demands it into the copy that it differentiates, and ends with an assertion where that comes back to itself.
#include "Support/Pass.h"

#include "llvm/ADT/SCCIterator.h"
#include "llvm/Analysis/CallGraph.h"

using namespace llvm;

namespace adgen {

ADGEN_DECLARE_PASS(StripInlineDemands);

PreservedAnalyses StripInlineDemands::run(Module &M, ModuleAnalysisManager &) {
  bool Changed = false;
  CallGraph Calls(M);
  for (auto Circle = scc_begin(&Calls); !Circle.isAtEnd(); ++Circle)
    if (Circle.hasCycle())
      for (const CallGraphNode *Node : *Circle)
        if (Function *F = Node->getFunction(); F && F->hasFnAttribute(Attribute::AlwaysInline)) {
          F->removeFnAttr(Attribute::AlwaysInline);
          Changed = true;
        }
  return Changed ? PreservedAnalyses::none() : PreservedAnalyses::all();
}

} // namespace adgen
