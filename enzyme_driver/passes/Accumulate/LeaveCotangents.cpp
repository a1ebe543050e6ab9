// Where a thread adds to an element of its own (y[i] += f(x)), the element's cotangent is the same before and after.
// Enzyme takes it where the store is reversed and adds it again where the load is: an exchange and an atomic addition.
// In one basic block that comes to nothing by itself; here ways may part and meet in between, as where terms of the sum
// have conditions. Several threads that did so would race, so the element is one thread's.
#include "Analysis/Accumulation.h"
#include "Support/Pass.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/PostDominators.h"
#include "llvm/IR/InstIterator.h"

#define DEBUG_TYPE "adgen-leave-cotangents"

using namespace llvm;

STATISTIC(NumLeft, "Number of cotangents that are read where they are");

namespace adgen {
namespace {

class Updates {
public:
  Updates(Function &F, FunctionAnalysisManager &FAM)
      : F(F), Meet(F, FAM.getResult<AAManager>(F)), Behind(FAM.getResult<PostDominatorTreeAnalysis>(F)),
        LI(FAM.getResult<LoopAnalysis>(F)) {}

  void leave() {
    SmallVector<AtomicRMWInst *> Back;
    for (Instruction &I : instructions(F))
      if (AtomicRMWInst *Sum = asAccumulation(I); Sum && comesBack(*Sum))
        Back.push_back(Sum);
    for (AtomicRMWInst *Sum : Back) {
      auto *Taken = cast<AtomicRMWInst>(Sum->getValOperand());
      ADGEN_COUNT(NumLeft, *Taken);
      IRBuilder<> B(Taken);
      LoadInst *Read = B.CreateAlignedLoad(Taken->getType(), Taken->getPointerOperand(), Taken->getAlign());
      Read->setAAMetadata(Taken->getAAMetadata());
      Read->takeName(Taken);
      Sum->eraseFromParent();
      Taken->replaceAllUsesWith(Read);
      Taken->eraseFromParent();
    }
  }

private:
  // Whether all that was taken is added to the same element again, whichever way is gone, and nothing sees it
  // meanwhile.
  bool comesBack(const AtomicRMWInst &Sum) {
    auto *Taken = dyn_cast<AtomicRMWInst>(Sum.getValOperand());
    return Taken && isConsumption(*Taken) && Taken->getPointerOperand() == Sum.getPointerOperand() &&
           Behind.dominates(Sum.getParent(), Taken->getParent()) &&
           LI.getLoopFor(Sum.getParent()) == LI.getLoopFor(Taken->getParent()) && isAlone(*Taken, Sum);
  }

  bool isAlone(const AtomicRMWInst &Taken, const AtomicRMWInst &Sum) {
    const BasicBlock *From = Taken.getParent(), *To = Sum.getParent();
    if (From == To)
      return !isTouched(std::next(Taken.getIterator()), Sum.getIterator(), Sum);
    SetVector<const BasicBlock *> Between;
    Between.insert_range(successors(From));
    for (unsigned I = 0; I < Between.size(); ++I)
      if (Between[I] != To)
        Between.insert_range(successors(Between[I]));
    Between.remove(To);
    return !Between.contains(From) && !isTouched(std::next(Taken.getIterator()), From->end(), Sum) &&
           !isTouched(To->begin(), Sum.getIterator(), Sum) &&
           none_of(Between, [&](const BasicBlock *Block) { return isTouched(Block->begin(), Block->end(), Sum); });
  }

  bool isTouched(BasicBlock::const_iterator Begin, BasicBlock::const_iterator End, const AtomicRMWInst &Sum) {
    return any_of(make_range(Begin, End),
                  [&](const Instruction &I) { return Meet.mayTouch(I, Sum.getPointerOperand(), Sum.getType()); });
  }

  Function &F;
  Meetings Meet;
  const PostDominatorTree &Behind;
  const LoopInfo &LI;
};

} // namespace

ADGEN_DECLARE_PASS(LeaveCotangents);

PreservedAnalyses LeaveCotangents::run(Module &M, ModuleAnalysisManager &MAM) {
  auto &FAM = MAM.getResult<FunctionAnalysisManagerModuleProxy>(M).getManager();
  for (Function &F : M)
    if (F.hasFnAttribute(ActivityAttribute) && !F.isDeclaration())
      Updates(F, FAM).leave();
  return PreservedAnalyses::none();
}

} // namespace adgen
