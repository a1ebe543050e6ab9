#include "Analysis/Bits.h"
#include "Analysis/Keys.h"
#include "Analysis/Layout.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/PointerIntPair.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/IntrinsicInst.h"

using namespace llvm;

namespace adgen {
namespace {

// The kinds of numbers that were met.
class Kinds {
public:
  void add(Bits Kind) { Met |= 1u << static_cast<unsigned>(Kind); }
  bool areIntegers() const { return !(Met & ~1u); }
  Kinds operator|(Kinds Other) const { return Kinds(Met | Other.Met); }

  // Integers beside floating point, such as a zero, say nothing.
  Bits only() const {
    switch (Met & ~1u) {
    case 0:
      return Bits::Integers;
    case 1u << static_cast<unsigned>(Bits::Float):
      return Bits::Float;
    case 1u << static_cast<unsigned>(Bits::Halves):
      return Bits::Halves;
    case 1u << static_cast<unsigned>(Bits::Brains):
      return Bits::Brains;
    default:
      return Bits::Parts;
    }
  }

  Kinds() = default;

private:
  explicit Kinds(unsigned Met) : Met(Met) {}
  unsigned Met = 0;
};

Bits kindOf(ArrayRef<Leaf> Numbers) {
  if (none_of(Numbers, [](const Leaf &L) { return L.isFloat(); }))
    return Bits::Integers;
  if (Numbers.size() == 1 && Numbers[0].Kind == 'f' && Numbers[0].Bytes == 4)
    return Bits::Float;
  auto AreAll = [&](char Kind) {
    return Numbers.size() <= 2 && all_of(Numbers, [&](const Leaf &L) { return L.Kind == Kind && L.Bytes == 2; });
  };
  return AreAll('f') ? Bits::Halves : AreAll('b') ? Bits::Brains : Bits::Parts;
}

Bits kindOf(const Type *T) {
  auto *Pair = dyn_cast<FixedVectorType>(T);
  if (!T->isFPOrFPVectorTy())
    return Bits::Integers;
  const Type *One = Pair && Pair->getNumElements() == 2 ? Pair->getElementType() : T;
  return T->isFloatTy() ? Bits::Float : One->isHalfTy() ? Bits::Halves : One->isBFloatTy() ? Bits::Brains : Bits::Parts;
}

// Follows bits in one direction. What goes through arithmetic on the way is part of a number at most.
class Trace {
public:
  explicit Trace(const DataLayout &DL) : DL(DL) {}

  Kinds back(Value *V) {
    follow(V, true);
    while (!Work.empty()) {
      auto [Next, Whole] = Work.pop_back_val();
      if (auto *I = dyn_cast<Instruction>(Next))
        comesFrom(*I, Whole);
    }
    return Found;
  }

  Kinds forward(Value *V) {
    follow(V, true);
    return goneTo();
  }

  // What is read from memory.
  Kinds memory(Value *Pointer, Type *T) {
    inMemory(Pointer, T, true, false);
    return goneTo();
  }

private:
  Kinds goneTo() {
    while (!Work.empty()) {
      auto [Next, Whole] = Work.pop_back_val();
      for (User *U : Next->users())
        goesTo(*Next, *cast<Instruction>(U), Whole);
    }
    return Found;
  }

  void follow(Value *V, bool Whole) {
    if (Seen.insert(PointerIntPair<Value *, 1, bool>(V, Whole)).second)
      Work.push_back({V, Whole});
  }

  void meet(Bits Kind, bool Whole) { Found.add(Kind == Bits::Integers || Whole ? Kind : Bits::Parts); }

  static bool isMove(const Instruction &I) {
    return isa<PHINode, SelectInst, FreezeInst, ExtractElementInst, InsertElementInst, ShuffleVectorInst,
               ExtractValueInst, InsertValueInst>(I);
  }

  // What is rounded to an integer, and a number made from one, have no derivative.
  static bool isConversion(const Instruction &I) { return isa<FPToSIInst, FPToUIInst, SIToFPInst, UIToFPInst>(I); }

  static bool isShuffle(const Instruction &I) {
    auto *Call = dyn_cast<CallInst>(&I);
    return Call && Call->getCalledFunction() && Call->getCalledFunction()->getName().contains("nvvm.shfl.sync.");
  }

  // Vectors and structs are taken apart and put together, down to the numbers of 16 bits in a pair.
  bool staysWhole(const Instruction &I, bool Whole) const {
    bool Number = I.getType()->getPrimitiveSizeInBits() == 32 || I.getType()->getScalarSizeInBits() == 16;
    return Whole &&
           (Number || isa<PHINode, SelectInst, FreezeInst, ExtractValueInst, InsertValueInst>(I) || isShuffle(I));
  }

  void comesFrom(Instruction &I, bool Whole) {
    if (auto *Load = dyn_cast<LoadInst>(&I))
      return inMemory(Load->getPointerOperand(), Load->getType(), Whole, true);
    if (isa<BitCastInst>(I) && I.getOperand(0)->getType()->isFPOrFPVectorTy())
      return meet(kindOf(I.getOperand(0)->getType()), Whole);
    if (isShuffle(I))
      return follow(I.getOperand(1), Whole);
    if (auto *Select = dyn_cast<SelectInst>(&I)) {
      follow(Select->getTrueValue(), Whole);
      return follow(Select->getFalseValue(), Whole);
    }
    bool Moves = isMove(I) || isa<BitCastInst>(I);
    if (Moves || (isa<BinaryOperator, CastInst>(I) && !isConversion(I)))
      for (Value *Operand : I.operand_values())
        follow(Operand, Moves && staysWhole(I, Whole));
  }

