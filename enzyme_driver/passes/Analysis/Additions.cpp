#include "Analysis/Additions.h"

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Dominators.h"

using namespace llvm;

namespace adgen {

static std::optional<Addition> additionOf(StoreInst &New, const Loop &L, const DominatorTree &DT) {
  auto *Sum = dyn_cast<BinaryOperator>(New.getValueOperand());
  if (!Sum || Sum->getOpcode() != Instruction::FAdd || !Sum->hasAllowReassoc() || !Sum->hasNoSignedZeros() ||
      !Sum->hasOneUse() || !New.isSimple() || !L.contains(Sum) || !DT.dominates(New.getParent(), L.getLoopLatch()))
    return std::nullopt;
  for (Value *Operand : Sum->operands())
    if (auto *Old = dyn_cast<LoadInst>(Operand); Old && Old->getPointerOperand() == New.getPointerOperand() &&
                                                 Old->isSimple() && Old->hasOneUse() &&
                                                 Old->getParent() == New.getParent())
      return Addition{Old, Sum, &New};
  return std::nullopt;
}

Additions::Additions(const Loop &L, const DominatorTree &DT) {
  for (BasicBlock *Block : L.blocks())
    for (Instruction &I : *Block)
      if (auto *Store = dyn_cast<StoreInst>(&I))
        if (std::optional<Addition> Found = additionOf(*Store, L, DT)) {
          All.push_back(*Found);
          Accesses.insert({Found->Old, Found->New});
        }
}

void Additions::erase(const Addition &Each) {
  for (Instruction *Access : {static_cast<Instruction *>(Each.New), static_cast<Instruction *>(Each.Old)}) {
    Accesses.erase(Access);
    Access->eraseFromParent();
  }
}

} // namespace adgen
