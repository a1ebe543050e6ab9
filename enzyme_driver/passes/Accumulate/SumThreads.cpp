// What all iterations of a loop over threads add to one element is summed up in a register,
//   for (...) element += term(i);   becomes   for (...) sum += term(i); element += sum;
// although other elements to which the loop adds may be the same one: additions may change places with each other.
// Nothing else in the loop may see the element, and it is added to in each iteration. The loop can then be vectorised.
#include "Analysis/Additions.h"
#include "Support/Pass.h"

#include "llvm/Analysis/AliasAnalysis.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/MemoryLocation.h"
#include "llvm/IR/Dominators.h"

#define DEBUG_TYPE "adgen-sum-threads"

using namespace llvm;

STATISTIC(NumLoops, "Number of loops over threads with sums of their own");

namespace adgen {
namespace {

class Sums {
public:
  Sums(Loop &L, AAResults &AA, const DominatorTree &DT) : L(L), AA(AA), Found(L, DT) {}

  bool make() {
    bool Changed = false;
    for (const Addition &Each : Found)
      if (bool Moved = false; L.makeLoopInvariant(Each.New->getPointerOperand(), Moved) && !isSeen(Each)) {
        sumUp(Each);
        Changed = true;
      }
    return Changed;
  }

private:
  bool isSeen(const Addition &Each) const {
    MemoryLocation Element = MemoryLocation::get(Each.New);
    for (BasicBlock *Block : L.blocks())
      for (Instruction &I : *Block)
        if (!Found.have(I) && !I.hasMetadata(LLVMContext::MD_invariant_load) &&
            isModOrRefSet(AA.getModRefInfo(&I, Element)))
          return true;
    return false;
  }

  void sumUp(const Addition &Each) {
    auto [Old, Sum, New] = Each;
    Type *T = Sum->getType();
    IRBuilder<> B(&L.getHeader()->front());
    PHINode *SoFar = B.CreatePHI(T, 2, "sum");
    SoFar->addIncoming(ConstantFP::getNegativeZero(T), L.getLoopPreheader());
    SoFar->addIncoming(Sum, L.getLoopLatch());
    Sum->replaceUsesOfWith(Old, SoFar);
    BasicBlock *Exit = L.getUniqueExitBlock();
    B.SetInsertPoint(&Exit->front());
    PHINode *All = B.CreatePHI(T, 1, "all");
    All->addIncoming(Sum, L.getLoopLatch());
    B.SetInsertPoint(Exit->getFirstInsertionPt());
    auto *Before = cast<LoadInst>(Old->clone());
    B.Insert(Before);
    Value *After = B.CreateFAddFMF(Before, All, Sum);
    B.Insert(New->clone())->setOperand(0, After);
    Found.erase(Each);
  }

  Loop &L;
  AAResults &AA;
  Additions Found;
};

bool isSimple(const Loop &L) {
  BasicBlock *Exit = L.getUniqueExitBlock();
  return L.isInnermost() && L.getLoopPreheader() && L.getLoopLatch() && L.getExitingBlock() == L.getLoopLatch() &&
         Exit && Exit->getSinglePredecessor();
}

} // namespace

ADGEN_DECLARE_PASS(SumThreads);

PreservedAnalyses SumThreads::run(Module &M, ModuleAnalysisManager &MAM) {
  auto &FAM = MAM.getResult<FunctionAnalysisManagerModuleProxy>(M).getManager();
  bool Changed = false;
  for (Function &F : M) {
    if (F.isDeclaration())
      continue;
    auto &AA = FAM.getResult<AAManager>(F);
    auto &DT = FAM.getResult<DominatorTreeAnalysis>(F);
    for (Loop *L : FAM.getResult<LoopAnalysis>(F).getLoopsInPreorder())
      if (isSimple(*L))
        if (Sums(*L, AA, DT).make()) {
          ADGEN_COUNT(NumLoops, *L);
          Changed = true;
        }
  }
  return Changed ? PreservedAnalyses::none() : PreservedAnalyses::all();
}

} // namespace adgen
