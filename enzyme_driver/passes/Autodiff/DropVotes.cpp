// Lanes ask each other whether there is anything left to do for any of them, and leave a loop, or what follows,
// together:
//   for (...) { if (__all_sync(~0u, done)) break; if (done) continue; ... }
//   if (!__any_sync(~0u, valid)) continue; if (valid) { ... }
// Where a lane does the same whatever the others say as long as its own answer is this one, it need not ask them: a
// lane that is done walks on through the loop for nothing. In bodies its own answer takes the place of the vote.
#include "Analysis/IdleWay.h"
#include "Support/Pass.h"

#include "llvm/Analysis/PostDominators.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/IR/PatternMatch.h"
#include "llvm/Transforms/Utils/Local.h"

#include <optional>

#define DEBUG_TYPE "adgen-drop-votes"

using namespace llvm;
using namespace llvm::PatternMatch;

STATISTIC(NumVotes, "Number of votes of a warp that no lane needs");

namespace adgen {
namespace {

// Whether all lanes say so, or any does.
struct Vote {
  IntrinsicInst *Call;
  Instruction *Outcome; // that is, or is not, what the vote says
  bool Inverted, IsAll;

  Value &own() const { return *Call->getArgOperand(1); }
};

// `ballot(mask, own)` compared with none of the lanes, or all of them, or their number.
std::optional<Vote> counted(IntrinsicInst &Ballot) {
  auto *User = Ballot.hasOneUse() ? dyn_cast<Instruction>(*Ballot.user_begin()) : nullptr;
  const bool IsNumber = User && match(User, m_Intrinsic<Intrinsic::ctpop>(m_Specific(&Ballot)));
  Value *Who = IsNumber ? User : static_cast<Value *>(&Ballot), *With;
  if (IsNumber)
    User = User->hasOneUse() ? dyn_cast<Instruction>(*User->user_begin()) : nullptr;
  CmpPredicate Kind;
  if (!User || !match(User, m_c_ICmp(Kind, m_Specific(Who), m_Value(With))) || !ICmpInst::isEquality(Kind))
    return {};
  const bool IsEqual = Kind == ICmpInst::ICMP_EQ;
  Value *Mask = Ballot.getArgOperand(0);
  if (match(With, m_Zero()))
    return Vote{&Ballot, User, IsEqual, false};
  if (IsNumber ? match(Mask, m_AllOnes()) && match(With, m_SpecificInt(32)) : With == Mask)
    return Vote{&Ballot, User, !IsEqual, true};
  return {};
}

std::optional<Vote> voteOf(Instruction &I) {
  auto *Call = dyn_cast<IntrinsicInst>(&I);
  switch (Call ? Call->getIntrinsicID() : Intrinsic::not_intrinsic) {
  case Intrinsic::nvvm_vote_all_sync:
  case Intrinsic::nvvm_vote_any_sync:
    return Vote{Call, Call, false, Call->getIntrinsicID() == Intrinsic::nvvm_vote_all_sync};
  case Intrinsic::nvvm_vote_ballot_sync:
    return counted(*Call);
  default:
    return {};
  }
}

class Votes {
public:
  Votes(Function &Body, FunctionAnalysisManager &FAM)
      : Body(Body), DT(FAM.getResult<DominatorTreeAnalysis>(Body)), LI(FAM.getResult<LoopAnalysis>(Body)),
        After(FAM.getResult<PostDominatorTreeAnalysis>(Body)) {}

  bool run() {
    bool Changed = false;
    for (Instruction &I : make_early_inc_range(instructions(Body)))
      if (std::optional<Vote> Found = voteOf(I); Found && isNeedless(*Found)) {
        ADGEN_COUNT(NumVotes, I);
        Dropped.push_back(*Found);
        Changed = true;
      }
    for (const Vote &Each : Dropped) {
      Value *Own = &Each.own();
      Each.Outcome->replaceAllUsesWith(Each.Inverted ? IRBuilder<>(Each.Outcome).CreateNot(Own) : Own);
      if (Each.Outcome != Each.Call)
        RecursivelyDeleteTriviallyDeadInstructions(Each.Outcome);
      Each.Call->eraseFromParent();
    }
    return Changed;
  }

private:
  bool isNeedless(const Vote &Of) {
    IdleWay Alone(DT, LI);
    Alone.assume(Of.own(), Of.IsAll);
    return all_of(Of.Outcome->users(), [&](User *U) { return isNeedlessFor(*cast<Instruction>(U), Of, Alone); });
  }

  // Where the lane's own answer is the one that lets the others decide, this does not depend on them.
  bool isNeedlessFor(Instruction &I, const Vote &Of, const IdleWay &Alone) {
    if (auto *Branch = dyn_cast<BranchInst>(&I))
      return leadsToTheSame(*Branch, Of);
    bool IsCondition = I.getType()->isIntegerTy(1) && isa<BinaryOperator, SelectInst>(I);
    return IsCondition && (Alone.known(I) ||
                           all_of(I.users(), [&](User *U) { return isNeedlessFor(*cast<Instruction>(U), Of, Alone); }));
  }

  bool leadsToTheSame(BranchInst &Branch, const Vote &Of) {
    auto *Node = Branch.getSuccessor(0) != Branch.getSuccessor(1) ? After.getNode(Branch.getParent()) : nullptr;
    BasicBlock *End = Node && Node->getIDom() ? Node->getIDom()->getBlock() : nullptr;
    if (!End)
      return false;
    IdleWay One(DT, LI), Other(DT, LI);
    for (auto [Way, Index] : {std::pair(&One, 0), std::pair(&Other, 1)}) {
      Way->assume(Of.own(), Of.IsAll);
      if (!Way->walk(Branch.getParent(), *Branch.getSuccessor(Index), *End, Of.Call))
        return false;
    }
    return all_of(End->phis(), [&](const PHINode &Phi) {
      Value *First = One.brought(Phi), *Second = Other.brought(Phi);
      return First && Second && One.isSame(*First, *Second);
    });
  }

  Function &Body;
  DominatorTree &DT;
  LoopInfo &LI;
  PostDominatorTree &After;
  SmallVector<Vote> Dropped;
};

} // namespace

ADGEN_DECLARE_PASS(DropVotes);

PreservedAnalyses DropVotes::run(Module &M, ModuleAnalysisManager &MAM) {
  auto &FAM = MAM.getResult<FunctionAnalysisManagerModuleProxy>(M).getManager();
  for (Function &F : M)
    while (F.getName().starts_with(BodyPrefix) && !F.isDeclaration() && Votes(F, FAM).run())
      FAM.invalidate(F, PreservedAnalyses::none());
  return PreservedAnalyses::none();
}

} // namespace adgen
