// Memory is taken to begin at a multiple of 16 bytes and no more. Enzyme keeps local arrays on the heap, and writes on
// the accesses that they lie at multiples of their size there. Where it clears or copies members of a struct each for
// itself, or adds to elements of a vector, it says of each what held of the whole. An addition, on the other hand, lies
// at a multiple of its size: the primal may have copied the number byte by byte, of whose place nothing is known then,
// but no processor of the back ends adds atomically elsewhere.
#include "Support/Pass.h"

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

// Of what lies so far behind where memory begins.
Align behind(const Value &Pointer, const DataLayout &Layout) {
  APInt Offset(Layout.getIndexTypeSizeInBits(Pointer.getType()), 0);
  Pointer.stripAndAccumulateConstantOffsets(Layout, Offset, /*AllowNonInbounds=*/true);
  return commonAlignment(OfTheHeap, Offset.getZExtValue());
}

void loosenWhole(MemIntrinsic &I) {
  const DataLayout &Layout = I.getDataLayout();
  const Align To = behind(*I.getRawDest(), Layout);
  if (I.getDestAlign().valueOrOne() > To)
    I.setDestAlignment(To);
  if (To < OfTheHeap)
    I.removeParamAttr(0, Attribute::Dereferenceable);
  auto *Copy = dyn_cast<MemTransferInst>(&I);
  if (!Copy)
    return;
  const Align From = behind(*Copy->getRawSource(), Layout);
  if (Copy->getSourceAlign().valueOrOne() > From)
    Copy->setSourceAlignment(From);
  if (From < OfTheHeap)
    Copy->removeParamAttr(1, Attribute::Dereferenceable);
}

// Enzyme says of what it adds to each element of a vector what held of the whole.
void loosenElement(AtomicRMWInst &I) {
  auto *Element = dyn_cast<GetElementPtrInst>(I.getPointerOperand());
  if (!Element || !Element->getSourceElementType()->isVectorTy())
    return;
  const DataLayout &Layout = I.getDataLayout();
  APInt Offset(Layout.getIndexTypeSizeInBits(Element->getType()), 0);
  const Align One(PowerOf2Ceil(Layout.getTypeStoreSize(I.getType())));
  bool IsKnown = Element->accumulateConstantOffset(Layout, Offset);
  I.setAlignment(IsKnown ? commonAlignment(I.getAlign(), Offset.getZExtValue()) : std::min(I.getAlign(), One));
}

void tighten(AtomicRMWInst &I) {
  const Align Whole(PowerOf2Ceil(I.getDataLayout().getTypeStoreSize(I.getType())));
  I.setAlignment(std::max(I.getAlign(), Whole));
}

void loosenAny(Instruction &I) {
  if (auto *Alloca = dyn_cast<AllocaInst>(&I))
    loosen(*Alloca);
  else if (auto *Load = dyn_cast<LoadInst>(&I))
    loosen(*Load);
  else if (auto *Store = dyn_cast<StoreInst>(&I))
    loosen(*Store);
  else if (auto *Atomic = dyn_cast<AtomicRMWInst>(&I)) // an addition into a shadow
    loosen(*Atomic), loosenElement(*Atomic), tighten(*Atomic);
  else if (auto *Whole = dyn_cast<MemIntrinsic>(&I))
    loosenWhole(*Whole);
}

// Shared memory of bytes begins where each number that is kept in it may.
void place(GlobalVariable &Shared) {
  if (Shared.getAddressSpace() == SharedSpace && Shared.getAlign().valueOrOne() < Align(8) &&
      Shared.getValueType()->isArrayTy() && Shared.getValueType()->getArrayElementType()->isIntegerTy(8))
    Shared.setAlignment(OfTheHeap);
}

} // namespace

ADGEN_DECLARE_PASS(RelaxAlignments);

PreservedAnalyses RelaxAlignments::run(Module &M, ModuleAnalysisManager &) {
  for (GlobalVariable &Global : M.globals())
    place(Global);
  for (Function &F : M)
    for (Instruction &I : instructions(F))
      loosenAny(I);
  return PreservedAnalyses::none();
}

} // namespace adgen
