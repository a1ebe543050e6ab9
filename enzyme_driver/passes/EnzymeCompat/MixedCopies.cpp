#include "EnzymeCompat/MixedCopies.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Operator.h"
#include "llvm/IR/PatternMatch.h"

#include <numeric>
#include <set>

using namespace llvm;
using namespace llvm::PatternMatch;

namespace adgen {
namespace {

constexpr unsigned DeepestHolder = 3;

// The pointers to elements of the same memory: what is chosen among them, and what is reached from them by whole steps.
// Of copies also what is kept at the same place of memory that holds such pointers, as each row of a vector of vectors
// holds its own; `Holders` says how far that is followed. With `Calls` also what functions of the file are given and
// what they are given it as, as a sort that calls itself.
class Elements {
public:
  explicit Elements(ArrayRef<Value *> Known, unsigned Holders = 0, bool Calls = false)
      : Holders(Holders), Calls(Calls) {
    for (Value *Pointer : Known)
      add(Pointer);
    for (unsigned I = 0; I < Pointers.size(); ++I)
      follow(Pointers[I]);
  }

  bool beginWithNoFloat() const {
    return any_of(Pointers, [](Value *Pointer) {
      return any_of(Pointer->users(), [&](User *U) { return isOtherNumber(U, Pointer); });
    });
  }

  bool holdFloats() const {
    return any_of(Pointers, [](Value *Pointer) {
      return any_of(Pointer->users(), [&](User *U) {
        auto *Member = dyn_cast<GetElementPtrInst>(U);
        return isFloat(U, Pointer) ||
               (Member && any_of(Member->users(), [&](User *Use) { return isFloat(Use, Member); }));
      });
    });
  }

  // Numbers of two sizes, or numbers and pointers.
  bool holdFloatsOfSeveralKinds() const {
    SmallPtrSet<Type *, 4> Kinds;
    auto See = [&](Value *Address) {
      for (User *U : Address->users())
        if (Type *T = accessed(U, Address); T && (T->isFPOrFPVectorTy() || T->isPointerTy()))
          Kinds.insert(T->getScalarType());
    };
    for (Value *Pointer : Pointers) {
      See(Pointer);
      for (User *U : Pointer->users())
        if (isa<GetElementPtrInst>(U))
          See(U);
    }
    return Kinds.size() > 1 && any_of(Kinds, [](Type *T) { return T->isFloatingPointTy(); });
  }

  // The struct in whose steps the elements are counted, where all that is read and written in them fits.
  std::shared_ptr<const Layout> layout(const DataLayout &DL) const {
    for (Value *Pointer : Pointers)
      for (User *U : Pointer->users()) {
        auto *Step = dyn_cast<GetElementPtrInst>(U);
        if (!Step || Step->getPointerOperand() != Pointer || Step->getNumIndices() != 1 ||
            !isa<StructType>(Step->getSourceElementType()))
          continue;
        std::shared_ptr<const Layout> Found = layoutOf(Step->getSourceElementType(), DL);
        if (Found && isMixed(*Found) && fits(*Found, DL))
          return Found;
      }
    return nullptr;
  }

  // Whether the bytes are those between two elements, or whole elements' otherwise, whichever way is taken.
  bool lieApartBy(Value *Length, uint64_t Stride, const DataLayout &DL) const {
    SmallSetVector<Value *, 8> Work;
    Work.insert(Length);
    for (unsigned I = 0; I < Work.size(); ++I) {
      Value *Last = nullptr, *First = nullptr;
      bool IsDistance = match(Work[I], m_Sub(m_Value(Last), m_Value(First))) && isAddress(Last, Stride, DL) &&
                        isAddress(First, Stride, DL);
      if (!IsDistance && !isMultipleOf(Work[I], Stride, DL) && !isUndefined(Work[I]) && !addWays(Work[I], Work))
        return false;
    }
    return true;
  }

private:
  bool contain(const Value *Pointer) const { return Pointers.contains(const_cast<Value *>(Pointer)); }

  // Of an element, or null, where a container holds none.
  bool isAddress(Value *Number, uint64_t Stride, const DataLayout &DL) const {
    SmallSetVector<Value *, 8> Work;
    Work.insert(Number);
    for (unsigned I = 0; I < Work.size(); ++I) {
      Value *Pointer = nullptr;
      if (match(Work[I], m_PtrToInt(m_Value(Pointer)))) {
        if (!contain(Pointer) && !isWholeStepFrom(*Pointer, Stride, DL))
          return false;
      } else if (auto *Fixed = dyn_cast<ConstantInt>(Work[I])) {
        if (Fixed->getValue().urem(Stride) != 0)
          return false;
      } else if (!isUndefined(Work[I]) && !addWays(Work[I], Work))
        return false;
    }
    return true;
  }

