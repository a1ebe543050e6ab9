// Enzyme computes the address of an element again in each branch that adds to it, so that a thread that works out row
// and column from one number divides anew for each neighbour that is inside the image, by some twenty instructions for
// an integer that is not known. Neither branch comes before the other, so the optimiser leaves that as it is. Here such
// a division, and integers that follow from it, are computed once where the ways to all of them part.
#include "GPU/Divisions.h"
#include "Support/Adgen.h"
#include "Support/Pass.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Dominators.h"

#define DEBUG_TYPE "adgen-share-divisions"

using namespace llvm;

STATISTIC(NumShared, "Number of integers that branches have in common");

namespace adgen {
namespace {

// What computes the same in one loop: the operation, its type and operands.
using Key = std::tuple<const Loop *, unsigned, Type *, Value *, Value *>;

class Sharer {
public:
  Sharer(DominatorTree &DT, LoopInfo &LI) : DT(DT), LI(LI) {}

  // Operands come first, so that what follows from a division is alike once that is one.
  bool run(Function &F) {
    bool Changed = false;
    for (auto Alike = find(F); !Alike.empty(); Alike = find(F)) {
      for (auto &[Which, Members] : Alike)
        share(Members);
      Changed = true;
    }
    return Changed;
  }

private:
  MapVector<Key, SmallVector<Instruction *>> find(Function &F) const {
    MapVector<Key, SmallVector<Instruction *>> Found;
    for (BasicBlock *Block : ReversePostOrderTraversal<Function *>(&F))
      for (Instruction &I : *Block)
        if (isDivision(I) || (follows(I) && isSafeToSpeculativelyExecute(&I)))
          Found[{LI.getLoopFor(Block), I.getOpcode(), I.getType(), I.getOperand(0),
                 I.getOperand(I.getNumOperands() - 1)}]
              .push_back(&I);
    Found.remove_if([&](const auto &Each) { return !isWorthIt(Each.second); });
    return Found;
  }

  // From an integer that branches share.
  bool follows(const Instruction &I) const {
    return isa<BinaryOperator, CastInst>(I) && I.getType()->isIntegerTy() &&
           any_of(I.operands(), [&](const Use &Operand) { return Shared.contains(Operand); });
  }

  bool isWorthIt(ArrayRef<Instruction *> Members) const {
    return Members.size() > 1 && all_of(Members.front()->operands(), [&](const Use &Operand) {
             auto *I = dyn_cast<Instruction>(Operand);
             return !I || DT.dominates(I, placeFor(Members));
           });
  }

  // The last place that comes before all of them, and no more often than they do.
  Instruction *placeFor(ArrayRef<Instruction *> Members) const {
    BasicBlock *Own = Members.front()->getParent(), *Block = Own;
    for (Instruction *Member : Members)
      Block = DT.findNearestCommonDominator(Block, Member->getParent());
    while (LI.getLoopFor(Block) != LI.getLoopFor(Own))
      Block = DT.getNode(Block)->getIDom()->getBlock();
    return Block == Own ? Members.front() : Block->getTerminator(); // they are in the order of the blocks
  }

  void share(ArrayRef<Instruction *> Members) {
    Instruction *Place = placeFor(Members), *First = Members.front();
    ADGEN_COUNT(NumShared, *First);
    if (Place != First) {
      First->moveBefore(Place->getIterator());
      First->dropUBImplyingAttrsAndMetadata();
      First->dropPoisonGeneratingFlags();
      if (isDivision(*First))
        guardDivision(*First);
    }
    for (Instruction *Member : drop_begin(Members)) {
      First->andIRFlags(Member);
      Member->replaceAllUsesWith(First);
      Member->eraseFromParent();
    }
    Shared.insert(First);
  }

  DominatorTree &DT;
  LoopInfo &LI;
  SmallPtrSet<const Value *, 16> Shared;
};

} // namespace

ADGEN_DECLARE_PASS(ShareDivisions);

PreservedAnalyses ShareDivisions::run(Module &M, ModuleAnalysisManager &MAM) {
  auto &FAM = MAM.getResult<FunctionAnalysisManagerModuleProxy>(M).getManager();
  for (Function &F : M)
    if (F.hasFnAttribute(ActivityAttribute) && !F.isDeclaration() &&
        Sharer(FAM.getResult<DominatorTreeAnalysis>(F), FAM.getResult<LoopAnalysis>(F)).run(F))
      FAM.invalidate(F, PreservedAnalyses::none());
  return PreservedAnalyses::none();
}

} // namespace adgen
