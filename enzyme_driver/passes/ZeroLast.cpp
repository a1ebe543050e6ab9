// Moves the zeroing of a consumed cotangent behind the loads and accumulations that follow it in its block. Enzyme writes it
// right after the cotangent was read, between loads; on a GPU that order alone was seen to cost a factor of five.
// Shadows overlap neither each other nor a primal array: the runtime refuses those that do.
#include "Passes.h"

#include "llvm/Analysis/AliasAnalysis.h"
#include "llvm/Analysis/ValueTracking.h"

using namespace llvm;

namespace adgen {
namespace {

// The shadow that the store sets to zero; null for any other store.
const Argument *zeroedShadow(const StoreInst &Store) {
  auto *Zero = dyn_cast<ConstantFP>(Store.getValueOperand());
  if (!Zero || !Zero->isZero() || !Store.isSimple())
    return nullptr;
  return shadowOf(Store.getPointerOperand());
}

const Value *accessedPointer(const Instruction &I) {
  if (auto *Load = dyn_cast<LoadInst>(&I))
    return Load->getPointerOperand();
  if (auto *Store = dyn_cast<StoreInst>(&I))
    return Store->getPointerOperand();
  if (auto *Atomic = dyn_cast<AtomicRMWInst>(&I))
    return Atomic->getPointerOperand();
  return nullptr;
}

// Whether the store may be exchanged with the instruction behind it: it touches no memory, or memory known to be another's.
bool passes(const Argument &Shadow, const Instruction &I) {
  if (!I.mayReadOrWriteMemory())
    return true;
  const Value *Pointer = accessedPointer(I);
  if (!Pointer)
    return false;
  const Value *Object = getUnderlyingObject(Pointer);
  return Object != &Shadow && (isa<Argument>(Object) || isIdentifiedObject(Object));
}

void sinkIn(BasicBlock &Block) {
  SmallVector<StoreInst *> Zeroings;
  for (Instruction &I : Block)
    if (auto *Store = dyn_cast<StoreInst>(&I); Store && zeroedShadow(*Store))
      Zeroings.push_back(Store);
  for (StoreInst *Store : reverse(Zeroings)) {
    const Argument &Shadow = *zeroedShadow(*Store);
    Instruction *Next = Store->getNextNode();
    while (!Next->isTerminator() && passes(Shadow, *Next))
      Next = Next->getNextNode();
    Store->moveBefore(Next->getIterator());
  }
}

} // namespace

PreservedAnalyses ZeroLast::run(Module &M, ModuleAnalysisManager &) {
  for (Function &F : M)
    if (F.hasFnAttribute(ActivityAttribute))
      for (BasicBlock &Block : F)
        sinkIn(Block);
  return PreservedAnalyses::none();
}

} // namespace adgen
