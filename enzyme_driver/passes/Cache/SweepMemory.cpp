#include "Cache/SweepMemory.h"

#include "Analysis/Accumulation.h"
#include "Support/Iterations.h"
#include "Support/Pass.h"

#include "llvm/ADT/BitVector.h"
#include "llvm/Analysis/PostDominators.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
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

std::pair<const Value *, int64_t> placeOf(const StoreInst &Store) {
  int64_t Offset = 0;
  const Value *Base = GetPointerBaseWithConstantOffset(Store.getPointerOperand(), Offset, Store.getDataLayout());
  return {Base, Offset};
}

// Whether an iteration stores both at a constant distance from each other.
static bool areOfRecord(const Instruction &One, const Instruction &Other) {
  auto *Mine = dyn_cast<StoreInst>(&One), *Its = dyn_cast<StoreInst>(&Other);
  return Mine && Its && placeOf(*Mine).first == placeOf(*Its).first;
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
  return isSimpleAccess(I) ? getLoadStorePointerOperand(&I) : nullptr;
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

// The bytes of a local variable that a store writes, where they are known.
static void markWritten(BitVector &Bytes, StoreInst &Store) {
  const DataLayout &DL = Store.getDataLayout();
  int64_t Offset = 0;
  uint64_t Count = DL.getTypeStoreSize(Store.getValueOperand()->getType());
  Value *Base = GetPointerBaseWithConstantOffset(Store.getPointerOperand(), Offset, DL);
  if (isa<AllocaInst>(Base) && Offset >= 0 && Offset + Count <= Bytes.size())
    Bytes.set(Offset, Offset + Count);
}

static bool isZero(const StoreInst &Store) {
  auto *Stored = dyn_cast<Constant>(Store.getValueOperand());
  return Stored && Stored->isNullValue();
}

// The load that a sum of floating point begins with, which is read and written at this place and nowhere used else.
static LoadInst *begin(Value *Sum, const StoreInst &Store) {
  auto *Load = dyn_cast<LoadInst>(Sum);
  if (Load)
    return Load->hasOneUse() && Load->isSimple() && Load->getPointerOperand() == Store.getPointerOperand() &&
                   Load->getParent() == Store.getParent()
               ? Load
               : nullptr;
  auto *Next = dyn_cast<BinaryOperator>(Sum);
  if (!Next || !Next->hasOneUse() || (Next->getOpcode() != Instruction::FAdd && Next->getOpcode() != Instruction::FSub))
    return nullptr;
  LoadInst *Found = begin(Next->getOperand(0), Store);
  return Found || Next->getOpcode() == Instruction::FSub ? Found : begin(Next->getOperand(1), Store);
}

// Whether a load or a store does nothing but add to an element: what is there afterwards is the same sum in whatever
// order that happens.
static bool isPartOfSum(Instruction &I) {
  auto *Load = dyn_cast<LoadInst>(&I);
  auto *Store = dyn_cast<StoreInst>(&I);
  for (Instruction *Sum = Load; Sum && !Store;) {
    Sum = Sum->hasOneUse() ? Sum->user_back() : nullptr;
    Store = dyn_cast_or_null<StoreInst>(Sum);
    if (Sum && !Store && !isa<BinaryOperator>(Sum))
      return false;
  }
  if (!Store || !Store->isSimple() || isa<LoadInst>(Store->getValueOperand()))
    return false;
  LoadInst *Found = begin(Store->getValueOperand(), *Store);
  return Found && (!Load || Found == Load);
}

static bool staysTheSame(const Instruction &I) { return I.hasMetadata(LLVMContext::MD_invariant_load); }

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
    if (Mine->mayWriteToMemory() && !isAddition(*Mine) && !isCacheRelease(*Mine) && !isPrivate(*Mine) &&
        !isSummed(*Mine) && !isOwn(*Mine))
      return false;
  }
  return true;
}

bool SweepMemory::mayReversalsMeet() {
  return any_of(Reverse, [&](Instruction *I) { return I->mayWriteToMemory() && !isPrivate(*I) && !isOwn(*I); });
}

bool SweepMemory::mayMeet(Instruction &Mine, Instruction &Other) {
  auto IsApart = [&](Instruction &I) { return staysTheSame(I) || isCacheAllocation(objectOf(I)); };
  return &Mine != &Other && !IsApart(Mine) && !IsApart(Other) && !areOfRecord(Mine, Other) && mayConflict(Mine, Other);
}

