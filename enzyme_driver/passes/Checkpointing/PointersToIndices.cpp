// A pointer that walks over an array in steps that differ,
//   for (...; p += step) use(p);   becomes   for (...; offset += step) use(base + offset);
// Enzyme would keep the pointer and its shadow for each iteration, and behind what was kept nobody sees whose shadow it
// is. Pointers that walk in equal steps it finds again by itself.
#include "Support/Pass.h"

#include "llvm/ADT/SetVector.h"
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

// All pointers of a loop that come from the one it begins with: steps further, and the phis of loops in it and of ways
// that meet.
class Walk {
public:
  Walk(PHINode &Begin, const Loop &L) : Begin(Begin), L(L) {}

  // Whether it is nothing but these that the next iteration begins with.
  bool isKnown() { return collect(Begin.getIncomingValueForBlock(L.getLoopLatch())); }

  void index() {
    Value *Base = Begin.getIncomingValueForBlock(L.getLoopPreheader());
    Type *Index = Begin.getDataLayout().getIndexType(Begin.getType());
    for (PHINode *Phi : Phis)
      Offsets[Phi] = IRBuilder<>(Phi).CreatePHI(Index, Phi->getNumIncomingValues(), Phi->getName() + ".offset");
    for (PHINode *Phi : Phis)
      for (auto [V, From] : zip(Phi->incoming_values(), Phi->blocks()))
        cast<PHINode>(Offsets[Phi])
            ->addIncoming(Phi == &Begin && From == L.getLoopPreheader() ? ConstantInt::get(Index, 0) : offsetOf(V),
                          From);
    for (PHINode *Phi : Phis) {
      IRBuilder<> B(Phi->getParent(), Phi->getParent()->getFirstInsertionPt());
      Phi->replaceAllUsesWith(B.CreatePtrAdd(Base, Offsets[Phi], Phi->getName()));
    }
    for (PHINode *Phi : Phis)
      Phi->eraseFromParent();
  }

private:
  bool collect(Value *V) {
    auto *Phi = dyn_cast<PHINode>(V);
    if (auto *Step = dyn_cast<GetElementPtrInst>(V); Step && L.contains(Step))
      return collect(Step->getPointerOperand());
    if (!Phi || !L.contains(Phi) || (Phi != &Begin && Phi->getParent() == L.getHeader()))
      return false;
    return !Phis.insert(Phi) || Phi == &Begin || all_of(Phi->incoming_values(), [&](Use &U) { return collect(U); });
  }

  Value *offsetOf(Value *V) {
    Value *&Known = Offsets[V];
    if (Known)
      return Known;
    auto *Step = cast<GetElementPtrInst>(V);
    Value *Before = offsetOf(Step->getPointerOperand());
    IRBuilder<> B(Step);
    return Offsets[V] = B.CreateAdd(Before, emitGEPOffset(&B, Step->getDataLayout(), Step));
  }

  PHINode &Begin;
  const Loop &L;
  SmallSetVector<PHINode *, 8> Phis;
  DenseMap<Value *, Value *> Offsets;
};

bool indexPointers(const Loop &L, ScalarEvolution &Evolution) {
  BasicBlock *Latch = L.getLoopLatch();
  if (!L.getLoopPreheader() || !Latch)
    return false;
  bool Changed = false;
  for (PHINode &Phi : make_early_inc_range(L.getHeader()->phis())) {
    if (!Phi.getType()->isPointerTy() || walksInEqualSteps(Phi, Evolution))
      continue;
    Walk Pointers(Phi, L);
    if (!Pointers.isKnown())
      continue;
    Evolution.forgetLoop(&L);
    Pointers.index();
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
