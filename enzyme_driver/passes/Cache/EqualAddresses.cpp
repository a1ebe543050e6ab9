#include "Cache/EqualAddresses.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/Instructions.h"

using namespace llvm;

namespace adgen {

bool mergeAddresses(Function &F, FunctionAnalysisManager &FAM) {
  auto &SE = FAM.getResult<ScalarEvolutionAnalysis>(F);
  auto &DT = FAM.getResult<DominatorTreeAnalysis>(F);
  DenseMap<const SCEV *, SmallVector<LoadInst *, 2>> Read;
  bool Changed = false;
  for (BasicBlock *Block : ReversePostOrderTraversal<Function *>(&F))
    for (Instruction &I : *Block) {
      auto *Load = dyn_cast<LoadInst>(&I);
      if (!Load || !isa<Instruction>(Load->getPointerOperand()))
        continue;
      SmallVector<LoadInst *, 2> &Same = Read[SE.getSCEV(Load->getPointerOperand())];
      // By an address that has been read, which is therefore no poison.
      auto Before = find_if(Same, [&](LoadInst *Each) { return DT.dominates(Each, Load); });
      if (Before == Same.end()) {
        Same.push_back(Load);
        continue;
      }
      Changed |= (*Before)->getPointerOperand() != Load->getPointerOperand();
      Load->setOperand(LoadInst::getPointerOperandIndex(), (*Before)->getPointerOperand());
    }
  if (Changed)
    FAM.invalidate(F, PreservedAnalyses::none());
  return Changed;
}

} // namespace adgen
