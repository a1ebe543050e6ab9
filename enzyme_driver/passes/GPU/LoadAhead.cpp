// What lies beside something that a thread loads is loaded together with it. ptxas makes branches of a division or a
// root, and moves no load over them: of a struct whose first members are divided and whose others are read behind the
// division, a thread would wait for memory twice.
//
// Only what stays the same for the whole launch is loaded ahead, in the block in which it is loaded anyway. It runs
// behind the optimiser, which would move the loads back.
#include "Analysis/Accumulation.h"
#include "Support/Pass.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IntrinsicInst.h"

#define DEBUG_TYPE "adgen-load-ahead"

using namespace llvm;

STATISTIC(NumLoads, "Number of loads that are made ahead of a division or a root");

namespace adgen {
namespace {

constexpr unsigned MostAhead = 12; // loads, so that what waits for the division has registers
constexpr int64_t Nearby = 128;    // bytes: as a rule the same line, or the next one

bool becomesBranches(const Instruction &I) {
  auto *Root = dyn_cast<IntrinsicInst>(&I);
  return I.getOpcode() == Instruction::FDiv || (Root && Root->getIntrinsicID() == Intrinsic::sqrt);
}

// What is first loaded from an address, or a constant distance from it.
struct Neighbour {
  LoadInst *Load;
  int64_t Distance;
  unsigned Branching; // what comes before it in the block
};

bool isNeighbour(const Neighbour &First, int64_t Distance) { return std::abs(Distance - First.Distance) < Nearby; }

bool loadAhead(BasicBlock &Block, const DominatorTree &DT) {
  MapVector<Value *, Neighbour> Known;
  SmallVector<std::pair<LoadInst *, LoadInst *>> Ahead;
  unsigned Branching = 0;
  for (Instruction &I : Block) {
    Branching += becomesBranches(I);
    auto *Load = dyn_cast<LoadInst>(&I);
    if (!Load || !Load->isSimple() || !Load->hasMetadata(LLVMContext::MD_invariant_load))
      continue;
    int64_t Distance = 0;
    Value *Base = GetPointerBaseWithConstantOffset(Load->getPointerOperand(), Distance, Load->getDataLayout());
    auto [At, New] = Known.try_emplace(Base, Neighbour{Load, Distance, Branching});
    if (!New && At->second.Branching < Branching && isNeighbour(At->second, Distance) && Ahead.size() < MostAhead)
      Ahead.push_back({At->second.Load, Load});
  }
  bool Changed = false;
  for (auto [First, Load] : Ahead)
    if (moveUpTo(*First, *Load, DT)) {
      ADGEN_COUNT(NumLoads, *Load);
      Changed = true;
    }
  return Changed;
}

} // namespace

ADGEN_DECLARE_PASS(LoadAhead);

PreservedAnalyses LoadAhead::run(Module &M, ModuleAnalysisManager &MAM) {
  auto &FAM = MAM.getResult<FunctionAnalysisManagerModuleProxy>(M).getManager();
  for (Function &F : M) {
    if (!isKernel(F) || !F.getName().ends_with(GradientSuffix))
      continue;
    bool Changed = false;
    for (BasicBlock &Block : F)
      Changed |= loadAhead(Block, FAM.getResult<DominatorTreeAnalysis>(F));
    if (Changed)
      FAM.invalidate(F, PreservedAnalyses::none());
  }
  return PreservedAnalyses::none();
}

} // namespace adgen
