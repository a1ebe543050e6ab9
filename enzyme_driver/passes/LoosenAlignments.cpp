// Memory is taken to begin at a multiple of 16 bytes and no more. Enzyme keeps local arrays on the heap, and writes on the accesses
// that they lie at multiples of their size there.
#include "Passes.h"

#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"

using namespace llvm;

namespace adgen {
namespace {

const Align OfTheHeap(16);

template <class Memory> void loosen(Memory &I) {
  if (I.getAlign() > OfTheHeap)
    I.setAlignment(OfTheHeap);
}

void loosenAny(Instruction &I) {
  if (auto *Alloca = dyn_cast<AllocaInst>(&I))
    loosen(*Alloca);
  else if (auto *Load = dyn_cast<LoadInst>(&I))
    loosen(*Load);
  else if (auto *Store = dyn_cast<StoreInst>(&I))
    loosen(*Store);
  else if (auto *Set = dyn_cast<MemIntrinsic>(&I)) {
    if (Set->getDestAlign().valueOrOne() > OfTheHeap)
      Set->setDestAlignment(OfTheHeap);
    auto *Copy = dyn_cast<MemTransferInst>(Set);
    if (Copy && Copy->getSourceAlign().valueOrOne() > OfTheHeap)
      Copy->setSourceAlignment(OfTheHeap);
  }
}

} // namespace

PreservedAnalyses LoosenAlignments::run(Module &M, ModuleAnalysisManager &) {
  for (Function &F : M)
    for (Instruction &I : instructions(F))
      loosenAny(I);
  return PreservedAnalyses::none();
}

} // namespace adgen