  bool isWholeStepFrom(Value &Pointer, uint64_t Stride, const DataLayout &DL) const {
    auto [Base, Offset] = placeFrom(Pointer, DL);
    return contain(Base) && Offset % int64_t(Stride) == 0;
  }

  static bool isUndefined(const Value *V) { return isa<UndefValue>(V); }

  // What the value is on one way or another.
  static bool addWays(Value *V, SmallSetVector<Value *, 8> &Work) {
    if (auto *Phi = dyn_cast<PHINode>(V))
      return Work.insert(Phi->value_op_begin(), Phi->value_op_end()), true;
    if (auto *Select = dyn_cast<SelectInst>(V)) {
      Work.insert(Select->getTrueValue());
      Work.insert(Select->getFalseValue());
      return true;
    }
    if (auto *Frozen = dyn_cast<FreezeInst>(V))
      return Work.insert(Frozen->getOperand(0)), true;
    return false;
  }

  static bool isMixed(const Layout &Memory) { return Memory.holdsFloats() && !Memory.isUniform(); }

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
      if (Leaves && T->isIntegerTy() && none_of(*Leaves, [](const Leaf &L) { return L.isFloat(); }))
        return true; // several small ones may be read at once
      if (Leaves && Leaves->size() > 1 && T->isIntegerTy() && isMoved(*U))
        return true;
      return Leaves && Leaves->size() == 1 && (!T->isFloatingPointTy() || Leaves->front().isFloat()) &&
             (!Leaves->front().isFloat() || !T->isPointerTy());
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
    if (auto *Step = dyn_cast<GetElementPtrInst>(Pointer); Step && !leadsToNumbers(*Step))
      add(Step->getPointerOperand());
    if (auto *Given = dyn_cast<Argument>(Pointer); Given && Calls && Given->getParent()->hasLocalLinkage())
      for (User *U : Given->getParent()->users())
        if (auto *Call = dyn_cast<CallBase>(U); Call && Call->getCalledFunction() == Given->getParent())
          add(Call->getArgOperand(Given->getArgNo()));
    for (Use &Each : Pointer->uses())
      if (auto *Call = dyn_cast<CallBase>(Each.getUser()); Call && Calls && Call->isArgOperand(&Each))
        if (Function *Callee = Call->getCalledFunction(); Callee && Callee->hasLocalLinkage() && !Callee->isVarArg())
          add(Callee->getArg(Call->getArgOperandNo(&Each)));
    for (User *U : Pointer->users()) {
      auto *Step = dyn_cast<GetElementPtrInst>(U);
      if (isa<PHINode>(U) || isa<SelectInst>(U) || (Step && leadsToAnElement(*Step)))
        add(U);
      if (auto *Store = dyn_cast<StoreInst>(U); Holders && Store && Store->getValueOperand() == Pointer)
        addHeld(*Store->getPointerOperand(), Store->getDataLayout());
    }
    if (auto *Load = dyn_cast<LoadInst>(Pointer); Holders && Load)
      addHeld(*Load->getPointerOperand(), Load->getDataLayout());
  }

  // What is loaded from that place, and stored there, in any element of the memory where it lies.
  void addHeld(Value &Address, const DataLayout &DL) {
    auto [Base, Offset] = placeFrom(Address, DL);
    if (isa<Constant>(Base) || !Held.insert({Base, Offset}).second)
      return;
    const Elements Holder({Base}, Holders - 1);
    const int64_t Stride = Holder.stride(DL);
    for (Value *Element : Holder.Pointers) {
      addHeldIn(*Element, -Offset, Stride);
      for (User *U : Element->users())
        if (auto *Member = dyn_cast<GetElementPtrInst>(U);
            Member && Member->hasAllConstantIndices() && !Holder.contain(Member))
          addHeldIn(*Member, placeFrom(*Member, DL, Element).second - Offset, Stride);
    }
  }

  void addHeldIn(Value &Address, int64_t Apart, int64_t Stride) {
    if (Stride ? Apart % Stride : Apart)
      return;
    for (User *U : Address.users())
      if (Type *T = accessed(U, &Address); T && T->isPointerTy())
        add(isa<LoadInst>(U) ? U : cast<StoreInst>(U)->getValueOperand());
  }

