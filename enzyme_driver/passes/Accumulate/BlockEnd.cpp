#include "Accumulate/BlockEnd.h"
#include "Support/Walk.h"

#include "llvm/IR/IntrinsicsNVPTX.h"

using namespace llvm;

namespace adgen {

Instruction *commonReturn(Function &F) {
  SmallVector<BasicBlock *> Ends;
  for (BasicBlock &Block : F)
    if (isa<ReturnInst>(Block.getTerminator()))
      Ends.push_back(&Block);
  auto *End = BasicBlock::Create(F.getContext(), "end", &F);
  for (BasicBlock *Block : Ends) {
    Block->getTerminator()->eraseFromParent();
    BranchInst::Create(End, Block);
  }
  return ReturnInst::Create(F.getContext(), End);
}

// Of a function that the kernel calls, and that may be there already.
static Instruction *returnOf(Function &Gradient, StringRef Attribute) {
  Module &M = *Gradient.getParent();
  std::string Name = (Attribute + "_" + symbolOf(Gradient)).str();
  if (Function *Known = M.getFunction(Name))
    return commonReturn(*Known);
  auto *Made = Function::Create(Gradient.getFunctionType(), GlobalValue::ExternalLinkage, Name, M);
  Gradient.addFnAttr(Attribute, Name);
  if (Gradient.hasFnAttribute(TapeAttribute)) // it takes the same at last
    Made->addFnAttr(Gradient.getFnAttribute(TapeAttribute));
  return ReturnInst::Create(M.getContext(), BasicBlock::Create(M.getContext(), "entry", Made));
}

BlockEnds::BlockEnds(Function &Gradient) {
  const bool Walks = walks(Gradient);
  First = Walks ? returnOf(Gradient, BeforeWalkAttribute) : &*Gradient.getEntryBlock().getFirstNonPHIOrDbgOrAlloca();
  Last = Walks ? returnOf(Gradient, BehindWalkAttribute) : commonReturn(Gradient);
}

Value *BlockEnds::argument(const Instruction &Place, const Argument &A) {
  return const_cast<Function *>(Place.getFunction())->getArg(A.getArgNo());
}

void waitForBlock(Instruction &Before) {
  IRBuilder<> B(&Before);
  B.CreateIntrinsic(Intrinsic::nvvm_barrier_cta_sync_all, ArrayRef<Type *>(), {B.getInt32(0)});
}

} // namespace adgen
