// In shared memory an atomic addition of floating point is a loop of compare-and-swap. None is needed for an element to
// which the thread also stores without an atomic, if no other thread comes in between: the primal stores there, too,
// and another thread that used the element before threads meet again would race with it. So the gradient of
//   t = s[a]; s[a] = s[b]; s[b] += t;
// as a scan goes down its tree, adds to both elements plainly.
#include "Accumulate/HandOver.h"
#include "Analysis/Accumulation.h"
#include "Support/Pass.h"

#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/InstIterator.h"

#define DEBUG_TYPE "adgen-relax-shared-atomics"

using namespace llvm;

STATISTIC(NumPlain, "Number of atomics on shared memory made plain");

namespace adgen {
namespace {

class Relaxer {
public:
  explicit Relaxer(Function &F) : F(F) {}

  bool run() {
    SmallVector<AtomicRMWInst *> Found;
    for (Instruction &I : instructions(F))
      if (auto *Atomic = dyn_cast<AtomicRMWInst>(&I); Atomic && isOfShared(*Atomic) && isStoredToo(*Atomic))
        Found.push_back(Atomic);
    for (AtomicRMWInst *Atomic : Found)
      makePlain(*Atomic);
    return !Found.empty();
  }

private:
  bool isOfShared(AtomicRMWInst &Atomic) const {
    auto *Shadow = dyn_cast<Argument>(getUnderlyingObject(Atomic.getPointerOperand(), 0));
    return Shadow && F.hasParamAttribute(Shadow->getArgNo(), SharedShadowAttribute) &&
           !Atomic.hasMetadata(SeldomMark) && (isConsumption(Atomic) || asAccumulation(Atomic));
  }

  // Whether the thread also stores to the element, and no other thread comes in between.
  static bool isStoredToo(AtomicRMWInst &Atomic) {
    auto Find = [&](auto Range) {
      for (Instruction &I : Range) {
        auto *Store = dyn_cast<StoreInst>(&I);
        if (Store && Store->isSimple() && Store->getPointerOperand() == Atomic.getPointerOperand())
          return true;
        if (!isSimpleAccess(I) && !isa<AtomicRMWInst>(I) && (I.mayReadOrWriteMemory() || isa<CallBase>(I)) &&
            !isNumber(I))
          return false;
      }
      return false;
    };
    BasicBlock &Block = *Atomic.getParent();
    return Find(make_range(std::next(Atomic.getReverseIterator()), Block.rend())) ||
           Find(make_range(std::next(Atomic.getIterator()), Block.end()));
  }

  // A call that neither waits nor sees memory.
  static bool isNumber(const Instruction &I) {
    auto *Call = dyn_cast<CallBase>(&I);
    return Call && !Call->isConvergent() && (Call->doesNotAccessMemory() || Call->isLifetimeStartOrEnd());
  }

  static void makePlain(AtomicRMWInst &Atomic) {
    ADGEN_COUNT(NumPlain, Atomic);
    if (!isConsumption(Atomic))
      return void(addPlainly(Atomic, FastMathFlags()));
    IRBuilder<> B(&Atomic);
    LoadInst *Taken = takePlainly(B, Atomic, Atomic.getPointerOperand());
    Atomic.replaceAllUsesWith(Taken);
    Atomic.eraseFromParent();
  }

  Function &F;
};

} // namespace

ADGEN_DECLARE_PASS(RelaxSharedAtomics);

PreservedAnalyses RelaxSharedAtomics::run(Module &M, ModuleAnalysisManager &) {
  bool Changed = false;
  for (Function &F : M)
    if (F.hasFnAttribute(ActivityAttribute) && !F.isDeclaration() && !sharedNames(F).empty())
      Changed |= Relaxer(F).run();
  return Changed ? PreservedAnalyses::none() : PreservedAnalyses::all();
}

} // namespace adgen
