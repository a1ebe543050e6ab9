#include "EnzymeCompat/OutlineAccess.h"

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Module.h"

using namespace llvm;

namespace adgen {

void outlineAccess(Instruction &I, StringRef Name) {
  SmallVector<Value *> Operands(I.operands());
  SmallVector<Type *> Types(map_range(Operands, [](Value *V) { return V->getType(); }));
  auto *F =
      Function::Create(FunctionType::get(I.getType(), Types, false), GlobalValue::InternalLinkage, Name, I.getModule());
  for (StringRef Attribute : {"enzyme_inactive", "enzyme_ta_norecur"})
    F->addFnAttr(Attribute);
  F->addFnAttr(Attribute::NoInline);
  F->setDoesNotThrow();
  F->setWillReturn();
  F->setDoesNotFreeMemory();
  F->setMemoryEffects(isa<LoadInst>(I) ? MemoryEffects::argMemOnly(ModRefInfo::Ref) : MemoryEffects::argMemOnly());
  if (!I.getType()->isVoidTy())
    F->addRetAttr(Attribute::get(I.getContext(), "enzyme_type", "{[-1]:Integer}"));
  Instruction *Own = I.clone();
  Own->dropUnknownNonDebugMetadata();
  Own->setDebugLoc({});
  IRBuilder<> Inside(BasicBlock::Create(I.getContext(), "", F));
  Inside.Insert(Own);
  for (auto [Index, A] : enumerate(F->args()))
    Own->setOperand(Index, &A);
  I.getType()->isVoidTy() ? Inside.CreateRetVoid() : Inside.CreateRet(Own);
  CallInst *Call = IRBuilder<>(&I).CreateCall(F, Operands);
  Call->setDebugLoc(I.getDebugLoc());
  I.replaceAllUsesWith(Call);
  I.eraseFromParent();
}

} // namespace adgen
