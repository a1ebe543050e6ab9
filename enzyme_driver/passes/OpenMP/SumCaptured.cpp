// In C++: what the threads of a region add to the shadow of a captured variable, such as the length of a step, which is
// one number for all of them. Each thread sums up in a variable of its own and adds once, when it is done:
//   for (...) atomic *shadow += a;   becomes   for (...) sum += a;  atomic *shadow += sum;
// Nothing else in the region may have to do with the number meanwhile.
#include "Analysis/Accumulation.h"
#include "Analysis/UnderlyingObjects.h"
#include "Support/Iterations.h"
#include "Support/Pass.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/InstIterator.h"

#define DEBUG_TYPE "adgen-sum-captured"

using namespace llvm;

STATISTIC(NumSums, "Number of sums of threads");

namespace adgen {
namespace {

constexpr unsigned MostNumbers = 8; // of one variable

using Place = std::pair<int64_t, Type *>; // bytes from the beginning of the variable
using Sums = MapVector<Place, SmallVector<AtomicRMWInst *>>;

// The accumulations into a variable by places that stay the same; none where there are others.
Sums sumsOf(Argument &Shadow) {
  const DataLayout &Layout = Shadow.getParent()->getParent()->getDataLayout();
  Sums Found;
  for (Instruction &I : instructions(Shadow.getParent())) {
    AtomicRMWInst *Atomic = asAccumulation(I);
    if (!Atomic)
      continue;
    int64_t Offset = 0;
    const Value *Base = GetPointerBaseWithConstantOffset(Atomic->getPointerOperand(), Offset, Layout);
    if (Base == &Shadow)
      Found[{Offset, Atomic->getType()}].push_back(Atomic);
    else if (getUnderlyingObject(Atomic->getPointerOperand(), 0) == &Shadow)
      return {};
  }
  return Found;
}

void sumUp(Argument &Shadow, Place At, ArrayRef<AtomicRMWInst *> Accumulations) {
  Function &F = *Shadow.getParent();
  IRBuilder<> B(&*F.getEntryBlock().getFirstInsertionPt());
  AllocaInst *Sum = B.CreateAlloca(At.second, nullptr, Shadow.getName() + ".sum");
  B.CreateStore(ConstantFP::getZero(At.second), Sum);
  for (AtomicRMWInst *Each : Accumulations) {
    Each->setOperand(AtomicRMWInst::getPointerOperandIndex(), Sum);
    Each->setAAMetadata(AAMDNodes());
    addPlainly(*Each);
  }
  for (BasicBlock &Block : F)
    if (auto *Return = dyn_cast<ReturnInst>(Block.getTerminator())) {
      B.SetInsertPoint(Return);
      Value *Address = B.CreatePtrAdd(&Shadow, B.getInt64(At.first));
      auto *Once = B.CreateAtomicRMW(AtomicRMWInst::FAdd, Address, B.CreateLoad(At.second, Sum),
                                     F.getDataLayout().getABITypeAlign(At.second), AtomicOrdering::Monotonic);
      Once->setMetadata(OnceMark, MDNode::get(F.getContext(), {}));
    }
}

} // namespace

ADGEN_DECLARE_PASS(SumCaptured);

PreservedAnalyses SumCaptured::run(Module &M, ModuleAnalysisManager &) {
  const UnderlyingObjects Memory(M);
  bool Any = false;
  for (Function &F : M) {
    if (!F.getName().starts_with((ReversePrefix + RegionPrefix).str()))
      continue;
    for (Argument &A : F.args()) {
      if (!A.getType()->isPointerTy() || !isOnlyAccumulatedInto(A))
        continue;
      Sums Found = sumsOf(A);
      if (Found.empty() || Found.size() > MostNumbers || !isMetByAccumulationsOnly(A, Memory))
        continue;
      for (auto &[At, Accumulations] : Found) {
        ADGEN_COUNT(NumSums, A);
        sumUp(A, At, Accumulations);
      }
      Any = true;
    }
  }
  return Any ? PreservedAnalyses::none() : PreservedAnalyses::all();
}

} // namespace adgen
