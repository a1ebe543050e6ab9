// What a loop around loops leaves behind (`found`, or what was found, behind a `break` out of both) Enzyme finds out
// again where the reverse sweep needs it. If an inner loop does not run a number of times that is known before it
// starts, it reads for that how often the inner one ran in the last iteration of the outer one: of an iteration of
// which it does not know the number. So what such loops leave behind is kept there.
#include "Support/Guards.h"
#include "Support/Pass.h"

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/Transforms/Utils/LoopUtils.h"

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

const BasicBlock *placeOf(const Use &U) {
  auto *Phi = dyn_cast<PHINode>(U.getUser());
  return Phi ? Phi->getIncomingBlock(U) : cast<Instruction>(U.getUser())->getParent();
}

// The innermost loop around uncounted loops that has the instruction, where it leaves the value behind.
const Loop *leftBy(const Instruction &I, const LoopInfo &LI, ScalarEvolution &SE) {
  const Loop *L = LI.getLoopFor(I.getParent());
  auto Uncounted = [&](const Loop *Inner) { return isUncounted(*Inner, SE); };
  while (L && none_of(L->getSubLoops(), Uncounted))
    L = L->getParentLoop();
  bool Left = L && any_of(I.uses(), [&](const Use &U) { return !L->contains(placeOf(U)); });
  return Left && isKept(*I.getType()) ? L : nullptr;
}

void holdIn(Function &F, FunctionAnalysisManager &Analyses) {
  auto &SE = Analyses.getResult<ScalarEvolutionAnalysis>(F);
  auto &LI = Analyses.getResult<LoopAnalysis>(F);
  auto &DT = Analyses.getResult<DominatorTreeAnalysis>(F);
  SmallVector<std::pair<Instruction *, const Loop *>> Found;
  for (Instruction &I : instructions(F))
    if (const Loop *L = leftBy(I, LI, SE))
      Found.push_back({&I, L});
  for (auto [I, L] : Found) {
    SmallVector<Instruction *> Leaving{I};
    SmallVector<PHINode *> Behind;
    formLCSSAForInstructions(Leaving, DT, LI, &SE, nullptr, &Behind);
    for (PHINode *Phi : Behind)
      if (!L->contains(Phi->getParent()) && !Phi->use_empty())
        Phi->getType()->isIntegerTy() ? hold(*Phi, Phi->getParent()->getFirstInsertionPt())
                                      : holdInVariable(*Phi, Phi->getParent()->getFirstInsertionPt());
  }
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
