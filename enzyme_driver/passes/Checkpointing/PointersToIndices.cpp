// A pointer that walks over an array in steps that differ,
//   for (...; p += step) use(p);   becomes   for (...; offset += step) use(base + offset);
// Enzyme would keep the pointer and its shadow for each iteration, and behind what was kept nobody sees whose shadow it
// is. Pointers that walk in equal steps it finds again by itself.
#include "Support/Pass.h"

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/Analysis/Utils/Local.h"

#define DEBUG_TYPE "adgen-pointers-to-indices"

using namespace llvm;

STATISTIC(NumLoops, "Number of loops whose pointers are indices");

namespace adgen {
namespace {

bool walksInEqualSteps(PHINode &Pointer, ScalarEvolution &Evolution) {
  auto *Walk = dyn_cast<SCEVAddRecExpr>(Evolution.getSCEV(&Pointer));
  return Walk && Walk->isAffine();
}

// The pointers on the way from the end of an iteration back to its beginning, each an element further; empty where it
// is not so.
SmallVector<GEPOperator *> wayBack(Value *End, const PHINode &Begin) {
  SmallVector<GEPOperator *> Way;
  while (End != &Begin) {
    auto *Step = dyn_cast<GEPOperator>(End);
    if (!Step)
      return {};
    Way.push_back(Step);
    End = Step->getPointerOperand();
  }
  return Way;
}

void index(PHINode &Pointer, const Loop &L, ArrayRef<GEPOperator *> Way) {
  BasicBlock *Preheader = L.getLoopPreheader(), *Latch = L.getLoopLatch();
  Value *Base = Pointer.getIncomingValueForBlock(Preheader);
  const DataLayout &Layout = Pointer.getDataLayout();
  IRBuilder<> B(&Pointer);
  PHINode *Offset = B.CreatePHI(Layout.getIndexType(Pointer.getType()), 2, Pointer.getName() + ".offset");
  Offset->addIncoming(ConstantInt::get(Offset->getType(), 0), Preheader);
  B.SetInsertPoint(Latch->getTerminator());
  Value *Next = Offset;
  for (GEPOperator *Step : reverse(Way))
    Next = B.CreateAdd(Next, emitGEPOffset(&B, Layout, Step));
  Offset->addIncoming(Next, Latch);
  B.SetInsertPoint(Pointer.getParent()->getFirstInsertionPt());
  Pointer.replaceAllUsesWith(B.CreatePtrAdd(Base, Offset, Pointer.getName()));
  Pointer.eraseFromParent();
}

bool indexPointers(const Loop &L, ScalarEvolution &Evolution) {
  BasicBlock *Latch = L.getLoopLatch();
  if (!L.getLoopPreheader() || !Latch)
    return false;
  bool Changed = false;
  for (PHINode &Phi : make_early_inc_range(L.getHeader()->phis())) {
    if (!Phi.getType()->isPointerTy() || walksInEqualSteps(Phi, Evolution))
      continue;
    SmallVector<GEPOperator *> Way = wayBack(Phi.getIncomingValueForBlock(Latch), Phi);
    if (Way.empty())
      continue;
    Evolution.forgetLoop(&L);
    index(Phi, L, Way);
    Changed = true;
  }
  return Changed;
}

} // namespace

ADGEN_DECLARE_PASS(PointersToIndices);

PreservedAnalyses PointersToIndices::run(Module &M, ModuleAnalysisManager &MAM) {
  auto &FAM = MAM.getResult<FunctionAnalysisManagerModuleProxy>(M).getManager();
  bool Changed = false;
  for (Function &F : M) {
    if (F.isDeclaration())
      continue;
    auto &Evolution = FAM.getResult<ScalarEvolutionAnalysis>(F);
    for (const Loop *L : FAM.getResult<LoopAnalysis>(F).getLoopsInPreorder())
      if (indexPointers(*L, Evolution)) {
        ADGEN_COUNT(NumLoops, *L);
        Changed = true;
      }
  }
  return Changed ? PreservedAnalyses::none() : PreservedAnalyses::all();
}

} // namespace adgen
