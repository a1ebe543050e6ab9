// A thread that walks over the grid adds, in each iteration, at an index that comes back: to the bias of the column
// that an element has as a remainder. The step over the grid often is a multiple of the row's length, and then a thread
// has one column throughout. So it holds what it adds in registers as long as the place stays the same:
//   if (place != held) { add sum at held; held = place; sum = 0; } sum += x;
// and adds the rest behind the loop.
#include "Accumulate/HeldAdditions.h"
#include "Support/Pass.h"

#include "llvm/Analysis/AliasAnalysis.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

#define DEBUG_TYPE "adgen-hold-additions"

using namespace llvm;

STATISTIC(NumHeld, "Number of additions held while their place stays the same");

namespace adgen {
namespace {

class Holder {
public:
  Holder(Function &F, const Meetings &Meet, LoopInfo &LI) : F(F), Meet(Meet), LI(LI) {}

  bool run() {
    SmallVector<LaneGroup> Groups = laneGroups(F, Meet, [&](const AtomicRMWInst &A) { return comesBack(A); });
    SmallVector<HeldPlace> Chosen = chooseHeld(Groups, LI);
    for (const HeldPlace &P : Chosen)
      hold(P);
    return !Chosen.empty();
  }

private:
  bool comesBack(const AtomicRMWInst &Atomic) {
    return !Atomic.hasMetadata(LanesMark) && mayBeHeld(Atomic, LI) &&
           isRemainder(*Atomic.getPointerOperand(), *LI.getLoopFor(Atomic.getParent()));
  }

  // Whether an index is a remainder by what the loop does not change, of a number that it counts over the grid.
  static bool isRemainder(const Value &Pointer, const Loop &L) {
    auto IsRemainder = [&](const Instruction &I) {
      bool Is = I.getOpcode() == Instruction::URem || I.getOpcode() == Instruction::SRem;
      return Is && !L.isLoopInvariant(&I) && L.isLoopInvariant(I.getOperand(1)) && !isa<Constant>(I.getOperand(1)) &&
             followsFrom(*I.getOperand(0), countsBlocks);
    };
    return followsFrom(Pointer, IsRemainder);
  }

  void hold(const HeldPlace &P) {
    const LaneGroup &G = P.Additions;
    ADGEN_COUNT(NumHeld, *G.Members.back());
    const HeldSums Sums(F, G);
    IRBuilder<> B(P.Before);
    Sums.begin(B, ConstantPointerNull::get(B.getPtrTy()));
    Value *There = G.Members.front()->getPointerOperand();
    for (BasicBlock *Exit : P.Exits)
      add(*Exit->getFirstNonPHIOrDbg(), Sums);
    Instruction *Behind = G.Members.back()->getNextNode();
    B.SetInsertPoint(Behind);
    Value *Moved = B.CreateICmpNE(Sums.held(B), There);
    Instruction *Other = SplitBlockAndInsertIfThen(Moved, Behind->getIterator(), false);
    B.SetInsertPoint(Other);
    Sums.begin(B, There);
    add(*Other->getParent()->getFirstNonPHIOrDbg(), Sums);
    B.SetInsertPoint(Behind);
    Sums.take(B, G.Members);
  }

  // What is held, if anything is.
  static void add(Instruction &Before, const HeldSums &Sums) {
    IRBuilder<> B(&Before);
    Value *Place = Sums.held(B);
    B.SetInsertPoint(SplitBlockAndInsertIfThen(B.CreateIsNotNull(Place), Before.getIterator(), false));
    Sums.add(B, Place);
  }

  Function &F;
  const Meetings &Meet;
  LoopInfo &LI;
};

} // namespace

ADGEN_DECLARE_PASS(HoldAdditions);

PreservedAnalyses HoldAdditions::run(Module &M, ModuleAnalysisManager &MAM) {
  auto &FAM = MAM.getResult<FunctionAnalysisManagerModuleProxy>(M).getManager();
  for (Function &F : M)
    if (F.hasFnAttribute(ActivityAttribute) && !F.isDeclaration()) {
      const Meetings Meet(F, FAM.getResult<AAManager>(F));
      if (Holder(F, Meet, FAM.getResult<LoopAnalysis>(F)).run())
        FAM.invalidate(F, PreservedAnalyses::none());
    }
  return PreservedAnalyses::none();
}

} // namespace adgen
