// Loads from memory that the whole entry only reads become invariant: Enzyme reads such values again in the reverse sweep and does not
// keep them, and the optimiser reads them once. Nothing that is written overlaps a parameter of a gradient, which the runtime checks;
// the primal has no such promise, so its marks are taken away once Enzyme has run. The option names the entries: their prefix.
#include "Origins.h"
#include "Passes.h"

#include "llvm/IR/InstIterator.h"

using namespace llvm;

namespace adgen {

static constexpr StringLiteral Ours = "adgen.unchanged";

// A parameter of an entry of that kind, and not the shadow of one.
static bool isParameter(const Value *Memory, StringRef Prefix) {
  auto *A = dyn_cast_or_null<Argument>(Memory);
  if (!A || !A->getParent()->getName().starts_with(Prefix))
    return false;
  return !A->getParent()->hasParamAttribute(A->getArgNo(), ShadowAttribute) &&
         !A->getParent()->hasParamAttribute(A->getArgNo(), SharedShadowAttribute);
}

static void forget(LoadInst &Load) {
  Load.setMetadata(LLVMContext::MD_invariant_load, nullptr);
  Load.setMetadata(Ours, nullptr);
}

PreservedAnalyses MarkUnchanged::run(Module &M, ModuleAnalysisManager &) {
  const Origins Memory(M);
  const Origins::Set &Written = Memory.written();
  MDNode *Mark = MDNode::get(M.getContext(), {});
  for (Function &F : M)
    for (Instruction &I : instructions(F)) {
      auto *Load = dyn_cast<LoadInst>(&I);
      if (!Load || !Load->isSimple())
        continue;
      const Origins::Set &From = Memory.of(Load->getPointerOperand());
      bool Unchanged = !From.empty() && !Written.contains(nullptr) && all_of(From, [&](const Value *Object) {
                         return isParameter(Object, Option) && !Written.contains(Object);
                       });
      if (Unchanged && !Load->hasMetadata(LLVMContext::MD_invariant_load)) {
        Load->setMetadata(LLVMContext::MD_invariant_load, Mark);
        Load->setMetadata(Ours, Mark);
      } else if (!Unchanged && Load->hasMetadata(Ours)) {
        forget(*Load);
      }
    }
  return PreservedAnalyses::none();
}

} // namespace adgen
