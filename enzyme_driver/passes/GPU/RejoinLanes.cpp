// Lanes of a warp come one by one from functions that call themselves or the device's runtime (malloc). ptxas leaves
// them so at a warp barrier: they wait for each other there (BRA.DIV, WARPSYNC.COLLECTIVE in SASS), but go on one by
// one. So who asks which lanes are there, or exchanges values as lanes that do the same at once, finds others than in
// the primal. Before instructions that need the whole warp (.aligned), however, ptxas brings lanes together that may be
// apart (WARPSYNC.ALL). Such an instruction without a result that is read is left out, but that is not.
#include "Support/Pass.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/IR/PatternMatch.h"

#define DEBUG_TYPE "adgen-rejoin-lanes"

using namespace llvm;
using namespace llvm::PatternMatch;

STATISTIC(NumMeetings, "Number of barriers behind which lanes of a warp go on together");

namespace adgen {
namespace {

// Which functions lanes of a warp may leave one by one.
class Partings {
public:
  bool anyIn(const Function &F) {
    return any_of(instructions(F), [&](const Instruction &I) {
      auto *Call = dyn_cast<CallBase>(&I);
      return Call && !Call->isInlineAsm() && (!Call->getCalledFunction() || isLeft(*Call->getCalledFunction()));
    });
  }

private:
  bool isLeft(const Function &F) {
    if (F.isDeclaration())
      return !F.isIntrinsic();
    auto [Place, IsNew] = Known.try_emplace(&F, true); // whoever comes back to itself is
    if (!IsNew)
      return Place->second;
    bool Left = anyIn(F);
    return Known[&F] = Left;
  }

  DenseMap<const Function *, bool> Known;
};

bool holdsDerivative(const Function &F) {
  return F.hasFnAttribute(ActivityAttribute) || F.hasFnAttribute(TangentActivityAttribute);
}

// Of all architectures that ptxas still knows, in the oldest version of PTX that is written for them.
constexpr StringLiteral Together =
    "{ .reg .b32 %z; mov.u32 %z, 0; wmma.mma.sync.aligned.row.col.m16n16k16.f16.f16 "
    "{%z,%z,%z,%z}, {%z,%z,%z,%z,%z,%z,%z,%z}, {%z,%z,%z,%z,%z,%z,%z,%z}, {%z,%z,%z,%z}; }";

void goOnTogether(CallInst &Barrier) {
  ADGEN_COUNT(NumMeetings, Barrier);
  IRBuilder<> B(Barrier.getNextNode());
  B.SetCurrentDebugLocation(Barrier.getDebugLoc());
  auto *Asm = InlineAsm::get(FunctionType::get(B.getVoidTy(), false), Together, "~{memory}", /*hasSideEffects=*/true);
  B.CreateCall(Asm)->setConvergent();
}

} // namespace

ADGEN_DECLARE_PASS(RejoinLanes);

PreservedAnalyses RejoinLanes::run(Module &M, ModuleAnalysisManager &) {
  Partings Left;
  for (Function &F : M) {
    if (F.isDeclaration() || !holdsDerivative(F) || !Left.anyIn(F))
      continue;
    for (Instruction &I : make_early_inc_range(instructions(F)))
      if (match(&I, m_Intrinsic<Intrinsic::nvvm_bar_warp_sync>(m_AllOnes())))
        goOnTogether(cast<CallInst>(I));
  }
  return PreservedAnalyses::none();
}

} // namespace adgen
