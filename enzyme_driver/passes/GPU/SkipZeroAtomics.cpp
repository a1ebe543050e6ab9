// On a GPU, in gradients: atomic additions to places that were read are made where there is something to add. What the
// primal did not use has a cotangent of zero, and where many threads have none (a background's pixels, masked rows,
// padding), they add zeros to one element, one after the other. Places that follow from the thread's number differ, and
// nobody waits there: a branch would cost more. Additions behind each other are under one condition, as much as two of
// them. What is not a number is not zero. Additions of the user's own have another scope.
#include "Analysis/Accumulation.h"
#include "Support/Pass.h"

#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

#define DEBUG_TYPE "adgen-skip-zero-atomics"

using namespace llvm;

STATISTIC(NumGroups, "Number of groups of atomic additions guarded");

namespace adgen {
namespace {

constexpr unsigned MostTogether = 8; // whose numbers and addresses wait in registers

using Group = SmallVector<AtomicRMWInst *, MostTogether>;

// Whether the address follows from a number or pointer that was read, and not from a kernel's parameters alone.
bool isPlaceRead(const Value *Address) {
  SmallVector<const Value *> Work{Address};
  SmallPtrSet<const Value *, 32> Seen{Address};
  while (!Work.empty()) {
    auto *I = dyn_cast<Instruction>(Work.pop_back_val());
    if (!I)
      continue;
    if (auto *Load = dyn_cast<LoadInst>(I)) {
      auto *Of = dyn_cast<Argument>(getUnderlyingObject(Load->getPointerOperand(), 0));
      if (!Of || !Of->hasByValAttr())
        return true;
      continue;
    }
    for (const Use &From : I->operands())
      if (Seen.insert(From.get()).second)
        Work.push_back(From.get());
  }
  return false;
}

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
    if (Addition && !isa<Constant>(Addition->getValOperand()) && isPlaceRead(Addition->getPointerOperand())) {
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
  ADGEN_COUNT(NumGroups, *Together.front());
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
