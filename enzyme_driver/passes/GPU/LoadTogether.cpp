// What a thread updates of several elements of global memory, one after the other (loads it, and stores something in
// its place: a cotangent that it adds to, or takes), it loads of all of them first. ptxas moves no load over a store
// that might be to the same place, so that a thread would wait for memory once an element. Where it is not known that
// the elements differ, what is loaded counts unless an earlier address is the same: then what was stored there does.
// Short loops that update an element or two in an iteration do those of four iterations at once.
//
// It runs behind the optimiser, which would move the loads back.
#include "Analysis/Accumulation.h"
#include "GPU/Updates.h"
#include "Support/Pass.h"
#include "Support/Threads.h"
#include "Support/Unrolling.h"

#include "llvm/Analysis/AliasAnalysis.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsNVPTX.h"

#define DEBUG_TYPE "adgen-load-together"

using namespace llvm;

STATISTIC(NumElements, "Number of elements that are loaded before an earlier one is stored");

namespace adgen {
namespace {

constexpr unsigned Together = 4;          // iterations
constexpr unsigned MostInstructions = 64; // of an iteration
constexpr unsigned MostUpdates = 2;       // of an iteration

struct Update {
  LoadInst *Load;
  StoreInst *Store;
};

// Where registers are scarce, ptxas moves loads of a block down to their uses again, but not past a barrier: one of the
// lanes that are here anyway, which waits for nothing.
void holdLoads(ArrayRef<LoadInst *> Loads) {
  Instruction *Last = *max_element(Loads, [](LoadInst *One, LoadInst *Other) { return One->comesBefore(Other); });
  IRBuilder<> B(Last->getNextNode());
  B.CreateIntrinsic(Intrinsic::nvvm_bar_warp_sync, {}, {activeLanes(B)});
}

class Block {
public:
  Block(BasicBlock &Code, const Loop *L, AAResults &AA, const DominatorTree &DT) : Code(Code), AA(AA), DT(DT) {
    for (Instruction &I : Code)
      if (auto *Load = dyn_cast<LoadInst>(&I); Load && Load->isSimple() && isGlobal(*Load->getPointerOperand()) &&
                                               isWholeElement(*Load) &&
                                               (!L || stridesByThreads(Load->getPointerOperand(), *L)))
        if (StoreInst *Store = storeOver(*Load, AA))
          Updates.push_back({Load, Store});
  }

  unsigned updates() const { return Updates.size(); }
  bool waitsForOthers() const {
    return any_of(Code, [](const Instruction &I) { return I.mayWriteToMemory() && !isPlainWrite(I); });
  }

  // Loads of each row of updates what can be loaded before the first of them stores.
  bool loadTogether() {
    bool Changed = false;
    for (unsigned First = 0; First < Updates.size();) {
      unsigned End = First + 1, Compared = 0;
      while (End < Updates.size() && End - First < MostWaiting && joins(First, End, Compared))
        ++End;
      if (End - First > 1) {
        holdLoads(withOthers(ArrayRef(Updates).slice(First, End - First)));
        Changed = true;
      }
      First = End;
    }
    return Changed;
  }

private:
  // Moves the load of an update up to that of the first of the row.
  bool joins(unsigned First, unsigned Number, unsigned &Compared) {
    const Update &Head = Updates[First], &Own = Updates[Number];
    SmallVector<Update> Before;
    copy_if(ArrayRef(Updates).slice(First, Number - First), std::back_inserter(Before),
            [&](const Update &Each) { return Each.Store->comesBefore(Own.Load); });
    SmallVector<Update> Met;
    copy_if(Before, std::back_inserter(Met), [&](const Update &Each) { return meet(Each, Own); });
    auto IsOfRow = [&](const Instruction &I) {
      return any_of(Before, [&](const Update &Each) { return Each.Store == &I; });
    };
    if (Compared + Met.size() > MostCompared || !isFree(*Head.Load, *Own.Load, IsOfRow) ||
        any_of(Met, [&](const Update &Each) { return Each.Load->getType() != Own.Load->getType(); }))
      return false;
    Instruction *Behind = Own.Load->getNextNode();
    if (!moveUpTo(*Head.Load, *Own.Load, DT))
      return false;
    ADGEN_COUNT(NumElements, *Own.Load);
    Compared += Met.size();
    forward(Met, Own, *Behind);
    return true;
  }

