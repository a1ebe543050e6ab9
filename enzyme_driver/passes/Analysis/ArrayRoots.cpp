#include "Analysis/ArrayRoots.h"

#include "Analysis/Accumulation.h"
#include "Analysis/EnzymeCaches.h"
#include "Support/Variables.h"

#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/InstIterator.h"

using namespace llvm;

namespace adgen {

namespace {

// What is done with a struct, as far as it decides whether its pointers stay what they are.
class Members {
public:
  explicit Members(const DataLayout &DL) : DL(DL) {}

  // Numbers beside them may be written: Enzyme sets their shadows to zero.
  bool keepPointers(const Argument &Struct) {
    return collect(Struct, 0) && none_of(Pointers, [&](const Range &Read) {
             return any_of(Written, [&](const Range &W) { return W.First < Read.End && Read.First < W.End; });
           });
  }

private:
  struct Range {
    int64_t First, End;
  };

  bool collect(const Value &Place, int64_t Offset) {
    return all_of(Place.users(), [&](const User *U) {
      if (auto *Address = dyn_cast<GetElementPtrInst>(U)) {
        APInt By(64, 0);
        return Address->accumulateConstantOffset(DL, By) ? collect(*Address, Offset + By.getSExtValue())
                                                         : isOnlyRead(*Address);
      }
      if (auto *Load = dyn_cast<LoadInst>(U)) {
        if (Load->getType()->isPtrOrPtrVectorTy())
          Pointers.push_back(range(Offset, *Load->getType()));
        return true;
      }
      auto *Store = dyn_cast<StoreInst>(U);
      if (!Store || Store->getValueOperand() == &Place)
        return false;
      Written.push_back(range(Offset, *Store->getValueOperand()->getType()));
      return true;
    });
  }

  // At a place that is not known: a pointer that is read there leads nobody knows where.
  static bool isOnlyRead(const Value &Place) {
    return all_of(Place.users(),
                  [](const User *U) { return isa<GetElementPtrInst>(U) ? isOnlyRead(*U) : isa<LoadInst>(U); });
  }

  Range range(int64_t Offset, Type &T) const { return {Offset, Offset + int64_t(DL.getTypeStoreSize(&T))}; }

