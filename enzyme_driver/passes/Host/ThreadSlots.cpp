#include "Host/ThreadSlots.h"

using namespace llvm;

namespace adgen {

bool ThreadSlots::isCheap(const Value *V) {
  if (!isa<Instruction>(V) || Cut.isUniform(V) || isa<AllocaInst>(V))
    return true;
  auto [At, New] = Cheap.insert({V, false});
  if (!New)
    return At->second;
  auto *I = cast<Instruction>(V);
  bool Simple = isa<CastInst, GetElementPtrInst, ICmpInst, SelectInst, FreezeInst>(I) ||
                (isa<BinaryOperator>(I) && I->getType()->isIntOrIntVectorTy() && !I->isIntDivRem());
  bool Result = Simple && !(isa<SelectInst>(I) && I->getType()->isFPOrFPVectorTy()) &&
                all_of(I->operands(), [&](const Use &U) { return isCheap(U.get()); });
  Cheap[V] = Result;
  return Result;
}

void ThreadSlots::find() {
  for (const auto &R : Cut.all()) {
    for (BasicBlock *Block : R->Blocks)
      for (Instruction &I : *Block) {
        if (isHint(I) || (isa<PHINode>(I) && Block == R->Head))
          continue;
        for (Use &U : I.operands())
          if (!isa<PHINode>(I) || R->Blocks.contains(cast<PHINode>(I).getIncomingBlock(U)))
            need(U.get(), *R);
      }
    for (PHINode *Phi : Cut.phisBehind(*R))
      for (auto [V, From] : zip(Phi->incoming_values(), Phi->blocks()))
        if (R->Blocks.contains(From))
          need(V.get(), *R);
    for (PHINode &Phi : R->Head->phis())
      if (!Cut.isUniform(&Phi) && !Phi.use_empty())
        give(&Phi);
  }
}

void ThreadSlots::need(Value *V, const Region &R) {
  auto *I = dyn_cast<Instruction>(V);
  if (!I || Cut.isUniform(I))
    return;
  if (isa<AllocaInst>(I))
    return give(I);
  if (R.Blocks.contains(I->getParent()))
    return;
  if (!isCheap(I))
    return give(I);
  for (Use &U : I->operands())
    need(U.get(), R);
}

void ThreadSlots::give(Instruction *I) {
  if (!Places.insert({I, Total}).second)
    return;
  uint64_t Bytes = sizeOf(*I);
  Total += isa<AllocaInst>(I) ? Bytes : PowerOf2Ceil(Bytes);
}

uint64_t ThreadSlots::sizeOf(const Instruction &I) const {
  const DataLayout &Layout = Cut.function().getDataLayout();
  if (auto *Alloca = dyn_cast<AllocaInst>(&I))
    return alignTo(Alloca->getAllocationSize(Layout)->getFixedValue(), std::max(Alloca->getAlign(), Align(16)));
  return Layout.getTypeAllocSize(typeOf(I));
}

Type *ThreadSlots::typeOf(const Instruction &I) const {
  return I.getType()->isIntegerTy(1) ? Type::getInt8Ty(I.getContext()) : I.getType();
}

} // namespace adgen
