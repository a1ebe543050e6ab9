// A barrier that begins each iteration of a loop, before a shared array is filled, ends the one before it instead, and
// one comes before the loop. So what was read of the array is followed by a barrier of the same iteration, from whose
// number it can be filled again for the reverse sweep (Refill). Threads meet once more, behind the last iteration.
//
// All threads have to come to the barrier, and each iteration to its end: the loop is left there alone. Nothing reads
// or writes memory in the iteration before the barrier. A barrier that counts threads, and the decision by their number
// to leave the loop, moves with all that is in its block.
#include "Checkpointing/BarrierMeetings.h"
#include "Checkpointing/SharedArrays.h"
#include "Support/Pass.h"

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/LoopUtils.h"
#include "llvm/Transforms/Utils/ValueMapper.h"

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
      : Dominators(FAM.getResult<DominatorTreeAnalysis>(Body)), Loops(FAM.getResult<LoopAnalysis>(Body)), Arrays(Body),
        Meet(Body, FAM, Unchanged) {}

  void run() {
    for (Loop *L : Loops.getLoopsInPreorder())
      if (Instruction *Barrier = beginning(*L))
        rotate(*L, *Barrier);
      else if (decides(*L))
        return rotateWhole(*L); // what is known of the loops is no longer so
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

  // Whether the header has a barrier first and leaves the loop by what it asks there.
  bool decides(Loop &L) const {
    BasicBlock &Header = *L.getHeader();
    Instruction *Barrier = firstEffect(Header);
    auto *Ends = dyn_cast<BranchInst>(Header.getTerminator());
    BasicBlock *Latch = L.getLoopLatch();
    return Barrier && isBlockBarrier(*Barrier) && L.getLoopPreheader() && Latch && Latch != &Header && Ends &&
           Ends->isConditional() && L.contains(Ends->getSuccessor(0)) != L.contains(Ends->getSuccessor(1)) &&
           all_of(Header, [&](const Instruction &I) { return !hasEffect(I) || isOfMeeting(I); }) && fills(L) &&
           Meet.all(Header);
  }

  static bool isOfMeeting(const Instruction &I) {
    auto *Call = dyn_cast<CallInst>(&I);
    return Call && (isBlockBarrier(I) || Call->isConvergent());
  }

  // The header's code comes before the loop and behind each iteration.
  void rotateWhole(Loop &L) {
    ADGEN_COUNT(NumBarriers, L);
    BasicBlock *Header = L.getHeader(), *Before = L.getLoopPreheader();
    auto *Ends = cast<BranchInst>(Header->getTerminator());
    const bool LeavesFirst = !L.contains(Ends->getSuccessor(0));
    formLCSSA(L, Dominators, &Loops, nullptr);
    BasicBlock *Behind = SplitEdge(L.getLoopLatch(), Header, &Dominators, &Loops);
    BasicBlock *Exit = Ends->getSuccessor(LeavesFirst ? 0 : 1);
    SmallVector<Instruction *> Code;
    for (Instruction &I : make_range(Header->getFirstNonPHIIt(), Header->end()))
      Code.push_back(&I);
    ValueToValueMapTy Firsts, Nexts;
    for (auto &[Block, Map] : {std::pair(Before, &Firsts), {Behind, &Nexts}}) {
      for (PHINode &Phi : Header->phis())
        (*Map)[&Phi] = Phi.getIncomingValueForBlock(Block);
      for (Instruction *I : drop_end(Code)) {
        Instruction *Made = I->clone();
        Made->insertBefore(Block->getTerminator()->getIterator());
        RemapInstruction(Made, *Map, RF_NoModuleLevelChanges | RF_IgnoreMissingLocals);
        (*Map)[I] = Made;
      }
      auto Of = [&, Map = Map](Value *V) {
        Value *Mapped = Map->lookup(V);
        return Mapped ? Mapped : V;
      };
      for (PHINode &Phi : Exit->phis())
        Phi.addIncoming(Of(Phi.getIncomingValueForBlock(Header)), Block);
      BranchInst *Made =
          BranchInst::Create(LeavesFirst ? Exit : Header, LeavesFirst ? Header : Exit, Of(Ends->getCondition()));
      Made->setDebugLoc(Ends->getDebugLoc());
      ReplaceInstWithInst(Block->getTerminator(), Made);
    }
    for (Instruction *I : drop_end(Code))
      if (!I->use_empty() && any_of(I->users(), [&](User *U) { return cast<Instruction>(U)->getParent() != Header; })) {
        PHINode *Phi = PHINode::Create(I->getType(), 2, "", Header->begin());
        Phi->addIncoming(Firsts[I], Before);
        Phi->addIncoming(Nexts[I], Behind);
        I->replaceUsesOutsideBlock(Phi, Header);
      }
    Exit->removePredecessor(Header, /*KeepOneInputPHIs=*/true);
    ReplaceInstWithInst(Ends, BranchInst::Create(Ends->getSuccessor(LeavesFirst ? 1 : 0)));
    for (Instruction *I : reverse(drop_end(Code)))
      I->eraseFromParent();
  }

  static void rotate(Loop &L, Instruction &Barrier) {
    ADGEN_COUNT(NumBarriers, Barrier);
    BasicBlock &Latch = *L.getLoopLatch();
    if (Instruction *Last = lastEffect(Latch); !Last || !isBlockBarrier(*Last))
      Barrier.clone()->insertBefore(Latch.getTerminator()->getIterator());
    Barrier.moveBefore(L.getLoopPreheader()->getTerminator()->getIterator());
  }

  DominatorTree &Dominators;
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
