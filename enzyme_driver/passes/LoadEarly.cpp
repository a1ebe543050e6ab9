// Loads come before the first division of their block. ptxas makes a division a branch to what denormal and huge numbers need, and takes no load
// past it: a thread would wait for memory once for each division.
#include "Accumulation.h"
#include "Passes.h"

#include "llvm/Analysis/AliasAnalysis.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsNVPTX.h"

using namespace llvm;

namespace adgen {
namespace {

constexpr unsigned MostLoads = 16; // of a block, which wait in registers

bool becomesBranches(const Instruction &I) {
  constexpr Intrinsic::ID Divisions[] = {Intrinsic::sqrt,          Intrinsic::nvvm_sqrt_rn_f, Intrinsic::nvvm_sqrt_rn_d, Intrinsic::nvvm_div_rn_f,
                                         Intrinsic::nvvm_div_rn_d, Intrinsic::nvvm_rcp_rn_f,  Intrinsic::nvvm_rcp_rn_d};
  if (auto *Call = dyn_cast<IntrinsicInst>(&I))
    return is_contained(Divisions, Call->getIntrinsicID());
  return I.getOpcode() == Instruction::FDiv;
}

bool isWritten(LoadInst &Load, Instruction &From, AAResults &AA) {
  MemoryLocation Where = MemoryLocation::get(&Load);
  return any_of(make_range(From.getIterator(), Load.getIterator()),
                [&](Instruction &I) { return I.mayWriteToMemory() && isModSet(AA.getModRefInfo(&I, Where)); });
}

void loadEarlyIn(BasicBlock &Block, AAResults &AA) {
  auto First = find_if(Block, becomesBranches);
  if (First == Block.end())
    return;
  SmallVector<LoadInst *> Loads;
  for (Instruction &I : make_range(First, Block.end()))
    if (auto *Load = dyn_cast<LoadInst>(&I); Load && Load->isSimple() && Loads.size() < MostLoads)
      Loads.push_back(Load);
  for (LoadInst *Load : Loads)
    if (!isWritten(*Load, *First, AA))
      moveUpTo(*First, *Load);
}

} // namespace

PreservedAnalyses LoadEarly::run(Module &M, ModuleAnalysisManager &MAM) {
  auto &FAM = MAM.getResult<FunctionAnalysisManagerModuleProxy>(M).getManager();
  for (Function &F : M)
    if (isKernel(F) && F.getName().ends_with(GradientSuffix))
      for (BasicBlock &Block : F)
        loadEarlyIn(Block, FAM.getResult<AAManager>(F));
  return PreservedAnalyses::none();
}

} // namespace adgen
