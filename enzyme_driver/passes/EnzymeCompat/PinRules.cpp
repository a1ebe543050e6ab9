// Where the result of a call with a rule of ours is only stored, Enzyme moves the call into the reverse sweep and stops
// at an assertion, because a registered derivative cannot give the result there. A second use in a call keeps it in the
// forward sweep: adgen_pin_RULE(result), which does nothing and leaves after Enzyme (StripGuards). It comes after O2,
// which would take it for work.
//
// Enzyme keeps the result of any such call that the reverse sweep needs. Outside of loops that takes a register; in a
// loop it takes a tape, and what is computed sooner than read from there is computed again. Not where it follows from
// what a loop has left behind, which would have to be kept in its place. On a GPU so is what takes longer, in single
// precision, where nothing at all has to be kept for it: a tape for each pair of points is more than a GPU has.
//
// Enzyme says of such results that they are neither infinite nor no numbers (fast-math flags), and simplifies the
// forward sweep by that: where the user asks whether one is, the question is about a number that nothing is said of.
#include "Analysis/UnchangedMemory.h"
#include "Support/Guards.h"
#include "Support/Pass.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsNVPTX.h"

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

bool isDearer(StringRef Rule) {
  static constexpr StringLiteral Dearer[] = {"powf", "tanhf", "erff", "erfcf", "expm1f", "log1pf", "exp10f"};
  return Rule.consume_front(MathPrefix) && is_contained(Dearer, Rule);
}

// Of what is in memory that nobody changes, or is read again anyway.
bool isReadAgain(const Instruction &I, UnchangedMemory &Unchanged) {
  auto *Load = dyn_cast<LoadInst>(&I);
  auto *Call = dyn_cast<IntrinsicInst>(&I);
  return (Load && Unchanged.isReadBy(*Load)) || (Call && Call->getIntrinsicID() == Intrinsic::nvvm_ldu_global_f);
}

// Whether all that it is computed from in its loop is read again, counted, or the same in all iterations.
bool followsFromReads(const CallInst &Call, const LoopInfo &LI, UnchangedMemory &Unchanged) {
  const Loop *L = LI.getLoopFor(Call.getParent());
  SmallPtrSet<const Instruction *, MostSteps> Seen;
  SmallVector<const Value *> Next(Call.args());
  bool Reads = false;
  while (L && !Next.empty() && Seen.size() <= MostSteps) {
    auto *I = dyn_cast<Instruction>(Next.pop_back_val());
    if (!I || !L->contains(I) || !Seen.insert(I).second)
      continue;
    if (isReadAgain(*I, Unchanged)) {
      Reads = true;
      continue;
    }
    if (I->mayReadOrWriteMemory() || isa<PHINode>(I) || (isa<CallBase>(I) && !isa<IntrinsicInst>(I)))
      return false;
    append_range(Next, I->operands());
  }
  return Reads && Next.empty();
}

// What is no number, or infinite, where the operands are.
bool handsOn(const Instruction &I) {
  auto *Call = dyn_cast<IntrinsicInst>(&I);
  if (Call)
    return is_contained({Intrinsic::fabs, Intrinsic::copysign}, Call->getIntrinsicID());
  return isa<PHINode, SelectInst, FreezeInst, FPExtInst, FPTruncInst>(I) || I.getOpcode() == Instruction::FNeg;
}

bool isSpecial(const Value *V) {
  auto *Number = dyn_cast<ConstantFP>(V);
  return Number && !Number->getValueAPF().isFinite();
}

// Whether a number is asked for being finite, or one at all.
bool asksForKind(const FCmpInst &Question) {
  return is_contained({FCmpInst::FCMP_UNO, FCmpInst::FCMP_ORD}, Question.getPredicate()) ||
         Question.getOperand(0) == Question.getOperand(1) || any_of(Question.operands(), isSpecial);
}

void hideQuestions(CallInst &Result) {
  SmallSetVector<Instruction *, 8> Same;
  SmallSetVector<FCmpInst *, 4> Questions;
  Same.insert(&Result);
  for (unsigned N = 0; N < Same.size() && N < MostSteps; ++N)
    for (User *U : Same[N]->users())
      if (auto *Question = dyn_cast<FCmpInst>(U); Question && asksForKind(*Question))
        Questions.insert(Question);
      else if (handsOn(*cast<Instruction>(U)))
        Same.insert(cast<Instruction>(U));
  for (FCmpInst *Question : Questions)
    if (Question->getType()->isIntegerTy())
      hide(*Question);
}

} // namespace

ADGEN_DECLARE_PASS(PinRules);

PreservedAnalyses PinRules::run(Module &M, ModuleAnalysisManager &MAM) {
  auto &FAM = MAM.getResult<FunctionAnalysisManagerModuleProxy>(M).getManager();
  SmallVector<Function *> Rules;
  for (Function &F : M)
    if (F.hasMetadata("enzyme_gradient") && !F.getReturnType()->isVoidTy())
      Rules.push_back(&F);
  std::optional<UnderlyingObjects> Memory;
  std::optional<UnchangedMemory> Unchanged; // of a GPU, if it is asked
  if (M.getTargetTriple().isNVPTX() && any_of(Rules, [](Function *F) { return isDearer(F->getName()); })) {
    Memory.emplace(M);
    Unchanged.emplace(*Memory, BodyPrefix);
  }
  for (Function *Rule : Rules)
    for (User *U : make_early_inc_range(Rule->users()))
      if (auto *Call = dyn_cast<CallInst>(U)) {
        const LoopInfo &LI = FAM.getResult<LoopAnalysis>(*Call->getFunction());
        if (isCheap(Rule->getName())
                ? isComputedAgain(*Call, LI)
                : Unchanged && isDearer(Rule->getName()) && followsFromReads(*Call, LI, *Unchanged))
          callAgain(*Call);
        IRBuilder<> B(Call->getNextNode());
        B.SetCurrentDebugLocation(Call->getDebugLoc());
        B.CreateCall(declarePin(M, Rule->getName(), {Rule->getReturnType()}), {Call});
        hideQuestions(*Call);
      }
  return PreservedAnalyses::none();
}

} // namespace adgen
