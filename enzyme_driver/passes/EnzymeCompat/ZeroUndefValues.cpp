// A number of floating point that some way has left without a value (`float prefix; if (warp > 0) prefix = ...`) is
// zero there. The primal does not look at it on that way, but computes with it all the same where a choice comes after
// the arithmetic, and the reverse sweep multiplies it by a cotangent of zero: with whatever a register or what was kept
// holds, that may be no number.
#include "Support/Pass.h"

#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"

using namespace llvm;

namespace adgen {
namespace {

bool computes(const Instruction &I) { return isa<PHINode, SelectInst, BinaryOperator, UnaryOperator, CmpInst>(I); }

void define(Function &F) {
  for (Instruction &I : instructions(F))
    if (computes(I))
      for (Use &Operand : I.operands())
        if (isa<UndefValue>(Operand) && Operand->getType()->isFPOrFPVectorTy())
          Operand.set(Constant::getNullValue(Operand->getType()));
}

} // namespace

ADGEN_DECLARE_PASS(ZeroUndefValues);

PreservedAnalyses ZeroUndefValues::run(Module &M, ModuleAnalysisManager &) {
  for (Function &F : M)
    define(F);
  return PreservedAnalyses::none();
}

} // namespace adgen
