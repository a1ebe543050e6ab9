#include "Support/OpenMP.h"

using namespace llvm;

namespace adgen {

Function *startedBy(const CallBase &Call) {
  const Function *Callee = Call.getCalledFunction();
  auto *Started =
      Callee && Callee->getName() == ForkName ? dyn_cast<Function>(Call.getArgOperand(ForkFunction)) : nullptr;
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

void eraseCalls(Module &M, StringRef Name) {
  for (CallInst *Call : callsOf(M, Name))
    Call->eraseFromParent();
}

// Adds what the functions call by name; whether any of them calls through a pointer.
static bool addCalled(SmallSetVector<Function *, 16> &Found) {
  bool Unknown = false;
  for (unsigned I = 0; I < Found.size(); ++I)
    for (Instruction &Each : instructions(Found[I]))
      if (auto *Call = dyn_cast<CallBase>(&Each)) {
        Unknown |= Call->isIndirectCall();
        if (Call->getCalledFunction())
          Found.insert(Call->getCalledFunction());
      }
  return Unknown;
}

// Whether the address of the function is used otherwise than for calls and forks.
static bool mayBePointedTo(const Function &F) {
  return any_of(F.uses(), [](const Use &U) {
    auto *Call = dyn_cast<CallBase>(U.getUser());
    bool Forks = Call && Call->getCalledFunction() && Call->getCalledFunction()->getName() == ForkName;
    return !Forks && !(Call && Call->isCallee(&U));
  });
}

Teams teamsOf(Module &M) {
  Teams Found;
  for (CallInst *Fork : callsOf(M, ForkName))
    if (auto *F = dyn_cast<Function>(Fork->getArgOperand(ForkFunction)))
      Found.All.insert(F);
  if (!addCalled(Found.All))
    return Found;
  for (Function &F : M)
    if (!F.isDeclaration() && mayBePointedTo(F))
      Found.ThroughPointers.insert(&F);
  addCalled(Found.ThroughPointers);
  Found.All.insert_range(Found.ThroughPointers);
  return Found;
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
