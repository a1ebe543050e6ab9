#include "Analysis/Accumulation.h"

#include "Support/OpenMP.h"

#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"

using namespace llvm;

namespace adgen {

AtomicRMWInst *asAccumulation(Instruction &I) {
  auto *Atomic = dyn_cast<AtomicRMWInst>(&I);
  bool Is = Atomic && Atomic->getOperation() == AtomicRMWInst::FAdd && Atomic->use_empty() && !Atomic->isVolatile() &&
            Atomic->getOrdering() == AtomicOrdering::Monotonic && Atomic->getSyncScopeID() == SyncScope::System;
  return Is ? Atomic : nullptr;
}

Value *addedBy(const StoreInst &Store) {
  auto *Sum = dyn_cast<BinaryOperator>(Store.getValueOperand());
  if (!Sum || Sum->getOpcode() != Instruction::FAdd)
    return nullptr;
  for (unsigned Old : {0u, 1u})
    if (auto *Load = dyn_cast<LoadInst>(Sum->getOperand(Old));
        Load && Load->getPointerOperand() == Store.getPointerOperand())
      return Sum->getOperand(1 - Old);
  return nullptr;
}

FastMathFlags inAnyOrder() {
  FastMathFlags Flags;
  Flags.setAllowReassoc(true);
  Flags.setAllowContract(true);
  Flags.setNoSignedZeros(true);
  return Flags;
}

LoadInst *addPlainly(AtomicRMWInst &Accumulation, FastMathFlags Flags) {
  IRBuilder<> B(&Accumulation);
  Value *At = Accumulation.getPointerOperand();
  auto *Old = B.CreateAlignedLoad(Accumulation.getType(), At, Accumulation.getAlign());
  Value *New = B.CreateFAddFMF(Old, Accumulation.getValOperand(), Flags);
  auto *Store = B.CreateAlignedStore(New, At, Accumulation.getAlign());
  for (Instruction *Access : {static_cast<Instruction *>(Old), static_cast<Instruction *>(Store)})
    Access->setAAMetadata(Accumulation.getAAMetadata());
  Accumulation.eraseFromParent();
  return Old;
}

bool isConsumption(const Instruction &I) { return isa<AtomicRMWInst>(I) && I.hasMetadata(ConsumedMark); }

LoadInst *takePlainly(IRBuilder<> &B, AtomicRMWInst &Exchange, Value *From) {
  LoadInst *Taken = B.CreateAlignedLoad(Exchange.getType(), From, Exchange.getAlign());
  StoreInst *Zero = B.CreateAlignedStore(Constant::getNullValue(Exchange.getType()), From, Exchange.getAlign());
  for (Instruction *Access : {static_cast<Instruction *>(Taken), static_cast<Instruction *>(Zero)})
    Access->setAAMetadata(Exchange.getAAMetadata());
  return Taken;
}

bool isOnlyAccumulatedInto(const Value &Shadow) {
  SmallVector<const Value *> Pointers{&Shadow};
  SmallPtrSet<const Value *, 16> Seen{&Shadow};
  while (!Pointers.empty())
    for (const User *U : Pointers.pop_back_val()->users()) {
      auto *I = cast<Instruction>(U);
      if (isa<GetElementPtrInst, PHINode, SelectInst, AddrSpaceCastInst>(I)) {
        if (Seen.insert(I).second)
          Pointers.push_back(I);
      } else if (!isa<ICmpInst>(I) && !asAccumulation(const_cast<Instruction &>(*I)))
        return false;
    }
  return true;
}

// The pointers by which an instruction of a region reaches memory that others have; nothing where that is not known.
static std::optional<SmallVector<const Value *, 2>> reachedBy(const Instruction &I, const UnderlyingObjects &Memory) {
  auto *Call = dyn_cast<CallBase>(&I);
  if (!Call) {
    const Value *Pointer = accessedPointer(I);
    return Pointer ? std::optional(SmallVector<const Value *, 2>{Pointer}) : std::nullopt;
  }
  const Function *Callee = Call->getCalledFunction();
  bool IsOurs =
      !Callee || !Callee->isDeclaration() || Callee->getName() == ForkName; // it may find the memory by way of others
  if (IsOurs || Memory.writtenBy(I).contains(nullptr))
    return std::nullopt;
  SmallVector<const Value *, 2> Pointers;
  for (const Value *Operand : Call->args())
    if (Operand->getType()->isPointerTy() && !isa<Function, ConstantPointerNull, UndefValue>(Operand))
      Pointers.push_back(Operand);
  return Pointers;
}

std::optional<Way> Way::of(const Value *Pointer) {
  const Value *Object = getUnderlyingObject(Pointer, 0);
  if (auto *From = dyn_cast<Argument>(Object))
    return Way{From, std::nullopt, {}};
  if (auto *Member = dyn_cast<ExtractValueInst>(Object)) {
    auto *From = dyn_cast<Argument>(Member->getAggregateOperand());
    return From ? std::optional(Way{From, std::nullopt, Member->getIndices()}) : std::nullopt;
  }
  auto *Load = dyn_cast<LoadInst>(Object);
  if (!Load)
    return std::nullopt;
  int64_t Offset = 0;
  auto *From =
      dyn_cast<Argument>(GetPointerBaseWithConstantOffset(Load->getPointerOperand(), Offset, Load->getDataLayout()));
  return From ? std::optional(Way{From, Offset, {}}) : std::nullopt;
}

// Whether the region leaves the memory behind an argument as it is.
static bool isLeftAlone(const Argument &Held, const UnderlyingObjects &Memory) {
  const UnderlyingObjects::Set &Objects = Memory.of(&Held);
  return !Objects.contains(nullptr) && none_of(instructions(Held.getParent()), [&](const Instruction &I) {
    UnderlyingObjects::Set Into = Memory.writtenBy(I);
    return Into.contains(nullptr) || any_of(Objects, [&](const Value *Object) { return Into.contains(Object); });
  });
}

std::optional<SmallVector<Way>> metOtherwise(const Value &Shadow, const UnderlyingObjects &Memory) {
  const UnderlyingObjects::Set &Own = Memory.of(&Shadow);
  const std::optional<Way> By = Way::of(&Shadow);
  if (!By || Own.empty())
    return std::nullopt;
  // What a pointer in a struct leads to is unknown, but nothing that the module itself makes.
  auto MayBe = [&](const Value *Object) {
    return !Object || Own.contains(Object) ||
           (Own.contains(nullptr) && !isa<AllocaInst>(Object) && !isNoAliasCall(Object));
  };
  SmallVector<Way> Others;
  for (const Instruction &I : instructions(By->From->getParent())) {
    auto *Known = dyn_cast<IntrinsicInst>(&I);
    if (!I.mayReadOrWriteMemory() || asAccumulation(const_cast<Instruction &>(I)) ||
        (Known && Known->isAssumeLikeIntrinsic()))
      continue;
    std::optional<SmallVector<const Value *, 2>> Pointers = reachedBy(I, Memory);
    if (!Pointers)
      return std::nullopt;
    for (const Value *Pointer : *Pointers) {
      if (none_of(Memory.of(Pointer), MayBe))
        continue;
      std::optional<Way> Other = Way::of(Pointer);
      if (!Other || *Other == *By || (Other->Held && !isLeftAlone(*Other->From, Memory)))
        return std::nullopt;
      if (!is_contained(Others, *Other))
        Others.push_back(*Other);
    }
  }
  return Others;
}

bool isMetByAccumulationsOnly(const Argument &Shadow, const UnderlyingObjects &Memory) {
  auto Others = metOtherwise(Shadow, Memory);
  return Others && Others->empty();
}

Meetings::Meetings(Function &F, AAResults &AA) : AA(AA) {
  for (const Argument &A : F.args())
    if (F.hasParamAttribute(A.getArgNo(), ShadowAttribute) && isOnlyAccumulatedInto(A))
      OnlyAccumulated.insert(&A);
}

static bool hasAttribute(const Value *Object, StringRef Name) {
  auto *A = dyn_cast<Argument>(Object);
  return A && A->getParent()->hasParamAttribute(A->getArgNo(), Name);
}

static bool isOfStaticArray(const Value *Object) {
  auto *A = dyn_cast<Argument>(Object);
  return A && A->getParent()
                      ->getAttributeAtIndex(A->getArgNo() + AttributeList::FirstArgIndex, SharedShadowAttribute)
                      .getValueAsString() == StaticArray;
}

// Shadows of parameters overlap nothing, those of shared arrays only each other.
bool Meetings::areApart(const Value *Object, const Value *Other) const {
  if (Object == Other || !(isa<Argument>(Other) || isIdentifiedObject(Other)))
    return false;
  if (hasAttribute(Object, ShadowAttribute) || hasAttribute(Other, ShadowAttribute))
    return true;
  return hasAttribute(Object, SharedShadowAttribute) != hasAttribute(Other, SharedShadowAttribute) ||
         isOfStaticArray(Object) || isOfStaticArray(Other);
}

bool isSimpleAccess(const Instruction &I) {
  if (auto *Load = dyn_cast<LoadInst>(&I))
    return Load->isSimple();
  auto *Store = dyn_cast<StoreInst>(&I);
  return Store && Store->isSimple();
}

const Value *accessedPointer(const Instruction &I) {
  if (auto *Atomic = dyn_cast<AtomicRMWInst>(&I))
    return Atomic->getPointerOperand();
  return getLoadStorePointerOperand(&I);
}

// An instruction and what it needs that does not come before a place; nothing where that cannot move.
static SmallVector<Instruction *> neededFrom(Instruction &Spot, Instruction &Last, const DominatorTree &Dominators) {
  SmallVector<Instruction *> Needed{&Last};
  for (unsigned I = 0; I < Needed.size(); ++I)
    for (Value *Operand : Needed[I]->operands()) {
      auto *Made = dyn_cast<Instruction>(Operand);
      if (!Made || (Made != &Spot && Dominators.dominates(Made, &Spot)))
        continue;
      if (!isSafeToSpeculativelyExecute(Made))
        return {};
      Needed.push_back(Made);
    }
  return Needed;
}

CallInst *callRule(IRBuilder<> &B, StringRef Name, Type *Result, ArrayRef<Value *> Arguments) {
  SmallVector<Type *> Types;
  for (Value *Argument : Arguments)
    Types.push_back(Argument->getType());
  Module &M = *B.GetInsertBlock()->getModule();
  return B.CreateCall(M.getOrInsertFunction(Name, FunctionType::get(Result, Types, false)), Arguments);
}

bool moveUpTo(Instruction &Place, Instruction &Last, const DominatorTree &Dominators) {
  SmallVector<Instruction *> Needed = neededFrom(Place, Last, Dominators);
  if (Needed.empty() || is_contained(Needed, &Place))
    return false;
  SmallPtrSet<Instruction *, 8> Moved;
  for (Instruction *I : reverse(Needed)) // what something needs was found after it
    if (Moved.insert(I).second)
      I->moveBefore(Place.getIterator());
  return true;
}

bool Meetings::mayTouch(const Instruction &I, const Value *Element, Type *T) const {
  if (!I.mayReadOrWriteMemory())
    return false;
  if (auto *Known = dyn_cast<IntrinsicInst>(&I); Known && Known->isAssumeLikeIntrinsic())
    return false;
  const Value *Pointer = accessedPointer(I);
  if (!Pointer) // a call: barriers too, behind which others see the element
    return true;
  if (areApart(getUnderlyingObject(Element), getUnderlyingObject(Pointer)))
    return false;
  auto Size = LocationSize::precise(I.getDataLayout().getTypeStoreSize(T));
  return isModOrRefSet(AA.getModRefInfo(&I, MemoryLocation(Element, Size)));
}

bool Meetings::mayTouchArray(const Instruction &I, const Value *Element) const {
  if (!I.mayReadOrWriteMemory() || asAccumulation(const_cast<Instruction &>(I)))
    return false;
  if (auto *Known = dyn_cast<IntrinsicInst>(&I); Known && Known->isAssumeLikeIntrinsic())
    return false;
  const Value *Pointer = accessedPointer(I);
  return !Pointer || !areApart(getUnderlyingObject(Element), getUnderlyingObject(Pointer));
}

bool Meetings::mayMeetArray(const Instruction &I, const Value *Element) const {
  return !OnlyAccumulated.contains(getUnderlyingObject(Element)) && mayTouchArray(I, Element);
}

bool Meetings::mayMeet(const Instruction &I, const Value *Element, Type *T) const {
  if (asAccumulation(const_cast<Instruction &>(I)) || OnlyAccumulated.contains(getUnderlyingObject(Element)))
    return false;
  return mayTouch(I, Element, T);
}

} // namespace adgen