  void goesTo(Value &V, Instruction &User, bool Whole) {
    if (auto *Store = dyn_cast<StoreInst>(&User)) {
      if (Store->getValueOperand() == &V)
        inMemory(Store->getPointerOperand(), V.getType(), Whole, false);
      return;
    }
    if (isa<BitCastInst>(User) && User.getType()->isFPOrFPVectorTy())
      return meet(kindOf(User.getType()), Whole);
    bool Moves = isMove(User) || isa<BitCastInst>(User) || isShuffle(User);
    if (Moves || (isa<BinaryOperator, CastInst>(User) && !isConversion(User)))
      follow(&User, Moves && staysWhole(User, Whole));
  }

  static bool isShared(const Value &Object) {
    auto *Global = dyn_cast<GlobalVariable>(&Object);
    return Global && Global->getAddressSpace() == SharedSpace;
  }

  void inMemory(Value *Pointer, Type *T, bool Whole, bool Back) {
    SmallVector<const Value *> Objects;
    getUnderlyingObjects(Pointer, Objects, nullptr, /*MaxLookup=*/0);
    std::optional<Place> At = placeOf(Pointer, DL);
    for (const Value *Object : Objects) {
      if (isa<AllocaInst>(Object) || ((isa<Argument>(Object) || isShared(*Object)) && !At))
        followAccesses(*const_cast<Value *>(Object), Whole, Back);
      else if (!At)
        Found.add(Bits::Parts);
      else if (auto Numbers = At->Memory->cover(At->Offset, DL.getTypeStoreSize(T)))
        meet(kindOf(*Numbers), Whole);
      else
        Found.add(At->Memory->holdsFloats() ? Bits::Parts : Bits::Integers);
    }
  }

  // Memory whose type says nothing: what all accesses to it store (back) or load (forward).
  void followAccesses(Value &Address, bool Whole, bool Back) {
    if (!Visited.insert(&Address).second)
      return;
    for (User *U : Address.users()) {
      auto *Load = dyn_cast<LoadInst>(U);
      auto *Store = dyn_cast<StoreInst>(U);
      if (Load && !Back)
        access(*Load, Load->getType(), Whole);
      else if (Store && Back && Store->getPointerOperand() == &Address)
        access(*Store->getValueOperand(), Store->getValueOperand()->getType(), Whole);
      else if (auto *Copy = dyn_cast<MemTransferInst>(U))
        copied(*Copy, Address, Back);
      else if (isa<GEPOperator, AddrSpaceCastOperator, PHINode, SelectInst>(U))
        followAccesses(*U, Whole, Back);
      else if (isa<CallBase>(U) && !isa<IntrinsicInst>(U) && !onlyWaits(cast<CallBase>(*U)))
        Found.add(Bits::Parts);
    }
  }

  // A barrier, which LowerCollectivesToRules gives a pointer to shared memory.
  static bool onlyWaits(const CallBase &Call) {
    StringRef Name = Call.getCalledFunction() ? Call.getCalledFunction()->getName() : "";
    return Name.starts_with("adgen_rule_") && (Name.ends_with("barrier") || Name.ends_with("_turn"));
  }

  void access(Value &V, Type *T, bool Whole) {
    if (T->isFPOrFPVectorTy())
      meet(T->getScalarSizeInBits() == 32 ? Bits::Float : kindOf(T), Whole);
    else
      follow(&V, Whole && T->getScalarSizeInBits() == 32);
  }

  void copied(MemTransferInst &Copy, const Value &Here, bool Back) {
    bool Into = Copy.getRawDest() == &Here;
    if (Into != Back)
      return;
    Value *Other = Back ? Copy.getRawSource() : Copy.getRawDest();
    inMemory(Other, Type::getInt32Ty(Copy.getContext()), true, Back);
  }

  const DataLayout &DL;
  Kinds Found;
  SmallVector<std::pair<Value *, bool>> Work;
  DenseSet<PointerIntPair<Value *, 1, bool>> Seen;
  SmallPtrSet<Value *, 16> Visited;
};

} // namespace

Bits bitsMoved(Value &Source, Instruction &Moved) {
  const DataLayout &DL = Moved.getDataLayout();
  Kinds From = Trace(DL).back(&Source), To = Trace(DL).forward(&Moved);
  return From.areIntegers() || To.areIntegers() ? Bits::Integers : (From | To).only();
}

Bits bitsLeft(Instruction &Atomic) {
  auto *Swap = dyn_cast<AtomicCmpXchgInst>(&Atomic);
  Value *Left = Swap ? Swap->getNewValOperand() : cast<AtomicRMWInst>(Atomic).getValOperand();
  Value *Pointer = Swap ? Swap->getPointerOperand() : cast<AtomicRMWInst>(Atomic).getPointerOperand();
  const DataLayout &DL = Atomic.getDataLayout();
  if (isa<AtomicRMWInst>(Atomic) && holdsKeys(*Pointer, DL))
    return Bits::Integers;
  return (Trace(DL).back(Left) | Trace(DL).memory(Pointer, Left->getType())).only();
}

} // namespace adgen
