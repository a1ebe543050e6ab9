// Integers that depend on which way was taken are kept by Enzyme as soon as they pass through a call that it can neither see through nor
// repeat: adgen_hold_TYPE(value). Else it finds out the way again in the reverse sweep, wherever the value is needed, also in the
// innermost loop, and nothing shows any more that what is computed from it was computed before. Only outside of loops, where a
// kept value takes a register and no tape. ForgetGuards takes the calls away.
#include "Passes.h"

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IntrinsicInst.h"

using namespace llvm;

namespace adgen {
namespace {

constexpr unsigned LeastBits = 32; // below are flags, which say which way was taken themselves

// The bits of a number of floating point carry a derivative.
bool staysInteger(PHINode &Join) {
  SmallVector<Value *> Next{&Join};
  SmallPtrSet<Value *, 16> Seen{&Join};
  while (!Next.empty())
    for (User *U : Next.pop_back_val()->users()) {
      if (isa<ICmpInst, GetElementPtrInst, UIToFPInst, SIToFPInst, SwitchInst>(U))
        continue;
      auto *Call = dyn_cast<IntrinsicInst>(U);
      bool Computes = isa<BinaryOperator, PHINode, SelectInst, FreezeInst, TruncInst, ZExtInst, SExtInst>(U) ||
                      (Call && !Call->mayReadOrWriteMemory());
      if (!Computes || !U->getType()->isIntegerTy())
        return false;
      if (Seen.insert(U).second)
        Next.push_back(U);
    }
  return true;
}

bool isHeld(PHINode &Phi) {
  return Phi.getType()->isIntegerTy() && Phi.getType()->getIntegerBitWidth() >= LeastBits && Phi.getNumIncomingValues() > 1 &&
         staysInteger(Phi);
}

FunctionCallee holdOf(Module &M, Type *T) {
  LLVMContext &Context = M.getContext();
  FunctionCallee Hold = M.getOrInsertFunction((HoldPrefix + Twine(T->getIntegerBitWidth())).str(), T, T);
  auto *F = cast<Function>(Hold.getCallee());
  F->addFnAttr("enzyme_inactive");
  F->addRetAttr(Attribute::get(Context, "enzyme_type", "{[-1]:Integer}"));
  F->setDoesNotThrow();
  F->setWillReturn();
  F->setDoesNotFreeMemory();
  F->setOnlyAccessesInaccessibleMemory();
  return Hold;
}

void holdAll(Function &F) {
  DominatorTree DT(F);
  LoopInfo LI(DT);
  for (BasicBlock &Block : F)
    if (!LI.getLoopFor(&Block))
      for (PHINode &Phi : Block.phis())
        if (isHeld(Phi)) {
          IRBuilder<> B(&Block, Block.getFirstInsertionPt());
          CallInst *Call = B.CreateCall(holdOf(*F.getParent(), Phi.getType()), {&Phi});
          Phi.replaceUsesWithIf(Call, [&](Use &U) { return U.getUser() != Call; });
        }
}

} // namespace

PreservedAnalyses HoldJoins::run(Module &M, ModuleAnalysisManager &) {
  for (Function &F : M)
    if (F.getName().starts_with(BodyPrefix) && !F.isDeclaration())
      holdAll(F);
  return PreservedAnalyses::none();
}

} // namespace adgen
