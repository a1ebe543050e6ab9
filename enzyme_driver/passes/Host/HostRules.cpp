// The derivatives of shuffles become those for the host (rules/shuffle.cu), which has the warp add up at once what each
// lane's receivers hold: on the GPU lanes ask each other, and on the host each question would have all lanes wait.
// Those of barriers become such as tell the runtime that they belong to a reverse sweep (rules/barrier.cu).
#include "Support/Pass.h"

using namespace llvm;

namespace adgen {

constexpr StringLiteral OnHost = "_on_host";

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

static bool hasOwnOnHost(StringRef Derivative) {
  if (!Derivative.consume_front(RulePrefix) || !Derivative.consume_back("_reverse"))
    return false;
  if (Derivative.starts_with("shfl_"))
    return Derivative.ends_with("_f32") || Derivative.ends_with("_f64");
  return is_contained({"barrier", "counted_barrier", "turn"}, Derivative);
}

ADGEN_DECLARE_PASS(HostRules);

PreservedAnalyses HostRules::run(Module &M, ModuleAnalysisManager &) {
  bool Changed = false;
  for (Function &F : M) {
    if (!F.isDeclaration() || !hasOwnOnHost(F.getName()))
      continue;
    F.setName(F.getName() + OnHost);
    Changed = true;
  }
  if (!Changed)
    return PreservedAnalyses::all();
  declareGathering(M, "f32", Type::getFloatTy(M.getContext()));
  declareGathering(M, "f64", Type::getDoubleTy(M.getContext()));
  return PreservedAnalyses::none();
}

} // namespace adgen
