// Where a thread walks along an image or a row and adds, in each iteration, to what its channel or row has one of, all
// lanes of a warp add to the same element for many iterations. Instead of adding up among lanes in each, every lane
// holds what it adds in registers as long as the places of all stay the same:
//   if (any lane of (place != held)) { lanes add sums at held; sum = 0; } held = place; sum += x;
// and lanes add up the rest behind the loop.
#include "Accumulate/HandOver.h"
#include "Accumulate/HeldAdditions.h"
#include "Accumulate/LaneOrigins.h"
#include "Support/Pass.h"
#include "Support/Threads.h"

#include "llvm/Analysis/AliasAnalysis.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

#define DEBUG_TYPE "adgen-hold-lane-sums"

using namespace llvm;

STATISTIC(NumHeld, "Number of additions of lanes held while their place stays the same");

namespace adgen {
namespace {

class Holder {
public:
  Holder(Function &F, const Meetings &Meet, LoopInfo &LI) : F(F), Meet(Meet), LI(LI) {}

  bool run() {
    SmallVector<LaneGroup> Groups = laneGroups(F, Meet, [&](const AtomicRMWInst &A) { return stays(A); });
    stable_sort(Groups, [](const auto &A, const auto &B) { return A.Members.size() > B.Members.size(); });
    SmallVector<HeldPlace> Chosen = chooseHeld(Groups, LI);
    for (const HeldPlace &P : Chosen)
      hold(P);
    return !Chosen.empty();
  }

private:
  bool stays(const AtomicRMWInst &Atomic) {
    if (!mayBeHeld(Atomic, LI))
      return false;
    Value *Pointer = const_cast<Value *>(Atomic.getPointerOperand());
    const LaneOrigin &Where = From.of(Pointer);
    return !Where.X && !Where.OtherAxes && !Where.Unknown && !Where.Dropped &&
           isQuotient(*Pointer, *LI.getLoopFor(Atomic.getParent()));
  }

  // Whether an index is a quotient by what the loop does not change, of a number that it moves on by less than a grid:
  // the next one is near, and often has the same quotient.
  static bool isQuotient(const Value &Pointer, const Loop &L) {
    auto IsQuotient = [&](const Instruction &I) {
      bool Divides = I.getOpcode() == Instruction::UDiv || I.getOpcode() == Instruction::SDiv;
      return Divides && L.contains(&I) && !isa<Constant>(I.getOperand(1)) && L.isLoopInvariant(I.getOperand(1)) &&
             !L.isLoopInvariant(I.getOperand(0));
    };
    return followsFrom(Pointer, IsQuotient) && !followsFrom(Pointer, countsBlocks);
  }

  void hold(const HeldPlace &P) {
    const LaneGroup &G = P.Additions;
    ADGEN_COUNT(NumHeld, *G.Members.back());
    const HeldSums Sums(F, G);
    IRBuilder<> B(P.Before);
    Sums.begin(B, ConstantPointerNull::get(B.getPtrTy()));
    Value *There = G.Members.front()->getPointerOperand();
    for (BasicBlock *Exit : P.Exits) {
      Instruction &Behind = *Exit->getFirstNonPHIOrDbg();
      B.SetInsertPoint(&Behind);
      Value *Holds = B.CreateIsNotNull(Sums.held(B));
      B.SetInsertPoint(SplitBlockAndInsertIfThen(Holds, Behind.getIterator(), false));
      add(B, Sums, Sums.held(B), activeLanes(B));
    }
    Instruction *Behind = G.Members.back()->getNextNode();
    B.SetInsertPoint(Behind);
    Value *Held = Sums.held(B), *Active = activeLanes(B);
    Value *Leaves = B.CreateAnd(B.CreateIsNotNull(Held), B.CreateICmpNE(Held, There));
    Value *Moved = B.CreateIntrinsic(Intrinsic::nvvm_vote_any_sync, ArrayRef<Type *>(), {Active, Leaves});
    B.SetInsertPoint(SplitBlockAndInsertIfThen(Moved, Behind->getIterator(), false));
    add(B, Sums, B.CreateSelect(B.CreateIsNull(Held), There, Held), Active);
    Sums.begin(B, There);
    B.SetInsertPoint(Behind);
    Sums.move(B, There);
    Sums.take(B, G.Members);
  }

  // Lanes that are here add up what they hold for one place.
  static void add(IRBuilder<> &B, const HeldSums &Sums, Value *Place, Value *Active) {
    SmallVector<AtomicRMWInst *> Members = Sums.add(B, Place);
    handOver(B, "warp", Members, Active, alikeLanes(B, Active, Place, false),
             [&](ArrayRef<AtomicRMWInst *>) { return B.getFalse(); });
  }

  Function &F;
  const Meetings &Meet;
  LoopInfo &LI;
  LaneOrigins From;
};

} // namespace

ADGEN_DECLARE_PASS(HoldLaneSums);

PreservedAnalyses HoldLaneSums::run(Module &M, ModuleAnalysisManager &MAM) {
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
