// A result that is stored, and stored once more on a condition,
//   out[i] = x; if (c) out[i] = y;   becomes   r = x; if (c) r = y; out[i] = r;
// as C++ has it where an element is computed in place (out[i] = x; if (weight) out[i] *= weight[t]). Enzyme would take
// the cotangent at both stores, and passes that ask what an iteration leaves behind would find the element twice.
#include "Analysis/Accumulation.h"
#include "Support/Pass.h"

#include "llvm/Analysis/AliasAnalysis.h"
#include "llvm/IR/Dominators.h"

#define DEBUG_TYPE "adgen-join-stores"

using namespace llvm;

STATISTIC(NumStores, "Number of stores that are joined with one on a condition");

namespace adgen {
namespace {

class Joiner {
public:
  Joiner(Function &F, AAResults &AA) : F(F), AA(AA) {}

  bool run() {
    bool Changed = false;
    for (BasicBlock &Block : F)
      while (StoreInst *Again = conditionalStore(Block)) {
        StoreInst *First = storeBefore(Block, *Again);
        if (!First)
          break;
        join(*First, *Again);
        Changed = true;
      }
    return Changed;
  }

private:
  // The last store of a block that one branch alone goes around.
  static StoreInst *conditionalStore(BasicBlock &Block) {
    auto *Branch = dyn_cast<BranchInst>(Block.getTerminator());
    if (!Branch || !Branch->isConditional())
      return nullptr;
    for (BasicBlock *Then : Branch->successors()) {
      BasicBlock *Join = Then->getSingleSuccessor();
      if (!Join || Then->getSinglePredecessor() != &Block || !is_contained(Branch->successors(), Join) ||
          Then == Join || pred_size(Join) != 2)
        continue;
      for (Instruction &I : reverse(*Then))
        if (auto *Store = dyn_cast<StoreInst>(&I))
          return Store;
    }
    return nullptr;
  }

  // The store to the same place that comes before the branch, if nothing sees what it stores, or that it does not yet.
  StoreInst *storeBefore(BasicBlock &Block, StoreInst &Again) {
    auto IsUnseen = [&](Instruction &I) { return !mayTouch(I, Again); };
    auto &Then = *Again.getParent();
    if (!Again.isSimple() || !all_of(make_range(Then.begin(), Again.getIterator()), IsUnseen) ||
        !all_of(make_range(std::next(Again.getIterator()), Then.end()), IsUnseen))
      return nullptr;
    for (Instruction &I : reverse(Block)) {
      auto *Store = dyn_cast<StoreInst>(&I);
      if (Store && Store->getPointerOperand() == Again.getPointerOperand())
        return Store->isSimple() && Store->getValueOperand()->getType() == Again.getValueOperand()->getType() ? Store
                                                                                                              : nullptr;
      if (!IsUnseen(I))
        return nullptr;
    }
    return nullptr;
  }

  bool mayTouch(Instruction &I, const StoreInst &Store) {
    if (!I.mayReadOrWriteMemory())
      return !isGuaranteedToTransferExecutionToSuccessor(&I);
    if (I.hasMetadata(LLVMContext::MD_invariant_load))
      return false;
    return !isSimpleAccess(I) || isModOrRefSet(AA.getModRefInfo(&I, MemoryLocation::get(&Store)));
  }

  static void join(StoreInst &First, StoreInst &Again) {
    BasicBlock *Join = Again.getParent()->getSingleSuccessor();
    IRBuilder<> B(Join, Join->begin());
    PHINode *Stored = B.CreatePHI(First.getValueOperand()->getType(), 2, "stored");
    Stored->addIncoming(First.getValueOperand(), First.getParent());
    Stored->addIncoming(Again.getValueOperand(), Again.getParent());
    Again.moveBefore(*Join, Join->getFirstInsertionPt());
    Again.setOperand(0, Stored);
    Again.mergeDIAssignID({&First});
    Again.setAAMetadata(First.getAAMetadata().merge(Again.getAAMetadata()));
    Again.setAlignment(std::max(First.getAlign(), Again.getAlign()));
    First.eraseFromParent();
  }

  Function &F;
  AAResults &AA;
};

} // namespace

ADGEN_DECLARE_PASS(JoinStores);

PreservedAnalyses JoinStores::run(Module &M, ModuleAnalysisManager &MAM) {
  auto &FAM = MAM.getResult<FunctionAnalysisManagerModuleProxy>(M).getManager();
  for (Function &F : M)
    if (F.getName().starts_with(BodyPrefix) && !F.isDeclaration() && Joiner(F, FAM.getResult<AAManager>(F)).run())
      ADGEN_COUNT(NumStores, F.getName());
  return PreservedAnalyses::none();
}

} // namespace adgen
