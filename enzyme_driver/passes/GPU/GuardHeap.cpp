// Device malloc returns null when the heap is exhausted, and a gradient would go on with it. Every call becomes
// one of a function that raises the flag adgen_heap_exhausted and ends the thread instead; the runtime reads the flag.
#include "Support/Pass.h"

using namespace llvm;

namespace adgen {

static Function *createAllocator(Module &M, Function &Malloc) {
  auto *F = Function::Create(Malloc.getFunctionType(), GlobalValue::InternalLinkage, "adgen_heap_allocate", &M);
  LLVMContext &Context = M.getContext();
  auto *Start = BasicBlock::Create(Context, "start", F);
  auto *Exhausted = BasicBlock::Create(Context, "exhausted", F);
  auto *Done = BasicBlock::Create(Context, "done", F);
  IRBuilder<> B(Start);
  Value *Size = F->getArg(0); // of nothing, malloc may return null without being exhausted
  Size = B.CreateBinaryIntrinsic(Intrinsic::umax, Size, ConstantInt::get(Size->getType(), 1));
  Value *Memory = B.CreateCall(&Malloc, {Size});
  B.CreateCondBr(B.CreateIsNull(Memory), Exhausted, Done);
  B.SetInsertPoint(Exhausted);
  endThread(B, "adgen_heap_exhausted");
  B.SetInsertPoint(Done);
  B.CreateRet(Memory);
  return F;
}

ADGEN_DECLARE_PASS(GuardHeap);

PreservedAnalyses GuardHeap::run(Module &M, ModuleAnalysisManager &) {
  Function *Malloc = M.getFunction("malloc");
  if (!Malloc || !Malloc->isDeclaration() || Malloc->use_empty())
    return PreservedAnalyses::all();
  SmallVector<CallInst *> Calls;
  for (User *U : Malloc->users())
    if (auto *Call = dyn_cast<CallInst>(U); Call && Call->getCalledFunction() == Malloc)
      Calls.push_back(Call);
  Function *Allocator = createAllocator(M, *Malloc);
  for (CallInst *Call : Calls)
    Call->setCalledFunction(Allocator);
  return PreservedAnalyses::none();
}

} // namespace adgen
