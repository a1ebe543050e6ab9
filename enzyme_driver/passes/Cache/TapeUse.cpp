#include "Cache/TapeUse.h"

using namespace llvm;

namespace adgen {

bool TapeUse::collect(Function &F) {
  for (BasicBlock &Block : F)
    for (Instruction &I : Block)
      if (isCallOf(I, "malloc"))
        Places.insert(&I);
      else if (isCallOf(I, "realloc"))
        return false;
  return !Places.empty() && follow() && sourcesAreKnown();
}

bool TapeUse::follow() {
  for (unsigned I = 0; I < Places.size(); ++I)
    for (User *U : Places[I]->users())
      if (!visit(*cast<Instruction>(U), Places[I]))
        return false;
  // What is read where places are kept is one; pointers of the user's are kept apart from them.
  unsigned Known = Places.size();
  bool Apart = true;
  for (Instruction *I : Accesses) {
    Value *Address = getLoadStorePointerOperand(I);
    if (!getLoadStoreType(I)->isPointerTy() || !keepsPlaces(Address))
      continue;
    if (auto *Store = dyn_cast<StoreInst>(I)) {
      Apart &= isPlace(Store->getValueOperand());
    } else if (Places.insert(I)) {
      keep(Address, I);
    }
  }
  return Known == Places.size() ? Apart : follow();
}

bool TapeUse::keepsPlaces(Value *Address) { return Kept.contains(Blocks.getOrInsertLeaderValue(Address)); }

// Notes what is kept in a block: it is all one to whatever else is kept there.
void TapeUse::keep(Value *Address, Value *Place) {
  auto [Known, IsNew] = Kept.try_emplace(Blocks.getOrInsertLeaderValue(Address), Place);
  if (!IsNew)
    join(Known->second, Place);
}

// Both are of the same block, and so is what is kept in it.
void TapeUse::join(Value *A, Value *B) {
  Value *OfA = Blocks.getOrInsertLeaderValue(A), *OfB = Blocks.getOrInsertLeaderValue(B);
  if (OfA == OfB)
    return;
  Value *InA = Kept.lookup(OfA), *InB = Kept.lookup(OfB);
  Kept.erase(OfA);
  Kept.erase(OfB);
  Value *Leader = *Blocks.unionSets(A, B);
  if (Value *In = InA ? InA : InB)
    Kept[Leader] = In;
  if (InA && InB)
    join(InA, InB);
}

bool TapeUse::visit(Instruction &I, Value *Place) {
  if (isa<GetElementPtrInst, PHINode, SelectInst>(I)) {
    Places.insert(&I);
    join(Place, &I);
    return true;
  }
  if (isCallOf(I, "free")) {
    if (!is_contained(Releases, &I))
      Releases.push_back(cast<CallInst>(&I));
    return true;
  }
  if (auto *Block = dyn_cast<MemIntrinsic>(&I)) {
    if (!is_contained(Copies, Block))
      Copies.push_back(Block);
    if (auto *Copy = dyn_cast<MemCpyInst>(Block))
      join(Copy->getRawDest(), Copy->getRawSource());
    return isa<MemSetInst, MemCpyInst>(Block);
  }
  if (auto *Load = dyn_cast<LoadInst>(&I))
    return access(I, Load->getType());
  if (auto *Store = dyn_cast<StoreInst>(&I)) {
    if (Store->getValueOperand() == Place) {
      Keepers.insert(Store->getPointerOperand()); // may be found to be a place later
      keep(Store->getPointerOperand(), Place);
    }
    return access(I, Store->getValueOperand()->getType());
  }
  return false;
}

// Vectors wider than a granule are accessed in pieces of one.
static bool isSplit(const Instruction &I, Type *T, uint64_t Size) {
  return T->isVectorTy() && !T->isPtrOrPtrVectorTy() && Size % TapeGranule == 0 &&
         getLoadStoreAlignment(&I) >= TapeGranule;
}

bool TapeUse::access(Instruction &I, Type *T) {
  if (!T->isSingleValueType())
    return false;
  uint64_t Size = I.getDataLayout().getTypeStoreSize(T);
  bool Whole = Size <= TapeGranule && TapeGranule % Size == 0;
  if (!Whole && !isSplit(I, T, Size))
    return false;
  if (!is_contained(Accesses, &I))
    Accesses.push_back(&I);
  return true;
}

unsigned TapeUse::depthOf(Value *Place) const {
  SmallPtrSet<Value *, 4> Seen;
  for (;;) {
    auto Leader = Blocks.findLeader(Place);
    Value *Of = Leader == Blocks.member_end() ? Place : *Leader;
    auto Found = Kept.find(Of);
    if (Found == Kept.end() || !Seen.insert(Of).second)
      return Seen.size();
    Place = Found->second;
  }
}

bool TapeUse::isPlace(Value *V) const { return Places.contains(V) || isa<UndefValue, ConstantPointerNull>(V); }

// What meets a place in a phi must be one too, or nothing at all.
bool TapeUse::sourcesAreKnown() const {
  auto Known = [&](Value *V) { return isPlace(V); };
  if (!all_of(Keepers, [&](Value *Keeper) { return Places.contains(Keeper); }))
    return false;
  if (!all_of(Copies, [&](MemIntrinsic *Copy) { return Places.contains(Copy->getRawDest()); }))
    return false;
  return all_of(Places, [&](Value *V) {
    if (auto *Phi = dyn_cast<PHINode>(V))
      return all_of(Phi->incoming_values(), Known);
    if (auto *Select = dyn_cast<SelectInst>(V))
      return Known(Select->getTrueValue()) && Known(Select->getFalseValue());
    return true;
  });
}

} // namespace adgen
