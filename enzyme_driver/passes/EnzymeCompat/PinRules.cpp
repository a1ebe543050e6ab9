// Where the result of a call with a rule of ours is only stored, Enzyme moves the call into the reverse sweep and stops
// at an assertion, because a registered derivative cannot give the result there. A second use in a call keeps it in the
// forward sweep: adgen_pin_RULE(result), which does nothing and leaves after Enzyme (StripGuards). It comes after O2,
// which would take it for work.
//
// Enzyme keeps the result of any such call that the reverse sweep needs. Outside of loops that takes a register; in a
// loop it takes a tape, and what is computed sooner than read from there is computed again. Not where it follows from
// what a loop has left behind, which would have to be kept in its place.
#include "Support/Guards.h"
#include "Support/Pass.h"

#include "llvm/Analysis/LoopInfo.h"

using namespace llvm;

namespace adgen {
namespace {

constexpr unsigned MostSteps = 32; // of what a call is computed from

bool isCheap(StringRef Rule) {
  Rule.consume_front(MathPrefix);
  Rule.consume_back("f");
  static constexpr StringLiteral Cheap[] = {"rsqrt",    "rcbrt", "cbrt",     "hypot",    "rhypot",
                                            "copysign", "fdim",  "saturate", "frsqrt_rn"};
  return is_contained(Cheap, Rule);
}

// Whether the call is in a loop, and nothing that it is computed from there was left behind by a loop inside.
bool isComputedAgain(const CallInst &Call, const LoopInfo &LI) {
  const Loop *L = LI.getLoopFor(Call.getParent());
  SmallPtrSet<const Instruction *, MostSteps> Seen;
  SmallVector<const Value *> Next(Call.args());
  while (L && !Next.empty() && Seen.size() <= MostSteps) {
    auto *I = dyn_cast<Instruction>(Next.pop_back_val());
    if (!I || !L->contains(I))
      continue;
    if (LI.getLoopFor(I->getParent()) != L)
      return false;
    if (!isa<LoadInst>(I) && Seen.insert(I).second)
      append_range(Next, I->operands());
  }
  return L && Next.empty();
}

} // namespace

ADGEN_DECLARE_PASS(PinRules);

PreservedAnalyses PinRules::run(Module &M, ModuleAnalysisManager &MAM) {
  auto &FAM = MAM.getResult<FunctionAnalysisManagerModuleProxy>(M).getManager();
  SmallVector<Function *> Rules;
  for (Function &F : M)
    if (F.hasMetadata("enzyme_gradient") && !F.getReturnType()->isVoidTy())
      Rules.push_back(&F);
  for (Function *Rule : Rules)
    for (User *U : make_early_inc_range(Rule->users()))
      if (auto *Call = dyn_cast<CallInst>(U)) {
        if (isCheap(Rule->getName()) && isComputedAgain(*Call, FAM.getResult<LoopAnalysis>(*Call->getFunction())))
          callAgain(*Call);
        IRBuilder<> B(Call->getNextNode());
        B.SetCurrentDebugLocation(Call->getDebugLoc());
        B.CreateCall(declarePin(M, Rule->getName(), {Rule->getReturnType()}), {Call});
      }
  return PreservedAnalyses::none();
}

} // namespace adgen
