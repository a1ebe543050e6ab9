// Takes the hints away that ask for several iterations of a loop as straight code, before Enzyme would have to reverse
// each of them: those with a number of iterations, and those of loops of unknown length. What is unrolled completely,
// and loops in it, keep theirs.
#include "Support/Pass.h"

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Transforms/Utils/LoopUtils.h"

using namespace llvm;

namespace adgen {
namespace {

constexpr StringLiteral Count = "llvm.loop.unroll.count", Enable = "llvm.loop.unroll.enable";

constexpr unsigned Most = 128; // the optimiser would do some of more at once

bool isHinted(const Loop &L) { return getOptionalIntLoopAttribute(&L, Count) || getBooleanLoopAttribute(&L, Enable); }

bool disappears(const Loop &L, ScalarEvolution &SE) {
  const unsigned Iterations = SE.getSmallConstantMaxTripCount(&L);
  return Iterations && Iterations <= Most &&
         unsigned(getOptionalIntLoopAttribute(&L, Count).value_or(Iterations)) >= Iterations;
}

void keep(Loop &L, ScalarEvolution &SE) {
  if (isHinted(L)) {
    if (disappears(L, SE))
      return;
    L.setLoopID(makePostTransformationMetadata(L.getHeader()->getContext(), L.getLoopID(), {Count, Enable}, {}));
  }
  for (Loop *Inner : L)
    keep(*Inner, SE);
}

} // namespace

ADGEN_DECLARE_PASS(StripUnrollHints);

PreservedAnalyses StripUnrollHints::run(Module &M, ModuleAnalysisManager &MAM) {
  auto &FAM = MAM.getResult<FunctionAnalysisManagerModuleProxy>(M).getManager();
  for (Function &F : M)
    if (!F.isDeclaration() && !isKernel(F))
      for (Loop *L : FAM.getResult<LoopAnalysis>(F))
        keep(*L, FAM.getResult<ScalarEvolutionAnalysis>(F));
  return PreservedAnalyses::none();
}

} // namespace adgen
