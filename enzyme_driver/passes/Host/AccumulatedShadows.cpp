#include "Host/AccumulatedShadows.h"
#include "Analysis/Accumulation.h"
#include "Support/OpenMP.h"

#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/InstIterator.h"

using namespace llvm;

namespace adgen {

bool isAtomic(const Instruction &I) { return isa<AtomicRMWInst, AtomicCmpXchgInst>(I); }

// An exchange by which a thread takes a cotangent (ConsumeOnce), which stays one in every form.
static bool takesCotangent(const Instruction &I) {
  auto *Atomic = dyn_cast<AtomicRMWInst>(&I);
  auto *Left = Atomic ? dyn_cast<Constant>(Atomic->getValOperand()) : nullptr;
  return Left && Atomic->getOperation() == AtomicRMWInst::Xchg && Left->isNullValue() &&
         Atomic->getOrdering() == AtomicOrdering::Monotonic;
}

// Whether the result may depend on the order in which threads come to an atomic operation.
static bool dependsOnOrder(const Instruction &I) {
  auto *Atomic = dyn_cast<AtomicRMWInst>(&I);
  return !Atomic || Atomic->getOperation() == AtomicRMWInst::Xchg ||
         AtomicRMWInst::isFPOperation(Atomic->getOperation());
}

uint64_t restoredArguments(const Function &Gradient) {
  uint64_t Arrays = 0;
  for (const Argument &A : Gradient.args())
    if (Gradient.getAttributes().hasParamAttr(A.getArgNo(), RestoredAttribute))
      Arrays |= uint64_t(1) << A.getArgNo();
  return Arrays;
}

uint64_t accumulatedShadows(const Function &Thread, const Function &Gradient, unsigned Own, unsigned End) {
  uint64_t Shadows = 0;
  for (const Instruction &I : instructions(Thread)) {
    if (!isAtomic(I) || takesCotangent(I))
      continue;
    auto *A = dyn_cast<Argument>(getUnderlyingObject(I.getOperand(0), 0));
    if (A && A->getArgNo() >= Own && A->getArgNo() < End)
      continue;
    bool IsShadow =
        A && A->getArgNo() < std::min(Own, 63u) && Gradient.hasParamAttribute(A->getArgNo(), ShadowAttribute);
    if (!IsShadow || !asAccumulation(const_cast<Instruction &>(I)) || !isOnlyAccumulatedInto(*A))
      return NotApart;
    Shadows |= uint64_t(1) << A->getArgNo();
  }
  return Shadows;
}

uint64_t accumulatedShadows(const Module &M, const Function &Gradient, const UnderlyingObjects &Memory) {
  uint64_t Shadows = 0;
  for (const Function &F : M) {
    StringRef Name = F.getName();
    if (Name.consume_front(RegionRulePrefix) && Name.starts_with("enter") && !Name.starts_with("enter_in_turn") &&
        !F.use_empty())
      return NotApart;
    for (const Instruction &I : instructions(F)) {
      if (!isAtomic(I) || !dependsOnOrder(I))
        continue;
      for (const Value *Origin : Memory.of(I.getOperand(0))) {
        auto *A = dyn_cast_or_null<Argument>(Origin);
        if (A && A->getParent() != &Gradient && A->getParent()->getName().starts_with(GradientPrefix))
          continue;
        if (!A || A->getArgNo() >= 63 || !Gradient.hasParamAttribute(A->getArgNo(), ShadowAttribute) ||
            A->getParent() != &Gradient)
          return NotApart;
        Shadows |= uint64_t(1) << A->getArgNo();
      }
    }
  }
  return Shadows;
}

} // namespace adgen