  const DataLayout &DL;
  SmallVector<Range> Pointers, Written;
};

} // namespace

// The primal's parameters, their shadows, those of variables, then shared arrays.
ArrayRoots::ArrayRoots(const Function &Gradient) : F(Gradient) {
  SmallVector<Activity> Activities = activitiesOf(F);
  SmallVector<bool> AreStructs;
  Parameters = Activities.size();
  for (unsigned Index = 0; Index < Activities.size(); ++Index) {
    const Argument &A = *F.getArg(Index);
    AreStructs.push_back(isStructByValue(A));
    bool IsKnown = A.getType()->isPointerTy() && !A.hasAttribute(ByAddressAttribute);
    Kinds.push_back(!IsKnown ? Kind::Unknown : AreStructs.back() ? Kind::Struct : Kind::Array);
  }
  for (auto [Index, A] : enumerate(Activities))
    if (A != Activity::Const) {
      bool IsArray = F.getArg(Kinds.size())->hasAttribute(ShadowAttribute);
      bool IsStruct = AreStructs[Index] && A == Activity::Duplicated;
      Kinds.push_back(!IsArray && IsStruct ? Kind::Struct : Kind::Unknown);
    }
  Kinds.append(variablesOf(F).size(), Kind::Array);
  Kinds.append(2 * sharedNames(F).size(), Kind::Shared);
  Kinds.resize(F.arg_size(), Kind::Unknown);
  for (auto [Index, Each] : enumerate(Kinds))
    if (F.getArg(Index)->hasAttribute(ShadowAttribute))
      Each = Kind::Array;
    else if (Each == Kind::Struct && !Members(F.getDataLayout()).keepPointers(*F.getArg(Index)))
      Each = Kind::Unknown;
}

std::optional<ArrayRoot> ArrayRoots::ofObject(const Value &Object) const {
  if (auto *A = dyn_cast<Argument>(&Object)) {
    if (Kinds[A->getArgNo()] == Kind::Array)
      return ArrayRoot{A, 0};
    if (isStruct(*A))
      return ArrayRoot{A, ArrayRoot::Itself};
    if (Kinds[A->getArgNo()] != Kind::Shared)
      return std::nullopt;
    // Dynamic arrays may be one.
    return ArrayRoot{nullptr,
                     A->hasAttribute(SharedShadowAttribute) ? ArrayRoot::SharedShadows : ArrayRoot::SharedArrays};
  }
  if (isCacheAllocation(&Object))
    return ArrayRoot{nullptr, ArrayRoot::Caches};
  auto *Load = dyn_cast<LoadInst>(&Object);
  if (!Load)
    return std::nullopt;
  int64_t Offset = 0;
  auto *Struct =
      dyn_cast<Argument>(GetPointerBaseWithConstantOffset(Load->getPointerOperand(), Offset, F.getDataLayout()));
  if (!Struct || !isStruct(*Struct))
    return std::nullopt;
  return ArrayRoot{Struct, Offset};
}

std::optional<SmallVector<ArrayRoot, 2>> ArrayRoots::of(const Value &Pointer) const {
  SmallVector<const Value *> Objects;
  getUnderlyingObjects(&Pointer, Objects, nullptr, 0);
  SmallVector<ArrayRoot, 2> Found;
  for (const Value *Object : Objects) {
    if (isa<ConstantPointerNull, UndefValue>(Object))
      continue;
    std::optional<ArrayRoot> Each = ofObject(*Object);
    if (!Each)
      return std::nullopt;
    if (!is_contained(Found, *Each))
      Found.push_back(*Each);
  }
  return Found.empty() ? std::nullopt : std::optional(Found);
}

AccumulatedShadows::AccumulatedShadows(Function &Gradient) : Roots(Gradient) {
  for (Instruction &I : instructions(Gradient)) {
    if (!I.mayReadOrWriteMemory() || asAccumulation(I) || isOfCache(I))
      continue;
    auto *Call = dyn_cast<CallBase>(&I);
    if (const Value *Pointer = accessedPointer(I))
      meet(*Pointer);
    else if (!Call)
      MayBeAny = true;
    else
      for (const Value *Operand : Call->args())
        if (Operand->getType()->isPointerTy())
          meet(*Operand);
  }
  // A pointer that is stored or cast may come back from anywhere.
  for (Instruction &I : instructions(Gradient)) {
    const Value *Lost = isa<PtrToIntInst>(I) ? I.getOperand(0) : nullptr;
    if (auto *Store = dyn_cast<StoreInst>(&I); Store && Store->getValueOperand()->getType()->isPointerTy())
      Lost = Store->getValueOperand();
    if (Lost)
      meet(*Lost);
  }
}

void AccumulatedShadows::meet(const Value &Pointer) {
  if (auto Led = Roots.of(Pointer)) {
    Others.append(*Led);
    return;
  }
  SmallVector<const Value *> Objects;
  getUnderlyingObjects(&Pointer, Objects, nullptr, 0);
  MayBeAny |= any_of(Objects, [&](const Value *Object) {
    return !Roots.of(*Object) && !isa<Argument, AllocaInst, Constant>(Object) && !isNoAliasCall(Object);
  });
  for (const Value *Object : Objects)
    if (auto Led = Roots.of(*Object))
      Others.append(*Led);
}

bool AccumulatedShadows::contain(const Value &Pointer) const {
  auto Led = Roots.of(Pointer);
  return Led && all_of(*Led, [&](const ArrayRoot &Root) {
           if (Roots.isShadow(Root) && !Roots.isStruct(*Root.Of)) // all uses of the pointer show
             return isOnlyAccumulatedInto(*Root.Of);
           return Roots.isShadow(Root) && !MayBeAny && !is_contained(Others, Root);
         });
}

} // namespace adgen
