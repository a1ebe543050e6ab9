#include "Accumulate/AccumulationGroups.h"

#include "llvm/Analysis/CFG.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/IR/Operator.h"
#include "llvm/IR/PatternMatch.h"

using namespace llvm;
using namespace llvm::PatternMatch;

namespace adgen {

static constexpr int64_t MostElements = 32, FewestElements = 4;
static constexpr unsigned MostUnrolled = 4096; // instructions
static constexpr unsigned FewestRows = 3;      // two cost more than they gain

Intrinsic::ID intrinsicOf(const Value *V) {
  auto *Call = dyn_cast<IntrinsicInst>(V);
  return Call ? Call->getIntrinsicID() : Intrinsic::not_intrinsic;
}

// Adds a multiple of an index, taken apart as far as it is one of another index and a constant, so that neighbours show
// what they have in common. Nothing that is taken apart wraps around.
static void addMultiple(SharedPlace &At, Value *Index, int64_t Scale, APInt &Constant) {
  Value *Of;
  const APInt *By;
  for (;; Index = Of) {
    if (match(Index, m_ZExt(m_Value(Of))))
      continue;
    if (match(Index, m_NUWAdd(m_Value(Of), m_APInt(By))) || match(Index, m_DisjointOr(m_Value(Of), m_APInt(By))))
      Constant += APInt(64, Scale * By->getZExtValue()).sextOrTrunc(Constant.getBitWidth());
    else if (match(Index, m_NUWMul(m_Value(Of), m_APInt(By))))
      Scale *= By->getZExtValue();
    else if (match(Index, m_NUWShl(m_Value(Of), m_APInt(By))))
      Scale <<= By->getZExtValue();
    else
      break;
  }
  At.Scales[Index] += Scale;
}

static SharedPlace placeOf(Value *Pointer, const DataLayout &Layout) {
  unsigned Bits = Layout.getIndexTypeSizeInBits(Pointer->getType());
  APInt Offset(Bits, 0), Constant(Bits, 0);
  SharedPlace At;
  At.Base = Pointer->stripAndAccumulateConstantOffsets(Layout, Offset, true);
  At.Offset = Offset.getSExtValue();
  for (At.Object = Pointer; auto *Address = dyn_cast<GEPOperator>(At.Object);
       At.Object = Address->getPointerOperand()) {
    SmallMapVector<Value *, APInt, 4> Scales;
    if (!Address->collectOffset(Layout, Bits, Scales, Constant))
      break;
    for (auto &[Index, Scale] : Scales)
      addMultiple(At, Index, Scale.getSExtValue(), Constant);
  }
  At.Constant = Constant.getSExtValue();
  return At;
}

// The difference between neighbours, if it is always the same and not 0.
static std::optional<int64_t> strideOf(ArrayRef<int64_t> Offsets) {
  int64_t Stride = Offsets[1] - Offsets[0];
  for (unsigned I = 2; I < Offsets.size(); ++I)
    if (Offsets[I] - Offsets[I - 1] != Stride)
      return {};
  return Stride ? std::optional(Stride) : std::nullopt;
}

std::vector<GroupCluster> GroupFinder::find() {
  std::vector<GroupCluster> Found;
  for (BasicBlock &Block : F)
    if (!Threads.isDivergent(&Block))
      for (MemorySegment &S : segments(Block))
        collect(S, Found);
  return Found;
}

bool GroupFinder::followsFromIndices(const Value *V) const {
  switch (intrinsicOf(V)) {
  case Intrinsic::nvvm_read_ptx_sreg_tid_x:
  case Intrinsic::nvvm_read_ptx_sreg_tid_y:
  case Intrinsic::nvvm_read_ptx_sreg_tid_z: // 0 in a block of one layer
    return true;
  default:
    break;
  }
  if (isUniform(V))
    return true;
  auto *I = dyn_cast<Instruction>(V);
  return I && isa<BinaryOperator, CastInst, GetElementPtrInst>(I) && I->getType()->isIntOrPtrTy() &&
         all_of(I->operands(), [&](const Use &U) { return followsFromIndices(U.get()); });
}

bool GroupFinder::followsFromIndices(const SharedPlace &At) const {
  return isUniform(At.Object) && all_of(At.Scales, [&](const auto &Part) { return followsFromIndices(Part.first); });
}

std::vector<MemorySegment> GroupFinder::segments(BasicBlock &Block) {
  std::vector<MemorySegment> Found(1);
  for (Instruction &I : Block) {
    if (!I.isTerminator() && (!I.mayHaveSideEffects() || asAccumulation(I))) {
      Found.back().Instructions.push_back(&I);
      continue;
    }
    Found.back().Behind = &I;
    Found.emplace_back().Before = &I;
  }
  return Found;
}

void GroupFinder::collect(const MemorySegment &S, std::vector<GroupCluster> &Found) {
  MapVector<int64_t, SmallVector<AccumulationGroup, 2>> ByCount;
  for (AccumulationGroup &G : groups(S))
    ByCount[G.count()].push_back(std::move(G));
  if (ByCount.empty())
    return;
  GroupCluster Made;
  for (auto &[Count, Groups] : ByCount)
    if (Groups.size() > Made.Groups.size())
      Made.Groups = std::move(Groups);
  Made.Where = S;
  Made.Around = Loops.getLoopFor(S.Behind->getParent());
  BasicBlock *Outside = Made.Around ? Made.Around->getLoopPreheader() : nullptr;
  if (Outside && !Threads.isDivergent(Outside))
    Made.Outside = Outside->getTerminator();
  Found.push_back(std::move(Made));
}

std::vector<AccumulationGroup> GroupFinder::groups(const MemorySegment &S) const {
  std::vector<SmallVector<Item, 16>> Near;
  for (Instruction *I : S.Instructions) {
    AtomicRMWInst *Atomic = asAccumulation(*I);
    if (!Atomic || !isSharedShadow(getUnderlyingObject(Atomic->getPointerOperand())))
      continue;
    Item New{placeOf(Atomic->getPointerOperand(), Layout), Atomic};
    auto Known = find_if(Near, [&](const auto &Items) {
      return Items[0].At.isNear(New.At) && Items[0].Atomic->getType() == Atomic->getType();
    });
    (Known == Near.end() ? Near.emplace_back() : *Known).push_back(New);
  }
  std::vector<AccumulationGroup> Found;
  for (auto &Items : Near) {
    sort(Items, [](const Item &A, const Item &B) { return A.At.Constant < B.At.Constant; });
    std::optional<Along> Direction = directionOf(Items[0].At);
    for (ArrayRef<Item> Left = Items; Direction && Left.size() >= FewestElements;) {
      std::optional<AccumulationGroup> Next = longest(*Direction, Left, S);
      Left = Left.drop_front(Next ? Next->count() : 1);
      if (Next)
        Found.push_back(std::move(*Next));
    }
  }
  return Found;
}

std::optional<AccumulationGroup> GroupFinder::longest(Along Direction, ArrayRef<Item> Items,
                                                      const MemorySegment &S) const {
  for (size_t Count = std::min<size_t>(Items.size(), MostElements); Count >= FewestElements; --Count) {
    AccumulationGroup G{Direction, Items[0].At, 0, {}, nullptr};
    if (complete(G, Items.take_front(Count), S))
      return G;
  }
  return {};
}

bool GroupFinder::complete(AccumulationGroup &G, ArrayRef<Item> Items, const MemorySegment &S) const {
  std::optional<int64_t> Stride =
      strideOf(SmallVector<int64_t>(map_range(Items, [](const Item &I) { return I.At.Constant; })));
  if (!Stride)
    return false;
  G.Stride = *Stride;
  append_range(G.Members, map_range(Items, [](const Item &I) { return I.Atomic; }));
  if (any_of(S.Instructions, [&](const Instruction *I) { return isMet(G, *I); }))
    return false;
  SmallVector<Value *> Added(map_range(G.Members, [](AtomicRMWInst *A) { return A->getValOperand(); }));
  G.Added = common(Added, S);
  return G.Added != nullptr;
}

bool GroupFinder::isMet(const AccumulationGroup &G, const Instruction &I) const {
  return any_of(G.Members,
                [&](const AtomicRMWInst *A) { return Meet.mayMeet(I, A->getPointerOperand(), A->getType()); });
}

std::optional<Along> GroupFinder::directionOf(const SharedPlace &Begin) const {
  if (!followsFromIndices(Begin))
    return {};
  auto reads = [&](Intrinsic::ID Register) {
    return any_of(Begin.Scales, [&](const auto &Part) { return readsRegister(Part.first, Register); });
  };
  bool X = reads(Intrinsic::nvvm_read_ptx_sreg_tid_x), Y = reads(Intrinsic::nvvm_read_ptx_sreg_tid_y);
  if (X == Y)
    return {};
  return X ? Along::Column : Along::Row;
}

bool GroupFinder::readsRegister(const Value *V, Intrinsic::ID Register) const {
  if (intrinsicOf(V) == Register)
    return true;
  auto *I = dyn_cast<Instruction>(V);
  return I && !isUniform(I) && any_of(I->operands(), [&](const Use &U) { return readsRegister(U.get(), Register); });
}

std::shared_ptr<AddedPattern> GroupFinder::common(ArrayRef<Value *> Values, const MemorySegment &S) const {
  if (all_equal(Values))
    return std::make_shared<AddedPattern>(AddedPattern{AddedPattern::Same, Values[0], {}, 0, nullptr, {}});
  auto *First = dyn_cast<Instruction>(Values[0]);
  if (!First ||
      !all_of(Values, [&](Value *V) { return isa<Instruction>(V) && cast<Instruction>(V)->isSameOperationAs(First); }))
    return nullptr;
  if (isa<LoadInst>(First))
    return commonLoad(Values, S);
  if (!isSum(*First))
    return nullptr;
  auto Made = std::make_shared<AddedPattern>(AddedPattern{AddedPattern::Computed, First, {}, 0, nullptr, {}});
  for (unsigned I = 0; I < First->getNumOperands(); ++I) {
    SmallVector<Value *> Operands(map_range(Values, [&](Value *V) { return cast<Instruction>(V)->getOperand(I); }));
    Made->Operands.push_back(common(Operands, S));
    if (!Made->Operands.back())
      return nullptr;
  }
  return Made;
}

bool GroupFinder::isSum(const Instruction &I) {
  constexpr unsigned Kinds[] = {Instruction::FMul, Instruction::FAdd, Instruction::FSub, Instruction::FNeg};
  return is_contained(Kinds, I.getOpcode());
}

std::shared_ptr<AddedPattern> GroupFinder::commonLoad(ArrayRef<Value *> Values, const MemorySegment &S) const {
  SmallVector<SharedPlace> Places;
  for (Value *V : Values) {
    Places.push_back(placeOf(cast<LoadInst>(V)->getPointerOperand(), Layout));
    if (!cast<LoadInst>(V)->isSimple() || !Places[0].isNear(Places.back()))
      return nullptr;
  }
  std::optional<int64_t> Stride =
      strideOf(SmallVector<int64_t>(map_range(Places, [](const SharedPlace &At) { return At.Constant; })));
  if (!Stride || !isSharedArray(Places[0].Object) || !followsFromIndices(Places[0]))
    return nullptr;
  StoreInst *PutBack = nullptr;
  if (any_of(Values, [&](Value *V) { return isOutdated(*cast<LoadInst>(V), S); })) {
    PutBack = filledBy(*cast<LoadInst>(Values[0]), S);
    if (!PutBack || !all_of(Values, [&](Value *V) { return filledBy(*cast<LoadInst>(V), S) == PutBack; }))
      return nullptr;
  }
  return std::make_shared<AddedPattern>(AddedPattern{AddedPattern::Loaded, Values[0], Places[0], *Stride, PutBack, {}});
}

// The store by which all threads of the block have filled what the load reads, each the same element whenever any store
// fills the array: each can do so again, of what it still knows. Elements that no thread fills hold nothing.
StoreInst *GroupFinder::filledBy(const LoadInst &Load, const MemorySegment &S) const {
  const Value *Array = getUnderlyingObject(Load.getPointerOperand());
  StoreInst *Last = nullptr;
  bool Meet = false;
  for (const Instruction *I = Load.getPrevNode(); I && !Last; I = I->getPrevNode()) {
    Meet |= waitsForBlock(*I);
    if (I->mayWriteToMemory() && !waitsForBlock(*I) && !isAssumption(*I) && mayWriteTo(*I, Array))
      Last = dyn_cast<StoreInst>(const_cast<Instruction *>(I));
    if (!Last && I->mayWriteToMemory() && !waitsForBlock(*I) && !isAssumption(*I) && mayWriteTo(*I, Array))
      return nullptr;
  }
  if (!Last || !Meet || !isFilled(Array) || Last->getValueOperand()->getType() != Load.getType())
    return nullptr;
  return Loops.getLoopFor(Last->getParent()) == Loops.getLoopFor(S.Behind->getParent()) ? Last : nullptr;
}

bool GroupFinder::isFilled(const Value *Array) const {
  std::optional<SharedPlace> Own;
  for (const Instruction *W : Writers) {
    if (!mayWriteTo(*W, Array))
      continue;
    auto *Store = dyn_cast<StoreInst>(W);
    if (!Store || !Store->isSimple() || Threads.isDivergent(Store->getParent()))
      return false;
    SharedPlace At = placeOf(const_cast<Value *>(Store->getPointerOperand()), Layout);
    if (At.Object != Array || !followsFromIndices(At) || (Own && !(Own->isNear(At) && Own->Constant == At.Constant)))
      return false;
    Own = At;
  }
  return Own.has_value();
}

unsigned GroupFinder::countOfRows(const Loop &L, ScalarEvolution &SE) const {
  BasicBlock *Latch = L.getLoopLatch();
  const unsigned Count = Latch && L.isInnermost() ? SE.getSmallConstantTripCount(&L) : 0;
  if (Count < FewestElements || Count > MostElements || L.getNumBlocks() > 2 || Threads.isDivergent(L.getHeader()))
    return 0;
  unsigned Rows = 0, Size = 0;
  for (BasicBlock *Block : L.blocks())
    for (Instruction &I : *Block) {
      ++Size;
      AtomicRMWInst *Atomic = asAccumulation(I);
      if (I.mayHaveSideEffects() && !Atomic)
        return 0;
      if (!Atomic || !isSharedShadow(getUnderlyingObject(Atomic->getPointerOperand())))
        continue;
      Rows += !L.isLoopInvariant(Atomic->getPointerOperand()) &&
              directionOf(placeOf(Atomic->getPointerOperand(), Layout)) && mayBeCommon(Atomic->getValOperand(), L);
    }
  return Rows >= FewestRows && Size * Count <= MostUnrolled ? Count : 0;
}

bool GroupFinder::mayBeCommon(const Value *Added, const Loop &L) const {
  auto *I = dyn_cast<Instruction>(Added);
  if (!I || L.isLoopInvariant(I))
    return true;
  if (auto *Load = dyn_cast<LoadInst>(I)) {
    SharedPlace At = placeOf(const_cast<Value *>(Load->getPointerOperand()), Layout);
    return Load->isSimple() && isSharedArray(At.Object) && followsFromIndices(At);
  }
  return isSum(*I) && all_of(I->operands(), [&](const Use &U) { return mayBeCommon(U.get(), L); });
}

bool GroupFinder::isSharedShadow(const Value *Object) const {
  auto *A = dyn_cast<Argument>(Object);
  return A && F.hasParamAttribute(A->getArgNo(), SharedShadowAttribute);
}

bool GroupFinder::isSharedArray(const Value *Object) const {
  auto *A = dyn_cast<Argument>(Object);
  unsigned Arrays = sharedNames(F).size(), Behind = F.hasFnAttribute(TapeAttribute) ? TapeArguments : 0;
  unsigned First = F.arg_size() - 2 * Arrays - Behind;
  return A && A->getArgNo() >= First && A->getArgNo() < First + Arrays;
}

bool GroupFinder::isOutdated(const LoadInst &Load, const MemorySegment &S) const {
  if (is_contained(S.Instructions, &Load))
    return false;
  const Value *Array = getUnderlyingObject(Load.getPointerOperand());
  return any_of(Writers, [&](const Instruction *W) {
    return mayWriteTo(*W, Array) && leadsTo(Load, *W) && leadsTo(*W, *S.Behind);
  });
}

// Gradients have more blocks than LLVM's own search goes through.
bool GroupFinder::leadsTo(const Instruction &From, const Instruction &To) const {
  if (From.getParent() == To.getParent() && From.comesBefore(&To))
    return true;
  auto [Known, IsNew] = Reached.try_emplace(From.getParent());
  if (IsNew) {
    SmallVector<const BasicBlock *> Work{From.getParent()};
    while (!Work.empty())
      for (const BasicBlock *Next : successors(Work.pop_back_val()))
        if (Known->second.insert(Next).second)
          Work.push_back(Next);
  }
  return Known->second.contains(To.getParent());
}

bool GroupFinder::mayWriteTo(const Instruction &I, const Value *Array) {
  auto *Atomic = dyn_cast<AtomicRMWInst>(&I);
  const Value *Pointer = Atomic ? Atomic->getPointerOperand() : getLoadStorePointerOperand(&I);
  const Value *Object = Pointer ? getUnderlyingObject(Pointer) : nullptr;
  return Object == Array || !Object || !(isa<Argument>(Object) || isIdentifiedObject(Object));
}

SmallVector<const Instruction *> GroupFinder::writersIn(Function &F) {
  SmallVector<const Instruction *> Found;
  for (Instruction &I : instructions(F))
    if (I.mayWriteToMemory() && !waitsForBlock(I) && !isa<LoadInst>(I) && !isAssumption(I))
      Found.push_back(&I);
  return Found;
}

bool GroupFinder::isAssumption(const Instruction &I) {
  auto *Known = dyn_cast<IntrinsicInst>(&I);
  return Known && Known->isAssumeLikeIntrinsic();
}

} // namespace adgen
