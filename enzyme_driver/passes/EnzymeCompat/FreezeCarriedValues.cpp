// What a loop carries from one iteration to the next by a choice (`best = x > best ? x : best`) or by divisions alone,
// Enzyme reverses as if only the last iteration's were used: the choice's cotangent goes to what was chosen last, and a
// dividend's by the product of all divisors. It asks who uses what was carried in, but not who uses the result, which a
// running maximum that is written in each iteration has others read. There the result is carried on by a `freeze`,
// which Enzyme hands cotangents through, and each iteration is reversed by itself.
#include "Support/Pass.h"

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"

using namespace llvm;

namespace adgen {
namespace {

bool makesOneOf(const Instruction &Next, const PHINode &Carried) {
  if (auto *Choice = dyn_cast<SelectInst>(&Next))
    return Choice->getTrueValue() == &Carried || Choice->getFalseValue() == &Carried;
  return Next.getOpcode() == Instruction::FDiv && Next.getOperand(0) == &Carried;
}

bool isUsedInEachIteration(const Instruction &Next, const PHINode &Carried, const Loop &L) {
  return any_of(Next.users(), [&](const User *U) {
    return U != &Carried && !isa<CmpInst, FPToSIInst, FPToUIInst>(U) && L.contains(cast<Instruction>(U));
  });
}

void separate(const Loop &L) {
  BasicBlock *Latch = L.getLoopLatch();
  if (!Latch)
    return;
  for (PHINode &Carried : L.getHeader()->phis()) {
    auto *Next = dyn_cast<Instruction>(Carried.getIncomingValueForBlock(Latch));
    if (!Next || Next->getType()->isPtrOrPtrVectorTy() || !makesOneOf(*Next, Carried) ||
        !isUsedInEachIteration(*Next, Carried, L))
      continue;
    Carried.setIncomingValueForBlock(Latch, IRBuilder<>(Latch->getTerminator()).CreateFreeze(Next));
  }
}

} // namespace

ADGEN_DECLARE_PASS(FreezeCarriedValues);

PreservedAnalyses FreezeCarriedValues::run(Module &M, ModuleAnalysisManager &MAM) {
  auto &Analyses = MAM.getResult<FunctionAnalysisManagerModuleProxy>(M).getManager();
  for (Function &F : M)
    if (!F.isDeclaration())
      for (const Loop *L : Analyses.getResult<LoopAnalysis>(F).getLoopsInPreorder())
        separate(*L);
  return PreservedAnalyses::none();
}

} // namespace adgen
