#include "Cache/CacheBlock.h"
#include "Cache/TapeUse.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/Support/MathExtras.h"

using namespace llvm;

namespace adgen {
namespace {

// Everything that holds a block's address: the values, those in memory that an outer loop keeps, and what is read
// there.
class Holders {
public:
  Holders(CacheBlock &Found, const BasicBlock *Grows) : Found(Found), Grows(Grows) {}

  bool collect() {
    Values.insert(Found.Address);
    for (unsigned I = 0; I < Values.size(); ++I)
      for (User *U : Values[I]->users())
        if (!isKnown(*U, Values[I]))
          return false;
    return all_of(Values, [&](Value *V) { return V == Found.Address || comesFromHolders(*V); }) &&
           all_of(Stored, [&](StoreInst *S) { return isHolder(S->getValueOperand()); });
  }

private:
  bool isKnown(User &U, Value *Holder) {
    auto *Address = dyn_cast<GetElementPtrInst>(&U);
    if (Address && Address->getPointerOperand() == Holder)
      return Found.Elements.push_back(Address), Address->getNumIndices() >= 1;
    if (isCallOf(cast<Instruction>(U), "free"))
      return Found.Frees.push_back(cast<CallInst>(&U)), true;
    if (isa<PHINode>(U))
      return Values.insert(&U), true;
    auto *Store = dyn_cast<StoreInst>(&U);
    if (Store && Store->getValueOperand() == Holder)
      return collectFrom(*Store->getPointerOperand());
    return isa<MemCpyInst>(U) && cast<Instruction>(U).getParent() == Grows;
  }

  // Of the outer loop's cache, in an element of which an address lies: all that is written and read there.
  bool collectFrom(Value &Element) {
    auto *Address = dyn_cast<GetElementPtrInst>(&Element);
    if (!Address || Address->getNumIndices() != 1)
      return false;
    SmallSetVector<Value *, 8> Outer;
    Outer.insert(Address->getPointerOperand());
    for (unsigned I = 0; I < Outer.size(); ++I) {
      if (auto *Phi = dyn_cast<PHINode>(Outer[I]))
        for (Value *From : Phi->incoming_values())
          if (!isa<ConstantPointerNull, UndefValue>(From))
            Outer.insert(From);
      auto *Made = dyn_cast<Instruction>(Outer[I]);
      if (!Made || (!isa<PHINode>(Made) && !isCallOf(*Made, "malloc")))
        return false;
      for (User *U : Outer[I]->users())
        if (isa<PHINode>(U))
          Outer.insert(U);
        else if (!isElementOfOuter(*U, Outer[I]) && !isCallOf(*cast<Instruction>(U), "free") && !isa<MemIntrinsic>(U) &&
                 !isRest(*U))
          return false;
    }
    return true;
  }

  bool isElementOfOuter(User &U, const Value *Outer) {
    auto *Address = dyn_cast<GetElementPtrInst>(&U);
    if (!Address || Address->getPointerOperand() != Outer || Address->getNumIndices() != 1 ||
        !Address->getSourceElementType()->isPointerTy())
      return false;
    for (User *Access : Address->users())
      if (isa<LoadInst>(Access) && Access->getType()->isPointerTy())
        Values.insert(Access);
      else if (auto *Store = dyn_cast<StoreInst>(Access); Store && Store->getPointerOperand() == Address)
        Stored.insert(Store);
      else
        return false;
    return true;
  }

  // Where a new block has more room than the one before.
  static bool isRest(const User &U) {
    return isa<GetElementPtrInst>(U) && all_of(U.users(), [](const User *Access) { return isa<MemSetInst>(Access); });
  }

  bool comesFromHolders(Value &V) const {
    auto *Phi = dyn_cast<PHINode>(&V);
    return isa<LoadInst>(V) || (Phi && all_of(Phi->incoming_values(), [&](Value *From) { return isHolder(From); }));
  }

  // Or nothing, where there is no block yet.
  bool isHolder(Value *V) const { return Values.contains(V) || isa<ConstantPointerNull, UndefValue>(V); }

  CacheBlock &Found;
  const BasicBlock *Grows;
  SmallSetVector<Value *, 8> Values;
  SmallSetVector<StoreInst *, 2> Stored;
};

} // namespace

bool CacheBlock::collectUses(const BasicBlock *Grows) { return Holders(*this, Grows).collect(); }

bool CacheBlock::hasElementsOf(uint64_t Bytes) const {
  return all_of(Elements, [&](const GetElementPtrInst *Element) {
    return Element->getDataLayout().getTypeAllocSize(Element->getSourceElementType()) == Bytes;
  });
}

SmallVector<uint64_t> layRecordOut(ArrayRef<uint64_t> Sizes) {
  SmallVector<uint64_t> Offsets;
  uint64_t Record = 0;
  for (uint64_t Size : Sizes) {
    Record = alignTo(Record, MinAlign(Size, TapeGranule));
    Offsets.push_back(Record);
    Record += Size;
  }
  Offsets.push_back(alignTo(Record, TapeGranule));
  return Offsets;
}

void placeInRecord(GetElementPtrInst &Element, uint64_t Record, uint64_t Offset) {
  IRBuilder<> B(&Element);
  Type *Whole = ArrayType::get(B.getInt8Ty(), Record);
  Value *Place = B.CreateInBoundsGEP(Whole, Element.getPointerOperand(), Element.getOperand(1));
  if (Offset)
    Place = B.CreateConstInBoundsGEP1_64(B.getInt8Ty(), Place, Offset);
  if (Element.getNumIndices() > 1) {
    SmallVector<Value *> Inside(Element.indices());
    Inside[0] = ConstantInt::get(Inside[0]->getType(), 0);
    Place = B.CreateInBoundsGEP(Element.getSourceElementType(), Place, Inside);
  }
  Element.replaceAllUsesWith(Place);
  Element.eraseFromParent();
}

} // namespace adgen
