#include "Host/BlockFunction.h"
#include "Analysis/Cooperates.h"

#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Verifier.h"

using namespace llvm;

namespace adgen {

Function *BlockFunction::make() {
  Slots.find();
  nameSlots();
  create();
  for (const auto &R : Cut.all()) {
    R->Begin = BasicBlock::Create(Context, R->Head->getName(), Made);
    for (PHINode &Phi : R->Head->phis())
      if (Cut.isUniform(&Phi))
        Common[&Phi] = PHINode::Create(Phi.getType(), Phi.getNumIncomingValues(), Phi.getName(), R->Begin);
  }
  IRBuilder<> B(&Made->getEntryBlock());
  loadExtents(B);
  B.CreateBr(Cut.headedBy(Work.getEntryBlock()).Begin);
  for (const auto &R : Cut.all())
    emit(*R);
  for (const auto &R : Cut.all())
    for (PHINode &Phi : R->Head->phis())
      if (Cut.isUniform(&Phi))
        for (auto [V, From] : zip(Phi.incoming_values(), Phi.blocks()))
          cast<PHINode>(Common[&Phi])->addIncoming(common(V), Cut.endedBy(*From).End);
  if (!verifyFunction(*Made, &errs()))
    return Made;
  report_fatal_error("adgen-barrier-loop-fission: made a function that is not valid: " + Made->getName());
}

void BlockFunction::create() {
  Type *Pointer = PointerType::getUnqual(Context), *Int32 = Type::getInt32Ty(Context);
  auto *Type = FunctionType::get(llvm::Type::getVoidTy(Context),
                                 {Pointer, Pointer, Pointer, Pointer, Int32, Int32, Int32}, false);
  Made = Function::Create(Type, GlobalValue::InternalLinkage, Name, &M);
  for (StringRef Attribute : {"target-cpu", "target-features", "frame-pointer"})
    if (Work.hasFnAttribute(Attribute))
      Made->addFnAttr(Work.getFnAttribute(Attribute));
  Made->addParamAttr(Shared, Attribute::NoAlias); // the runtime's own memory
  Made->addParamAttr(Handle, Attribute::NoAlias); // scratch memory here
  BasicBlock::Create(Context, "entry", Made);
  for (unsigned I = 0; I < ThreadX; ++I)
    Common[Work.getArg(I)] = Made->getArg(I);
}

void BlockFunction::loadExtents(IRBuilder<> &B) {
  for (unsigned I = 0; I < 3; ++I) {
    Value *At = B.CreateConstInBoundsGEP1_64(B.getInt32Ty(), Made->getArg(Launch), 3 + I);
    Extents[I] = B.CreateLoad(B.getInt32Ty(), At, "extent");
  }
  Count = B.CreateMul(Extents[0], B.CreateMul(Extents[1], Extents[2]));
  Value *Wide = B.CreateZExt(Count, B.getInt64Ty());
  Padded = B.CreateAnd(B.CreateAdd(Wide, B.getInt64(63)),
                       B.getInt64(~uint64_t(63))); // as the runtime allots scratch memory
}

Value *BlockFunction::common(Value *V) const {
  auto At = Common.find(V);
  return At == Common.end() ? V : At->second;
}

void BlockFunction::emit(Region &R) {
  IRBuilder<> B(R.Begin);
  for (BasicBlock *Block : R.Blocks)
    if (!Cut.isDivergent(Block))
      for (Instruction &I : *Block)
        emitCommon(B, R, I);
  if (auto *Barrier = dyn_cast<CallInst>(&R.Head->front());
      Barrier && waitsForBlock(*Barrier) && !Barrier->getType()->isVoidTy())
    emitCount(B, R, *Barrier);
  else if (hasOwnWork(R))
    emitLoops(B, R, nullptr);
  R.End = B.GetInsertBlock();
  if (R.Decides) {
    Instruction *End = B.Insert(R.Tail->getTerminator()->clone());
    for (Use &U : End->operands())
      if (auto *Next = dyn_cast<BasicBlock>(U.get()))
        U.set(Cut.headedBy(*Next).Begin);
      else
        U.set(common(U.get()));
  } else {
    B.CreateBr(Cut.headedBy(*R.Exit).Begin);
  }
}

bool BlockFunction::isCommon(const Instruction &I) const {
  return !I.getType()->isVoidTy() && !I.isTerminator() && Cut.isUniform(&I);
}

void BlockFunction::emitCommon(IRBuilder<> &B, const Region &R, Instruction &I) {
  if (!isCommon(I) || waitsForBlock(I) || isHint(I))
    return;
  if (auto *Phi = dyn_cast<PHINode>(&I)) {
    if (Phi->getParent() != R.Head) // one block leads here
      Common[Phi] = common(Phi->getIncomingValue(0));
    return;
  }
  if (calleeName(I) == DynamicBytes) {
    Common[&I] = dynamicBytes(B);
    return;
  }
  Instruction *New = B.Insert(I.clone(), I.getName());
  for (Use &U : New->operands())
    U.set(common(U.get()));
  Common[&I] = New;
}

Value *BlockFunction::dynamicBytes(IRBuilder<> &B) const {
  Value *At = B.CreateConstInBoundsGEP1_64(B.getInt8Ty(), Made->getArg(Launch), 24);
  Value *Bytes = B.CreateTrunc(B.CreateLoad(B.getInt64Ty(), At), B.getInt32Ty());
  return IsGradient ? B.CreateShl(Bytes, 1) : Bytes;
}

bool BlockFunction::hasOwnWork(const Region &R) const {
  if (!Cut.phisBehind(R).empty())
    return true;
  for (BasicBlock *Block : R.Blocks)
    for (Instruction &I : *Block)
      if (!I.isTerminator() && !isCommon(I) && !isHint(I) && !waitsForBlock(I) && !isa<AllocaInst>(I) &&
          !isa<PHINode>(I))
        return true;
  return false;
}

void BlockFunction::emitCount(IRBuilder<> &B, Region &R, CallInst &Barrier) {
  IRBuilder<> Start(&Made->getEntryBlock(), Made->getEntryBlock().begin());
  Value *Sum = Start.CreateAlloca(B.getInt32Ty(), nullptr, "count");
  B.CreateStore(B.getInt32(0), Sum);
  emitLoops(B, R, Sum);
  Value *Ones = B.CreateLoad(B.getInt32Ty(), Sum);
  if (calleeName(Barrier).ends_with("and"))
    Ones = B.CreateZExt(B.CreateICmpEQ(Ones, Count), B.getInt32Ty());
  Common[&Barrier] = Ones;
}

void BlockFunction::emitLoops(IRBuilder<> &B, Region &R, Value *Sum) {
  Type *Int64 = B.getInt64Ty();
  Value *Index[3];
  BasicBlock *Heads[3];
  for (int I = 2; I >= 0; --I) {
    BasicBlock *Before = B.GetInsertBlock();
    Heads[I] = BasicBlock::Create(Context, "threads", Made);
    B.CreateBr(Heads[I]);
    B.SetInsertPoint(Heads[I]);
    PHINode *Phi = B.CreatePHI(B.getInt32Ty(), 2, "thread");
    Phi->addIncoming(B.getInt32(0), Before);
    Index[I] = Phi;
    if (I == 1) {
      Value *Row = B.CreateAdd(B.CreateMul(Index[2], Extents[1]), Phi);
      RowBegin = B.CreateMul(B.CreateZExt(Row, Int64), B.CreateZExt(Extents[0], Int64), "row");
    }
    Own[Work.getArg(ThreadX + I)] = Phi;
  }
  Linear = B.CreateAdd(RowBegin, B.CreateZExt(Index[0], Int64), "linear", true, true);
  BasicBlock *Last = emitThread(B, R, Sum);
  B.SetInsertPoint(Last);
  for (int I = 0; I < 3; ++I) {
    Value *Next = B.CreateAdd(Index[I], B.getInt32(1), "next", true, true);
    cast<PHINode>(Index[I])->addIncoming(Next, B.GetInsertBlock());
    auto *After = BasicBlock::Create(Context, "done", Made);
    BranchInst *Back = B.CreateCondBr(B.CreateICmpULT(Next, Extents[I]), Heads[I], After);
    if (I == 0 && Group)
      Back->setMetadata(LLVMContext::MD_loop, parallelLoop());
    B.SetInsertPoint(After);
  }
  Own.clear();
}

MDNode *BlockFunction::parallelLoop() {
  Metadata *Parallel[] = {MDString::get(Context, "llvm.loop.parallel_accesses"), Group};
  Metadata *Parts[] = {nullptr, MDNode::get(Context, Parallel)};
  MDNode *Loop = MDNode::getDistinct(Context, Parts);
  Loop->replaceOperandWith(0, Loop);
  return Loop;
}

} // namespace adgen
