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

// Parameters to which nothing may write that their entry reaches; what other entries do is not known to it, and does not matter.
class Unchanged {
public:
  Unchanged(const Origins &Memory, StringRef Prefix) : Memory(Memory), Prefix(Prefix) {}

  bool contains(const Value *Object) {
    return isParameter(Object, Prefix) && !Memory.written().contains(Object) && isKnown(*cast<Argument>(Object)->getParent());
  }

private:
  bool isKnown(const Function &Entry) {
    auto [Known, IsNew] = Entries.try_emplace(&Entry, true);
    if (IsNew && Memory.written().contains(nullptr))
      Known->second = !firstReached(Entry, [&](const Instruction &I) { return Memory.writtenBy(I).contains(nullptr); });
    return Known->second;
  }

  const Origins &Memory;
  StringRef Prefix;
  DenseMap<const Function *, bool> Entries; // whether it is known where they write
};

PreservedAnalyses MarkUnchanged::run(Module &M, ModuleAnalysisManager &) {
  const Origins Memory(M);
  Unchanged Parameters(Memory, Option);
  MDNode *Mark = MDNode::get(M.getContext(), {});
  for (Function &F : M)
    for (Instruction &I : instructions(F)) {
      auto *Load = dyn_cast<LoadInst>(&I);
      if (!Load || !Load->isSimple())
        continue;
      const Origins::Set &From = Memory.of(Load->getPointerOperand());
      bool Stays = !From.empty() && all_of(From, [&](const Value *Object) { return Parameters.contains(Object); });
      if (Stays && !Load->hasMetadata(LLVMContext::MD_invariant_load)) {
        Load->setMetadata(LLVMContext::MD_invariant_load, Mark);
        Load->setMetadata(Ours, Mark);
      } else if (!Stays && Load->hasMetadata(Ours)) {
        forget(*Load);
      }
    }
  return PreservedAnalyses::none();
}

} // namespace adgen
