// Two loops that read the same elements in the same order, as two solves with one factorised matrix do. Where Enzyme has kept what the
// first loop read, it takes that for what the second one reads too, but looks it up by the first loop's counter, which stands still in the
// reverse sweep of the second. The second loop's addresses get an offset of zero that Enzyme cannot see through, and are others to it.
#include "Opaque.h"
#include "Passes.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"

using namespace llvm;

namespace adgen {
namespace {

// A load whose address goes on by the same step with each iteration of a loop.
struct Walk {
  LoadInst *Load;
  const SCEVAddRecExpr *Address;
};

bool differ(const SCEV *A, const SCEV *B, ScalarEvolution &SE) {
  if (isa<SCEVCouldNotCompute>(A) || isa<SCEVCouldNotCompute>(B) || A->getType() != B->getType())
    return false;
  auto *Apart = dyn_cast<SCEVConstant>(SE.getMinusSCEV(A, B));
  return Apart && !Apart->isZero();
}

bool repeats(const Walk &Second, const Walk &First, ScalarEvolution &SE, const DominatorTree &DT) {
  const Loop *A = First.Address->getLoop(), *B = Second.Address->getLoop();
  return A != B && DT.dominates(First.Load, Second.Load) &&
         First.Address->getStepRecurrence(SE) == Second.Address->getStepRecurrence(SE) &&
         !differ(First.Address->getStart(), Second.Address->getStart(), SE) &&
         !differ(SE.getBackedgeTakenCount(A), SE.getBackedgeTakenCount(B), SE);
}

MapVector<const Value *, SmallVector<Walk>> walksByObject(Function &F, ScalarEvolution &SE) {
  MapVector<const Value *, SmallVector<Walk>> Found;
  for (Instruction &I : instructions(F))
    if (auto *Load = dyn_cast<LoadInst>(&I))
      if (auto *Address = dyn_cast<SCEVAddRecExpr>(SE.getSCEV(Load->getPointerOperand())))
        if (auto *Base = dyn_cast<SCEVUnknown>(SE.getPointerBase(Address))) // behind pointers that walk, too
          Found[getUnderlyingObject(Base->getValue())].push_back({Load, Address});
  return Found;
}

// Zeros that are all different to Enzyme: what hides one hides the next.
class Zeros {
public:
  explicit Zeros(Function &F) : Entry(F.getEntryBlock()), Last(ConstantInt::getFalse(F.getContext())) {}

  Value *next() {
    auto Place = Entry.getFirstNonPHIOrDbgOrAlloca();
    if (auto *Before = dyn_cast<Instruction>(Last))
      Place = std::next(Before->getIterator());
    Last = hidden(Last, Place);
    return Last;
  }

private:
  BasicBlock &Entry;
  Value *Last;
};

void separate(Function &F, FunctionAnalysisManager &Analyses) {
  auto &SE = Analyses.getResult<ScalarEvolutionAnalysis>(F);
  auto &DT = Analyses.getResult<DominatorTreeAnalysis>(F);
  MapVector<const Loop *, SmallVector<LoadInst *>> Repeating;
  for (auto &[Object, Walks] : walksByObject(F, SE))
    for (const Walk &Second : Walks)
      if (any_of(Walks, [&](const Walk &First) { return repeats(Second, First, SE, DT); }))
        Repeating[Second.Address->getLoop()].push_back(Second.Load);
  Zeros Hidden(F);
  for (auto &[Loop, Loads] : Repeating) {
    Value *Zero = Hidden.next();
    for (LoadInst *Load : Loads) {
      IRBuilder<> B(Load);
      Load->setOperand(0, B.CreateInBoundsGEP(B.getInt8Ty(), Load->getPointerOperand(), B.CreateZExt(Zero, B.getInt64Ty())));
    }
  }
}

} // namespace

PreservedAnalyses SeparateLoads::run(Module &M, ModuleAnalysisManager &MAM) {
  auto &Analyses = MAM.getResult<FunctionAnalysisManagerModuleProxy>(M).getManager();
  for (Function &F : M)
    if (!F.isDeclaration())
      separate(F, Analyses);
  return PreservedAnalyses::none();
}

} // namespace adgen
