// Makes one accumulation of several into the same element by the same thread. In a block, values are summed before they
// are added, and what was stored right before (mostly the zero of a consumed cotangent) is stored with the addition in
// it, without an atomic. An element that stays the same throughout a loop is summed in a register, and added once where
// the loop is left. Nothing that may see the element stands between: shadows overlap nothing, and accumulations may
// change places with each other.
#include "Analysis/Accumulation.h"
#include "Support/Pass.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Analysis/DomTreeUpdater.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/PromoteMemToReg.h"

#define DEBUG_TYPE "adgen-merge-accumulations"

using namespace llvm;

STATISTIC(NumMerged, "Number of additions merged");
STATISTIC(NumSummed, "Number of additions summed up by loops");

namespace adgen {
namespace {

// Updates of a block that wait for another one into their element.
constexpr unsigned MostOpen = 64;
// Accumulators of one loop: more would not stay in registers.
constexpr unsigned MostAccumulators = 128;

bool isZero(const Value *V) {
  auto *Number = dyn_cast<ConstantFP>(V);
  return Number && Number->isZero();
}

Value *sum(IRBuilder<> &B, Value *First, Value *Second) {
  if (isZero(First))
    return Second;
  FastMathFlags Flags;
  if (auto *Made = dyn_cast<FPMathOperator>(Second))
    Flags.setAllowContract(Made->hasAllowContract());
  B.setFastMathFlags(Flags);
  return B.CreateFAdd(First, Second);
}

// What the instruction adds or stores, and where; the value is null where it does neither.
struct Update {
  Instruction *I = nullptr;
  Value *Pointer = nullptr, *Number = nullptr;

  static Update of(Instruction &I) {
    if (AtomicRMWInst *Atomic = asAccumulation(I))
      return {&I, Atomic->getPointerOperand(), Atomic->getValOperand()};
    if (auto *Store = dyn_cast<StoreInst>(&I); Store && Store->isSimple())
      return {&I, Store->getPointerOperand(), Store->getValueOperand()};
    return {};
  }
  bool isStore() const { return isa<StoreInst>(I); }
  bool isLike(const Update &Other) const {
    return Pointer == Other.Pointer && Number->getType() == Other.Number->getType();
  }
};

class BlockMerger {
public:
  explicit BlockMerger(const Meetings &Meet) : Meet(Meet) {}

  void run(BasicBlock &Block) {
    SmallVector<Update> Open; // which nothing has met since
    for (Instruction &I : make_early_inc_range(Block)) {
      Update Next = Update::of(I);
      auto Same = Next.I ? find_if(Open, [&](const Update &U) { return U.isLike(Next); }) : Open.end();
      if (Same != Open.end() && !Next.isStore()) {
        Next = merge(*Same, Next);
        Open.erase(Same);
      }
      Instruction &Now = Next.I ? *Next.I : I;
      erase_if(Open, [&](const Update &U) { return closes(Now, U); });
      if (Next.I)
        Open.push_back(Next);
      if (Open.size() > MostOpen)
        Open.erase(Open.begin());
    }
  }

private:
  bool closes(const Instruction &I, const Update &U) const {
    Type *T = U.Number->getType();
    return U.isStore() ? Meet.mayTouch(I, U.Pointer, T) : Meet.mayMeet(I, U.Pointer, T);
  }

  // The first update moves to the place of the second, with both in it.
  static Update merge(const Update &First, const Update &Second) {
    ADGEN_COUNT(NumMerged, *Second.I);
    IRBuilder<> B(Second.I);
    Value *Both = sum(B, First.Number, Second.Number);
    First.I->setOperand(First.isStore() ? 0 : 1, Both);
    First.I->moveBefore(Second.I->getIterator());
    First.I->setAAMetadata(First.I->getAAMetadata().merge(Second.I->getAAMetadata()));
    Second.I->eraseFromParent();
    return {First.I, First.Pointer, Both};
  }

  const Meetings &Meet;
};

class LoopMerger {
public:
  LoopMerger(Function &F, const Meetings &Meet, DominatorTree &DT, LoopInfo &LI) : F(F), Meet(Meet), DT(DT), LI(LI) {}

  void run() {
    SmallVector<Loop *> Loops(LI.getLoopsInPreorder());
    for (Loop *L : reverse(Loops)) // what leaves an inner loop may leave the outer one too
      if (L->isLoopSimplifyForm())
        run(*L);
    PromoteMemToReg(Sums, DT);
  }

private:
  using Group = SmallVector<AtomicRMWInst *, 2>;

  void run(Loop &L) {
    unsigned Count = 0;
    for (const Group &Additions : invariant(L))
      if (!isMet(L, *Additions.front()) && Count++ < MostAccumulators)
        sumInRegister(L, Additions);
  }

  // The accumulations whose element is the same in every iteration, by element.
  static SmallVector<Group> invariant(Loop &L) {
    SmallVector<Group> Groups;
    for (BasicBlock *Block : L.blocks())
      for (Instruction &I : make_early_inc_range(*Block)) {
        AtomicRMWInst *Atomic = asAccumulation(I);
        bool Changed = false;
        if (!Atomic || !L.makeLoopInvariant(Atomic->getPointerOperand(), Changed))
          continue;
        auto Same = find_if(Groups, [&](const Group &Known) { return isSameElement(*Known.front(), *Atomic); });
        if (Same == Groups.end())
          Groups.push_back({Atomic});
        else
          Same->push_back(Atomic);
      }
    return Groups;
  }

