// Memory and its shadow: the same accesses at the same places. A pointer that is its own shadow leads to memory that
// has none.
#include "Oracle/CarryThrough.h"

#include "llvm/IR/IntrinsicInst.h"

using namespace llvm;

namespace adgen {

Value *Carrying::generic(IRBuilder<> &B, Value *Pointer) {
  return B.CreatePointerBitCastOrAddrSpaceCast(Pointer, B.getPtrTy());
}

// Enough for the largest type that is stored at once.
constexpr uint64_t NowhereBytes = 64;

Value *Carrying::writable(IRBuilder<> &B, Value *Pointer, Value *ShadowPointer, uint64_t Bytes) {
  if (!Nowhere) {
    IRBuilder<> Start(&*To.getEntryBlock().getFirstInsertionPt());
    Nowhere = Start.CreateAlloca(ArrayType::get(Start.getInt8Ty(), NowhereBytes), nullptr, "nowhere");
    Nowhere->setAlignment(Align(16));
    Start.CreateMemSet(Nowhere, Start.getInt8(0), NowhereBytes, Align(16));
  }
  uint64_t Room = cast<ArrayType>(Nowhere->getAllocatedType())->getNumElements();
  if (Bytes > Room)
    Nowhere->setAllocatedType(ArrayType::get(B.getInt8Ty(), alignTo(Bytes, 16)));
  if (!Pointer)
    return Nowhere;
  return B.CreateSelect(B.CreateICmpEQ(Pointer, ShadowPointer), Nowhere, generic(B, ShadowPointer));
}

// What the shadow of memory holds, as a shadow of what the memory holds: an inactive struct's integers stand there as
// they are, and a null for a pointer that is its own shadow.
Value *Carrying::loaded(IRBuilder<> &B, Value *Primal, Value *Shadow, Value *HasNone) {
  Type *T = Primal->getType();
  if (T->isPtrOrPtrVectorTy())
    return B.CreateSelect(B.CreateIsNull(Shadow), Primal, Shadow);
  if (T->isFPOrFPVectorTy())
    return B.CreateSelect(HasNone, Constant::getNullValue(T), Shadow);
  if (T->isIntOrIntVectorTy()) {
    Value *Zero = Constant::getNullValue(T);
    if (T->getScalarSizeInBits() >= 32 &&
        !Module.Numbers.areSets()) // as structs that hold pointers are handed over with their integers
      Shadow = B.CreateSelect(B.CreateICmpEQ(Shadow, Primal), Zero, Shadow);
    return B.CreateSelect(HasNone, Zero, Shadow);
  }
  Value *Result = PoisonValue::get(T);
  unsigned Count = T->isStructTy() ? T->getStructNumElements() : T->getArrayNumElements();
  for (unsigned I = 0; I < Count; ++I)
    Result = B.CreateInsertValue(
        Result, loaded(B, B.CreateExtractValue(Primal, I), B.CreateExtractValue(Shadow, I), HasNone), I);
  return Result;
}

// Also what an access says of its ordering, but nothing of what the memory holds.
template <class Access> static void dropFacts(Access &I) { I.dropUnknownNonDebugMetadata(); }

Value *Carrying::ofLoad(IRBuilder<> &B, LoadInst &Load) {
  Value *Pointer = Load.getPointerOperand(), *ShadowPointer = shadow(Pointer);
  if (Pointer == ShadowPointer)
    return inactive(B, &Load);
  auto *Same = cast<LoadInst>(Load.clone());
  Same->setOperand(0, ShadowPointer);
  dropFacts(*Same);
  B.Insert(Same, "d_" + Load.getName());
  return loaded(B, &Load, Same, B.CreateICmpEQ(Pointer, ShadowPointer));
}

static bool holdsNumbers(Type *T) {
  return holds(T, [](Type *Part) { return Part->isFloatingPointTy() || Part->isIntegerTy(); });
}

// Whether a shadow (no pointer) is not zero anywhere; null where that is not asked.
Value *Carrying::isAny(IRBuilder<> &B, Value *Shadow) {
  Type *T = Shadow->getType();
  if (isZeroShadow(Shadow) || T->isAggregateType() || T->isPtrOrPtrVectorTy())
    return nullptr;
  return Module.Numbers.isAny(B, Shadow);
}

void Carrying::storeShadow(IRBuilder<> &B, Value *Shadow, Value *Pointer, Value *ShadowPointer, const DebugLoc &Where) {
  if (Pointer == ShadowPointer)
    return;
  uint64_t Bytes = To.getDataLayout().getTypeAllocSize(Shadow->getType());
  B.CreateAlignedStore(Shadow, writable(B, Pointer, ShadowPointer, Bytes), Align(1));
  (void)Where;
}

void Carrying::carryStore(IRBuilder<> &B, StoreInst &Store) {
  Value *Pointer = Store.getPointerOperand(), *ShadowPointer = shadow(Pointer),
        *Shadow = shadow(Store.getValueOperand());
  if (holdsNumbers(Shadow->getType()))
    if (Value *Any = isAny(B, Shadow)) {
      Value *Scalar = Any->getType()->isVectorTy() ? B.CreateOrReduce(Any) : Any;
      note(B, B.CreateAnd(Scalar, B.CreateICmpEQ(Pointer, ShadowPointer)), Note::LostInMemory, Store.getDebugLoc());
    }
  if (Pointer == ShadowPointer)
    return;
  uint64_t Bytes = To.getDataLayout().getTypeAllocSize(Shadow->getType());
  auto *Same = cast<StoreInst>(Store.clone());
  Same->setOperand(0, Shadow);
  Same->setOperand(1, writable(B, Pointer, ShadowPointer, Bytes));
  dropFacts(*Same);
  B.Insert(Same);
}

Value *Carrying::ofAlloca(IRBuilder<> &B, AllocaInst &Alloca) {
  auto *Same = cast<AllocaInst>(Alloca.clone());
  B.Insert(Same, "d_" + Alloca.getName());
  const DataLayout &DL = To.getDataLayout();
  Value *Bytes = ConstantExpr::getSizeOf(Alloca.getAllocatedType());
  Bytes = B.getInt64(DL.getTypeAllocSize(Alloca.getAllocatedType()));
  if (Alloca.isArrayAllocation())
    Bytes = B.CreateMul(Bytes, B.CreateZExtOrTrunc(Alloca.getArraySize(), B.getInt64Ty()));
  B.CreateMemSet(Same, B.getInt8(0), Bytes, Same->getAlign());
  return Same;
}

Value *Carrying::ofAtomic(IRBuilder<> &B, AtomicRMWInst &Atomic) {
  Value *Pointer = Atomic.getPointerOperand(), *ShadowPointer = shadow(Pointer),
        *Given = shadow(Atomic.getValOperand());
  Type *T = Atomic.getType();
  if (T->isIntegerTy() && isZeroShadow(Given) && Atomic.getOperation() != AtomicRMWInst::Xchg && !countsDecisions())
    return Constant::getNullValue(T);
  if (Pointer == ShadowPointer) {
    if (Value *Any = isAny(B, Given))
      note(B, Any, Note::LostInMemory, Atomic.getDebugLoc());
    return inactive(B, &Atomic);
  }
  if (Value *Any = isAny(B, Given))
    note(B, B.CreateAnd(Any, B.CreateICmpEQ(Pointer, ShadowPointer)), Note::LostInMemory, Atomic.getDebugLoc());
  Value *Behind = writable(B, Pointer, ShadowPointer, To.getDataLayout().getTypeAllocSize(T));
  if (Value *Added = Module.Numbers.ofAtomic(B, Atomic, Given, Behind))
    return B.CreateSelect(B.CreateICmpEQ(Pointer, ShadowPointer), Constant::getNullValue(T), Added);
  if (!Given->getType()->isPointerTy() && T->isIntegerTy() && Atomic.getOperation() != AtomicRMWInst::Xchg &&
      !Module.lockedOperation(Atomic.getOperation(), T)) {
    lost(B, Atomic, {Given});
    return Constant::getNullValue(T);
  }
  Function *Locked = Module.lockedOperation(Atomic.getOperation(), T);
  if (!Locked) {
    stop(Atomic, "an atomic operation without a rule");
    return nullptr;
  }
  Value *Both = B.CreateCall(Locked, {generic(B, Pointer), Behind, Atomic.getValOperand(), Given});
  Value *Old = B.CreateExtractValue(Both, 0);
  Atomic.replaceAllUsesWith(Old);
  Value *Shadow = loaded(B, Old, B.CreateExtractValue(Both, 1), B.CreateICmpEQ(Pointer, ShadowPointer));
  Atomic.eraseFromParent();
  set(*Old, Shadow);
  return nullptr;
}

// Of integers that hold no number's bits it stays as it is.
Value *Carrying::ofSwap(IRBuilder<> &B, AtomicCmpXchgInst &Swap) {
  Value *Pointer = Swap.getPointerOperand(), *ShadowPointer = shadow(Pointer);
  Value *Compared = Swap.getCompareOperand(), *New = Swap.getNewValOperand(), *OfCompared = shadow(Compared),
        *OfNew = shadow(New);
  bool Bits = New->getType()->isIntegerTy() && (countsDecisions() || !isZeroShadow(OfCompared) || !isZeroShadow(OfNew));
  if (!Bits) {
    if (!New->getType()->isIntegerTy())
      stop(Swap, "a compare-and-swap of pointers");
    return Constant::getNullValue(Swap.getType());
  }
  if (Value *Any = isAny(B, OfNew))
    note(B, B.CreateAnd(Any, B.CreateICmpEQ(Pointer, ShadowPointer)), Note::LostInMemory, Swap.getDebugLoc());
  Value *Behind = writable(B, Pointer, ShadowPointer, To.getDataLayout().getTypeAllocSize(New->getType()));
  Value *Both = B.CreateCall(Module.lockedSwap(New->getType()), {generic(B, Pointer), Behind, Compared, New, OfNew});
  Value *Old = B.CreateExtractValue(Both, 0), *Takes = B.CreateICmpEQ(Old, Compared);
  Value *HasNone = B.CreateICmpEQ(Pointer, ShadowPointer);
  Value *OfOld = B.CreateSelect(HasNone, Constant::getNullValue(Old->getType()), B.CreateExtractValue(Both, 1));
  if (!Module.Numbers.areSets())
    note(B, B.CreateAnd(Takes, B.CreateAnd(B.CreateICmpNE(OfOld, OfCompared), B.CreateNot(HasNone))), Note::LostRace,
         Swap.getDebugLoc());
  Value *Result = B.CreateInsertValue(B.CreateInsertValue(PoisonValue::get(Swap.getType()), Old, 0), Takes, 1);
  Swap.replaceAllUsesWith(Result);
  Swap.eraseFromParent();
  Value *OfBoth = countsDecisions() ? Module.Numbers.join(B, {OfOld, OfCompared}, Old->getType()) : OfOld;
  set(*Result, B.CreateInsertValue(Constant::getNullValue(Result->getType()), OfBoth, 0));
  return nullptr;
}

// From memory without shadows come zeros, and into such memory nothing.
void Carrying::carryCopy(IRBuilder<> &B, MemTransferInst &Copy) {
  Value *To = Copy.getRawDest(), *ShadowTo = shadow(To), *Source = Copy.getRawSource(), *ShadowSource = shadow(Source);
  if (To == ShadowTo && Source == ShadowSource)
    return;
  Value *HasTo = B.CreateICmpNE(To, ShadowTo), *HasSource = B.CreateICmpNE(Source, ShadowSource);
  Value *Length = Copy.getLength(), *None = Constant::getNullValue(Length->getType());
  note(B, B.CreateAnd(B.CreateAnd(HasSource, B.CreateNot(HasTo)), B.CreateICmpNE(Length, None)), Note::LostInMemory,
       Copy.getDebugLoc());
  if (To == ShadowTo)
    return;
  Value *Copied = B.CreateSelect(B.CreateAnd(HasTo, HasSource), Length, None);
  Value *Zeroed = B.CreateSelect(B.CreateAnd(HasTo, B.CreateNot(HasSource)), Length, None);
  if (isa<MemMoveInst>(Copy)) // where it need not, a GPU's back end is better not asked which of two spaces comes first
    B.CreateMemMove(ShadowTo, Copy.getDestAlign(), ShadowSource, Copy.getSourceAlign(), Copied);
  else
    B.CreateMemCpy(ShadowTo, Copy.getDestAlign(), ShadowSource, Copy.getSourceAlign(), Copied);
  B.CreateMemSet(ShadowTo, B.getInt8(0), Zeroed, Copy.getDestAlign());
}

void Carrying::carryFill(IRBuilder<> &B, MemSetInst &Fill) {
  Value *To = Fill.getRawDest(), *ShadowTo = shadow(To);
  if (To == ShadowTo)
    return;
  Value *Length = Fill.getLength();
  Value *Zeroed = B.CreateSelect(B.CreateICmpNE(To, ShadowTo), Length, Constant::getNullValue(Length->getType()));
  B.CreateMemSet(ShadowTo, B.getInt8(0), Zeroed, Fill.getDestAlign());
}

} // namespace adgen
