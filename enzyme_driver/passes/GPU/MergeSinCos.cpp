// A gradient often needs the sine and the cosine of the same angle, one for the primal and one for its derivative.
// libdevice's sincos brings the angle into its first octant once for both, which for large angles is most of the work.
#include "Support/Pass.h"

#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"

#define DEBUG_TYPE "adgen-merge-sin-cos"

using namespace llvm;

STATISTIC(NumPairs, "Number of sines and cosines merged");

namespace adgen {
namespace {

struct Pair {
  CallInst *Sine = nullptr, *Cosine = nullptr;
};

// By angle: the last sine and cosine of it. Equal calls of which one comes after the other have become one before.
MapVector<Value *, Pair> pairsIn(Function &F) {
  MapVector<Value *, Pair> Found;
  for (Instruction &I : instructions(F)) {
    auto *Call = dyn_cast<CallInst>(&I);
    const Function *Callee = Call ? Call->getCalledFunction() : nullptr;
    if (!Callee || Call->arg_size() != 1)
      continue;
    StringRef Name = Callee->getName();
    if (Name == "__nv_sin" || Name == "__nv_sinf")
      Found[Call->getArgOperand(0)].Sine = Call;
    else if (Name == "__nv_cos" || Name == "__nv_cosf")
      Found[Call->getArgOperand(0)].Cosine = Call;
  }
  return Found;
}

void together(const Pair &Both, CallInst &First) {
  ADGEN_COUNT(NumPairs, *Both.Sine);
  Module &M = *First.getModule();
  Type *Number = First.getType();
  IRBuilder<> Entry(&First.getFunction()->getEntryBlock(), First.getFunction()->getEntryBlock().begin());
  Value *Sine = Entry.CreateAlloca(Number), *Cosine = Entry.CreateAlloca(Number);
  IRBuilder<> B(&First);
  FunctionCallee Callee = M.getOrInsertFunction(Number->isFloatTy() ? "__nv_sincosf" : "__nv_sincos", B.getVoidTy(),
                                                Number, B.getPtrTy(), B.getPtrTy());
  B.CreateCall(Callee, {First.getArgOperand(0), Sine, Cosine});
  Both.Sine->replaceAllUsesWith(B.CreateLoad(Number, Sine));
  Both.Cosine->replaceAllUsesWith(B.CreateLoad(Number, Cosine));
  Both.Sine->eraseFromParent();
  Both.Cosine->eraseFromParent();
}

} // namespace

ADGEN_DECLARE_PASS(MergeSinCos);

PreservedAnalyses MergeSinCos::run(Module &M, ModuleAnalysisManager &) {
  for (Function &F : M) {
    if (!F.hasFnAttribute(ActivityAttribute) || F.isDeclaration())
      continue;
    DominatorTree Dominates(F);
    for (auto &[Angle, Both] : pairsIn(F)) {
      if (!Both.Sine || !Both.Cosine)
        continue;
      if (Dominates.dominates(Both.Sine, Both.Cosine))
        together(Both, *Both.Sine);
      else if (Dominates.dominates(Both.Cosine, Both.Sine))
        together(Both, *Both.Cosine);
    }
  }
  return PreservedAnalyses::none();
}

} // namespace adgen
