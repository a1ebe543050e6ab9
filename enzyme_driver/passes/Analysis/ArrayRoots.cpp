#include "Analysis/ArrayRoots.h"

#include "Support/Iterations.h"

#include "llvm/Analysis/ValueTracking.h"

using namespace llvm;

namespace adgen {

bool isOfCache(const Instruction &I) {
  return isa<CallInst>(I) && (I.hasMetadata(CacheAllocation) || I.hasMetadata(CacheRelease));
}

static bool isOnlyRead(const Argument &Struct) {
  SmallVector<const Value *> Pointers{&Struct};
  while (!Pointers.empty())
    for (const User *U : Pointers.pop_back_val()->users()) {
      if (isa<GetElementPtrInst>(U))
        Pointers.push_back(U);
      else if (!isa<LoadInst>(U))
        return false;
    }
  return true;
}

// The primal's parameters, their shadows, then shared arrays.
ArrayRoots::ArrayRoots(const Function &Gradient) : F(Gradient) {
  SmallVector<Activity> Activities = activitiesOf(F);
  SmallVector<bool> AreStructs;
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
      Kinds.push_back(IsArray ? Kind::Array : IsStruct ? Kind::Struct : Kind::Unknown);
    }
  Kinds.append(2 * sharedNames(F).size(), Kind::Shared);
  Kinds.resize(F.arg_size(), Kind::Unknown);
  for (auto [Index, Each] : enumerate(Kinds))
    if (Each == Kind::Struct && !isOnlyRead(*F.getArg(Index)))
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
  if (auto *Call = dyn_cast<CallInst>(&Object); Call && Call->hasMetadata(CacheAllocation))
    return ArrayRoot{nullptr, ArrayRoot::Caches};
  auto *Load = dyn_cast<LoadInst>(&Object);
  if (!Load)
    return std::nullopt;
  APInt Offset(F.getDataLayout().getIndexTypeSizeInBits(Load->getPointerOperandType()), 0);
  auto *Struct =
      dyn_cast<Argument>(Load->getPointerOperand()->stripAndAccumulateConstantOffsets(F.getDataLayout(), Offset, true));
  if (!Struct || !isStruct(*Struct))
    return std::nullopt;
  return ArrayRoot{Struct, Offset.getSExtValue()};
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

} // namespace adgen
