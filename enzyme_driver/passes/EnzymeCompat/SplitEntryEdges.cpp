// Before fix-irreducible: edges that it gets wrong have a block of their own, see `splitEntryEdges`.
#include "Support/Entries.h"
#include "Support/Pass.h"

#define DEBUG_TYPE "adgen-split-entry-edges"

using namespace llvm;

STATISTIC(NumFunctions, "Number of functions with an edge that fix-irreducible gets wrong");

namespace adgen {

ADGEN_DECLARE_PASS(SplitEntryEdges);

PreservedAnalyses SplitEntryEdges::run(Module &M, ModuleAnalysisManager &) {
  for (Function &F : M)
    if (!F.isDeclaration() && splitEntryEdges(F))
      ADGEN_COUNT(NumFunctions, F.getName());
  return PreservedAnalyses::none();
}

} // namespace adgen