  // Whether nothing from one load to another may change what this one loads, but for what is left out.
  bool isFree(const Instruction &From, const LoadInst &Load, function_ref<bool(const Instruction &)> LeftOut) const {
    for (const Instruction *I = &From; I != &Load; I = I->getNextNode())
      if (I->mayWriteToMemory() && !LeftOut(*I) &&
          (!isPlainWrite(*I) || isModSet(AA.getModRefInfo(I, MemoryLocation::get(&Load)))))
        return false;
    return true;
  }

  bool meet(const Update &One, const Update &Other) const {
    return !AA.isNoAlias(MemoryLocation::get(One.Store), MemoryLocation::get(Other.Load));
  }

  // The last store to the same place counts, or else what was loaded.
  void forward(ArrayRef<Update> Met, const Update &Own, Instruction &Behind) const {
    SmallVector<Use *> Uses;
    for (Use &U : Own.Load->uses())
      Uses.push_back(&U);
    IRBuilder<> B(&Behind);
    Value *Found = Own.Load;
    for (const Update &Each : Met) {
      Value *IsSame = B.CreateICmpEQ(Each.Load->getPointerOperand(), Own.Load->getPointerOperand());
      Found = B.CreateSelect(IsSame, Each.Store->getValueOperand(), Found);
    }
    for (Use *U : Uses)
      U->set(Found);
  }

  // What else is read on the way waits with them.
  SmallVector<LoadInst *> withOthers(ArrayRef<Update> Row) {
    SmallVector<LoadInst *> Loads;
    for (const Update &Each : Row)
      Loads.push_back(Each.Load);
    for (Instruction &I :
         make_early_inc_range(make_range(Row.front().Load->getIterator(), Row.back().Store->getIterator())))
      if (auto *Load = dyn_cast<LoadInst>(&I); Load && Loads.size() < MostWaiting && Load->isSimple() &&
                                               isGlobal(*Load->getPointerOperand()) && !is_contained(Loads, Load) &&
                                               isFree(*Row.front().Load, *Load, [](auto &) { return false; }) &&
                                               moveUpTo(*Row.front().Load, *Load, DT))
        Loads.push_back(Load);
    return Loads;
  }

  BasicBlock &Code;
  AAResults &AA;
  const DominatorTree &DT;
  SmallVector<Update> Updates;
};

// Loops of one block, as long as there are many iterations.
bool isWorthUnrolling(const Loop &L, ScalarEvolution &SE, AAResults &AA, const DominatorTree &DT) {
  unsigned Iterations = SE.getSmallConstantMaxTripCount(&L);
  if (L.getNumBlocks() != 1 || L.getExitingBlock() != L.getHeader() || L.getHeader()->size() > MostInstructions ||
      !SE.hasLoopInvariantBackedgeTakenCount(&L) || (Iterations && Iterations <= Together))
    return false;
  Block Code(*L.getHeader(), &L, AA, DT);
  return Code.updates() && Code.updates() <= MostUpdates && !Code.waitsForOthers();
}

bool loadTogether(Function &F, FunctionAnalysisManager &FAM) {
  Unroller Unroll(F, FAM);
  AAResults &AA = FAM.getResult<AAManager>(F);
  bool Changed = false;
  for (Loop *L : Unroll.Loops.getLoopsInPreorder())
    if (isWorthUnrolling(*L, Unroll.SE, AA, Unroll.DT)) {
      Unroll.prepare(*L);
      Unroll.unroll(*L, Together);
      Changed = true;
    }
  for (BasicBlock &Code : F)
    Changed |= Block(Code, Unroll.Loops.getLoopFor(&Code), AA, Unroll.DT).loadTogether();
  return Changed;
}

} // namespace

ADGEN_DECLARE_PASS(LoadTogether);

PreservedAnalyses LoadTogether::run(Module &M, ModuleAnalysisManager &MAM) {
  auto &FAM = MAM.getResult<FunctionAnalysisManagerModuleProxy>(M).getManager();
  for (Function &F : M)
    if (isKernel(F) && F.getName().ends_with(GradientSuffix)) {
      loadPastGuards(F, FAM);
      if (loadTogether(F, FAM))
        FAM.invalidate(F, PreservedAnalyses::none());
    }
  return PreservedAnalyses::none();
}

} // namespace adgen
