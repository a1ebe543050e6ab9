#include "Cache/SweepMemory.h"

#include "Analysis/Accumulation.h"
#include "Support/Iterations.h"
#include "Support/Pass.h"

#include "llvm/ADT/BitVector.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"

using namespace llvm;

namespace adgen {

// Instructions of an iteration and its reversal.
constexpr unsigned MostInstructions = 4000;

Value *LoopPair::resolved(Value *V) const {
  while (auto *Phi = dyn_cast<PHINode>(V)) {
    if (Phi->getParent() == Join)
      V = Phi->getIncomingValueForBlock(Last);
    else if (is_contained(Between, Phi->getParent()) && Phi->getNumIncomingValues() == 1)
      V = Phi->getIncomingValue(0);
    else
      break;
  }
  return V;
}

bool areApart(const Value *One, const Value *Other) {
  auto IsShadow = [](const Value *V) {
    auto *A = dyn_cast<Argument>(V);
    return A && A->getParent()->hasParamAttribute(A->getArgNo(), ShadowAttribute);
  };
  auto IsKnown = [](const Value *V) { return isa<Argument>(V) || isIdentifiedObject(V); };
  bool Both = isIdentifiedObject(One) && isIdentifiedObject(Other);
  return One != Other && IsKnown(One) && IsKnown(Other) && (Both || IsShadow(One) || IsShadow(Other));
}

static bool isIgnored(const Instruction &I) {
  auto *Known = dyn_cast<IntrinsicInst>(&I);
  return Known && Known->isAssumeLikeIntrinsic() && !Known->isLifetimeStartOrEnd();
}

static Value *pointerOf(Instruction &I) {
  if (auto *Atomic = asAccumulation(I))
    return Atomic->getPointerOperand();
  if (isCacheRelease(I))
    return cast<CallInst>(I).getArgOperand(0);
  if (auto *Atomic = dyn_cast<AtomicRMWInst>(&I); Atomic && Atomic->getOperation() == AtomicRMWInst::Xchg)
    return Atomic->getPointerOperand();
  bool Simple =
      (isa<LoadInst>(I) && cast<LoadInst>(I).isSimple()) || (isa<StoreInst>(I) && cast<StoreInst>(I).isSimple());
  return Simple ? getLoadStorePointerOperand(&I) : nullptr;
}

static bool collectAccesses(AllocaInst &Variable, SmallVectorImpl<Instruction *> &Accesses) {
  SmallVector<Value *> Pointers{&Variable};
  while (!Pointers.empty()) {
    Value *Pointer = Pointers.pop_back_val();
    for (User *U : Pointer->users()) {
      auto *I = cast<Instruction>(U);
      if (isa<GetElementPtrInst>(I))
        Pointers.push_back(I);
      else if (I->isLifetimeStartOrEnd())
        continue;
      else if (isa<LoadInst>(I) || (isa<StoreInst>(I) && cast<StoreInst>(I)->getPointerOperand() == Pointer))
        Accesses.push_back(I);
      else
        return false;
    }
  }
  return true;
}

// Every instruction hands on to the next one, so that what stands behind the forward loop runs whenever that does.
bool SweepMemory::everyEnds() {
  unsigned Count = 0;
  auto Add = [&](auto Blocks, SmallVectorImpl<Instruction *> &To) {
    for (BasicBlock *Block : Blocks)
      for (Instruction &I : *Block) {
        ++Count;
        if (!I.isTerminator() && !isCacheAllocation(&I) && !isCacheRelease(I) &&
            !isGuaranteedToTransferExecutionToSuccessor(&I))
          return false;
        if (I.mayReadOrWriteMemory() && !isIgnored(I))
          To.push_back(&I);
      }
    return true;
  };
  return Add(P.Forward.L->blocks(), Forward) && Add(P.Between, Between) && Add(P.Reverse.L->blocks(), Reverse) &&
         Count <= MostInstructions;
}

// All that is done to memory must be understood.
bool SweepMemory::collectPlaces() {
  for (ArrayRef<Instruction *> All : {ArrayRef(Forward), ArrayRef(Between), ArrayRef(Reverse)})
    for (Instruction *I : All)
      if (!isCacheAllocation(I) && !pointerOf(*I))
        return false;
  return none_of(Between, [](const Instruction *I) { return isCacheRelease(*I) || isCacheAllocation(I); }) &&
         none_of(Reverse, [](const Instruction *I) { return isCacheAllocation(I); }) &&
         none_of(Forward, [](const Instruction *I) { return isCacheRelease(*I); });
}

// What differs between restrict pointers of a function that was called within the loops holds for one iteration only.
void SweepMemory::collectScopes() {
  for (Instruction &I : instructions(F))
    if (auto *Declared = dyn_cast<NoAliasScopeDeclInst>(&I))
      if (!P.Forward.L->contains(&I) && !P.Reverse.L->contains(&I))
        for (const MDOperand &Scope : Declared->getScopeList()->operands())
          Scopes.insert(cast<MDNode>(Scope));
}

bool SweepMemory::collect() {
  if (!everyEnds() || !collectPlaces())
    return false;
  collectScopes();
  return true;
}

bool SweepMemory::isReversedAlone() {
  if (!collect())
    return false;
  for (Instruction *Mine : Reverse) {
    for (ArrayRef<Instruction *> Others : {ArrayRef(Forward), ArrayRef(Between), ArrayRef(Reverse)})
      for (Instruction *Other : Others)
        if (Other != Mine && mayConflict(*Mine, *Other))
          return false;
    if (Mine->mayWriteToMemory() && !asAccumulation(*Mine) && !isCacheRelease(*Mine) && !isPrivate(*Mine))
      return false;
  }
  return true;
}

bool SweepMemory::conflictsWithForward(Instruction &Mine) {
  return any_of(Forward, [&](Instruction *Other) { return !isCacheAllocation(Other) && mayConflict(Mine, *Other); });
}

// The blocks that lead from the decision to the loop are one behind the other.
bool SweepMemory::conflictsOnTheWay(Instruction &Mine) {
  if (!P.Decision)
    return false;
  for (const BasicBlock *Block = P.Forward.L->getLoopPreheader(); Block && Block != P.Decision;
       Block = Block->getSinglePredecessor())
    for (const Instruction &I : *Block) {
      auto &Other = const_cast<Instruction &>(I);
      bool Ends = I.isTerminator() || isCacheAllocation(&I) || isGuaranteedToTransferExecutionToSuccessor(&I);
      bool Touches = I.mayReadOrWriteMemory() && !isIgnored(I) && !isCacheAllocation(&I);
      if (!Ends || (Touches && (!pointerOf(Other) || mayConflict(Mine, Other))))
        return true;
    }
  return false;
}

MDNode *SweepMemory::outside(MDNode *List) {
  if (!List)
    return nullptr;
  SmallVector<Metadata *> Kept;
  for (const MDOperand &Scope : List->operands())
    if (Scopes.contains(cast<MDNode>(Scope)))
      Kept.push_back(Scope);
  return Kept.empty() ? nullptr : MDNode::get(F.getContext(), Kept);
}

// Whatever of its object the instruction accesses in any iteration.
MemoryLocation SweepMemory::anywhere(Instruction &I) {
  AAMDNodes Tags = I.getAAMetadata();
  // An access belongs to all scopes of its list: without one of them it would say too little of itself, and nothing
  // follows from it.
  Tags.Scope = outside(Tags.Scope);
  Tags.NoAlias = outside(Tags.NoAlias);
  return MemoryLocation::getBeforeOrAfter(pointerOf(I), Tags);
}

bool SweepMemory::mayConflict(Instruction &Mine, Instruction &Other) {
  if (!Mine.mayWriteToMemory() && !Other.mayWriteToMemory())
    return false;
  if (asAccumulation(Mine) && asAccumulation(Other))
    return false;
  if (isCacheAllocation(&Other) || isCacheRelease(Mine) || isCacheRelease(Other))
    return isCacheRelease(Mine) && !isKept(pointerOf(Mine));
  const Value *One = objectOf(Mine), *Two = objectOf(Other);
  if (areApart(One, Two) || areSameSlot(Mine, Other) || areKept(Mine, Other) || (isPrivate(Mine) && isPrivate(Other)))
    return false;
  return !AA.isNoAlias(anywhere(Mine), anywhere(Other));
}

const Value *SweepMemory::objectOf(Instruction &I) const {
  Value *Object = const_cast<Value *>(getUnderlyingObject(pointerOf(I), 0));
  for (Value *Next = P.resolved(Object); Next != Object; Next = P.resolved(Object))
    Object = const_cast<Value *>(getUnderlyingObject(Next, 0));
  return Object;
}

// A cache's element with the number of the iteration: that of the forward loop writes it, and its own reversal reads
// it.
Value *SweepMemory::slotOf(const Counted &Of, Instruction &I) {
  auto *Element = dyn_cast<GetElementPtrInst>(pointerOf(I));
  if (!Element || Element->getNumIndices() != 1 || SE.getSCEV(Element->getOperand(1)) != Of.Number)
    return nullptr;
  Value *Cache = P.resolved(Element->getPointerOperand());
  bool Fits = Element->getSourceElementType() == getLoadStoreType(&I);
  return isCacheAllocation(Cache) && Fits ? Cache : nullptr;
}

bool SweepMemory::areSameSlot(Instruction &Mine, Instruction &Other) {
  if (!isa<LoadInst>(Mine) || !isa<StoreInst>(Other) || !P.Forward.L->contains(&Other))
    return false;
  Value *Slot = slotOf(P.Reverse, Mine);
  return Slot && Slot == slotOf(P.Forward, Other) && getLoadStoreType(&Mine) == getLoadStoreType(&Other);
}

// A cache of the iteration itself, whose address is in such an element.
bool SweepMemory::isKept(Value *Pointer) {
  auto *Load = dyn_cast<LoadInst>(const_cast<Value *>(getUnderlyingObject(Pointer, 0)));
  if (!Load || !P.Reverse.L->contains(Load))
    return false;
  Value *Slot = slotOf(P.Reverse, *Load);
  return Slot && all_of(Forward, [&](Instruction *I) {
           auto *Store = dyn_cast<StoreInst>(I);
           if (!Store || objectOf(*Store) != Slot)
             return true;
           auto *Inner = dyn_cast<Instruction>(Store->getValueOperand());
           return slotOf(P.Forward, *Store) == Slot && Inner && isCacheAllocation(Inner) &&
                  P.Forward.L->contains(Inner);
         });
}

bool SweepMemory::areKept(Instruction &Mine, Instruction &Other) {
  if (!isKept(pointerOf(Mine)))
    return false;
  const Value *Object = objectOf(Other);
  auto *Made = dyn_cast<Instruction>(Object);
  return (Made && isCacheAllocation(Made)) || isa<Argument, AllocaInst, GlobalVariable>(Object) ||
         (P.Reverse.L->contains(&Other) && isKept(pointerOf(Other)) && !isa<StoreInst>(Mine) && !isa<StoreInst>(Other));
}

// Of a local variable that both loops fill anew in every iteration before they read it, and nobody else reads.
bool SweepMemory::isPrivate(Instruction &I) {
  auto *Variable = dyn_cast<AllocaInst>(const_cast<Value *>(getUnderlyingObject(pointerOf(I), 0)));
  if (!Variable)
    return false;
  auto [Known, New] = Private.try_emplace(Variable, false);
  if (New)
    Known->second = isFilledFirst(*Variable);
  return Private[Variable];
}

bool SweepMemory::isFilledFirst(AllocaInst &Variable) {
  std::optional<TypeSize> Size = Variable.getAllocationSize(F.getDataLayout());
  SmallVector<Instruction *> Accesses;
  if (!Size || Size->isScalable() || !collectAccesses(Variable, Accesses))
    return false;
  return all_of(Accesses, [&](Instruction *I) {
    bool Inside = P.Forward.L->contains(I) || P.Reverse.L->contains(I);
    const Loop &Own = P.Forward.L->contains(I) ? *P.Forward.L : *P.Reverse.L;
    return Inside && (isa<StoreInst>(I) || isFilledBefore(Own, *I, Accesses, Size->getFixedValue()));
  });
}

// Whether stores of the same iteration, which always come before the load, have written every byte.
bool SweepMemory::isFilledBefore(const Loop &L, const Instruction &Load, ArrayRef<Instruction *> Accesses,
                                 uint64_t Size) {
  BitVector Written(Size);
  for (Instruction *I : Accesses) {
    auto *Store = dyn_cast<StoreInst>(I);
    if (!Store || !L.contains(Store) || !DT.dominates(Store, &Load))
      continue;
    int64_t Offset = 0;
    uint64_t Bytes = F.getDataLayout().getTypeStoreSize(Store->getValueOperand()->getType());
    Value *Base = GetPointerBaseWithConstantOffset(Store->getPointerOperand(), Offset, F.getDataLayout());
    if (isa<AllocaInst>(Base) && Offset >= 0 && Offset + Bytes <= Size)
      Written.set(Offset, Offset + Bytes);
  }
  return Written.all();
}

} // namespace adgen
