#include "Support/Threads.h"
#include "Support/Adgen.h"

#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

using namespace llvm;

namespace adgen {

Value *readRegister(IRBuilder<> &B, Intrinsic::ID Id) {
  return B.CreateIntrinsic(Id, ArrayRef<Type *>(), ArrayRef<Value *>());
}

Value *activeLanes(IRBuilder<> &B) { return readRegister(B, Intrinsic::nvvm_activemask); }

BlockExtents::BlockExtents(IRBuilder<> &B)
    : X(readRegister(B, Intrinsic::nvvm_read_ptx_sreg_ntid_x)),
      Y(readRegister(B, Intrinsic::nvvm_read_ptx_sreg_ntid_y)),
      Z(readRegister(B, Intrinsic::nvvm_read_ptx_sreg_ntid_z)) {}

Value *threadInBlock(IRBuilder<> &B) {
  Value *Tx = readRegister(B, Intrinsic::nvvm_read_ptx_sreg_tid_x),
        *Ty = readRegister(B, Intrinsic::nvvm_read_ptx_sreg_tid_y),
        *Tz = readRegister(B, Intrinsic::nvvm_read_ptx_sreg_tid_z),
        *Nx = readRegister(B, Intrinsic::nvvm_read_ptx_sreg_ntid_x),
        *Ny = readRegister(B, Intrinsic::nvvm_read_ptx_sreg_ntid_y);
  return B.CreateAdd(Tx, B.CreateMul(Nx, B.CreateAdd(Ty, B.CreateMul(Ny, Tz))));
}

Value *threadsOfBlock(IRBuilder<> &B) {
  BlockExtents N(B);
  return B.CreateMul(N.X, B.CreateMul(N.Y, N.Z));
}

uint64_t mostThreads(const Function &Gradient) {
  const Function *Primal = Gradient.getParent()->getFunction(symbolOf(Gradient));
  if (!Primal || !Primal->hasFnAttribute("nvvm.maxntid"))
    return 0;
  SmallVector<StringRef> Extents;
  Primal->getFnAttribute("nvvm.maxntid").getValueAsString().split(Extents, ',');
  uint64_t Product = 1, Extent = 0;
  for (StringRef Text : Extents)
    Product *= Text.trim().getAsInteger(10, Extent) ? 0 : Extent;
  return Product;
}

GlobalVariable *createExchange(Function &Gradient, Type *T, const Twine &Suffix) {
  return new GlobalVariable(*Gradient.getParent(), T, false, GlobalValue::InternalLinkage, UndefValue::get(T),
                            ExchangePrefix + symbolOf(Gradient) + Suffix, nullptr, GlobalValue::NotThreadLocal,
                            SharedSpace);
}

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

unsigned gpuOf(const Function &F) {
  StringRef Name = F.getFnAttribute("target-cpu").getValueAsString();
  unsigned Number = 0;
  return Name.consume_front("sm_") && !Name.consumeInteger(10, Number) ? Number : 0;
}

} // namespace adgen