  static std::pair<Value *, int64_t> placeFrom(Value &Address, const DataLayout &DL, const Value *End = nullptr) {
    APInt Offset(DL.getIndexTypeSizeInBits(Address.getType()), 0);
    Value *Base = &Address;
    for (auto *Step = dyn_cast<GEPOperator>(Base); Base != End && Step && Step->accumulateConstantOffset(DL, Offset);
         Step = dyn_cast<GEPOperator>(Base))
      Base = Step->getPointerOperand();
    return {Base, Offset.getSExtValue()};
  }

  // How far elements are apart, as far as steps say so.
  int64_t stride(const DataLayout &DL) const {
    int64_t Found = 0;
    for (Value *Pointer : Pointers) {
      auto *Step = dyn_cast<GetElementPtrInst>(Pointer);
      APInt Fixed(DL.getIndexTypeSizeInBits(Pointer->getType()), 0);
      if (!Step || Step->getNumIndices() != 1)
        continue;
      if (Step->accumulateConstantOffset(DL, Fixed))
        Found = std::gcd(Found, Fixed.getSExtValue());
      else if (TypeSize Bytes = DL.getTypeAllocSize(Step->getSourceElementType()); Bytes > 1)
        Found = std::gcd(Found, int64_t(Bytes));
    }
    return Found;
  }

  // Not to a member: what is reached by it is an element of a loop, or of a copy, or is found by an index, or is kept,
  // as a vector's end is.
  bool leadsToAnElement(const GetElementPtrInst &Step) const {
    if (!Step.hasAllConstantIndices())
      return true;
    if (leadsToAMember(Step))
      return false;
    return any_of(Step.users(), [&](const User *U) {
      auto *Store = dyn_cast<StoreInst>(U);
      return isa<PHINode>(U) || isa<SelectInst>(U) || isa<MemTransferInst>(U) ||
             (Holders && Store && Store->getValueOperand() == &Step);
    });
  }

  // Of a local struct, also where the member is a struct that is copied or kept as a whole.
  static bool leadsToAMember(const GetElementPtrInst &Step) {
    auto *Object = dyn_cast<AllocaInst>(Step.getPointerOperand());
    auto *Whole = Object && !Object->isArrayAllocation() ? dyn_cast<StructType>(Object->getAllocatedType()) : nullptr;
    const DataLayout &DL = Step.getDataLayout();
    APInt Offset(64, 0);
    if (!Whole || !Step.accumulateConstantOffset(DL, Offset) || Offset.uge(DL.getTypeStoreSize(Whole)) || Offset == 0)
      return false;
    while (Whole && !DL.getStructLayout(Whole)->getElementContainingOffset(Offset.getZExtValue()))
      Whole = dyn_cast<StructType>(Whole->getElementType(0));
    return Whole;
  }

  // To an array of numbers at the end of a local struct, beyond which no copy goes.
  static bool leadsToNumbers(GetElementPtrInst &Step) {
    auto *Object = dyn_cast<AllocaInst>(Step.getPointerOperand());
    const DataLayout &DL = Step.getDataLayout();
    std::optional<Place> At = Object ? placeOf(&Step, DL) : std::nullopt;
    std::optional<TypeSize> Size = Object ? Object->getAllocationSize(DL) : std::nullopt;
    if (!At || !Size || *Size != At->Memory->Stride)
      return false;
    std::optional<SmallVector<Leaf>> Rest = At->Memory->cover(At->Offset, At->Memory->Stride - At->Offset);
    return Rest && all_of(*Rest, [](const Leaf &L) { return L.isFloat(); });
  }

  // A whole struct as one integer, which is stored elsewhere or taken apart into members.
  static bool isMoved(const User &Access) {
    auto *Load = dyn_cast<LoadInst>(&Access);
    return !Load || all_of(Load->users(), [](const User *U) {
      bool Shifted =
          U->hasOneUse() && isa<TruncInst>(*U->user_begin()) && cast<Instruction>(U)->getOpcode() == Instruction::LShr;
      return isa<StoreInst, TruncInst>(U) || Shifted;
    });
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
  unsigned Holders;
  bool Calls;
  std::set<std::pair<Value *, int64_t>> Held; // places that were followed
};

class Multiple {
public:
  Multiple(uint64_t Bytes, const DataLayout &DL) : Bytes(Bytes), DL(DL) {}

