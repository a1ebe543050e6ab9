// A parallel region gets the address of every variable that it uses, and of the object whose method it is in. What it reads there, numbers, sizes and
// pointers, is read once where the region begins, if no region writes to the variable: else what the region writes might be it, and Enzyme
// keeps it in each iteration.
#include "Iterations.h"
#include "OpenMP.h"
#include "Origins.h"
#include "Passes.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/Transforms/Utils/Local.h"

using namespace llvm;

namespace adgen {
namespace {

// The functions that run while a team does: regions, and what they call and start.
SmallPtrSet<const Function *, 16> runByTeams(const Module &M) {
  SmallVector<const Function *> Work;
  for (const Function &F : M)
    if (F.getName().starts_with(RegionPrefix))
      Work.push_back(&F);
  SmallPtrSet<const Function *, 16> Found(Work.begin(), Work.end());
  while (!Work.empty())
    for (const Instruction &I : instructions(Work.pop_back_val()))
      for (const Value *Operand : I.operand_values())
        if (auto *Used = dyn_cast<Function>(Operand->stripPointerCasts()); Used && Found.insert(Used).second)
          Work.push_back(Used);
  return Found;
}

// Bytes that are there in any case behind an address; 0 where that is not known.
uint64_t bytesBehind(const Value &Address, const DataLayout &DL) {
  if (auto *Variable = dyn_cast<AllocaInst>(&Address)) {
    std::optional<TypeSize> Size = Variable->getAllocationSize(DL);
    return Size && Variable->isStaticAlloca() ? Size->getFixedValue() : 0;
  }
  if (auto *A = dyn_cast<Argument>(&Address))
    return structBytes(*A->getParent(), A->getArgNo());
  auto *New = dyn_cast<CallBase>(&Address);
  auto *Bytes = New && isCallOf(*New, "_Znwm") ? dyn_cast<ConstantInt>(New->getArgOperand(0)) : nullptr;
  return Bytes ? Bytes->getZExtValue() : 0;
}

class Reading {
public:
  explicit Reading(Module &M) : M(M), DL(M.getDataLayout()), Memory(M) {
    auto Parallel = runByTeams(M);
    for (const Function *F : Parallel)
      for (const Instruction &I : instructions(F))
        Written.insert_range(Memory.writtenBy(I));
    for (CallInst *Fork : callsOf(M, ForkName))
      if (Function *Started = startedBy(*Fork))
        Forks[Started].push_back(Fork);
  }

  void run() {
    for (auto &[Started, Calls] : Forks)
      for (Argument &Captured : drop_begin(Started->args(), RegionCaptured))
        if (Argument *A = Captured.getType()->isPointerTy() ? inRegion(Captured) : nullptr)
          readOnce(*A, bytesOf(Captured, Calls));
  }

private:
  // What is there in all forks, where no team writes to it.
  uint64_t bytesOf(const Argument &Captured, ArrayRef<CallInst *> Calls) const {
    uint64_t Least = ~uint64_t(0);
    for (const CallInst *Fork : Calls) {
      APInt Offset(64, 0);
      const Value *Handed = Fork->getArgOperand(Captured.getArgNo() - RegionCaptured + ForkCaptured);
      const Value *Object = Handed->stripAndAccumulateConstantOffsets(DL, Offset, /*AllowNonInbounds=*/false);
      uint64_t Bytes = Written.contains(Object) ? 0 : bytesBehind(*Object, DL);
      Least = std::min(Least, Offset.ult(Bytes) ? Bytes - Offset.getZExtValue() : 0);
    }
    return Least;
  }

  void readOnce(Argument &Address, uint64_t Bytes) {
    MapVector<std::pair<uint64_t, Type *>, SmallVector<LoadInst *>> Loads;
    collect(Address, 0, Bytes, Loads);
    BasicBlock &Entry = Address.getParent()->getEntryBlock();
    for (auto &[Place, Of] : Loads) {
      IRBuilder<> B(&*Entry.getFirstNonPHIOrDbgOrAlloca());
      auto *Once = cast<LoadInst>(Of.front()->clone());
      Once->setOperand(0, Place.first ? B.CreateConstInBoundsGEP1_64(B.getInt8Ty(), &Address, Place.first) : &Address);
      B.Insert(Once);
      Once->dropUBImplyingAttrsAndMetadata(); // it is read now whether it is needed or not
      for (LoadInst *Load : Of) {
        combineMetadataForCSE(Once, Load, /*DoesKMove=*/true);
        Load->replaceAllUsesWith(Once);
        Load->eraseFromParent();
      }
    }
  }

  // Loads at places that are known.
  void collect(Value &Address, uint64_t Offset, uint64_t Bytes, MapVector<std::pair<uint64_t, Type *>, SmallVector<LoadInst *>> &Loads) const {
    for (User *U : Address.users()) {
      if (auto *Load = dyn_cast<LoadInst>(U); Load && Load->isSimple() && Offset + DL.getTypeStoreSize(Load->getType()) <= Bytes)
        Loads[{Offset, Load->getType()}].push_back(Load);
      auto *Inner = dyn_cast<GetElementPtrInst>(U);
      APInt More(64, 0);
      if (Inner && Inner->getPointerOperand() == &Address && Inner->accumulateConstantOffset(DL, More) && !More.isNegative())
        collect(*Inner, Offset + More.getZExtValue(), Bytes, Loads);
    }
  }

  Module &M;
  const DataLayout &DL;
  const Origins Memory;
  Origins::Set Written; // by teams
  MapVector<Function *, SmallVector<CallInst *>> Forks;
};

} // namespace

PreservedAnalyses ReadCaptured::run(Module &M, ModuleAnalysisManager &) {
  Reading(M).run();
  return PreservedAnalyses::none();
}

} // namespace adgen
