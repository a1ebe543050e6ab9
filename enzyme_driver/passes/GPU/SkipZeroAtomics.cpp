// On a GPU, in gradients: atomic additions are made where there is something to add. What the primal did not use has a
// cotangent of zero, and where many threads have none (a background's pixels, masked rows, padding), they add zeros to
// one element, one after the other. Additions behind each other are under one condition: a branch costs as much as two
// of them where nobody waits. What is not a number is not zero. Additions of the user's own have another scope.
#include "Analysis/Accumulation.h"
#include "Support/Pass.h"

#include "llvm/Transforms/Utils/BasicBlockUtils.h"

using namespace llvm;

namespace adgen {
namespace {

constexpr unsigned MostTogether = 8; // whose numbers and addresses wait in registers

using Group = SmallVector<AtomicRMWInst *, MostTogether>;

// Whether it can be computed before additions that it comes behind.
bool canGoAhead(const Instruction &I) {
  return !I.mayReadOrWriteMemory() && !I.mayHaveSideEffects() && !isa<PHINode>(I) && !I.isTerminator();
}

// Additions with nothing between them but arithmetic, which goes ahead.
SmallVector<Group> groupsIn(BasicBlock &Block) {
  SmallVector<Group> Found;
  bool IsOpen = false;
  for (Instruction &I : make_early_inc_range(Block)) {
    AtomicRMWInst *Addition = asAccumulation(I);
    if (Addition && !isa<Constant>(Addition->getValOperand())) {
      if (!IsOpen || Found.back().size() == MostTogether)
        Found.emplace_back();
      Found.back().push_back(Addition);
      IsOpen = true;
    } else if (IsOpen && canGoAhead(I)) {
      I.moveBefore(Found.back().front()->getIterator());
    } else {
      IsOpen = false;
    }
  }
  return Found;
}

void guard(const Group &Together) {
  IRBuilder<> B(Together.front());
  Value *Some = nullptr;
  for (AtomicRMWInst *Each : Together) {
    Value *Added = Each->getValOperand();
    Value *IsSome = B.CreateFCmpUNE(Added, ConstantFP::getZero(Added->getType()));
    Some = Some ? B.CreateOr(Some, IsSome) : IsSome;
  }
  Instruction *Then = SplitBlockAndInsertIfThen(Some, Together.front()->getIterator(), /*Unreachable=*/false);
  for (AtomicRMWInst *Each : Together)
    Each->moveBefore(Then->getIterator());
}

} // namespace

ADGEN_DECLARE_PASS(SkipZeroAtomics);

PreservedAnalyses SkipZeroAtomics::run(Module &M, ModuleAnalysisManager &) {
  SmallVector<Group> Found;
  for (Function &F : M)
    if (F.hasFnAttribute(ActivityAttribute))
      for (BasicBlock &Block : F)
        append_range(Found, groupsIn(Block));
  for (const Group &Each : Found)
    guard(Each);
  return PreservedAnalyses::none();
}

} // namespace adgen
