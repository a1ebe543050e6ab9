// First after Enzyme, in C++: a gradient has no use for what the function returns. What is only computed for that is
// not computed, also where parallel regions add it up: a variable that nobody reads but to store it again is not
// written, in the function and in the regions that get its address. Nor is a cache filled that nobody reads, as that of
// an argument of which a derivative needs nothing. What computes all this is dead then, and RematerializeIterations
// leaves out the primal of iterations that are for nothing else.
#include "Analysis/EnzymeCaches.h"
#include "Support/Iterations.h"
#include "Support/OpenMP.h"
#include "Support/Pass.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"

#define DEBUG_TYPE "adgen-drop-primal-results"

using namespace llvm;

STATISTIC(NumDropped, "Number of stores to variables that only they themselves are computed from");
STATISTIC(NumUnread, "Number of caches that nobody reads");

namespace adgen {
namespace {

// All that is done with a variable, in the functions too that get its address.
class Variable {
public:
  bool isForNobody(AllocaInst &V) {
    return follow(V) && all_of(Loads, [&](LoadInst *Load) { return leadsToStores(*Load); });
  }

  // But what RematerializeIterations tells an iteration's sweeps by, and takes out itself.
  void forget() {
    for (StoreInst *Store : Stores) {
      if (Store->hasMetadata(EffectMark))
        continue;
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

// A cache to which one variable leads, with all that is done to both.
class Cache {
public:
  explicit Cache(AllocaInst &Slot) : Slot(Slot) {}

  bool isUnread() {
    return all_of(Slot.users(),
                  [&](User *U) {
                    if (auto *Load = dyn_cast<LoadInst>(U))
                      return Load->isSimple() && isOnlyFilled(*Load);
                    auto *Store = dyn_cast<StoreInst>(U);
                    if (!Store || !Store->isSimple() || !isCacheAllocation(Store->getValueOperand()))
                      return false;
                    Found.insert(Store);
                    return isOnlyFilled(cast<Instruction>(*Store->getValueOperand()));
                  }) &&
           any_of(Found, [](Instruction *I) { return isCacheAllocation(I); });
  }

  void forget() {
    ADGEN_COUNT(NumUnread, *Found.front());
    for (Instruction *I : Found)
      I->dropAllReferences();
    for (Instruction *I : Found)
      I->eraseFromParent();
  }

private:
  bool isOnlyFilled(Instruction &Pointer) {
    Found.insert(&Pointer);
    return all_of(Pointer.uses(), [&](Use &U) {
      auto *I = cast<Instruction>(U.getUser());
      if (Found.contains(I))
        return true;
      if (isa<GetElementPtrInst>(I))
        return isOnlyFilled(*I);
      auto *Store = dyn_cast<StoreInst>(I);
      bool Fills = Store ? Store->isSimple() && U.getOperandNo() == StoreInst::getPointerOperandIndex()
                         : isa<MemSetInst>(I) && U.getOperandNo() == 0;
      bool Leads = Store && Store->getPointerOperand() == &Slot;
      if (Fills || isCacheRelease(*I))
        Found.insert(I);
      return Fills || Leads || isCacheRelease(*I);
    });
  }

  AllocaInst &Slot;
  SmallSetVector<Instruction *, 16> Found;
};

void forgetIn(Function &F) {
  SmallVector<AllocaInst *> Variables;
  for (Instruction &I : F.getEntryBlock())
    if (auto *V = dyn_cast<AllocaInst>(&I))
      Variables.push_back(V);
  for (AllocaInst *V : Variables)
    if (Cache Found(*V); Found.isUnread())
      Found.forget();
  for (AllocaInst *V : Variables)
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
