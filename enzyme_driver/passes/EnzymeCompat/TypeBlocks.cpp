// Copies by memcpy and memmove become copies of each number.
#include "EnzymeCompat/CopyTyper.h"
#include "EnzymeCompat/MixedCopies.h"
#include "EnzymeCompat/NamedMembers.h"

#include "llvm/Analysis/AliasAnalysis.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Dominators.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

using namespace llvm;

namespace adgen {

static constexpr uint64_t LongestCopy = 256; // bytes that are written out one by one

bool CopyTyper::goesToNewMemory(const MemTransferInst &Copy) {
  auto *Allocation = dyn_cast<CallBase>(getUnderlyingObject(Copy.getRawDest()));
  auto *From = dyn_cast<Instruction>(Copy.getRawSource());
  return Allocation && isNoAliasCall(Allocation) && (!From || DominatorTree(Body).dominates(From, Allocation));
}

std::optional<Leaves> CopyTyper::floatsOfOne(MemTransferInst &Copy, uint64_t Bytes) {
  SmallVector<const Value *> Choices;
  getUnderlyingObjects(Copy.getRawSource(), Choices, nullptr, 0);
  for (const Value *Each : Choices)
    if (auto *Local = dyn_cast<AllocaInst>(Each); Local && Local->getAllocationSize(DL) == TypeSize::getFixed(Bytes))
      if (std::optional<Leaves> Found = floatsAt(const_cast<AllocaInst *>(Local), Bytes))
        return Found;
  return std::nullopt;
}

void CopyTyper::typeCopy(MemTransferInst &Copy) {
  auto *Length = dyn_cast<ConstantInt>(Copy.getLength());
  if (!Length || Length->getZExtValue() > LongestCopy)
    return typeElements(Copy);
  uint64_t Bytes = Length->getZExtValue();
  std::optional<Leaves> Numbers = floatsAt(Copy.getRawSource(), Bytes);
  if (!Numbers)
    Numbers = floatsAt(Copy.getRawDest(), Bytes);
  if (std::optional<Place> Mixed = Numbers ? std::nullopt : placeOfMixed(Copy))
    Numbers = Mixed->Memory->cover(Mixed->Offset, Bytes);
  if (!Numbers)
    Numbers = floatsOfOne(Copy, Bytes);
  if (!Numbers)
    return;
  IRBuilder<> B(&Copy);
  const Align From = Copy.getSourceAlign().valueOrOne(), To = Copy.getDestAlign().valueOrOne();
  auto Values = loadEach(B, Copy.getRawSource(), *Numbers, Copy.isVolatile(), From);
  storeEach(B, Copy.getRawDest(), *Numbers, Values, Copy.isVolatile(), To);
  Copy.eraseFromParent();
}

void CopyTyper::typeElements(MemTransferInst &Copy) {
  std::optional<Place> At = placeOf(Copy.getRawSource(), DL);
  if (!At || !At->Memory->holdsFloats())
    At = placeOf(Copy.getRawDest(), DL);
  if (At && (!At->Memory->holdsFloats() || !isMultipleOf(Copy.getLength(), At->Memory->Stride, DL)))
    return;
  if (!At)
    At = placeOfMixed(Copy);
  std::optional<Leaves> Numbers = At ? At->Memory->cover(At->Offset, At->Memory->Stride) : std::nullopt;
  if (!Numbers)
    return;
  const uint64_t Stride = At->Memory->Stride;
  IRBuilder<> B(&Copy);
  Value *Count = B.CreateExactUDiv(Copy.getLength(), ConstantInt::get(Copy.getLength()->getType(), Stride));
  Instruction *Guarded = SplitBlockAndInsertIfThen(B.CreateIsNotNull(Count), Copy.getIterator(), false);
  auto [Body, Index] = SplitBlockAndInsertSimpleForLoop(Count, Guarded->getIterator());
  B.SetInsertPoint(Body);
  Value *Place = Index;
  if (isa<MemMoveInst>(Copy) && !goesToNewMemory(Copy)) {
    Value *Last = B.CreateSub(B.CreateSub(Count, ConstantInt::get(Count->getType(), 1)), Index);
    Place = B.CreateSelect(B.CreateICmpUGT(Copy.getRawDest(), Copy.getRawSource()), Last, Index);
  }
  Value *Offset = B.CreateMul(Place, ConstantInt::get(Place->getType(), Stride));
  Value *From = B.CreateInBoundsGEP(B.getInt8Ty(), Copy.getRawSource(), Offset);
  Value *Into = B.CreateInBoundsGEP(B.getInt8Ty(), Copy.getRawDest(), Offset);
  storeEach(B, Into, *Numbers, loadEach(B, From, *Numbers, Copy.isVolatile()), Copy.isVolatile());
  Copy.eraseFromParent();
}

void CopyTyper::typeZeros(MemSetInst &Set) {
  auto *Length = dyn_cast<ConstantInt>(Set.getLength());
  auto *Nothing = dyn_cast<ConstantInt>(Set.getValue());
  uint64_t Bytes = Length && Nothing && Nothing->isZero() ? Length->getZExtValue() : 0;
  if (!Bytes || Bytes > LongestCopy)
    return;
  if (std::optional<Leaves> Named = namedMembers(*Set.getRawDest(), Bytes, Body)) {
    IRBuilder<> B(&Set);
    SmallVector<Value *> Zeros;
    for (const Leaf &L : *Named)
      Zeros.push_back(Constant::getNullValue(L.type(Context)));
    storeEach(B, Set.getRawDest(), *Named, Zeros, Set.isVolatile(), Set.getDestAlign().valueOrOne());
    Set.eraseFromParent();
    return;
  }
  Type *T = typeBeside(Set.getRawDest(), Bytes);
  uint64_t Each = T ? DL.getTypeStoreSize(T).getFixedValue() : 1;
  if (!T || Bytes % Each)
    return;
  IRBuilder<> B(&Set);
  for (uint64_t At = 0; At < Bytes; At += Each)
    B.CreateAlignedStore(Constant::getNullValue(T), address(B, Set.getRawDest(), At), Align(Each), Set.isVolatile());
  Set.eraseFromParent();
}

// A node of a tree has pointers behind its number: in memory of the body's own a number elsewhere says nothing.
Type *CopyTyper::typeBeside(Value *Pointer, uint64_t Bytes) {
  auto placed = [&](const Value *V) {
    APInt Offset(DL.getIndexTypeSizeInBits(V->getType()), 0);
    const Value *Base = V->stripAndAccumulateConstantOffsets(DL, Offset, true);
    return std::pair(Base, Offset.getSExtValue());
  };
  const Value *Array = getUnderlyingObject(Pointer, 0);
  const auto [Base, First] = placed(Pointer);
  const int64_t Last = First + static_cast<int64_t>(Bytes);
  bool Within = isa<Argument>(Array);
  Type *Found = nullptr;
  for (Instruction &I : instructions(Body)) {
    Type *T = accessedType(I);
    if (!T || getUnderlyingObject(getLoadStorePointerOperand(&I), 0) != Array)
      continue;
    if (!T->isFPOrFPVectorTy() || (Found && Found != T->getScalarType()))
      return nullptr;
    Found = T->getScalarType();
    const auto [Other, At] = placed(getLoadStorePointerOperand(&I));
    Within |= Other != Base || (At < Last && First < At + static_cast<int64_t>(DL.getTypeStoreSize(T)));
  }
  return Within ? Found : nullptr;
}

} // namespace adgen
