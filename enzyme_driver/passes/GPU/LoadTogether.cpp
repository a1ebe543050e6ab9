// What a thread updates of several elements of global memory, one after the other (loads it, and stores something in
// its place: a cotangent that it adds to, or takes), it loads of all of them first. ptxas moves no load over a store
// that might be to the same place, so that a thread would wait for memory once an element. Where it is not known that
// the elements differ, what is loaded counts unless an earlier address is the same: then what was stored there does.
// Short loops that update an element or two in an iteration do those of four iterations at once.
//
// It runs behind the optimiser, which would move the loads back.
#include "Analysis/Accumulation.h"
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
constexpr unsigned MostWaiting = 8;       // elements, so that what waits has registers
constexpr unsigned MostSteps = 8;         // from an address to what it is computed from
constexpr unsigned WarpSize = 32;
constexpr unsigned MostCompared = 6; // pairs of them of which it is not known that they differ

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

// Whether a write to memory is one that no other thread waits for.
bool isPlainWrite(const Instruction &I) {
  if (auto *Store = dyn_cast<StoreInst>(&I))
    return Store->isSimple();
  auto *Update = dyn_cast<AtomicRMWInst>(&I);
  return Update && !Update->isVolatile() && !isStrongerThanMonotonic(Update->getOrdering());
}

bool isGlobal(const LoadInst &Load) {
  const Value *Pointer = Load.getPointerOperand();
  return Load.getPointerAddressSpace() < 2 && !isa<AllocaInst, GlobalVariable>(getUnderlyingObject(Pointer, 0));
}

// Elements of one type that lie as this one does are the same or apart.
bool isWholeElement(const LoadInst &Load) {
  return Load.getType()->isFloatingPointTy() &&
         Load.getAlign() >= Load.getDataLayout().getTypeStoreSize(Load.getType()).getFixedValue();
}

// Whether a number depends on how many threads a block has.
bool countsThreads(const Value *Number, unsigned Depth = 0) {
  auto *I = dyn_cast<Instruction>(Number);
  if (!I || isa<PHINode>(I) || Depth > MostSteps)
    return false;
  if (auto *Register = dyn_cast<IntrinsicInst>(I))
    return is_contained({Intrinsic::nvvm_read_ptx_sreg_ntid_x, Intrinsic::nvvm_read_ptx_sreg_ntid_y,
                         Intrinsic::nvvm_read_ptx_sreg_ntid_z},
                        Register->getIntrinsicID());
  return any_of(I->operands(), [&](const Value *Operand) { return countsThreads(Operand, Depth + 1); });
}

// Whether an iteration goes on by a block or a warp of threads, so that each reads a line of memory of its own. Along
// a row of a thread's own lines are read already.
bool stridesByThreads(const Value *Address, const Loop &L, unsigned Depth = 0) {
  auto *I = dyn_cast<Instruction>(Address);
  if (!I || L.isLoopInvariant(I) || Depth > MostSteps)
    return false;
  const Value *By = nullptr;
  if (auto *Phi = dyn_cast<PHINode>(I)) {
    bool IsCarried = L.getLoopLatch() && Phi->getParent() == L.getHeader();
    auto *Next = IsCarried ? dyn_cast<BinaryOperator>(Phi->getIncomingValueForBlock(L.getLoopLatch())) : nullptr;
    By = Next && Next->getOpcode() == Instruction::Add && Next->getOperand(0) == Phi ? Next->getOperand(1) : nullptr;
  } else if (I->getOpcode() == Instruction::Mul) {
    By = I->getOperand(L.isLoopInvariant(I->getOperand(1)) ? 1 : 0);
  } else if (I->getOpcode() == Instruction::Shl) {
    auto *Bits = dyn_cast<ConstantInt>(I->getOperand(1));
    return Bits && Bits->getZExtValue() >= Log2_64(WarpSize);
  }
  if (auto *Count = dyn_cast_if_present<ConstantInt>(By))
    return Count->getValue().abs().uge(WarpSize);
  if (By && L.isLoopInvariant(By) && countsThreads(By))
    return true;
  return !isa<PHINode>(I) &&
         any_of(I->operands(), [&](const Value *Operand) { return stridesByThreads(Operand, L, Depth + 1); });
}

class Block {
public:
  Block(BasicBlock &Code, const Loop *L, AAResults &AA, const DominatorTree &DT) : Code(Code), AA(AA), DT(DT) {
    for (Instruction &I : Code)
      if (auto *Load = dyn_cast<LoadInst>(&I); Load && Load->isSimple() && isGlobal(*Load) && isWholeElement(*Load) &&
                                               (!L || stridesByThreads(Load->getPointerOperand(), *L)))
        if (StoreInst *Store = storeOver(*Load))
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
  // What replaces the element that was loaded, before anything else may change it.
  StoreInst *storeOver(LoadInst &Load) const {
    for (Instruction *I = Load.getNextNode(); I; I = I->getNextNode()) {
      auto *Store = dyn_cast<StoreInst>(I);
      if (Store && Store->isSimple() && Store->getPointerOperand() == Load.getPointerOperand())
        return Store->getValueOperand()->getType() == Load.getType() ? Store : nullptr;
      if (I->mayWriteToMemory() && (!isPlainWrite(*I) || isModSet(AA.getModRefInfo(I, MemoryLocation::get(&Load)))))
        return nullptr;
    }
    return nullptr;
  }

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
      if (auto *Load = dyn_cast<LoadInst>(&I);
          Load && Loads.size() < MostWaiting && Load->isSimple() && isGlobal(*Load) && !is_contained(Loads, Load) &&
          isFree(*Row.front().Load, *Load, [](auto &) { return false; }) && moveUpTo(*Row.front().Load, *Load, DT))
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
    if (isKernel(F) && F.getName().ends_with(GradientSuffix) && loadTogether(F, FAM))
      FAM.invalidate(F, PreservedAnalyses::none());
  return PreservedAnalyses::none();
}

} // namespace adgen
