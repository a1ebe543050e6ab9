// Moves the zeroing of a consumed cotangent behind the loads and accumulations that follow it in its block. Enzyme writes it
// right after the cotangent was read, between loads; on a GPU that order alone was seen to cost a factor of five. A shadow that
// the user discards is not zeroed where nothing reads it afterwards.
// Shadows overlap neither each other nor a primal array: the runtime refuses those that do.
#include "Passes.h"

#include "llvm/Analysis/AliasAnalysis.h"
#include "llvm/Analysis/CFG.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/InstIterator.h"

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

bool mayRead(const Instruction &I, const Argument &Shadow) {
  if (!I.mayReadFromMemory())
    return false;
  const Value *Pointer = accessedPointer(I);
  const Value *Object = Pointer ? getUnderlyingObject(Pointer) : nullptr;
  return !Object || Object == &Shadow || !(isa<Argument>(Object) || isIdentifiedObject(Object));
}

bool isReadAfter(const StoreInst &Zeroing, const Argument &Shadow) {
  const Function &F = *Zeroing.getFunction();
  return any_of(instructions(F), [&](const Instruction &I) {
    return mayRead(I, Shadow) && isPotentiallyReachable(&Zeroing, &I);
  });
}

void dropDiscarded(Function &F) {
  SmallVector<StoreInst *> Dead;
  for (Instruction &I : instructions(F))
    if (auto *Store = dyn_cast<StoreInst>(&I))
      if (const Argument *Shadow = zeroedShadow(*Store); Shadow && Shadow->hasAttribute(DiscardedAttribute) && !isReadAfter(*Store, *Shadow))
        Dead.push_back(Store);
  for (StoreInst *Store : Dead)
    Store->eraseFromParent();
}

} // namespace

PreservedAnalyses ZeroLast::run(Module &M, ModuleAnalysisManager &) {
  for (Function &F : M)
    if (F.hasFnAttribute(ActivityAttribute)) {
      dropDiscarded(F);
      for (BasicBlock &Block : F)
        sinkIn(Block);
    }
  return PreservedAnalyses::none();
}

} // namespace adgen
