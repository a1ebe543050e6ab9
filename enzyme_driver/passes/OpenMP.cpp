#include "OpenMP.h"

using namespace llvm;

namespace adgen {

Function *startedBy(const CallBase &Call) {
  const Function *Callee = Call.getCalledFunction();
  auto *Started = Callee && Callee->getName() == ForkName ? dyn_cast<Function>(Call.getArgOperand(ForkFunction)) : nullptr;
  return Started && !Started->isDeclaration() ? Started : nullptr;
}

Argument *inRegion(Argument &Started) {
  if (!Started.hasOneUse())
    return nullptr;
  auto *Call = dyn_cast<CallInst>(Started.user_back());
  Function *Region = Call ? Call->getCalledFunction() : nullptr;
  bool Hands = Region && Region->hasLocalLinkage() && Region->hasOneUse() && Call->isArgOperand(&*Started.use_begin());
  return Hands ? Region->getArg(Call->getArgOperandNo(&*Started.use_begin())) : nullptr;
}

SmallVector<CallInst *> callsOf(Module &M, StringRef Name) {
  SmallVector<CallInst *> Calls;
  if (Function *F = M.getFunction(Name))
    for (User *U : F->users())
      if (auto *Call = dyn_cast<CallInst>(U); Call && Call->getCalledFunction() == F)
        Calls.push_back(Call);
  return Calls;
}

// Within one function the answer never changes, so that the optimiser may ask once.
static Value *ask(IRBuilder<> &B, StringRef Name) {
  Module &M = *B.GetInsertBlock()->getModule();
  auto *F = cast<Function>(M.getOrInsertFunction(Name, B.getInt32Ty()).getCallee());
  F->setDoesNotAccessMemory();
  F->setDoesNotThrow();
  F->setWillReturn();
  F->setDoesNotFreeMemory();
  F->addFnAttr("enzyme_inactive");
  return B.CreateCall(F);
}

Value *threadNumber(IRBuilder<> &B) { return ask(B, "omp_get_thread_num"); }
Value *threadCount(IRBuilder<> &B) { return ask(B, "omp_get_num_threads"); }

} // namespace adgen
