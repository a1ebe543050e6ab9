#include "MixedCopies.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Operator.h"
#include "llvm/IR/PatternMatch.h"

using namespace llvm;
using namespace llvm::PatternMatch;

namespace adgen {
namespace {

// The pointers to elements of the same memory: what is chosen among them, and what is reached from them by whole steps.
class Elements {
public:
  explicit Elements(MemTransferInst &Copy) {
    add(Copy.getRawSource());
    add(Copy.getRawDest());
    for (unsigned I = 0; I < Pointers.size(); ++I)
      follow(Pointers[I]);
  }

  bool beginWithNoFloat() const {
    return any_of(Pointers, [](Value *Pointer) { return any_of(Pointer->users(), [&](User *U) { return isOtherNumber(U, Pointer); }); });
  }

  bool holdFloats() const {
    return any_of(Pointers, [](Value *Pointer) {
      return any_of(Pointer->users(), [&](User *U) {
        auto *Member = dyn_cast<GetElementPtrInst>(U);
        return isFloat(U, Pointer) || (Member && any_of(Member->users(), [&](User *Use) { return isFloat(Use, Member); }));
      });
    });
  }

  // The struct in whose steps the elements are counted, where all that is read and written in them fits.
  std::shared_ptr<const Layout> layout(const DataLayout &DL) const {
    for (Value *Pointer : Pointers)
      for (User *U : Pointer->users()) {
        auto *Step = dyn_cast<GetElementPtrInst>(U);
        if (!Step || Step->getPointerOperand() != Pointer || Step->getNumIndices() != 1 || !isa<StructType>(Step->getSourceElementType()))
          continue;
        std::shared_ptr<const Layout> Found = layoutOf(Step->getSourceElementType(), DL);
        if (Found && Found->holdsFloats() && fits(*Found, DL))
          return Found;
      }
    return nullptr;
  }

  bool contain(const Value *Pointer) const { return Pointers.contains(const_cast<Value *>(Pointer)); }

private:
  bool fits(const Layout &Memory, const DataLayout &DL) const {
    return all_of(Pointers, [&](Value *Pointer) {
      return fitsAt(*Pointer, 0, Memory, DL) && all_of(Pointer->users(), [&](User *U) {
               auto *Member = dyn_cast<GetElementPtrInst>(U);
               APInt Offset(DL.getIndexTypeSizeInBits(Pointer->getType()), 0);
               if (!Member || contain(Member) || !Member->accumulateConstantOffset(DL, Offset))
                 return true;
               return fitsAt(*Member, Offset.srem(Memory.Stride), Memory, DL);
             });
    });
  }

  static bool fitsAt(const Value &Pointer, int64_t Offset, const Layout &Memory, const DataLayout &DL) {
    return all_of(Pointer.users(), [&](const User *U) {
      Type *T = accessed(const_cast<User *>(U), &Pointer);
      if (!T || T->isVectorTy())
        return true;
      auto Leaves = Memory.cover(Offset < 0 ? Offset + Memory.Stride : Offset, DL.getTypeStoreSize(T));
      return Leaves && Leaves->size() == 1 && (!T->isFloatingPointTy() || Leaves->front().isFloat()) && (!Leaves->front().isFloat() || !T->isPointerTy());
    });
  }

  void add(Value *Pointer) {
    if (!isa<Constant>(Pointer))
      Pointers.insert(Pointer);
  }

  void follow(Value *Pointer) {
    if (auto *Phi = dyn_cast<PHINode>(Pointer))
      for (Value *Incoming : Phi->incoming_values())
        add(Incoming);
    if (auto *Select = dyn_cast<SelectInst>(Pointer)) {
      add(Select->getTrueValue());
      add(Select->getFalseValue());
    }
    if (auto *Step = dyn_cast<GetElementPtrInst>(Pointer))
      add(Step->getPointerOperand());
    for (User *U : Pointer->users()) {
      auto *Step = dyn_cast<GetElementPtrInst>(U);
      if (isa<PHINode>(U) || isa<SelectInst>(U) || (Step && leadsToAnElement(*Step)))
        add(U);
    }
  }

  // Not to a member: what is reached by it is an element of a loop, or of a copy, or is found by an index.
  static bool leadsToAnElement(const GetElementPtrInst &Step) {
    if (!Step.hasAllConstantIndices())
      return true;
    return any_of(Step.users(), [](const User *U) { return isa<PHINode>(U) || isa<SelectInst>(U) || isa<MemTransferInst>(U); });
  }

  static Type *accessed(User *U, const Value *Pointer) {
    if (auto *Load = dyn_cast<LoadInst>(U))
      return Load->getType();
    auto *Store = dyn_cast<StoreInst>(U);
    return Store && Store->getPointerOperand() == Pointer ? Store->getValueOperand()->getType() : nullptr;
  }

  static bool isFloat(User *U, const Value *Pointer) {
    Type *T = accessed(U, Pointer);
    return T && T->isFPOrFPVectorTy();
  }

  // An integer that is no number's bits on their way, or a pointer.
  static bool isOtherNumber(User *U, const Value *Pointer) {
    Type *T = accessed(U, Pointer);
    if (!T || isFloat(U, Pointer))
      return false;
    if (auto *Load = dyn_cast<LoadInst>(U))
      return T->isPointerTy() || any_of(Load->users(), [](User *Use) { return !isa<StoreInst>(Use); });
    Value *Stored = cast<StoreInst>(U)->getValueOperand();
    return !isa<Constant>(Stored) && !isa<BitCastInst>(Stored);
  }

  SmallSetVector<Value *, 32> Pointers;
};

} // namespace

std::shared_ptr<const Layout> layoutOfMixed(MemTransferInst &Copy) {
  const Elements Found(Copy);
  if (!Found.beginWithNoFloat() || !Found.holdFloats())
    return nullptr;
  std::shared_ptr<const Layout> Memory = Found.layout(Copy.getDataLayout());
  Value *Last = nullptr, *First = nullptr;
  if (auto *Length = dyn_cast<ConstantInt>(Copy.getLength()))
    return Memory && Length->getZExtValue() % Memory->Stride == 0 ? Memory : nullptr;
  bool Whole = match(Copy.getLength(), m_Sub(m_PtrToInt(m_Value(Last)), m_PtrToInt(m_Value(First)))) && Found.contain(Last) && Found.contain(First);
  return Whole ? Memory : nullptr;
}

bool copiesMixedStructs(MemTransferInst &Copy) {
  if (isa<ConstantInt>(Copy.getLength())) // Enzyme looks at each byte of it
    return false;
  Elements Found(Copy);
  return Found.beginWithNoFloat() && Found.holdFloats();
}

} // namespace adgen
