#include "Accumulate/BlockElements.h"
#include "Accumulate/BlockEnd.h"
#include "Accumulate/WarpRows.h"
#include "Support/Threads.h"

#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

using namespace llvm;

namespace adgen {

static constexpr unsigned FewestBlocks = 32;

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

Instruction *whereAny(Instruction &Before, ArrayRef<BlockElements> All, OwnCount Count) {
  IRBuilder<> B(&Before);
  Value *Any = B.getInt32(0), *Threads = threadsOfBlock(B);
  for (const BlockElements &Own : All)
    Any = B.CreateOr(Any, Count(B, Own, Threads));
  return SplitBlockAndInsertIfThen(B.CreateIsNotNull(Any), Before.getIterator(), false);
}

Value *unlessFew(IRBuilder<> &B, Value *Count) {
  Value *X = readRegister(B, Intrinsic::nvvm_read_ptx_sreg_nctaid_x),
        *Y = readRegister(B, Intrinsic::nvvm_read_ptx_sreg_nctaid_y),
        *Z = readRegister(B, Intrinsic::nvvm_read_ptx_sreg_nctaid_z);
  Value *AreMany = B.CreateICmpUGE(B.CreateMul(X, B.CreateMul(Y, Z)), B.getInt32(FewestBlocks));
  return B.CreateSelect(AreMany, Count, ConstantInt::get(Count->getType(), 0));
}

} // namespace adgen
