// A number that a loop carries, such as a state that decays, is kept once an iteration. Where it is multiplied with
// something that has a derivative, Enzyme keeps it in each iteration; but beside it also each product, sum and
// difference of it that the reverse sweep needs: it never computes again what has an operand that it can't find out
// again, and a state is none that it can. Uses get the state by a `freeze`, which Enzyme keeps in its place, and it
// computes all the rest from that.
#include "Analysis/SharedConstants.h"
#include "Support/Pass.h"

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"

#define DEBUG_TYPE "adgen-keep-states-once"

using namespace llvm;

STATISTIC(NumStates, "Number of states kept once an iteration");

namespace adgen {
namespace {

bool isIn(const Loop &L, const User *U) { return !isa<PHINode>(U) && L.contains(cast<Instruction>(U)); }

// A product needs one factor for the derivative by the other.
bool isKeptBy(const User *U, const PHINode &State, const Constants &Known) {
  auto *Product = dyn_cast<BinaryOperator>(U);
  return Product && Product->getOpcode() == Instruction::FMul &&
         !Known.isConstant(Product->getOperand(Product->getOperand(0) == &State));
}

bool isKeptBesideOthers(const PHINode &State, const Loop &L, const Constants &Known) {
  if (!State.getType()->isFloatTy() && !State.getType()->isDoubleTy())
    return false;
  auto Uses = count_if(State.users(), [&](const User *U) { return isIn(L, U); });
  return Uses > 1 && any_of(State.users(), [&](const User *U) { return isIn(L, U) && isKeptBy(U, State, Known); });
}

void keepOnce(PHINode &State, const Loop &L) {
  ADGEN_COUNT(NumStates, State);
  IRBuilder<> B(State.getParent(), State.getParent()->getFirstInsertionPt());
  Value *Kept = B.CreateFreeze(&State, State.getName() + ".kept");
  State.replaceUsesWithIf(Kept, [&](Use &U) { return U.getUser() != Kept && isIn(L, U.getUser()); });
}

} // namespace

ADGEN_DECLARE_PASS(KeepStatesOnce);

PreservedAnalyses KeepStatesOnce::run(Module &M, ModuleAnalysisManager &MAM) {
  auto &FAM = MAM.getResult<FunctionAnalysisManagerModuleProxy>(M).getManager();
  for (Function &F : M) {
    if (!F.getName().starts_with(BodyPrefix) || F.isDeclaration())
      continue;
    Constants Known(F, knownActivities(F));
    for (Loop *L : FAM.getResult<LoopAnalysis>(F).getLoopsInPreorder())
      for (PHINode &State : L->getHeader()->phis())
        if (isKeptBesideOthers(State, *L, Known))
          keepOnce(State, *L);
  }
  return PreservedAnalyses::none();
}

} // namespace adgen
