#include "Accumulate/BlockEnd.h"

#include "llvm/IR/IntrinsicsNVPTX.h"

using namespace llvm;

namespace adgen {

BasicBlock *commonEnd(Function &F) {
  SmallVector<BasicBlock *> Ends;
  for (BasicBlock &Block : F)
    if (isa<ReturnInst>(Block.getTerminator()))
      Ends.push_back(&Block);
  auto *End = BasicBlock::Create(F.getContext(), "end", &F);
  ReturnInst::Create(F.getContext(), End);
  for (BasicBlock *Block : Ends) {
    Block->getTerminator()->eraseFromParent();
    BranchInst::Create(End, Block);
  }
  return End;
}

void waitForBlock(Instruction &Before) {
  IRBuilder<> B(&Before);
  B.CreateIntrinsic(Intrinsic::nvvm_barrier_cta_sync_all, ArrayRef<Type *>(), {B.getInt32(0)});
}

} // namespace adgen