  static bool isSameElement(const AtomicRMWInst &A, const AtomicRMWInst &B) {
    const Value *One = A.getPointerOperand(), *Other = B.getPointerOperand();
    auto *Made = dyn_cast<Instruction>(One);
    bool Alike = Made && isa<Instruction>(Other) && Made->isIdenticalTo(cast<Instruction>(Other));
    return A.getType() == B.getType() && (One == Other || Alike);
  }

  // Behind a barrier that all threads of the block come to, others may see the element: if the loop does, or what
  // follows it before the next barrier, as where they take the cotangents of a shared array.
  bool isMet(Loop &L, const AtomicRMWInst &Atomic) const {
    const Value *Element = Atomic.getPointerOperand();
    bool Waits = any_of(L.blocks(), [](const BasicBlock *Block) { return any_of(*Block, isBarrierOfAll); });
    bool IsMetWithin = any_of(L.blocks(), [&](const BasicBlock *Block) {
      return any_of(*Block, [&](const Instruction &I) {
        return !isBarrierOfAll(I) &&
               (Meet.mayMeet(I, Element, Atomic.getType()) || (Waits && Meet.mayTouchArray(I, Element)));
      });
    });
    return IsMetWithin || (Waits && isTouchedBeforeNextBarrier(L, Element));
  }

  // What only adds to the array needs no barrier.
  bool isTouchedBeforeNextBarrier(Loop &L, const Value *Element) const {
    SmallVector<BasicBlock *> Exits;
    L.getUniqueExitBlocks(Exits);
    SetVector<BasicBlock *> Reached(Exits.begin(), Exits.end());
    for (size_t Next = 0; Next < Reached.size(); ++Next) {
      BasicBlock *Block = Reached[Next];
      bool IsBarred = false;
      for (Instruction &I : *Block) {
        IsBarred = isBarrierOfAll(I);
        if (IsBarred)
          break;
        if (Meet.mayMeetArray(I, Element))
          return true;
      }
      if (!IsBarred)
        Reached.insert_range(successors(Block));
    }
    return false;
  }

  static bool isBarrierOfAll(const Instruction &I) {
    auto *Call = dyn_cast<IntrinsicInst>(&I);
    return Call && Call->getIntrinsicID() == Intrinsic::nvvm_barrier_cta_sync_aligned_all;
  }

  void sumInRegister(Loop &L, const Group &Additions) {
    AtomicRMWInst &First = *Additions.front();
    IRBuilder<> B(&*F.getEntryBlock().getFirstInsertionPt());
    AllocaInst *Sum = B.CreateAlloca(First.getType(), nullptr, "sum");
    Sums.push_back(Sum);
    B.SetInsertPoint(L.getLoopPreheader()->getTerminator());
    B.CreateStore(Constant::getNullValue(First.getType()), Sum);
    bool Always = any_of(Additions, [&](AtomicRMWInst *Atomic) { return isAlwaysReached(L, *Atomic->getParent()); });
    SmallVector<BasicBlock *> Exits;
    L.getUniqueExitBlocks(Exits);
    for (BasicBlock *Exit : Exits)
      addAt(*Exit, *Sum, First, Always);
    for (AtomicRMWInst *Atomic : Additions) {
      ADGEN_COUNT(NumSummed, *Atomic);
      B.SetInsertPoint(Atomic);
      B.CreateStore(sum(B, B.CreateLoad(Atomic->getType(), Sum), Atomic->getValOperand()), Sum);
      Atomic->eraseFromParent();
    }
  }

  bool isAlwaysReached(const Loop &L, const BasicBlock &Block) const {
    SmallVector<BasicBlock *> Exiting;
    L.getExitingBlocks(Exiting);
    return all_of(Exiting, [&](BasicBlock *End) { return DT.dominates(&Block, End); });
  }

  // Where the loop may be left before anything was added, there need not be an element: nothing is added to it then.
  void addAt(BasicBlock &Exit, AllocaInst &Sum, const AtomicRMWInst &Like, bool Always) {
    IRBuilder<> B(&*Exit.getFirstInsertionPt());
    Value *Total = B.CreateLoad(Like.getType(), &Sum);
    if (!Always) {
      Value *Any = B.CreateFCmpUNE(Total, Constant::getNullValue(Like.getType()));
      DomTreeUpdater Updater(DT, DomTreeUpdater::UpdateStrategy::Eager);
      B.SetInsertPoint(SplitBlockAndInsertIfThen(Any, B.GetInsertPoint(), false, nullptr, &Updater, &LI));
    }
    auto *Atomic = cast<AtomicRMWInst>(B.Insert(Like.clone()));
    Atomic->setOperand(1, Total);
  }

  Function &F;
  const Meetings &Meet;
  DominatorTree &DT;
  LoopInfo &LI;
  SmallVector<AllocaInst *> Sums;
};

} // namespace

ADGEN_DECLARE_PASS(MergeAccumulations);

PreservedAnalyses MergeAccumulations::run(Module &M, ModuleAnalysisManager &MAM) {
  auto &FAM = MAM.getResult<FunctionAnalysisManagerModuleProxy>(M).getManager();
  for (Function &F : M) {
    if (!F.hasFnAttribute(ActivityAttribute) || F.isDeclaration())
      continue;
    Meetings Meet(F, FAM.getResult<AAManager>(F));
    LoopMerger(F, Meet, FAM.getResult<DominatorTreeAnalysis>(F), FAM.getResult<LoopAnalysis>(F)).run();
    for (BasicBlock &Block : F)
      BlockMerger(Meet).run(Block);
  }
  return PreservedAnalyses::none();
}

} // namespace adgen
