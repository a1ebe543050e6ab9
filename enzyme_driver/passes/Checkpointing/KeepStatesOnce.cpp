// A number that a loop carries, such as a state that decays, is kept once an iteration. Where it is multiplied with
// something that has a derivative, Enzyme keeps it in each iteration; but beside it also each product, sum and
// difference of it that the reverse sweep needs: it never computes again what has an operand that it can't find out
// again, and a state is none that it can. Uses get the state by a `freeze`, which Enzyme keeps in its place, and it
// computes all the rest from that. Where lanes hand numbers to each other in the loop, it would rather keep those and
// find the state out by the iteration before; but they follow from the state (RematerializeShuffles).
//
// Of integers that a loop carries, as of a generator of random numbers, it is the other way round: Enzyme keeps them
// and computes many steps again, for each of them anew, to find out how it was decided. So what was decided is kept.
#include "Analysis/SharedConstants.h"
#include "Support/Guards.h"
#include "Support/Pass.h"

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"

#define DEBUG_TYPE "adgen-keep-states-once"

using namespace llvm;

STATISTIC(NumStates, "Number of states kept once an iteration");
STATISTIC(NumDecisions, "Number of decisions kept in place of what they follow from");

namespace adgen {
namespace {

constexpr size_t ManySteps = 64;

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

// Whether lanes hand numbers to each other in each iteration.
bool hasShuffles(const Loop &L, const LoopInfo &LI) {
  return any_of(L.blocks(), [&](const BasicBlock *Block) {
    return LI.getLoopFor(Block) == &L && any_of(*Block, [](const Instruction &I) {
             auto *Call = dyn_cast<CallInst>(&I);
             return Call && Call->getCalledFunction() &&
                    Call->getCalledFunction()->getName().starts_with("adgen_rule_shfl_");
           });
  });
}

void keepOnce(PHINode &State, const Loop &L, bool Shuffles) {
  ADGEN_COUNT(NumStates, State);
  if (Shuffles)
    return hold(State, State.getParent()->getFirstInsertionPt());
  IRBuilder<> B(State.getParent(), State.getParent()->getFirstInsertionPt());
  Value *Kept = B.CreateFreeze(&State, State.getName() + ".kept");
  State.replaceUsesWithIf(Kept, [&](Use &U) { return U.getUser() != Kept && isIn(L, U.getUser()); });
}

// An integer that does not merely go up or down.
bool isState(const PHINode &Phi, const Loop &L) {
  const BasicBlock *Latch = L.getLoopLatch();
  if (!Latch || !Phi.getType()->isIntegerTy() || Phi.getParent() != L.getHeader())
    return false;
  auto *Next = dyn_cast<Instruction>(Phi.getIncomingValueForBlock(Latch));
  return Next && L.contains(Next) &&
         !((Next->getOpcode() == Instruction::Add || Next->getOpcode() == Instruction::Sub) &&
           is_contained(Next->operand_values(), &Phi));
}

// Whether that takes many steps of this iteration and the one before, from integers that the loop carries.
bool isFarFromStates(const Instruction &Decision, const Loop &L) {
  SmallVector<const Instruction *> Work{&Decision};
  SmallPtrSet<const Instruction *, 32> Seen{&Decision};
  bool IsOfStates = false;
  while (!Work.empty()) {
    const Instruction *I = Work.pop_back_val();
    if (auto *Phi = dyn_cast<PHINode>(I))
      IsOfStates |= isState(*Phi, L);
    for (const Use &Operand : I->operands())
      if (auto *Made = dyn_cast<Instruction>(Operand); Made && L.contains(Made) && Seen.insert(Made).second)
        Work.push_back(Made);
  }
  return IsOfStates && Seen.size() >= ManySteps;
}

// Whether a choice or a branch follows from it, but not how often the loop goes round.
bool decides(const Instruction &I, const Loop &L) {
  auto Leaves = [&](const User *U) {
    auto *Branch = dyn_cast<BranchInst>(U);
    return Branch && L.contains(Branch) && L.isLoopExiting(Branch->getParent());
  };
  return isa<CmpInst>(I) && none_of(I.users(), Leaves) && any_of(I.users(), [&](const User *U) {
           return isa<BranchInst>(U) || (isa<SelectInst>(U) && U->getType()->isFloatingPointTy());
         });
}

void keepDecisions(Loop &L) {
  SmallVector<Instruction *> Found;
  for (BasicBlock *Block : L.blocks())
    for (Instruction &I : *Block)
      if (decides(I, L) && isFarFromStates(I, L))
        Found.push_back(&I);
  for (Instruction *I : Found) {
    ADGEN_COUNT(NumDecisions, *I);
    IRBuilder<> B(I->getNextNode());
    Value *Number = B.CreateZExt(I, B.getInt8Ty()), *Kept = B.CreateTrunc(Number, I->getType(), I->getName() + ".kept");
    I->replaceUsesWithIf(Kept, [&](Use &U) { return U.getUser() != Number; });
    holdInVariable(*Number, cast<Instruction>(Kept)->getIterator());
  }
}

} // namespace

ADGEN_DECLARE_PASS(KeepStatesOnce);

PreservedAnalyses KeepStatesOnce::run(Module &M, ModuleAnalysisManager &MAM) {
  auto &FAM = MAM.getResult<FunctionAnalysisManagerModuleProxy>(M).getManager();
  for (Function &F : M) {
    if (!F.getName().starts_with(BodyPrefix) || F.isDeclaration())
      continue;
    Constants Known(F, knownActivities(F));
    const LoopInfo &LI = FAM.getResult<LoopAnalysis>(F);
    for (Loop *L : LI.getLoopsInPreorder()) {
      keepDecisions(*L);
      bool Shuffles = hasShuffles(*L, LI);
      for (PHINode &State : L->getHeader()->phis())
        if (isKeptBesideOthers(State, *L, Known))
          keepOnce(State, *L, Shuffles);
    }
  }
  return PreservedAnalyses::none();
}

} // namespace adgen
