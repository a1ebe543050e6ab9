#include "Accumulate/TableZeros.h"
#include "Analysis/Accumulation.h"
#include "Support/Pass.h"

#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

#define DEBUG_TYPE "adgen-privatize-lookups"

using namespace llvm;

STATISTIC(NumSkipped, "Number of additions left out where they are zero");

namespace adgen {

static const Argument *sharedOf(const Value &Pointer) {
  auto *A = dyn_cast<Argument>(getUnderlyingObject(&Pointer, 0));
  return A && A->hasAttribute(SharedShadowAttribute) ? A : nullptr;
}

void skipZerosOfTables(Function &Gradient, Lookups &From) {
  SmallPtrSet<const Value *, 4> Tables;
  for (Instruction &I : instructions(Gradient))
    if (AtomicRMWInst *Atomic = asAccumulation(I); Atomic && From.make(Atomic->getPointerOperand()))
      if (const Argument *A = sharedOf(*Atomic->getPointerOperand()))
        Tables.insert(A);
  SmallVector<AtomicRMWInst *> Flushes;
  for (Instruction &I : instructions(Gradient)) {
    AtomicRMWInst *Atomic = asAccumulation(I);
    auto *Taken = Atomic ? dyn_cast<Instruction>(Atomic->getValOperand()) : nullptr;
    const Value *Pointer = Taken ? accessedPointer(*Taken) : nullptr;
    if (Pointer && !isa<StoreInst>(Taken) && Tables.contains(sharedOf(*Pointer)) &&
        !sharedOf(*Atomic->getPointerOperand()))
      Flushes.push_back(Atomic);
  }
  for (AtomicRMWInst *Atomic : Flushes) {
    ADGEN_COUNT(NumSkipped, *Atomic);
    IRBuilder<> B(Atomic);
    Value *Zero = Constant::getNullValue(Atomic->getType());
    Value *Counts = B.CreateFCmpUNE(Atomic->getValOperand(), Zero);
    Atomic->moveBefore(SplitBlockAndInsertIfThen(Counts, Atomic->getNextNode()->getIterator(), false)->getIterator());
  }
}

} // namespace adgen
