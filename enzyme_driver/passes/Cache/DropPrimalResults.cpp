// First after Enzyme, in C++: a gradient has no use for what the function returns. What is only computed for that is
// not computed, also where parallel regions add it up: a variable that nobody reads but to store it again is not
// written, in the function and in the regions that get its address. What computes it is dead then, and
// RematerializeIterations leaves out the primal of iterations that are for nothing else.
#include "Support/OpenMP.h"
#include "Support/Pass.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"

#define DEBUG_TYPE "adgen-drop-primal-results"

using namespace llvm;

STATISTIC(NumDropped, "Number of stores to variables that only they themselves are computed from");

namespace adgen {
namespace {

// All that is done with a variable, in the functions too that get its address.
class Variable {
public:
  bool isForNobody(AllocaInst &V) {
    return follow(V) && all_of(Loads, [&](LoadInst *Load) { return leadsToStores(*Load); });
  }

  void forget() {
    for (StoreInst *Store : Stores) {
      ADGEN_COUNT(NumDropped, *Store);
      Store->eraseFromParent();
    }
  }

private:
  bool follow(Value &Pointer) {
    return all_of(Pointer.uses(), [&](Use &U) {
      if (auto *Load = dyn_cast<LoadInst>(U.getUser())) {
        Loads.push_back(Load);
        return Load->isSimple();
      }
      if (auto *Store = dyn_cast<StoreInst>(U.getUser())) {
        Stores.insert(Store);
        return Store->isSimple() && U.getOperandNo() == StoreInst::getPointerOperandIndex();
      }
      auto *Call = dyn_cast<CallInst>(U.getUser());
      return Call && (Call->isLifetimeStartOrEnd() || followInto(*Call, U.getOperandNo()));
    });
  }

  // Only into functions that get no other memory there.
  bool followInto(CallInst &Call, unsigned Operand) {
    if (!Call.isArgOperand(&Call.getOperandUse(Operand)) || !Call.getCalledFunction())
      return false;
    bool Forks = Call.getCalledFunction()->getName() == ForkName;
    if (Forks && Operand < ForkCaptured)
      return false;
    auto *Callee = dyn_cast<Function>(Forks ? Call.getArgOperand(ForkFunction) : Call.getCalledOperand());
    unsigned Parameter = Forks ? Operand - ForkCaptured + RegionCaptured : Operand;
    bool Alone = Callee && !Callee->isDeclaration() && Callee->hasLocalLinkage() && Callee->hasOneUse();
    return Alone && Parameter < Callee->arg_size() && follow(*Callee->getArg(Parameter));
  }

  // Whether what was read goes nowhere but into the variable.
  bool leadsToStores(LoadInst &Load) const {
    SmallSetVector<Instruction *, 8> Found;
    Found.insert(&Load);
    for (unsigned I = 0; I < Found.size(); ++I)
      for (User *U : Found[I]->users()) {
        auto *Next = cast<Instruction>(U);
        if (auto *Store = dyn_cast<StoreInst>(Next); Store && Stores.contains(Store))
          continue;
        if (Next->isTerminator() || Next->mayHaveSideEffects() || Next->mayReadOrWriteMemory())
          return false;
        Found.insert(Next);
      }
    return true;
  }

  SmallVector<LoadInst *> Loads;
  SmallSetVector<StoreInst *, 8> Stores;
};

void forgetIn(Function &F) {
  for (Instruction &I : F.getEntryBlock())
    if (auto *V = dyn_cast<AllocaInst>(&I))
      if (Variable Found; Found.isForNobody(*V))
        Found.forget();
}

} // namespace

ADGEN_DECLARE_PASS(DropPrimalResults);

PreservedAnalyses DropPrimalResults::run(Module &M, ModuleAnalysisManager &) {
  for (StringRef Prefix : {GradientPrefix, ReversePrefix}) // the former have the variables of results
    for (Function &F : M)
      if (F.getName().starts_with(Prefix) && !F.isDeclaration())
        forgetIn(F);
  return PreservedAnalyses::none();
}

} // namespace adgen
