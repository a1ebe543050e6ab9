// Enzyme keeps each value of a loop in an array of its own. On a tape that the lanes of a warp share, the place of an
// element takes a handful of integer instructions, as many as a small kernel computes with. What the iterations of one
// loop keep, and read again together, becomes a record: one place an iteration, and neighbours are one access.
#include "Cache/RecordCaches.h"
#include "Cache/CacheBlock.h"
#include "Cache/TapeUse.h"

#include "llvm/ADT/Statistic.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/PatternMatch.h"

#define DEBUG_TYPE "adgen-lower-caches"

using namespace llvm;
using namespace llvm::PatternMatch;

STATISTIC(NumRecorded, "Number of caches of a loop that became part of a record");

namespace adgen {
namespace {

struct Cache {
  CacheBlock Block;
  uint64_t Bytes = 0; // of an element

  CallInst &allocation() const { return *cast<CallInst>(Block.Address); }
};

// Caches of one key can be one: the allocating block, the number of elements, the loops that use them, and whether they
// keep pointers of the user's, which must not lie beside places of the tape. The blocks whose places are kept in a
// record count as one: what these keep must be alike, too.
struct Key {
  BasicBlock *Allocates = nullptr;
  Value *Count = nullptr;
  bool KeepsPointers = false;
  unsigned Depth = 0;
  SmallVector<Loop *, 2> Loops;

  bool operator==(const Key &) const = default;
};

// What an allocation has room for, as a number of elements of the size.
Value *countOf(Value *Bytes, uint64_t Size) {
  Value *Count = nullptr;
  if (auto *Fixed = dyn_cast<ConstantInt>(Bytes))
    return Fixed->getZExtValue() % Size ? nullptr : ConstantInt::get(Fixed->getType(), Fixed->getZExtValue() / Size);
  bool Matches = match(Bytes, m_Mul(m_Value(Count), m_SpecificInt(Size))) ||
                 (isPowerOf2_64(Size) && match(Bytes, m_Shl(m_Value(Count), m_SpecificInt(Log2_64(Size)))));
  return Matches ? Count : nullptr;
}

// Whether the address is used for nothing but accesses of the element.
bool isPlainElement(const GetElementPtrInst &Element, uint64_t Size) {
  return Element.getNumIndices() == 1 && all_of(Element.users(), [&](const User *U) {
           return getLoadStorePointerOperand(U) == &Element &&
                  Element.getDataLayout().getTypeStoreSize(getLoadStoreType(const_cast<User *>(U))) <= Size;
         });
}

std::optional<Cache> cacheAt(CallInst &Allocation) {
  Cache Found;
  Found.Block.Address = &Allocation;
  if (!Found.Block.collectUses() || Found.Block.Elements.empty())
    return std::nullopt;
  Found.Bytes = Allocation.getDataLayout().getTypeAllocSize(Found.Block.Elements.front()->getSourceElementType());
  bool IsWhole = Found.Bytes == TapeGranule / 2 || (Found.Bytes && Found.Bytes % TapeGranule == 0);
  if (!IsWhole || !Found.Block.hasElementsOf(Found.Bytes) ||
      !all_of(Found.Block.Elements, [&](auto *Element) { return isPlainElement(*Element, Found.Bytes); }))
    return std::nullopt;
  return Found;
}

Key keyOf(const Cache &Each, const LoopInfo &Loops, const TapeUse &Use) {
  CallInst &Allocation = Each.allocation();
  Key Found{
      Allocation.getParent(), countOf(Allocation.getArgOperand(0), Each.Bytes), false, Use.depthOf(&Allocation), {}};
  for (GetElementPtrInst *Element : Each.Block.Elements)
    for (User *U : Element->users()) {
      Found.Loops.push_back(Loops.getLoopFor(cast<Instruction>(U)->getParent()));
      auto *Store = dyn_cast<StoreInst>(U);
      Found.KeepsPointers |=
          Store && Store->getValueOperand()->getType()->isPointerTy() && !Use.isPlace(Store->getValueOperand());
    }
  sort(Found.Loops);
  Found.Loops.erase(llvm::unique(Found.Loops), Found.Loops.end());
  return Found;
}

// Half a granule too much would be kept for an odd number of floats.
void dropWhatDoesNotFill(SmallVectorImpl<Cache> &Members) {
  stable_sort(Members, [](const Cache &One, const Cache &Other) { return One.Bytes > Other.Bytes; });
  bool IsOdd = sum_of(map_range(Members, [](const Cache &Each) { return Each.Bytes; }), uint64_t(0)) % TapeGranule;
  if (IsOdd)
    Members.pop_back();
}

void merge(ArrayRef<Cache> Members, Value *Count) {
  SmallVector<uint64_t> Offsets =
      layRecordOut(SmallVector<uint64_t>(map_range(Members, [](const Cache &Each) { return Each.Bytes; })));
  uint64_t Record = Offsets.pop_back_val();
  CallInst *First = &Members.front().allocation();
  for (const Cache &Each : Members)
    if (Each.allocation().comesBefore(First))
      First = &Each.allocation();
  IRBuilder<> B(First);
  First->setArgOperand(0, B.CreateMul(Count, ConstantInt::get(Count->getType(), Record)));
  for (auto [Each, Offset] : zip(Members, Offsets)) {
    for (GetElementPtrInst *Element : Each.Block.Elements)
      placeInRecord(*Element, Record, Offset);
    if (&Each.allocation() == First)
      continue;
    for (CallInst *Free : Each.Block.Frees)
      Free->eraseFromParent();
    Each.allocation().replaceAllUsesWith(First);
    Each.allocation().eraseFromParent();
    ++NumRecorded;
  }
}

} // namespace

bool recordCaches(Function &F, const LoopInfo &Loops, const TapeUse &Use) {
  SmallVector<std::pair<Key, SmallVector<Cache>>> Groups;
  for (BasicBlock &B : F)
    for (Instruction &I : B) {
      std::optional<Cache> Each = isCallOf(I, "malloc") ? cacheAt(cast<CallInst>(I)) : std::nullopt;
      if (!Each)
        continue;
      Key Of = keyOf(*Each, Loops, Use);
      if (!Of.Count)
        continue;
      auto *Group = find_if(Groups, [&](const auto &Known) { return Known.first == Of; });
      if (Group == Groups.end())
        Groups.push_back({Of, {*Each}});
      else
        Group->second.push_back(*Each);
    }
  bool Changed = false;
  for (auto &[Of, Members] : Groups) {
    dropWhatDoesNotFill(Members);
    if (Members.size() < 2)
      continue;
    merge(Members, Of.Count);
    Changed = true;
  }
  return Changed;
}

} // namespace adgen
