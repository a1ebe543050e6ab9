// Loads from memory that the whole entry only reads become invariant: Enzyme reads such values again in the reverse
// sweep and does not keep them, and the optimiser reads them once. Nothing that is written overlaps a parameter of a
// gradient, which the runtime checks; the primal has no such promise, so its marks are taken away once Enzyme has run.
// The option names the entries: their prefix.
#include "Analysis/UnchangedMemory.h"
#include "Support/Pass.h"

#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/InstIterator.h"

#define DEBUG_TYPE "adgen-mark-invariant-loads"

using namespace llvm;

STATISTIC(NumLoads, "Number of loads marked");

namespace adgen {

static constexpr StringLiteral Ours = "adgen.unchanged";

static void forget(LoadInst &Load) {
  Load.setMetadata(LLVMContext::MD_invariant_load, nullptr);
  Load.setMetadata(Ours, nullptr);
}

// A struct by value is in memory that the caller of a gradient fills with a copy: nothing may be moved before that.
static bool readsCopy(const LoadInst &Load, const UnderlyingObjects &Memory) {
  auto IsCopy = [](const Value *Object) {
    auto *A = dyn_cast_or_null<Argument>(Object);
    return A && isStructByValue(*A);
  };
  return IsCopy(getUnderlyingObject(Load.getPointerOperand(), 0)) ||
         any_of(Memory.of(Load.getPointerOperand()), IsCopy);
}

ADGEN_DECLARE_PASS_WITH_OPTION(MarkInvariantLoads);

PreservedAnalyses MarkInvariantLoads::run(Module &M, ModuleAnalysisManager &) {
  const UnderlyingObjects Memory(M);
  UnchangedMemory Unchanged(Memory, Option);
  MDNode *Mark = MDNode::get(M.getContext(), {});
  for (Function &F : M)
    for (Instruction &I : instructions(F)) {
      auto *Load = dyn_cast<LoadInst>(&I);
      if (!Load || !Load->isSimple())
        continue;
      bool Stays = Unchanged.isReadBy(*Load);
      if (Option == GradientPrefix && readsCopy(*Load, Memory))
        forget(*Load);
      else if (Stays && !Load->hasMetadata(LLVMContext::MD_invariant_load)) {
        Load->setMetadata(LLVMContext::MD_invariant_load, Mark);
        Load->setMetadata(Ours, Mark);
        ADGEN_COUNT(NumLoads, *Load);
      } else if (!Stays && Load->hasMetadata(Ours)) {
        forget(*Load);
      }
    }
  return PreservedAnalyses::none();
}

} // namespace adgen
