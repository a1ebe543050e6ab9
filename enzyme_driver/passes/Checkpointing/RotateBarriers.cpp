// A barrier that begins each iteration of a loop, before a shared array is filled, ends the one before it instead, and
// one comes before the loop. So what was read of the array is followed by a barrier of the same iteration, from whose
// number it can be filled again for the reverse sweep (Refill). Threads meet once more, behind the last iteration.
//
// All threads have to come to the barrier, and each iteration to its end: the loop is left there alone. Nothing reads
// or writes memory in the iteration before the barrier.
#include "Checkpointing/BarrierMeetings.h"
#include "Checkpointing/SharedArrays.h"
#include "Support/Pass.h"

#include "llvm/Analysis/LoopInfo.h"

#define DEBUG_TYPE "adgen-rotate-barriers"

using namespace llvm;

STATISTIC(NumBarriers, "Number of barriers moved to the end of an iteration");

namespace adgen {
namespace {

bool hasEffect(const Instruction &I) { return I.mayReadOrWriteMemory() || I.mayHaveSideEffects(); }

Instruction *firstEffect(BasicBlock &Block) {
  auto Found = find_if(Block, hasEffect);
  return Found == Block.end() ? nullptr : &*Found;
}

Instruction *lastEffect(BasicBlock &Block) {
  auto Found = find_if(reverse(Block), hasEffect);
  return Found == Block.rend() ? nullptr : &*Found;
}

class Rotating {
public:
  Rotating(Function &Body, FunctionAnalysisManager &FAM, UnchangedMemory &Unchanged)
      : Loops(FAM.getResult<LoopAnalysis>(Body)), Arrays(Body), Meet(Body, FAM, Unchanged) {}

  void run() {
    for (Loop *L : Loops.getLoopsInPreorder())
      if (Instruction *Barrier = beginning(*L))
        rotate(*L, *Barrier);
  }

private:
  Instruction *beginning(Loop &L) {
    BasicBlock &Header = *L.getHeader();
    Instruction *Barrier = firstEffect(Header);
    bool Begins = Barrier && isBlockBarrier(*Barrier) && L.getLoopPreheader() && L.getLoopLatch() &&
                  L.getExitingBlock() == L.getLoopLatch() && lastEffect(*L.getLoopLatch()) != Barrier;
    return Begins && fills(L) && Meet.all(Header) ? Barrier : nullptr;
  }

  bool fills(const Loop &L) const {
    return any_of(L.blocks(), [&](BasicBlock *Block) {
      return any_of(*Block, [&](Instruction &I) {
        auto *Store = dyn_cast<StoreInst>(&I);
        return Store && Arrays.find(Store->getPointerOperand());
      });
    });
  }

  static void rotate(Loop &L, Instruction &Barrier) {
    ADGEN_COUNT(NumBarriers, Barrier);
    BasicBlock &Latch = *L.getLoopLatch();
    if (Instruction *Last = lastEffect(Latch); !Last || !isBlockBarrier(*Last))
      Barrier.clone()->insertBefore(Latch.getTerminator()->getIterator());
    Barrier.moveBefore(L.getLoopPreheader()->getTerminator()->getIterator());
  }

  LoopInfo &Loops;
  SharedArrays Arrays;
  BarrierMeetings Meet;
};

} // namespace

ADGEN_DECLARE_PASS(RotateBarriers);

PreservedAnalyses RotateBarriers::run(Module &M, ModuleAnalysisManager &MAM) {
  auto &FAM = MAM.getResult<FunctionAnalysisManagerModuleProxy>(M).getManager();
  const UnderlyingObjects Memory(M);
  UnchangedMemory Unchanged(Memory, BodyPrefix);
  for (Function &F : M)
    if (F.getName().starts_with(BodyPrefix) && !F.isDeclaration() && !sharedNames(F).empty())
      Rotating(F, FAM, Unchanged).run();
  return PreservedAnalyses::none();
}

} // namespace adgen
