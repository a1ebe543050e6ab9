// In C++: what threads of a team reach through a pointer, such as the derivative of a virtual function, adds to shadows
// by atomics. Enzyme makes the derivatives of such functions without knowing a call of them, and adds plainly: two
// threads at one object would lose what one of them adds.
#include "Analysis/Accumulation.h"
#include "Support/Iterations.h"
#include "Support/OpenMP.h"
#include "Support/Pass.h"

#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/InstIterator.h"

using namespace llvm;

namespace adgen {
namespace {

void add(IRBuilder<> &B, Value *To, Value *Added, Align Alignment) {
  auto *Vector = dyn_cast<FixedVectorType>(Added->getType());
  if (!Vector) {
    B.CreateAtomicRMW(AtomicRMWInst::FAdd, To, Added, Alignment, AtomicOrdering::Monotonic);
    return;
  }
  Type *Number = Vector->getElementType();
  uint64_t Bytes = Number->getPrimitiveSizeInBits() / 8;
  for (unsigned Lane : seq(Vector->getNumElements()))
    add(B, B.CreateConstInBoundsGEP1_64(Number, To, Lane), B.CreateExtractElement(Added, Lane),
        commonAlignment(Alignment, Lane * Bytes));
}

void addAtomically(Function &F) {
  for (Instruction &I : make_early_inc_range(instructions(F))) {
    auto *Store = dyn_cast<StoreInst>(&I);
    Value *Added = Store && Store->isSimple() && isReverse(*Store->getParent()) ? addedBy(*Store) : nullptr;
    if (!Added || isa<AllocaInst>(getUnderlyingObject(Store->getPointerOperand())))
      continue;
    IRBuilder<> B(Store);
    add(B, Store->getPointerOperand(), Added, Store->getAlign());
    Store->eraseFromParent();
  }
}

} // namespace

ADGEN_DECLARE_PASS(AddAtomically);

PreservedAnalyses AddAtomically::run(Module &M, ModuleAnalysisManager &) {
  const Teams Reached = teamsOf(M);
  for (Function *F : Reached.ThroughPointers)
    if (F->getName().starts_with(ReversePrefix))
      addAtomically(*F);
  return PreservedAnalyses::none();
}

} // namespace adgen
