// Tells of a body's parameters into which of them threads store numbers in the order of their arrival, such as
//   y[atomicAdd(count, 1)] = x[i]
// Two launches then leave different numbers in an element: a cotangent that was made from one of them says nothing
// about the other. The runtime refuses to bring two together. Of arrays of indices it tells the same, and into which
// parameters their order goes on.
#include "Analysis/Arrivals.h"
#include "Analysis/Bits.h"
#include "Support/Pass.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"

#include <set>

using namespace llvm;

namespace adgen {

static bool isNumber(const Value &V) {
  if (auto *Cast = dyn_cast<BitCastInst>(&V))
    return isNumber(*Cast->getOperand(0));
  return V.getType()->isFPOrFPVectorTy();
}

// Of a copy nobody knows what it holds.
static bool leavesNumbers(Instruction &I) {
  if (auto *Store = dyn_cast<StoreInst>(&I))
    return isNumber(*Store->getValueOperand());
  if (auto *Atomic = dyn_cast<AtomicRMWInst>(&I); Atomic && isNumber(*Atomic->getValOperand()))
    return true;
  return isa<MemTransferInst>(I) || (I.isAtomic() && I.mayWriteToMemory() && bitsLeft(I) != Bits::Integers);
}

// The parameter that memory is reached from.
static Argument *parameterOf(const Value *Memory) {
  while (auto *Load = dyn_cast_or_null<LoadInst>(Memory))
    Memory = getUnderlyingObject(Load->getPointerOperand(), /*MaxLookup=*/0);
  return const_cast<Argument *>(dyn_cast_or_null<Argument>(Memory));
}

static void tell(Function &Body, Instruction &I, const Value *Memory) {
  bool Numbers = leavesNumbers(I);
  if (Argument *Parameter = parameterOf(Memory)) {
    StringRef Name = Numbers ? UnorderedAttribute : QueuedAttribute;
    if (!Parameter->hasAttribute(Name))
      Parameter->addAttr(Attribute::get(Body.getContext(), Name, placeOf(I.getDebugLoc())));
    return;
  }
  if (!Numbers)
    return;
  refuse(Body.getParent()->getFunction(Body.getName().drop_front(BodyPrefix.size())), I.getDebugLoc(),
         "cannot differentiate a store to a variable whose element depends on the order in which threads arrive",
         "pass the array as a parameter, or compute the place from the thread's number, such as by a scan");
}

// The parameters of which integers are read, and nothing is written.
static SetVector<Argument *> queuesOf(Function &Body) {
  SetVector<Argument *> Found;
  for (Instruction &I : instructions(Body))
    if (auto *Load = dyn_cast<LoadInst>(&I); Load && Load->getType()->isIntOrIntVectorTy())
      if (Argument *Parameter = parameterOf(getUnderlyingObject(Load->getPointerOperand(), /*MaxLookup=*/0)))
        Found.insert(Parameter);
  return Found;
}

static void tellWhatFollows(Function &Body, Argument &Queue) {
  std::set<unsigned> Followers;
  Arrivals(Body, &Queue).reportUnordered([&](Instruction &, const Value *Memory) {
    if (Argument *Parameter = parameterOf(Memory))
      Followers.insert(Parameter->getArgNo());
  });
  std::string Listed = join(map_range(Followers, [](unsigned Number) { return std::to_string(Number); }), ";");
  if (!Listed.empty())
    Queue.addAttr(Attribute::get(Body.getContext(), OrdersAttribute, Listed));
}

ADGEN_DECLARE_PASS(FindArrivals);

PreservedAnalyses FindArrivals::run(Module &M, ModuleAnalysisManager &) {
  for (Function &F : M)
    if (F.getName().starts_with(BodyPrefix) && !F.isDeclaration()) {
      Arrivals(F).reportUnordered([&](Instruction &I, const Value *Memory) { tell(F, I, Memory); });
      for (Argument *Queue : queuesOf(F))
        tellWhatFollows(F, *Queue);
    }
  return PreservedAnalyses::all();
}

} // namespace adgen
