// The derivatives of shuffles become those for the host (rules/shuffle.cu), which has the warp add up at once what each
// lane's receivers hold: on the GPU lanes ask each other, and on the host each question would have all lanes wait. So
// do the products that are made by Tensor Cores on the GPU (rules/tensor_cores.cu), the questions which lanes have come
// to the end of the forward sweep, and barriers that some of them may miss (rules/barrier.cu).
#include "Support/Pass.h"

#define DEBUG_TYPE "adgen-host-rules"

using namespace llvm;

STATISTIC(NumRules, "Number of rules that became those for the host");

namespace adgen {

constexpr StringLiteral ProductPrefix = "adgen_math_mma_";

// What is called has no effect but for the other lanes, like a shuffle.
static void declareGathering(Module &M, StringRef Bits, Type *T) {
  Type *Word = Type::getInt32Ty(M.getContext());
  FunctionCallee Callee = M.getOrInsertFunction((TogetherPrefix + "gather_" + Bits).str(), T, Word, T, Word, Word);
  auto *F = cast<Function>(Callee.getCallee());
  F->setConvergent();
  F->setDoesNotThrow();
  F->addFnAttr(Attribute::WillReturn);
  F->setMemoryEffects(MemoryEffects::inaccessibleMemOnly());
}

static bool isGatherOfShuffle(StringRef Name) {
  return Name.consume_front(RulePrefix) && Name.starts_with("shfl_") && Name.consume_back("_reverse") &&
         (Name.ends_with("_f32") || Name.ends_with("_f64"));
}

static bool isOfBarrier(StringRef Name) {
  return Name.consume_front(RulePrefix) &&
         (Name == "counted_barrier_augmented" || Name == "turn_reverse" || Name == "tallied_turn_reverse");
}

ADGEN_DECLARE_PASS(HostRules);

PreservedAnalyses HostRules::run(Module &M, ModuleAnalysisManager &) {
  bool Gathers = false, Changed = false;
  for (Function &F : M) {
    StringRef Name = F.getName();
    bool Gather = isGatherOfShuffle(Name);
    bool Named = Name.starts_with(LanesPrefix) || Name.starts_with(ProductPrefix) || isOfBarrier(Name);
    if (!F.isDeclaration() || !(Gather || Named))
      continue;
    ADGEN_COUNT(NumRules, F.getName());
    F.setName(F.getName() + OnHost);
    Gathers |= Gather;
    Changed = true;
  }
  if (!Changed)
    return PreservedAnalyses::all();
  if (Gathers) {
    declareGathering(M, "f32", Type::getFloatTy(M.getContext()));
    declareGathering(M, "f64", Type::getDoubleTy(M.getContext()));
  }
  return PreservedAnalyses::none();
}

} // namespace adgen
