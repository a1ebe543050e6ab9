#include "Support/HoldConditionalLoads.h"

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"

using namespace llvm;

namespace adgen {

// Whether something may be written between the load and the end of the way on which it is.
static bool isWrittenBehind(const LoadInst &Load, const PHINode &Meeting, const Use &U) {
  if (Meeting.getIncomingBlock(U) != Load.getParent())
    return true;
  for (const Instruction *I = Load.getNextNode(); I; I = I->getNextNode())
    if (I->mayWriteToMemory())
      return true;
  return false;
}

// On GPUs, and before Enzyme, no loop is vectorised.
static bool isVectorised(const Module &M) {
  return !M.getTargetTriple().isGPU() &&
         none_of(M, [](const Function &F) { return F.getName().starts_with("__enzyme_"); });
}

PreservedAnalyses holdConditionalLoads(Function &F) {
  if (!isVectorised(*F.getParent()))
    return PreservedAnalyses::all();
  SmallVector<Use *> Found;
  for (BasicBlock &Block : F)
    for (PHINode &Meeting : Block.phis())
      for (Use &U : Meeting.incoming_values())
        if (auto *Load = dyn_cast<LoadInst>(U.get()); Load && isWrittenBehind(*Load, Meeting, U))
          Found.push_back(&U);
  DenseMap<LoadInst *, Value *> Held;
  for (Use *U : Found) {
    auto *Load = cast<LoadInst>(U->get());
    Value *&Frozen = Held[Load];
    if (!Frozen)
      Frozen = IRBuilder<>(Load->getNextNode()).CreateFreeze(Load);
    U->set(Frozen);
  }
  if (Found.empty())
    return PreservedAnalyses::all();
  PreservedAnalyses Kept;
  Kept.preserveSet<CFGAnalyses>();
  return Kept;
}

} // namespace adgen
