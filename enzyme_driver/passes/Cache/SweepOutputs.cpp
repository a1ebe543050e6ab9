#include "Cache/SweepOutputs.h"

#include "Analysis/EnzymeCaches.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/Analysis/ValueTracking.h"

using namespace llvm;

namespace adgen {

constexpr uint64_t MostBytes = 1 << 20; // of an element

bool SweepOutputs::collect(const LoopPair &P) {
  Unknown.clear();
  Fills.clear();
  MapVector<const Value *, SmallVector<StoreInst *>> Records;
  for (BasicBlock *Block : P.Forward.L->blocks())
    for (Instruction &I : *Block)
      if (auto *Store = dyn_cast<StoreInst>(&I)) {
        if (isCacheAllocation(getUnderlyingObject(Store->getPointerOperand(), 0)))
          Fills.push_back(Store);
        else if (LI.getLoopFor(Block) == P.Forward.L)
          Records[placeOf(*Store).first].push_back(Store);
        else
          return false;
      }
  return all_of(Records, [&](const auto &Record) { return collectRecord(P, Record.second); });
}

// False where none of the stores comes before all others.
bool SweepOutputs::collectRecord(const LoopPair &P, ArrayRef<StoreInst *> Stores) {
  auto IsFirst = [&](StoreInst *Store) {
    return all_of(Stores, [&](StoreInst *Other) { return Store == Other || DT.dominates(Store, Other); });
  };
  const auto *First = find_if(Stores, IsFirst);
  if (First == Stores.end())
    return false;
  Output Found{*First, 0, 0};
  for (StoreInst *Store : Stores) {
    int64_t Begin = placeOf(*Store).second - placeOf(**First).second;
    Found.Begin = std::min(Found.Begin, Begin);
    Found.End = std::max<int64_t>(
        Found.End,
        Begin + Store->getDataLayout().getTypeStoreSize(Store->getValueOperand()->getType()).getFixedValue());
  }
  findNumber(Found, P);
  auto *Step = Found.Number ? dyn_cast<SCEVConstant>(Found.Number->getStepRecurrence(SE)) : nullptr;
  if (Step && (Step->getAPInt().abs() * Found.Unit).ult(Found.size()))
    return false; // every record overlaps the one before
  if (!isKnownApart(Found, P))
    Unknown.push_back(Found);
  return true;
}

// By which number the place of an output goes on: of an element, whose bits may be fewer than those of its address.
void SweepOutputs::findNumber(Output &Of, const LoopPair &P) {
  const SCEV *Place = SE.getSCEV(Of.First->getPointerOperand());
  auto Varies = [&](const SCEV *Part) { return !SE.isLoopInvariant(Part, P.Forward.L); };
  if (auto *Sum = dyn_cast<SCEVAddExpr>(Place); Sum && count_if(Sum->operands(), Varies) == 1)
    Place = *find_if(Sum->operands(), Varies);
  uint64_t Unit = 1;
  if (auto *Product = dyn_cast<SCEVMulExpr>(Place); Product && Product->getNumOperands() == 2)
    if (auto *By = dyn_cast<SCEVConstant>(Product->getOperand(0)); By && By->getAPInt().ult(MostBytes))
      Place = Product->getOperand(1), Unit = By->getAPInt().getZExtValue();
  if (isa<SCEVSignExtendExpr, SCEVZeroExtendExpr>(Place))
    Place = cast<SCEVCastExpr>(Place)->getOperand();
  else if (Unit != 1)
    return;
  auto *Number = dyn_cast<SCEVAddRecExpr>(Place);
  bool Fits =
      Number && Number->getLoop() == P.Forward.L && Number->isAffine() &&
      (SE.getTypeSizeInBits(Number->getType()) == 64 ? Unit == 1 : SE.getTypeSizeInBits(Number->getType()) <= 32);
  if (Fits && SE.getTypeSizeInBits(P.Forward.Last->getType()) <= 64 && (Unit == 1 || Unit >= Of.size()))
    Of.Number = Number, Of.Unit = Unit;
}

// Whether no two iterations store to one element, because the number never comes back to where it began: the way from
// the first to the last is no further than its bits allow, and steps are no shorter than a record.
bool SweepOutputs::isKnownApart(const Output &Of, const LoopPair &P) {
  const SCEV *Step = Of.Number ? Of.Number->getStepRecurrence(SE) : nullptr;
  if (!Step || SE.getSignedRangeMin(Step).slt(Of.leastStep()))
    return false;
  unsigned Bits = SE.getTypeSizeInBits(Of.Number->getType());
  if (Of.Number->hasNoSelfWrap() && (Bits == 64 || Of.Unit >= Of.size()))
    return true;
  APInt Count = SE.getUnsignedRangeMax(P.Forward.Last).zext(128), Most = SE.getUnsignedRangeMax(Step).zext(128);
  return (Count * Most + Of.size()).getActiveBits() <= Bits;
}

// The same, asked at run time before the loop.
Value *SweepOutputs::areApart(const Output &Of, const LoopPair &P, SCEVExpander &Expander, IRBuilder<> &B) {
  Type *T = B.getInt64Ty();
  auto Expand = [&](const SCEV *S) {
    return B.CreateZExt(Expander.expandCodeFor(S, S->getType(), B.GetInsertPoint()), T);
  };
  Value *Step = Expand(Of.Number->getStepRecurrence(SE)), *Last = Expand(P.Forward.Last);
  Value *Way = B.CreateBinaryIntrinsic(Intrinsic::umul_with_overflow, Last, Step);
  unsigned Bits = SE.getTypeSizeInBits(Of.Number->getType());
  uint64_t Furthest = APInt::getMaxValue(Bits).getZExtValue() - Of.size();
  Value *Fits = B.CreateAnd(B.CreateNot(B.CreateExtractValue(Way, 1)),
                            B.CreateICmpULE(B.CreateExtractValue(Way, 0), B.getInt64(Furthest)));
  return B.CreateAnd(Fits, B.CreateICmpUGE(Step, B.getInt64(Of.leastStep())));
}

Value *SweepOutputs::ask(const LoopPair &P, IRBuilder<> &B) {
  SCEVExpander Expander(SE, "apart");
  auto IsSafe = [&](const Output &Each) {
    return Expander.isSafeToExpand(P.Forward.Last) && Expander.isSafeToExpand(Each.Number->getStepRecurrence(SE));
  };
  Value *AreApart = B.getTrue();
  for (const Output &Each : Unknown)
    if (Each.Number && IsSafe(Each))
      AreApart = B.CreateAnd(AreApart, areApart(Each, P, Expander, B));
    else
      Watched.push_back(Each);
  return AreApart;
}

} // namespace adgen
