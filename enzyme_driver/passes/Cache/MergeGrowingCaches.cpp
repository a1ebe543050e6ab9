// Of a loop whose number of iterations nobody knows beforehand (Newton's method, a ray that is marched), Enzyme keeps
// each value in a block of its own, which is replaced by one of twice the size where the iterations have filled it:
// every iteration asks for every value whether that is so, and the code for it is larger than what is computed. The
// values of an iteration become a record, and a loop has one block of them.
#include "Cache/CacheBlock.h"
#include "Support/Pass.h"

#include "llvm/IR/Dominators.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/PatternMatch.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

#define DEBUG_TYPE "adgen-merge-growing-caches"

using namespace llvm;
using namespace llvm::PatternMatch;

STATISTIC(NumMerged, "Number of growing caches merged into another");

namespace adgen {
namespace {

// if (IsFull) { New = malloc(Size << ...); memset(New + ..., ...); memcpy(New, Old, ...); }  Grown = phi(New, Old)
struct Growth {
  BasicBlock *Asks = nullptr;
  Value *IsFull = nullptr;
  Use *Size = nullptr; // of one iteration's value
  PHINode *Grown = nullptr;
  CacheBlock Block;

  uint64_t bytes() const { return cast<ConstantInt>(Size->get())->getZExtValue(); }
};

// The size of a value in what the block allocates, if it is a block that makes room for more iterations.
Use *sizeIn(BasicBlock &B, const PHINode &Grown) {
  auto *New = dyn_cast<CallInst>(Grown.getIncomingValueForBlock(&B));
  if (!New || !isCallOf(*New, "malloc") || New->getParent() != &B)
    return nullptr;
  for (Instruction &I : B)
    if (&I != New && I.mayWriteToMemory() && !isa<MemSetInst>(I) && !isa<MemCpyInst>(I))
      return nullptr;
  auto *Bytes = dyn_cast<BinaryOperator>(New->getArgOperand(0));
  bool IsShifted = Bytes && Bytes->getOpcode() == Instruction::Shl && isa<ConstantInt>(Bytes->getOperand(0));
  return IsShifted && Bytes->getParent() == &B ? &Bytes->getOperandUse(0) : nullptr;
}

std::optional<Growth> growthIn(BasicBlock &Grows) {
  BasicBlock *Asks = Grows.getSinglePredecessor(), *Behind = Grows.getSingleSuccessor();
  auto *Branch = Asks ? dyn_cast<BranchInst>(Asks->getTerminator()) : nullptr;
  if (!Branch || !Branch->isConditional() || !Behind || Branch->getSuccessor(0) != &Grows ||
      Branch->getSuccessor(1) != Behind || Behind->phis().empty() || !hasSingleElement(Behind->phis()))
    return std::nullopt;
  PHINode *Grown = &*Behind->phis().begin();
  Growth Found{Asks, Branch->getCondition(), sizeIn(Grows, *Grown), Grown, {Grown, {}, {}}};
  if (!Found.Size || !Found.Block.collectUses(&Grows) || !Found.Block.hasElementsOf(Found.bytes()))
    return std::nullopt;
  return Found;
}

// `Members` have their values in the block of the first, the largest first.
void merge(MutableArrayRef<Growth> Members) {
  Growth &First = Members.front();
  SmallVector<uint64_t> Offsets =
      layRecordOut(SmallVector<uint64_t>(map_range(Members, [](const Growth &Each) { return Each.bytes(); })));
  uint64_t Record = Offsets.pop_back_val();
  First.Size->set(ConstantInt::get(First.Size->get()->getType(), Record));
  for (auto [Member, Offset] : zip(Members, Offsets))
    for (GetElementPtrInst *Element : Member.Block.Elements)
      placeInRecord(*Element, Record, Offset);
  for (Growth &Member : Members.drop_front()) {
    for (CallInst *Free : Member.Block.Frees)
      Free->eraseFromParent();
    Member.Grown->replaceAllUsesWith(First.Grown);
    Member.Grown->eraseFromParent();
    auto *Branch = cast<BranchInst>(Member.Asks->getTerminator());
    IRBuilder<>(Branch).CreateBr(Branch->getSuccessor(1));
    Branch->eraseFromParent();
    ++NumMerged;
  }
}

bool mergeIn(Function &F) {
  DominatorTree DT(F);
  MapVector<Value *, SmallVector<Growth>> Found;
  for (BasicBlock &B : F)
    if (std::optional<Growth> Each = growthIn(B))
      Found[Each->IsFull].push_back(*Each);
  bool Changed = false;
  for (auto &[IsFull, Members] : Found) {
    // What all others are behind grows for them.
    stable_sort(Members,
                [&](const Growth &One, const Growth &Other) { return DT.properlyDominates(One.Asks, Other.Asks); });
    erase_if(Members, [&](const Growth &Each) { return !DT.dominates(Members.front().Asks, Each.Asks); });
    if (Members.size() < 2)
      continue;
    merge(Members);
    Changed = true;
  }
  return Changed && (EliminateUnreachableBlocks(F), true);
}

} // namespace

ADGEN_DECLARE_PASS(MergeGrowingCaches);

PreservedAnalyses MergeGrowingCaches::run(Module &M, ModuleAnalysisManager &) {
  bool Changed = false;
  for (Function &F : M)
    if (F.getName().starts_with(GradientPrefix) && !F.isDeclaration())
      Changed |= mergeIn(F);
  return Changed ? PreservedAnalyses::none() : PreservedAnalyses::all();
}

} // namespace adgen
