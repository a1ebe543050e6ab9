// In C++. A parallel region gets the address of every variable that it uses, and what is behind a pointer Enzyme takes
// for active: the length of a step that the function was given as a constant would have a derivative in every
// iteration, which is added to a place that all threads share, and what it is multiplied with would be kept. So numbers
// that are read from memory that holds nothing but constants are marked as constants: local variables and objects in
// which nothing is stored but what is computed from constants, and numbers in a struct of arrays, which have no
// derivative. Not where tangents are asked for, which any number may have; AdoptGradients takes the marks away again.
#include "Analysis/SharedConstants.h"
#include "Analysis/UnderlyingObjects.h"
#include "Support/Derivative.h"
#include "Support/Pass.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"

#define DEBUG_TYPE "adgen-mark-inactive-loads"

using namespace llvm;

STATISTIC(NumLoads, "Number of loads marked");

namespace adgen {
namespace {

class Marking {
public:
  explicit Marking(Module &M) : M(M), Memory(M) {
    for (CallInst *Call : gradientCalls(M))
      Activities[cast<Function>(Call->getArgOperand(0))] = activitiesOf(*Call->getFunction());
  }

  void run() {
    findWriters();
    for (size_t Before = 0; Before != Writers.size();) { // what holds something of other memory leaves after that
      Before = Writers.size();
      Writers.remove_if(
          [&](auto &Of) { return !all_of(Of.second, [&](const Instruction *I) { return writesConstant(*I); }); });
    }
    for (Function &F : M)
      for (Instruction &I : instructions(F))
        if (auto *Load = dyn_cast<LoadInst>(&I); Load && Load->getType()->isFPOrFPVectorTy() && isConstant(*Load)) {
          ADGEN_COUNT(NumLoads, *Load);
          Load->setMetadata(InactiveMark, MDNode::get(M.getContext(), {}));
        }
  }

private:
  // For all memory that may be constant, what writes to it.
  void findWriters() {
    for (auto &[Body, Of] : Activities)
      for (const Argument &A : Body->args())
        if (A.getType()->isPointerTy() && A.getArgNo() < Of.size() && holdsConstants(A, Of[A.getArgNo()]))
          Writers[&A];
    for (const Function &F : M)
      for (const Instruction &I : instructions(F))
        if (isa<AllocaInst>(I) || isNoAliasCall(&I))
          Writers[&I];
    for (const Function &F : M)
      for (const Instruction &I : instructions(F))
        for (const Value *Object : Memory.writtenBy(I))
          if (auto Found = Writers.find(Object); Found != Writers.end())
            Found->second.push_back(&I);
  }

  // As long as nothing else is stored there.
  static bool holdsConstants(const Argument &A, Activity Of) {
    bool IsStructOfArrays = Of == Activity::Duplicated && structBytes(*A.getParent(), A.getArgNo());
    return Of == Activity::Const || IsStructOfArrays;
  }

  bool writesConstant(const Instruction &I) const {
    if (auto *Store = dyn_cast<StoreInst>(&I)) {
      const Value *Held = Store->getValueOperand();
      return Held->getType()->isPtrOrPtrVectorTy() ||
             (Held->getType()->isFPOrFPVectorTy() ? isNumberConstant(Held) : isCount(Held));
    }
    if (auto *Set = dyn_cast<MemSetInst>(&I))
      return isa<Constant>(Set->getValue());
    auto *Copy = dyn_cast<MemTransferInst>(&I);
    return Copy && leadsToConstants(Copy->getRawSource());
  }

  bool isNumberConstant(const Value *Number) const {
    return isMadeOf(Number, [&](const Value &V) {
      if (auto *A = dyn_cast<Argument>(&V)) {
        auto Of = Activities.find(A->getParent());
        return Of != Activities.end() && A->getArgNo() < Of->second.size() &&
               Of->second[A->getArgNo()] == Activity::Const;
      }
      auto *Load = dyn_cast<LoadInst>(&V);
      return Load && isConstant(*Load);
    });
  }

  // An integer that is no part of a number of floating point: it is known not to have been read as bits of active
  // memory.
  bool isCount(const Value *First) const {
    SmallVector<const Value *> Work{First};
    SmallPtrSet<const Value *, 16> Seen;
    while (!Work.empty()) {
      const Value *V = Work.pop_back_val();
      if (!V->getType()->isIntOrIntVectorTy() || isa<Constant>(V) || !Seen.insert(V).second)
        continue;
      if (auto *A = dyn_cast<Argument>(V)) {
        if (!Activities.contains(A->getParent()))
          return false;
        continue;
      }
      auto *Load = dyn_cast<LoadInst>(V);
      if (Load ? !isConstant(*Load)
               : !isa<BinaryOperator, CmpInst, PHINode, SelectInst, TruncInst, ZExtInst, SExtInst, PtrToIntInst,
                      FreezeInst>(V))
        return false;
      if (!Load)
        append_range(Work, cast<Instruction>(V)->operands());
    }
    return true;
  }

  bool isConstant(const LoadInst &Load) const { return leadsToConstants(Load.getPointerOperand()); }

  bool leadsToConstants(const Value *Pointer) const {
    const UnderlyingObjects::Set &Objects = Memory.of(Pointer);
    return !Objects.empty() && all_of(Objects, [&](const Value *Object) { return Writers.contains(Object); });
  }

  Module &M;
  const UnderlyingObjects Memory;
  DenseMap<const Function *, SmallVector<Activity>> Activities; // of the parameters of bodies
  MapVector<const Value *, SmallVector<const Instruction *>>
      Writers; // of all memory that may hold nothing but constants
};

} // namespace

ADGEN_DECLARE_PASS(MarkInactiveLoads);

PreservedAnalyses MarkInactiveLoads::run(Module &M, ModuleAnalysisManager &) {
  if (!asksForTangents(M))
    Marking(M).run();
  return PreservedAnalyses::none();
}

} // namespace adgen
