#include "Accumulate/WarpRows.h"
#include "Accumulate/HandOver.h"
#include "Analysis/Indices.h"
#include "Support/Threads.h"

#include "llvm/Transforms/Utils/BasicBlockUtils.h"

using namespace llvm;

namespace adgen {

BlockPlace::BlockPlace(IRBuilder<> &B) : Thread(threadInBlock(B)), Threads(threadsOfBlock(B)) {
  constexpr unsigned WarpSize = 1 << LaneBits;
  Warps = B.CreateLShr(B.CreateAdd(Threads, B.getInt32(WarpSize - 1)), LaneBits, "warps");
}

Value *sumOfRows(IRBuilder<> &B, Type *T, Value *Warps, function_ref<Value *(IRBuilder<> &, Value *)> At) {
  BasicBlock *Start = B.GetInsertBlock(), *Rest = SplitBlock(Start, B.GetInsertPoint());
  auto *Loop = BasicBlock::Create(B.getContext(), "row", Rest->getParent(), Rest);
  Start->getTerminator()->setSuccessor(0, Loop);
  B.SetInsertPoint(Loop);
  PHINode *Row = B.CreatePHI(B.getInt32Ty(), 2), *Sum = B.CreatePHI(T, 2);
  Value *Next = B.CreateNUWAdd(Row, B.getInt32(1));
  Value *More = B.CreateFAdd(Sum, B.CreateLoad(T, At(B, Row)));
  Row->addIncoming(B.getInt32(0), Start);
  Sum->addIncoming(Constant::getNullValue(T), Start);
  Row->addIncoming(Next, Loop);
  Sum->addIncoming(More, Loop);
  B.CreateCondBr(B.CreateICmpULT(Next, Warps), Loop, Rest);
  B.SetInsertPoint(&Rest->front());
  return More;
}

void addUnlessZero(IRBuilder<> &B, Value *Sum, function_ref<Value *(IRBuilder<> &)> Where) {
  Value *Any = B.CreateFCmpUNE(Sum, Constant::getNullValue(Sum->getType()));
  B.SetInsertPoint(SplitBlockAndInsertIfThen(Any, B.GetInsertPoint(), false));
  B.CreateAtomicRMW(AtomicRMWInst::FAdd, Where(B), Sum, MaybeAlign(), AtomicOrdering::Monotonic);
}

Value *beginningOf(IRBuilder<> &B, const ArrayRoots &Roots, const ArrayRoot &Shadow) {
  Value *Of = B.GetInsertBlock()->getParent()->getArg(Shadow.Of->getArgNo());
  if (!Roots.isStruct(*Shadow.Of))
    return Of;
  return B.CreateLoad(B.getPtrTy(), B.CreateConstGEP1_64(B.getInt8Ty(), Of, Shadow.Held));
}

void addToOwn(AtomicRMWInst &Addition, Value *Own) {
  IRBuilder<> B(&Addition);
  auto *New =
      B.CreateAtomicRMW(AtomicRMWInst::FAdd, Own, Addition.getValOperand(), MaybeAlign(), AtomicOrdering::Monotonic);
  New->setMetadata(WarpsOwnMark, MDNode::get(B.getContext(), {}));
  Addition.eraseFromParent();
}

} // namespace adgen
