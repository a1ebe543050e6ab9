#include "Accumulate/BlockElements.h"
#include "Accumulate/BlockEnd.h"
#include "Accumulate/WarpRows.h"
#include "Support/Threads.h"

using namespace llvm;

namespace adgen {

Value *BlockElements::begin(IRBuilder<> &B) const { return Lent ? Lent->begin(B) : Own; }

Value *BlockElements::place(IRBuilder<> &B, Value *Index) const {
  if (Lent)
    return B.CreateInBoundsGEP(ownType(), begin(B), Index);
  return B.CreateInBoundsGEP(Own->getValueType(), Own, {B.getInt32(0), Index});
}

Type *BlockElements::sumsOf(Type *Number) {
  return Number->getScalarSizeInBits() < 32 ? Type::getFloatTy(Number->getContext()) : Number;
}

Value *BlockElements::widened(IRBuilder<> &B, Value *Number) const {
  return Number->getType() == ownType() ? Number : B.CreateFPExt(Number, ownType());
}

Value *countAll(IRBuilder<> &B, const BlockElements &E, Value *) { return B.getInt32(E.most()); }

static void forOwn(Instruction &Before, ArrayRef<BlockElements> All, OwnCount Count,
                   function_ref<void(IRBuilder<> &, const BlockElements &, Value *)> Body) {
  IRBuilder<> B(&Before);
  Value *Thread = threadInBlock(B), *Threads = threadsOfBlock(B);
  for (const BlockElements &E : All)
    forStrided(Before, Thread, Threads, Count(B, E, Threads), "own",
               [&](IRBuilder<> &Each, Value *Index) { Body(Each, E, Index); });
}

void zeroOwn(Instruction &Before, ArrayRef<BlockElements> All, OwnCount Count) {
  forOwn(Before, All, Count, [](IRBuilder<> &B, const BlockElements &E, Value *Index) {
    B.CreateStore(Constant::getNullValue(E.ownType()), E.place(B, Index));
  });
}

// Also where the shadow has fewer elements than the block: nothing was added to those beyond.
void addOwnToShadows(Instruction &Before, ArrayRef<BlockElements> All, OwnCount Count) {
  forOwn(Before, All, Count, [&](IRBuilder<> &B, const BlockElements &E, Value *Index) {
    Value *Sum = B.CreateLoad(E.ownType(), E.place(B, Index));
    addUnlessZero(B, E.widening() == 1 ? Sum : B.CreateFPTrunc(Sum, E.type()), [&](IRBuilder<> &Then) {
      Value *First = BlockEnds::argument(Before, *E.Shadow);
      if (E.Begin)
        First = Then.CreatePtrAdd(First, Then.getInt64(E.Begin));
      return Then.CreateGEP(E.type(), First, Then.CreateZExt(Index, Then.getInt64Ty()));
    });
  });
}

} // namespace adgen
