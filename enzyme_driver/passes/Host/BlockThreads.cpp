// What one thread does in a region, in the loop over the threads of a block.
#include "Analysis/Accumulation.h"
#include "Host/BlockFunction.h"
#include "Support/AliasScopes.h"

#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/MDBuilder.h"

using namespace llvm;

namespace adgen {

BasicBlock *BlockFunction::emitThread(IRBuilder<> &B, Region &R, Value *Sum) {
  bool Parallel = !Sum && none_of(R.Blocks, [](BasicBlock *Block) {
    return any_of(*Block, [](Instruction &I) { return I.isAtomic(); });
  });
  Group = Parallel ? MDNode::getDistinct(Context, {}) : nullptr;
  auto *Last = BasicBlock::Create(Context, "last", Made);
  BasicBlock *Top = B.GetInsertBlock();
  DenseMap<BasicBlock *, BasicBlock *> Copies;
  for (BasicBlock *Block : R.Blocks)
    Copies[Block] = BasicBlock::Create(Context, Block->getName(), Made, Last);
  TopEnd = BranchInst::Create(Copies[R.Head], Top);
  for (PHINode &Phi : R.Head->phis())
    if (!Cut.isUniform(&Phi) && !Phi.use_empty())
      Own[&Phi] = loadSlot(&Phi);
  for (BasicBlock *Block : R.Blocks)
    for (Instruction &I : *Block)
      copy(I, R, *Copies[Block]);
  for (BasicBlock *Block : R.Blocks)
    finish(*Block, R, Copies, *Last);
  B.SetInsertPoint(Last);
  storePhis(B, R, Copies);
  if (Sum) {
    Value *Holds = B.CreateICmpNE(own(R.Head->front().getOperand(3)), B.getInt32(0));
    B.CreateStore(B.CreateAdd(B.CreateLoad(B.getInt32Ty(), Sum), B.CreateZExt(Holds, B.getInt32Ty())), Sum);
  }
  return Last;
}

void BlockFunction::copy(Instruction &I, const Region &R, BasicBlock &Into) {
  bool AtHead = isa<PHINode>(I) && I.getParent() == R.Head;
  if (AtHead || I.isTerminator() || isCommon(I) || isHint(I) || waitsForBlock(I) || isa<AllocaInst>(I))
    return;
  IRBuilder<> B(&Into);
  Instruction *New;
  if (auto *Phi = dyn_cast<PHINode>(&I)) {
    New = B.CreatePHI(Phi->getType(), Phi->getNumIncomingValues(), Phi->getName());
  } else if (auto *Atomic = dyn_cast<AtomicRMWInst>(&I); Atomic && needsNotBeAtomic(*Atomic)) {
    New = addPlainly(B, *Atomic);
  } else if (Atomic && isTakenInTurn(*Atomic)) {
    New = takeInTurn(B, *Atomic);
  } else {
    New = B.Insert(I.clone(), I.getName());
    for (Use &U : New->operands())
      U.set(own(U.get()));
    mark(New);
    tellFromSlots(*New);
  }
  Own[&I] = New;
  if (!isa<PHINode>(I) && Slots.contains(&I))
    storeSlot(B, &I, New);
}

bool BlockFunction::needsNotBeAtomic(const AtomicRMWInst &Atomic) const {
  bool InShared = getUnderlyingObject(Atomic.getPointerOperand(), 0) == Work.getArg(Shared);
  AtomicRMWInst::BinOp Op = Atomic.getOperation();
  return (Alone || InShared) && (Op == AtomicRMWInst::FAdd || Op == AtomicRMWInst::Add);
}

bool BlockFunction::isTakenInTurn(const AtomicRMWInst &Atomic) const {
  bool InShared = getUnderlyingObject(Atomic.getPointerOperand(), 0) == Work.getArg(Shared);
  return Atomic.getOperation() == AtomicRMWInst::Xchg && isa<ConstantFP>(Atomic.getValOperand()) &&
         (InShared || Atomic.hasMetadata(BlocksOwnMark));
}

Instruction *BlockFunction::takeInTurn(IRBuilder<> &B, AtomicRMWInst &Exchange) {
  LoadInst *Taken = takePlainly(B, Exchange, own(Exchange.getPointerOperand()));
  tellFromSlots(*Taken);
  tellFromSlots(*cast<StoreInst>(Taken->getNextNode()));
  return Taken;
}

Instruction *BlockFunction::addPlainly(IRBuilder<> &B, AtomicRMWInst &Atomic) {
  Value *At = own(Atomic.getPointerOperand()), *Addend = own(Atomic.getValOperand());
  LoadInst *Old = B.CreateAlignedLoad(Atomic.getType(), At, Atomic.getAlign());
  Value *New =
      Atomic.getType()->isFloatingPointTy() ? B.CreateFAddFMF(Old, Addend, inAnyOrder()) : B.CreateAdd(Old, Addend);
  StoreInst *Store = B.CreateAlignedStore(New, At, Atomic.getAlign());
  for (Instruction *Access : {static_cast<Instruction *>(Old), static_cast<Instruction *>(Store)})
    Access->setAAMetadata(Atomic.getAAMetadata());
  tellFromSlots(*Old);
  tellFromSlots(*Store);
  return Old;
}

void BlockFunction::finish(BasicBlock &Block, const Region &R, DenseMap<BasicBlock *, BasicBlock *> &Copies,
                           BasicBlock &Last) {
  BasicBlock *Copy = Copies[&Block];
  IRBuilder<> B(Copy);
  if (&Block == R.Tail && R.Decides) {
    B.CreateBr(&Last);
  } else {
    Instruction *End = B.Insert(Block.getTerminator()->clone());
    for (Use &U : End->operands())
      if (auto *Next = dyn_cast<BasicBlock>(U.get()))
        U.set(Next != R.Head && R.Blocks.contains(Next) ? Copies[Next] : &Last);
      else
        U.set(own(U.get()));
  }
  if (&Block == R.Head)
    return;
  for (PHINode &Phi : Block.phis()) {
    if (isCommon(Phi))
      continue;
    auto *New = cast<PHINode>(Own[&Phi]);
    for (auto [V, From] : zip(Phi.incoming_values(), Phi.blocks()))
      if (R.Blocks.contains(From))
        New->addIncoming(own(V), Copies[From]);
    if (Slots.contains(&Phi)) {
      IRBuilder<> After(Copy, Copy->getFirstInsertionPt());
      storeSlot(After, &Phi, New);
    }
  }
}

void BlockFunction::storePhis(IRBuilder<> &B, const Region &R, const DenseMap<BasicBlock *, BasicBlock *> &Copies) {
  SmallVector<std::pair<PHINode *, Value *>> Stores;
  for (PHINode *Phi : Cut.phisBehind(R)) {
    if (R.Decides) {
      Stores.push_back({Phi, own(Phi->getIncomingValueForBlock(R.Tail))});
      continue;
    }
    auto *Joined = PHINode::Create(Phi->getType(), 2, Phi->getName());
    Joined->insertInto(B.GetInsertBlock(), B.GetInsertBlock()->begin());
    for (BasicBlock *From : R.Blocks)
      for (BasicBlock *Next : successors(Copies.lookup(From)))
        if (Next == B.GetInsertBlock())
          Joined->addIncoming(own(Phi->getIncomingValueForBlock(From)), Copies.lookup(From));
    Stores.push_back({Phi, Joined});
  }
  for (auto [Phi, V] : Stores)
    storeSlot(B, Phi, V);
}

Value *BlockFunction::own(Value *V) {
  if (auto At = Own.find(V); At != Own.end())
    return At->second;
  auto *I = dyn_cast<Instruction>(V);
  if (!I || Cut.isUniform(I))
    return common(V);
  if (isa<AllocaInst>(I))
    return Own[I] = slotAddress(I);
  if (!Slots.isCheap(I))
    return Own[I] = loadSlot(I);
  Instruction *New = I->clone();
  for (Use &U : New->operands())
    U.set(own(U.get()));
  New->insertBefore(TopEnd->getIterator());
  return Own[I] = New;
}

Value *BlockFunction::slotAddress(Instruction *I) {
  IRBuilder<> B(TopEnd);
  Value *Begin =
      B.CreateInBoundsGEP(B.getInt8Ty(), Made->getArg(Handle), B.CreateMul(Padded, B.getInt64(Slots.placeOf(I))));
  if (isa<AllocaInst>(I))
    return B.CreateInBoundsGEP(B.getInt8Ty(), Begin, B.CreateMul(Linear, B.getInt64(Slots.sizeOf(*I))));
  return B.CreateInBoundsGEP(Slots.typeOf(*I), Begin, Linear);
}

Value *BlockFunction::loadSlot(Instruction *I) {
  Value *At = slotAddress(I);
  IRBuilder<> B(TopEnd);
  LoadInst *Load = B.CreateLoad(Slots.typeOf(*I), At, I->getName());
  mark(Load);
  tellApart(*Load, I);
  return I->getType()->isIntegerTy(1) ? B.CreateTrunc(Load, I->getType()) : Load;
}

void BlockFunction::storeSlot(IRBuilder<> &B, Instruction *I, Value *V) {
  Value *At = slotAddress(I);
  StoreInst *Store = B.CreateStore(I->getType()->isIntegerTy(1) ? B.CreateZExt(V, B.getInt8Ty()) : V, At);
  mark(Store);
  tellApart(*Store, I);
}

void BlockFunction::nameSlots() {
  MDBuilder Builder(Context);
  MDNode *Domain = Builder.createAnonymousAliasScopeDomain("kept");
  for (auto &[I, At] : Slots.all())
    if (!isa<AllocaInst>(I))
      Scopes.insert({I, Builder.createAnonymousAliasScope(Domain)});
}

void BlockFunction::tellApart(Instruction &Access, const Instruction *Slot) {
  SmallVector<Metadata *> Others;
  for (auto &[I, Scope] : Scopes)
    if (I != Slot)
      Others.push_back(Scope);
  if (MDNode *Own = Scopes.lookup(Slot))
    Access.setMetadata(LLVMContext::MD_alias_scope, MDNode::get(Context, Own));
  addScopes(Access, {}, Others);
}

void BlockFunction::tellFromSlots(Instruction &Access) {
  if (Access.mayReadOrWriteMemory())
    tellApart(Access, nullptr);
}

void BlockFunction::mark(Instruction *I) {
  if (Group && I->mayReadOrWriteMemory())
    I->setMetadata(LLVMContext::MD_access_group, Group);
}

} // namespace adgen
