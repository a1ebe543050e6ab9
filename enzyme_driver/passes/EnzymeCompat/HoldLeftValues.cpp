// What a loop around loops leaves behind (`found`, or what was found, behind a `break` out of both) Enzyme finds out
// again where the reverse sweep needs it. If an inner loop does not run a number of times that is known before it
// starts, it reads for that how often the inner one ran in the last iteration of the outer one: of an iteration of
// which it does not know the number. So what such loops leave behind is kept there.
#include "Support/LeftValues.h"
#include "Support/Pass.h"

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/InstIterator.h"

using namespace llvm;

namespace adgen {
namespace {

constexpr unsigned MostBits = 64;

bool isKept(const Type &T) {
  return T.isFloatTy() || T.isDoubleTy() || (T.isIntegerTy() && T.getIntegerBitWidth() <= MostBits);
}

bool isUncounted(const Loop &L, ScalarEvolution &SE) {
  return isa<SCEVCouldNotCompute>(SE.getBackedgeTakenCount(&L)) ||
         any_of(L.getSubLoops(), [&](const Loop *Inner) { return isUncounted(*Inner, SE); });
}

// The innermost loop around uncounted loops that has the instruction, where it leaves the value behind.
const Loop *leftBy(const Instruction &I, const LoopInfo &LI, ScalarEvolution &SE) {
  const Loop *L = LI.getLoopFor(I.getParent());
  auto Uncounted = [&](const Loop *Inner) { return isUncounted(*Inner, SE); };
  while (L && none_of(L->getSubLoops(), Uncounted))
    L = L->getParentLoop();
  return L && isKept(*I.getType()) && isUsedBehind(I, *L, LI) ? L : nullptr;
}

void holdIn(Function &F, FunctionAnalysisManager &Analyses) {
  auto &SE = Analyses.getResult<ScalarEvolutionAnalysis>(F);
  auto &LI = Analyses.getResult<LoopAnalysis>(F);
  auto &DT = Analyses.getResult<DominatorTreeAnalysis>(F);
  SmallVector<std::pair<Instruction *, const Loop *>> Found;
  for (Instruction &I : instructions(F))
    if (const Loop *L = leftBy(I, LI, SE))
      Found.push_back({&I, L});
  for (auto [I, L] : Found)
    holdBehind(*I, DT, LI, [L = L](const PHINode &Phi) { return !L->contains(&Phi); }, &SE);
}

} // namespace

ADGEN_DECLARE_PASS(HoldLeftValues);

PreservedAnalyses HoldLeftValues::run(Module &M, ModuleAnalysisManager &MAM) {
  auto &Analyses = MAM.getResult<FunctionAnalysisManagerModuleProxy>(M).getManager();
  for (Function &F : M)
    if (!F.isDeclaration() && !isKernel(F))
      holdIn(F, Analyses);
  return PreservedAnalyses::none();
}

} // namespace adgen
