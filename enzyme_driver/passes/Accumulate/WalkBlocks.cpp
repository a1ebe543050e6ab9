#include "Accumulate/WalkBlocks.h"
#include "Analysis/Accumulation.h"
#include "Analysis/Cooperates.h"
#include "Support/Adgen.h"
#include "Support/Extended.h"
#include "Support/Threads.h"
#include "Support/Walk.h"

#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsNVPTX.h"

using namespace llvm;

namespace adgen {

static constexpr StringLiteral WalkingRegisters = "64"; // a thread's, with which as many blocks fit as walk

static bool asksForBlock(const Instruction &I) {
  auto *Call = dyn_cast<IntrinsicInst>(&I);
  return Call && Call->getIntrinsicID() == Intrinsic::nvvm_read_ptx_sreg_ctaid_x;
}

// A loop that waits for another block would read so, and that one may come when this one has done all its work.
static bool mayWaitForOthers(const Instruction &I) {
  if (auto *Load = dyn_cast<LoadInst>(&I))
    return !Load->isSimple();
  if (auto *Call = dyn_cast<CallBase>(&I); Call && (Call->isInlineAsm() || !Call->getCalledFunction()))
    return Call->mayReadOrWriteMemory();
  return isa<AtomicCmpXchgInst, FenceInst>(I) || isGridBarrier(I) ||
         (isa<AtomicRMWInst>(I) && !I.use_empty() && !isConsumption(I));
}

bool mayWalk(Function &Gradient) {
  if (walks(Gradient) || !Gradient.getParent()->getTargetTriple().isNVPTX())
    return false;
  return none_of(instructions(Gradient), [](const Instruction &I) {
    auto *Call = dyn_cast<CallBase>(&I);
    const Function *Callee = Call ? Call->getCalledFunction() : nullptr;
    bool OthersAsk = Callee && !Callee->isDeclaration() &&
                     firstReached(*Callee, [](const Instruction &Each) { return asksForBlock(Each); });
    return OthersAsk || mayWaitForOthers(I);
  });
}

Function &makeWalk(Function &Gradient, bool FitsRegisters) {
  Function *New = extended(Gradient, Type::getInt32Ty(Gradient.getContext()), Gradient.getParent()->end());
  Gradient.eraseFromParent();
  Argument *Block = New->getArg(New->arg_size() - 1);
  for (Instruction &I : make_early_inc_range(instructions(*New)))
    if (asksForBlock(I)) {
      I.replaceAllUsesWith(Block);
      I.eraseFromParent();
    }
  New->addFnAttr(WalkAttribute);
  if (FitsRegisters && !New->hasFnAttribute(RegistersAttribute) && !mostThreads(*New))
    New->addFnAttr(RegistersAttribute, WalkingRegisters);
  return *New;
}

} // namespace adgen
