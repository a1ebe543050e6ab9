// A loop that takes cotangents from memory (reads each and writes zero) takes those of four iterations at once. ptxas
// moves no load over a store or an addition to memory, for they might be to one place; so a thread would wait for
// memory in every iteration. Here it is known that they are not: the arrays are others, or what is written in an
// iteration is the element that it reads, and each iteration reads another one.
//
// It runs behind the optimiser, which would move the loads back.
#include "Analysis/Accumulation.h"
#include "GPU/HoldLoads.h"
#include "Support/Pass.h"
#include "Support/Unrolling.h"

#include "llvm/Analysis/AliasAnalysis.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Dominators.h"

#define DEBUG_TYPE "adgen-take-together"

using namespace llvm;

STATISTIC(NumLoops, "Number of loops that take the cotangents of several iterations at once");

namespace adgen {
namespace {

constexpr unsigned Together = 4;          // iterations
constexpr unsigned MostInstructions = 64; // of an iteration
constexpr unsigned MostLoads = 2;         // of an iteration, so that what waits has registers
constexpr StringLiteral Marked = "adgen.together";

// The loads of a loop of one block that those of other iterations may come before.
class Iteration {
public:
  Iteration(const Loop &L, ScalarEvolution &SE, AAResults &AA) : L(L), SE(SE), AA(AA) {
    for (Instruction &I : *L.getHeader())
      if (I.mayWriteToMemory())
        Writes.push_back(&I);
  }

  SmallVector<LoadInst *> loads() const {
    SmallVector<LoadInst *> Found;
    bool Takes = false;
    if (!isShort() || !all_of(Writes, [](const Instruction *W) { return isPlainWrite(*W); }))
      return Found;
    for (Instruction &I : *L.getHeader())
      if (auto *Load = dyn_cast<LoadInst>(&I);
          Load && movesOn(*Load) && all_of(Writes, [&](const Instruction *W) { return isElsewhere(*W, *Load); })) {
        Found.push_back(Load);
        Takes |= any_of(Writes, [&](const Instruction *W) { return clears(*W, *Load); });
      }
    return Takes && Found.size() <= MostLoads ? Found : SmallVector<LoadInst *>();
  }

private:
  bool isShort() const {
    unsigned Iterations = SE.getSmallConstantMaxTripCount(&L);
    return L.getNumBlocks() == 1 && L.getExitingBlock() == L.getHeader() && L.getHeader()->size() <= MostInstructions &&
           SE.hasLoopInvariantBackedgeTakenCount(&L) && (!Iterations || Iterations > Together);
  }

  static bool clears(const Instruction &Write, const LoadInst &Load) {
    auto *Store = dyn_cast<StoreInst>(&Write);
    auto *Zero = Store ? dyn_cast<Constant>(Store->getValueOperand()) : nullptr;
    return Zero && Zero->isNullValue() && Store->getPointerOperand() == Load.getPointerOperand();
  }

  // Whether each of these iterations loads another element: of numbers that differ, what they are in more bits does.
  bool movesOn(const LoadInst &Load) const {
    auto *Address = dyn_cast<GetElementPtrInst>(Load.getPointerOperand());
    if (!Load.isSimple() || !Address || Address->getNumIndices() != 1 ||
        !L.isLoopInvariant(Address->getPointerOperand()))
      return false;
    const DataLayout &Layout = Load.getDataLayout();
    Value *Index = Address->getOperand(1);
    if (auto *Wider = dyn_cast<CastInst>(Index); Wider && isa<SExtInst, ZExtInst>(Wider))
      Index = Wider->getOperand(0);
    auto *Counted = dyn_cast<SCEVAddRecExpr>(SE.getSCEV(Index));
    auto *Step = Counted && Counted->getLoop() == &L ? dyn_cast<SCEVConstant>(Counted->getStepRecurrence(SE)) : nullptr;
    const Value *Object = getUnderlyingObject(Address, 0);
    bool IsGlobal = !isa<AllocaInst, GlobalVariable>(Object) && Address->getPointerAddressSpace() < 2;
    if (!Step || !IsGlobal ||
        Layout.getTypeStoreSize(Load.getType()) > Layout.getTypeAllocSize(Address->getSourceElementType()))
      return false;
    APInt Distance = Step->getAPInt();
    for (unsigned Apart = 1; Apart < Together; ++Apart)
      if ((Distance * Apart).isZero())
        return false;
    return true;
  }

