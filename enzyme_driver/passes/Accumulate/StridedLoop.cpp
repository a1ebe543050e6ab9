#include "Accumulate/StridedLoop.h"

#include "llvm/Transforms/Utils/BasicBlockUtils.h"

using namespace llvm;

namespace adgen {

void forStrided(Instruction &Before, Value *First, Value *Step, Value *Count, StringRef Name,
                function_ref<void(IRBuilder<> &, Value *)> Body) {
  BasicBlock *Start = Before.getParent(), *Rest = SplitBlock(Start, &Before);
  auto *Head = BasicBlock::Create(Before.getContext(), Name + "s", Rest->getParent(), Rest),
       *Inside = BasicBlock::Create(Before.getContext(), Name, Rest->getParent(), Rest);
  Start->getTerminator()->setSuccessor(0, Head);
  IRBuilder<> B(Head);
  PHINode *Index = B.CreatePHI(B.getInt32Ty(), 2);
  Index->addIncoming(First, Start);
  B.CreateCondBr(B.CreateICmpULT(Index, Count), Inside, Rest);
  B.SetInsertPoint(Inside);
  Value *Next = B.CreateNUWAdd(Index, Step);
  Instruction *Back = B.CreateBr(Head);
  B.SetInsertPoint(Back);
  Body(B, Index);
  Index->addIncoming(Next, Back->getParent());
}

} // namespace adgen