bool SweepMemory::isComputedAlone() {
  auto Writes = [](const Instruction *I) { return I->mayWriteToMemory(); };
  auto IsOfCache = [](const Instruction *I) { return isOfCache(*I); };
  if (!collect() || any_of(Forward, IsOfCache) || any_of(Reverse, IsOfCache) || any_of(Between, Writes))
    return false;
  return all_of(Forward, [&](Instruction *Mine) {
    if (Mine->mayWriteToMemory() && (!isa<StoreInst>(Mine) || isa<AllocaInst>(objectOf(*Mine))))
      return false;
    for (ArrayRef<Instruction *> Others : {ArrayRef(Forward), ArrayRef(Between), ArrayRef(Reverse)})
      if (any_of(Others, [&](Instruction *Other) { return mayMeet(*Mine, *Other); }))
        return false;
    return true;
  });
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

// In kernels what is not atomic may be another thread's too.
bool SweepMemory::isInKernel() const { return F.getParent()->getTargetTriple().isNVPTX(); }

bool SweepMemory::isAddition(Instruction &I) const { return asAccumulation(I) || (!isInKernel() && isPartOfSum(I)); }

bool SweepMemory::mayConflict(Instruction &Mine, Instruction &Other) {
  if (!Mine.mayWriteToMemory() && !Other.mayWriteToMemory())
    return false;
  if ((isAddition(Mine) && isAddition(Other)) || (!isInKernel() && (staysTheSame(Mine) || staysTheSame(Other))))
    return false;
  if (isCacheAllocation(&Other) || isCacheRelease(Mine) || isCacheRelease(Other))
    return isCacheRelease(Mine) && !isKept(pointerOf(Mine));
  const Value *One = objectOf(Mine), *Two = objectOf(Other);
  if (areApart(One, Two) || areSameSlot(Mine, Other) || areKept(Mine, Other) || (isPrivate(Mine) && isPrivate(Other)) ||
      (isSummed(Mine) && isSummed(Other)) || (One == Two && isOwn(Mine) && isOwn(Other)))
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

static AllocaInst *variableOf(Instruction &I) {
  return dyn_cast<AllocaInst>(const_cast<Value *>(getUnderlyingObject(pointerOf(I), 0)));
}

// Of a local variable of which no iteration shows what others did to it.
bool SweepMemory::isPrivate(Instruction &I) {
  AllocaInst *Variable = variableOf(I);
  if (!Variable)
    return false;
  auto [Known, New] = Private.try_emplace(Variable, false);
  if (New)
    Known->second = isFilledFirst(*Variable) || isLeftZero(*Variable);
  return Private[Variable];
}

// Of a local variable to which the reversal adds, and with which neither it nor what runs before it does anything else.
bool SweepMemory::isSummed(Instruction &I) {
  AllocaInst *Variable = variableOf(I);
  if (!Variable)
    return false;
  auto [Known, New] = Summed.try_emplace(Variable, false);
  SmallVector<Instruction *> Accesses;
  auto IsSum = [&](Instruction *Access) {
    return P.Reverse.L->contains(Access) ? isPartOfSum(*Access)
                                         : !P.Forward.L->contains(Access) && !is_contained(Between, Access);
  };
  if (New)
    Known->second = collectAccesses(*Variable, Accesses) && all_of(Accesses, IsSum);
  return Summed[Variable];
}

// Of the reversal, in an array of which each of its iterations touches elements that no other one does.
bool SweepMemory::isOwn(Instruction &I) {
  if (isInKernel() || !P.Reverse.L->contains(&I) || (!isa<LoadInst>(I) && !isa<StoreInst>(I)))
    return false;
  const Value *Array = objectOf(I);
  auto [Known, New] = Strided.try_emplace(Array, false);
  if (New)
    Known->second = isStrided(*Array);
  return Strided[Array];
}

// Whether iterations go on by so many bytes that none comes to what another one touches.
bool SweepMemory::isStrided(const Value &Array) {
  const SCEVAddRecExpr *First = nullptr;
  int64_t Begin = 0, End = 0, Step = 0;
  for (Instruction *I : Reverse) {
    if (objectOf(*I) != &Array)
      continue;
    bool Plain = isa<LoadInst>(I) || isa<StoreInst>(I);
    auto *Place = Plain ? dyn_cast<SCEVAddRecExpr>(SE.getSCEV(pointerOf(*I))) : nullptr;
    if (!Place || Place->getLoop() != P.Reverse.L || !Place->isAffine())
      return false;
    First = First ? First : Place;
    auto *By = dyn_cast<SCEVConstant>(Place->getStepRecurrence(SE));
    auto *Behind = dyn_cast<SCEVConstant>(SE.getMinusSCEV(Place, First));
    if (!By || !Behind || By->getAPInt().getSignificantBits() > 32 || Behind->getAPInt().getSignificantBits() > 32)
      return false;
    Step = std::abs(By->getAPInt().getSExtValue());
    int64_t From = Behind->getAPInt().getSExtValue();
    int64_t To = From + int64_t(I->getDataLayout().getTypeStoreSize(getLoadStoreType(I)).getFixedValue());
    Begin = std::min(Begin, From);
    End = std::max(End, To);
  }
  return First && End - Begin <= Step;
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

// The reversal finds nothing but zeros there and leaves nothing else, and nobody else ever writes anything else.
bool SweepMemory::isLeftZero(AllocaInst &Variable) {
  std::optional<TypeSize> Size = Variable.getAllocationSize(F.getDataLayout());
  SmallVector<Instruction *> Accesses;
  if (!Size || Size->isScalable() || !collectAccesses(Variable, Accesses))
    return false;
  PostDominatorTree PDT(F);
  BitVector Found(Size->getFixedValue());
  for (Instruction *I : Accesses) {
    auto *Store = dyn_cast<StoreInst>(I);
    if (!Store)
      continue;
    if (!isZero(*Store) && (!P.Reverse.L->contains(Store) || !isUndone(*Store, Accesses, Found.size(), PDT)))
      return false;
    if (isZero(*Store) && DT.dominates(Store, P.Forward.L->getLoopPreheader()->getTerminator()))
      markWritten(Found, *Store);
  }
  return Found.all();
}

// Whether zeros are always written over what a store writes before its iteration ends.
bool SweepMemory::isUndone(StoreInst &Store, ArrayRef<Instruction *> Accesses, uint64_t Size,
                           const PostDominatorTree &PDT) {
  BitVector Written(Size), Zeros(Size);
  markWritten(Written, Store);
  if (Written.none())
    Written.set();
  for (Instruction *I : Accesses)
    if (auto *Later = dyn_cast<StoreInst>(I); Later && isZero(*Later) && P.Reverse.L->contains(Later))
      if (PDT.dominates(Later, &Store))
        markWritten(Zeros, *Later);
  return !Written.test(Zeros);
}

// Whether a store of a loop has always come before when the load runs, also where one decision leads to either.
bool SweepMemory::comesBefore(const Loop &L, const StoreInst &Store, const Instruction &Load) {
  const BasicBlock *Block = Store.getParent(), *First = Block->getSinglePredecessor();
  auto *Decision = First ? dyn_cast<BranchInst>(First->getTerminator()) : nullptr;
  if (DT.dominates(&Store, &Load) || !Decision || !Decision->isConditional())
    return DT.dominates(&Store, &Load);
  unsigned Way = Decision->getSuccessor(0) == Block ? 0 : 1;
  return any_of(Decision->getCondition()->users(), [&](const User *U) {
    auto *Again = dyn_cast<BranchInst>(U);
    if (!Again || !L.contains(Again) || !L.contains(First) || !DT.dominates(Decision, Again) ||
        Again->getSuccessor(0) == Again->getSuccessor(1))
      return false;
    return DT.dominates(BasicBlockEdge(Again->getParent(), Again->getSuccessor(Way)), Load.getParent());
  });
}

// Whether stores of the same iteration, which always come before the load, have written every byte.
bool SweepMemory::isFilledBefore(const Loop &L, const Instruction &Load, ArrayRef<Instruction *> Accesses,
                                 uint64_t Size) {
  BitVector Written(Size);
  for (Instruction *I : Accesses) {
    auto *Store = dyn_cast<StoreInst>(I);
    if (!Store || !L.contains(Store) || !comesBefore(L, *Store, Load))
      continue;
    markWritten(Written, *Store);
  }
  return Written.all();
}

} // namespace adgen