  // Whether a write of one iteration is to no place that others load from. What is known of two addresses in one
  // iteration holds for others only if they lead to different arrays.
  bool isElsewhere(const Instruction &Write, const LoadInst &Load) const {
    const Value *Address = addressOf(Write);
    if (Address == Load.getPointerOperand())
      return Load.comesBefore(&Write) && accessSize(Write) <= accessSize(Load);
    return Load.hasMetadata(LLVMContext::MD_invariant_load) ||
           (getUnderlyingObject(Address, 0) != getUnderlyingObject(Load.getPointerOperand(), 0) &&
            !isModSet(AA.getModRefInfo(&Write, MemoryLocation::get(&Load))));
  }

  static const Value *addressOf(const Instruction &Write) {
    if (auto *Update = dyn_cast<AtomicRMWInst>(&Write))
      return Update->getPointerOperand();
    return cast<StoreInst>(Write).getPointerOperand();
  }

  static uint64_t accessSize(const Instruction &I) {
    const Type *T = isa<LoadInst>(I) ? I.getType() : I.getOperand(isa<StoreInst>(I) ? 0 : 1)->getType();
    return I.getDataLayout().getTypeStoreSize(const_cast<Type *>(T));
  }

  const Loop &L;
  ScalarEvolution &SE;
  AAResults &AA;
  SmallVector<Instruction *> Writes;
};

SmallVector<LoadInst *> marked(BasicBlock &Block) {
  SmallVector<LoadInst *> Found;
  for (Instruction &I : Block)
    if (I.hasMetadata(Marked))
      Found.push_back(cast<LoadInst>(&I));
  return Found;
}

void loadTogether(Loop &L, ArrayRef<LoadInst *> Loads, Unroller &Unroll) {
  for (LoadInst *Load : Loads)
    Load->setMetadata(Marked, MDNode::get(Load->getContext(), {}));
  Unroll.prepare(L);
  BasicBlock *Header = L.getHeader();
  Unroll.unroll(L, Together);
  SmallVector<LoadInst *> Moved = marked(*Header);
  for (LoadInst *Load : Moved) {
    BasicBlock::iterator First = Header->getFirstNonPHIIt();
    while (&*First != Load && !moveUpTo(*First, *Load, Unroll.DT)) // what is needed stays where it is
      ++First;
  }
  holdLoads(Moved);
}

bool takeTogether(Function &F, FunctionAnalysisManager &FAM) {
  Unroller Unroll(F, FAM);
  AAResults &AA = FAM.getResult<AAManager>(F);
  bool Changed = false;
  for (Loop *L : Unroll.Loops.getLoopsInPreorder())
    if (auto Loads = Iteration(*L, Unroll.SE, AA).loads(); !Loads.empty()) {
      ADGEN_COUNT(NumLoops, *Loads.front());
      loadTogether(*L, Loads, Unroll);
      Changed = true;
    }
  return Changed;
}

} // namespace

ADGEN_DECLARE_PASS(TakeTogether);

PreservedAnalyses TakeTogether::run(Module &M, ModuleAnalysisManager &MAM) {
  auto &FAM = MAM.getResult<FunctionAnalysisManagerModuleProxy>(M).getManager();
  for (Function &F : M)
    if (isKernel(F) && F.getName().ends_with(GradientSuffix) && takeTogether(F, FAM))
      FAM.invalidate(F, PreservedAnalyses::none());
  return PreservedAnalyses::none();
}

} // namespace adgen