  bool is(const Value *Length) {
    if (auto *Fixed = dyn_cast<ConstantInt>(Length))
      return Fixed->getSExtValue() % int64_t(Bytes) == 0;
    if (isPowerOf2_64(Bytes))
      return computeKnownBits(Length, DL).countMinTrailingZeros() >= Log2_64(Bytes);
    auto *I = dyn_cast<Instruction>(Length);
    if (!I)
      return false;
    if (auto *Phi = dyn_cast<PHINode>(I)) // what it is in a loop it stays by steps of such numbers
      return !Seen.insert(Phi).second || all_of(Phi->incoming_values(), [&](const Value *V) { return is(V); });
    if (isa<ZExtInst, SExtInst>(I))
      return is(I->getOperand(0));
    Value *Divisor = nullptr;
    switch (I->getOpcode()) {
    case Instruction::Mul:
      return is(I->getOperand(0)) || is(I->getOperand(1));
    case Instruction::Sub:
      if (match(I->getOperand(1), m_URem(m_Specific(I->getOperand(0)), m_Value(Divisor))) && is(Divisor))
        return true; // as std::vector rounds down to whole elements
      [[fallthrough]];
    case Instruction::Add:
      return is(I->getOperand(0)) && is(I->getOperand(1));
    default:
      return false;
    }
  }

private:
  uint64_t Bytes;
  const DataLayout &DL;
  SmallPtrSet<const PHINode *, 8> Seen;
};

} // namespace

bool isMultipleOf(const Value *Length, uint64_t Bytes, const DataLayout &DL) { return Multiple(Bytes, DL).is(Length); }

static std::optional<Place> placeIn(Value *Pointer, unsigned Holders, bool Calls, const DataLayout &DL,
                                    function_ref<bool(const Elements &, uint64_t)> IsWanted) {
  APInt Offset(DL.getIndexTypeSizeInBits(Pointer->getType()), 0);
  const Elements Found({Pointer->stripAndAccumulateConstantOffsets(DL, Offset, /*AllowNonInbounds=*/true)}, Holders,
                       Calls);
  std::shared_ptr<const Layout> Memory = Found.layout(DL);
  if (!Memory || !IsWanted(Found, Memory->Stride))
    return std::nullopt;
  int64_t Stride = Memory->Stride, Rest = Offset.srem(Stride);
  return Place{Memory, static_cast<uint64_t>(Rest < 0 ? Rest + Stride : Rest)};
}

std::optional<Place> placeOfMixed(MemTransferInst &Copy) {
  const DataLayout &DL = Copy.getDataLayout();
  auto IsWhole = [&](const Elements &Found, uint64_t Stride) {
    Value *Length = Copy.getLength();
    return isa<ConstantInt>(Length) || Found.lieApartBy(Length, Stride, DL);
  };
  for (bool Calls : {false, true})
    for (Value *Pointer : {Copy.getRawSource(), Copy.getRawDest()})
      if (std::optional<Place> Found = placeIn(Pointer, DeepestHolder, Calls, DL, IsWhole))
        return Found;
  return std::nullopt;
}

std::optional<Place> placeOfMixed(Value *Pointer, const DataLayout &DL) {
  return placeIn(Pointer, 0, false, DL, [](const Elements &, uint64_t) { return true; });
}

// As where push_back moves a vector: what it stores right behind what is copied is a number, and nothing beside it.
static bool isFollowedByANumber(const MemTransferInst &Copy) {
  auto IsAccess = [](const User *U, const Value *Address) {
    return getLoadStorePointerOperand(U) == Address || isa<CallBase>(U);
  };
  return any_of(Copy.getRawDest()->users(), [&](const User *U) {
    auto *Behind = dyn_cast<GetElementPtrInst>(U);
    if (!Behind || Behind->getNumIndices() != 1 || Behind->getOperand(1) != Copy.getLength() ||
        !Behind->getSourceElementType()->isIntegerTy(8) || Behind->getPointerOperand() != Copy.getRawDest())
      return false;
    bool StoresNumber = false;
    for (const User *Each : Behind->users()) {
      auto *Store = dyn_cast<StoreInst>(Each);
      if (Store && Store->getPointerOperand() == Behind && Store->getValueOperand()->getType()->isFloatingPointTy())
        StoresNumber = true;
      else if (IsAccess(Each, Behind) || isa<PHINode, SelectInst>(Each) ||
               any_of(Each->users(), [&](const User *Member) { return IsAccess(Member, Each); }))
        return false;
    }
    return StoresNumber;
  });
}

bool copiesMixedStructs(MemTransferInst &Copy) {
  if (isa<ConstantInt>(Copy.getLength()) || isFollowedByANumber(Copy)) // Enzyme looks at each byte of the former
    return false;
  const Elements Found({Copy.getRawSource(), Copy.getRawDest()}, DeepestHolder);
  return (Found.beginWithNoFloat() && Found.holdFloats()) || Found.holdFloatsOfSeveralKinds();
}

} // namespace adgen
