// A loop that stores to one element in each iteration has a reversal that takes the element's cotangent in each: all of
// it in the first, and then nothing.
//   for (...) { d += exchange(&d_sum[i], 0); ... }   becomes   taken = exchange(&d_sum[i], 0);
//                                                             for (...) { d += taken; taken = 0; ... }
// LLVM would do so with loads and stores, and not before what lanes add has become calls of rules.
#include "Analysis/Accumulation.h"
#include "Support/Pass.h"

#include "llvm/Analysis/AliasAnalysis.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/Dominators.h"

#define DEBUG_TYPE "adgen-hoist-consumptions"

using namespace llvm;

STATISTIC(NumHoisted, "Number of cotangents taken in front of a loop");

namespace adgen {
namespace {

constexpr size_t MostConsumptions = 32; // of a loop
constexpr size_t MostBlocks = 64;

class Hoisting {
public:
  Hoisting(Function &F, FunctionAnalysisManager &FAM)
      : Dominators(FAM.getResult<DominatorTreeAnalysis>(F)), Loops(FAM.getResult<LoopAnalysis>(F)),
        Meet(F, FAM.getResult<AAManager>(F)) {}

  // Inner loops first: what is taken in front of one may be in another.
  void run() {
    const SmallVector<Loop *, 4> Outer = Loops.getLoopsInPreorder();
    for (Loop *L : reverse(Outer))
      hoistFrom(*L);
  }

private:
  void hoistFrom(Loop &L) {
    if (!L.getLoopPreheader() || !L.getLoopLatch() || L.getNumBlocks() > MostBlocks)
      return;
    SmallVector<AtomicRMWInst *> Taken;
    for (BasicBlock *Block : L.blocks())
      for (Instruction &I : *Block)
        if (isConsumption(I) && I.getType()->isFloatingPointTy())
          Taken.push_back(cast<AtomicRMWInst>(&I));
    if (Taken.size() > MostConsumptions)
      return;
    for (AtomicRMWInst *Each : Taken)
      if (isDoneAlways(*Each, L) && isAlone(*Each, L))
        hoist(*Each, L);
  }

  // By every iteration, the first one at least.
  bool isDoneAlways(const Instruction &I, const Loop &L) const {
    SmallVector<BasicBlock *> Exiting;
    L.getExitingBlocks(Exiting);
    return Dominators.dominates(I.getParent(), L.getLoopLatch()) &&
           all_of(Exiting, [&](const BasicBlock *Block) { return Dominators.dominates(I.getParent(), Block); });
  }

  bool isAlone(AtomicRMWInst &Taken, const Loop &L) const {
    return staysTheSame(*Taken.getPointerOperand(), L) && none_of(L.blocks(), [&](BasicBlock *Block) {
             return any_of(*Block, [&](Instruction &I) {
               return &I != &Taken && I.mayReadOrWriteMemory() &&
                      Meet.mayTouch(I, Taken.getPointerOperand(), Taken.getType());
             });
           });
  }

  // An address that is computed in the loop from what is not.
  static bool staysTheSame(const Value &V, const Loop &L) {
    auto *I = dyn_cast<Instruction>(&V);
    return !I || !L.contains(I) ||
           (isa<GetElementPtrInst, CastInst, BinaryOperator>(I) && !I->isIntDivRem() &&
            all_of(I->operands(), [&](const Use &U) { return staysTheSame(*U.get(), L); }));
  }

  void hoist(AtomicRMWInst &Taken, Loop &L) {
    ADGEN_COUNT(NumHoisted, Taken);
    BasicBlock *Before = L.getLoopPreheader();
    bool IsChanged = false;
    L.makeLoopInvariant(Taken.getPointerOperand(), IsChanged, Before->getTerminator());
    IRBuilder<> B(&L.getHeader()->front());
    PHINode *Rest = B.CreatePHI(Taken.getType(), 2, "taken");
    Taken.replaceAllUsesWith(Rest);
    Taken.moveBefore(Before->getTerminator()->getIterator());
    Rest->addIncoming(&Taken, Before);
    Rest->addIncoming(Constant::getNullValue(Taken.getType()), L.getLoopLatch());
  }

  const DominatorTree &Dominators;
  LoopInfo &Loops;
  const Meetings Meet;
};

} // namespace

ADGEN_DECLARE_PASS(HoistConsumptions);

PreservedAnalyses HoistConsumptions::run(Module &M, ModuleAnalysisManager &MAM) {
  auto &FAM = MAM.getResult<FunctionAnalysisManagerModuleProxy>(M).getManager();
  for (Function &F : M)
    if (F.hasFnAttribute(ActivityAttribute) && !F.isDeclaration())
      Hoisting(F, FAM).run();
  return PreservedAnalyses::none();
}

} // namespace adgen
