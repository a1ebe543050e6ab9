// Moves the zeroing of a consumed cotangent behind the loads and accumulations that follow it in its block. Enzyme
// writes it right after the cotangent was read, between loads; on a GPU that order alone was seen to cost a factor of
// five. A shadow that the user discards is not zeroed where nothing reads it afterwards. Shadows overlap neither each
// other nor a primal array: the runtime refuses those that do.
#include "Analysis/Accumulation.h"
#include "Analysis/Indices.h"
#include "Support/Pass.h"

#include "llvm/Analysis/CFG.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/InstIterator.h"

#define DEBUG_TYPE "adgen-sink-zero-stores"

using namespace llvm;

STATISTIC(NumSunk, "Number of stores of zeros sunk");
STATISTIC(NumDropped, "Number of stores of zeros dropped");

namespace adgen {
namespace {

// The shadow that the store sets to zero; null for any other store.
const Argument *zeroedShadow(const StoreInst &Store) {
  const Value *V = Store.getValueOperand();
  auto *Number = dyn_cast<ConstantFP>(V);
  auto *Bits = dyn_cast<ConstantInt>(V); // of a number in half precision that is copied as an integer
  bool IsZero = (Number && Number->isZero()) || (Bits && Bits->isZero() && Bits->getType()->isIntegerTy(16));
  if (!IsZero || !Store.isSimple())
    return nullptr;
  return shadowOf(Store.getPointerOperand());
}

bool isOfAnother(const Argument &Shadow, const Instruction &I) {
  const Value *Pointer = accessedPointer(I);
  const Value *Object = Pointer ? getUnderlyingObject(Pointer) : nullptr;
  return Object && Object != &Shadow && (isa<Argument>(Object) || isIdentifiedObject(Object));
}

class Zeroings {
public:
  Zeroings(Function &F, LoopInfo &LI) : F(F), LI(LI), Index(F, LI) {}

  void dropDiscarded() {
    SmallVector<StoreInst *> Dead;
    for (Instruction &I : instructions(F))
      if (auto *Store = dyn_cast<StoreInst>(&I))
        if (const Argument *Shadow = zeroedShadow(*Store);
            Shadow && Store->getValueOperand()->getType()->isFloatingPointTy() &&
            Shadow->hasAttribute(DiscardedAttribute) && !isReadAfter(*Store, *Shadow))
          Dead.push_back(Store);
    for (StoreInst *Store : Dead) {
      ADGEN_COUNT(NumDropped, *Store);
      Store->eraseFromParent();
    }
  }

  void sinkIn(BasicBlock &Block) {
    SmallVector<StoreInst *> Found;
    for (Instruction &I : Block)
      if (auto *Store = dyn_cast<StoreInst>(&I); Store && zeroedShadow(*Store))
        Found.push_back(Store);
    for (StoreInst *Store : reverse(Found)) {
      const Argument &Shadow = *zeroedShadow(*Store);
      Instruction *Next = Store->getNextNode();
      while (!Next->isTerminator() && passes(*Store, Shadow, *Next))
        Next = Next->getNextNode();
      if (Next != Store->getNextNode())
        ADGEN_COUNT(NumSunk, *Store);
      Store->moveBefore(Next->getIterator());
    }
  }

private:
  // Whether the store may be exchanged with the instruction behind it: it touches no memory, or other elements.
  bool passes(const StoreInst &Store, const Argument &Shadow, const Instruction &I) {
    return !I.mayReadOrWriteMemory() || isOfAnother(Shadow, I) || Index.areApart(Store, I);
  }

  bool isReadAfter(const StoreInst &Store, const Argument &Shadow) {
    return any_of(instructions(F), [&](const Instruction &I) {
      if (!I.mayReadFromMemory() || isOfAnother(Shadow, I) || !isPotentiallyReachable(&Store, &I))
        return false;
      bool Repeated =
          LI.getLoopFor(Store.getParent()) || LI.getLoopFor(I.getParent()) || isPotentiallyReachable(&I, &Store);
      return Repeated || !Index.areApart(Store, I);
    });
  }

  Function &F;
  LoopInfo &LI;
  Indices Index;
};

} // namespace

ADGEN_DECLARE_PASS(SinkZeroStores);

PreservedAnalyses SinkZeroStores::run(Module &M, ModuleAnalysisManager &MAM) {
  auto &FAM = MAM.getResult<FunctionAnalysisManagerModuleProxy>(M).getManager();
  for (Function &F : M)
    if (F.hasFnAttribute(ActivityAttribute) && !F.isDeclaration()) {
      Zeroings Zero(F, FAM.getResult<LoopAnalysis>(F));
      Zero.dropDiscarded();
      for (BasicBlock &Block : F)
        Zero.sinkIn(Block);
    }
  return PreservedAnalyses::none();
}

} // namespace adgen
