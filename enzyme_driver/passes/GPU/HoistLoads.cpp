// Loads come before the first division of their block, and before branches of mathematics. ptxas makes a division a
// branch to what denormal and huge numbers need, and takes no load past a branch: a thread would wait for memory once
// for each. Cycles are asked, not loops: what was optimised may enter one in two places, and a load must not leave it.
#include "Analysis/Accumulation.h"
#include "Support/Pass.h"

#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/Analysis/AliasAnalysis.h"
#include "llvm/Analysis/CycleAnalysis.h"
#include "llvm/Analysis/PostDominators.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsNVPTX.h"

using namespace llvm;

namespace adgen {
namespace {

constexpr unsigned MostLoads = 16; // which wait in registers

bool becomesBranches(const Instruction &I) {
  constexpr Intrinsic::ID Divisions[] = {Intrinsic::sqrt,          Intrinsic::nvvm_sqrt_rn_f, Intrinsic::nvvm_sqrt_rn_d,
                                         Intrinsic::nvvm_div_rn_f, Intrinsic::nvvm_div_rn_d,  Intrinsic::nvvm_rcp_rn_f,
                                         Intrinsic::nvvm_rcp_rn_d};
  if (auto *Call = dyn_cast<IntrinsicInst>(&I))
    return is_contained(Divisions, Call->getIntrinsicID());
  return I.getOpcode() == Instruction::FDiv;
}

bool isConvergent(const Instruction &I) {
  auto *Call = dyn_cast<CallBase>(&I);
  return Call && Call->isConvergent();
}

using Path = SmallVector<BasicBlock *, 4>;

// Blocks of which each is reached whenever the first one is, and nothing but arithmetic lies between them: mathematics
// that asks about its arguments.
class Paths {
public:
  explicit Paths(Function &F) : Dominators(F), PostDominators(F) { Cycles.compute(F); }

  // Nothing where the block is on another one.
  Path from(BasicBlock &First) {
    Path Found;
    for (BasicBlock *Block = &First; Block && Seen.insert(Block).second; Block = next(*Block))
      Found.push_back(Block);
    return Found;
  }

  const DominatorTree &dominators() const { return Dominators; }

private:
  BasicBlock *next(BasicBlock &Block) {
    auto *Node = PostDominators.getNode(&Block);
    BasicBlock *Next = Node && Node->getIDom() ? Node->getIDom()->getBlock() : nullptr;
    return Next && Dominators.dominates(&Block, Next) && isBesideIn(Block, *Next) && onlyComputesBetween(Block, *Next)
               ? Next
               : nullptr;
  }

  bool isBesideIn(const BasicBlock &Block, const BasicBlock &Other) const {
    return Cycles.getCycle(&Block) == Cycles.getCycle(&Other);
  }

  bool onlyComputesBetween(BasicBlock &From, BasicBlock &To) const {
    SmallSetVector<BasicBlock *, 8> Between(succ_begin(&From), succ_end(&From));
    for (unsigned I = 0; I < Between.size(); ++I) {
      BasicBlock *Block = Between[I];
      if (Block == &To)
        continue;
      if (!isBesideIn(From, *Block) ||
          any_of(*Block, [](const Instruction &Each) { return Each.mayReadOrWriteMemory() || isConvergent(Each); }))
        return false;
      Between.insert(succ_begin(Block), succ_end(Block));
    }
    return true;
  }

  DominatorTree Dominators;
  PostDominatorTree PostDominators;
  CycleInfo Cycles;
  SmallPtrSet<BasicBlock *, 16> Seen;
};

// The first division of the path, or where its first block branches.
Instruction *firstBranch(const Path &Along) {
  BasicBlock &Block = *Along.front();
  auto First = find_if(Block, becomesBranches);
  if (First != Block.end())
    return &*First;
  return Along.size() > 1 ? Block.getTerminator() : nullptr;
}

void loadEarlyAlong(const Path &Along, const DominatorTree &Dominators, AAResults &AA) {
  Instruction *First = firstBranch(Along);
  if (!First)
    return;
  SmallVector<Instruction *> Writes;
  SmallVector<LoadInst *> Loads;
  auto IsWritten = [&](LoadInst &Load) { // by others too, behind a barrier
    MemoryLocation Where = MemoryLocation::get(&Load);
    return any_of(Writes,
                  [&](Instruction *Write) { return isConvergent(*Write) || isModSet(AA.getModRefInfo(Write, Where)); });
  };
  for (BasicBlock *Block : Along)
    for (Instruction &I :
         make_range(Block == First->getParent() ? First->getIterator() : Block->begin(), Block->end())) {
      if (auto *Load = dyn_cast<LoadInst>(&I);
          Load && Load->isSimple() && Loads.size() < MostLoads && !IsWritten(*Load))
        Loads.push_back(Load);
      if (I.mayWriteToMemory())
        Writes.push_back(&I);
    }
  for (LoadInst *Load : Loads)
    moveUpTo(*First, *Load, Dominators);
}

} // namespace

ADGEN_DECLARE_PASS(HoistLoads);

PreservedAnalyses HoistLoads::run(Module &M, ModuleAnalysisManager &MAM) {
  auto &FAM = MAM.getResult<FunctionAnalysisManagerModuleProxy>(M).getManager();
  for (Function &F : M)
    if (isKernel(F) && F.getName().ends_with(GradientSuffix)) {
      Paths All(F);
      for (BasicBlock *Block : ReversePostOrderTraversal<Function *>(&F))
        if (Path Along = All.from(*Block); !Along.empty())
          loadEarlyAlong(Along, All.dominators(), FAM.getResult<AAManager>(F));
    }
  return PreservedAnalyses::none();
}

} // namespace adgen
