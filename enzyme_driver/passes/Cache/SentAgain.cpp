#include "Cache/SentAgain.h"
#include "Analysis/EnzymeCaches.h"
#include "Cache/ShuffleCaches.h"
#include "Support/Pass.h"

#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/PatternMatch.h"

#define DEBUG_TYPE "adgen-rematerialize-shuffles"

using namespace llvm;

STATISTIC(NumSent, "Number of caches that keep what is sent once for a loop");

namespace adgen {
namespace {

// What an inner loop of a known number of iterations keeps is indexed by its own number and that of the loop around.
struct NestedIndex {
  Value *Inner = nullptr, *Outer = nullptr;
  ConstantInt *Iterations = nullptr;
  bool operator!=(const NestedIndex &Other) const {
    return std::tie(Inner, Outer, Iterations) != std::tie(Other.Inner, Other.Outer, Other.Iterations);
  }
};

std::optional<NestedIndex> nestedIndexOf(const Value *Pointer) {
  using namespace PatternMatch;
  NestedIndex Found;
  Value *Index = indexOf(Pointer);
  if (Index &&
      match(Index, m_c_Add(m_Value(Found.Inner), m_c_Mul(m_Value(Found.Outer), m_ConstantInt(Found.Iterations)))))
    return Found;
  return {};
}

Value *arrayOf(Value *Pointer) { return cast<GetElementPtrInst>(Pointer)->getPointerOperand(); }

// What is kept in each iteration of an inner loop, and comes by a shuffle of what is the same in all of them.
class KeptFromLanes {
public:
  KeptFromLanes(CallInst &Allocation, const LoopInfo &Loops, const DominatorTree &Before, const Uniformity &Threads)
      : Allocation(Allocation), Loops(Loops), Before(Before), Threads(Threads) {}

  bool run() {
    if (!findForward() || !findReverse())
      return false;
    ADGEN_COUNT(NumSent, *Store);
    keepSent();
    receiveAgain();
    return true;
  }

private:
  bool findForward() {
    Store = onlyStoreTo(Allocation, Loops);
    std::optional<NestedIndex> Found = Store ? nestedIndexOf(Store->getPointerOperand()) : std::nullopt;
    Shuffle = Found ? dyn_cast<CallInst>(Store->getValueOperand()) : nullptr;
    Filled = Found ? Loops.getLoopFor(Store->getParent()) : nullptr;
    if (!Shuffle || !Filled || !isShuffle(*Shuffle) || !isNumberOf(Found->Inner, *Filled) ||
        !isNumberOf(Found->Outer, Filled->getParentLoop()) || Found->Iterations->isZero())
      return false;
    Forward = *Found;
    BasicBlock *Latch = Filled->getLoopLatch(), *Ahead = Filled->getLoopPreheader();
    return isFullMask(Shuffle->getArgOperand(0)) && Ahead && Latch && Filled->getExitingBlock() == Latch &&
           Before.dominates(Store->getParent(), Latch) && Filled->contains(Shuffle) &&
           !Threads.isDivergent(Shuffle->getParent()) && Filled->isLoopInvariant(Shuffle->getArgOperand(1)) &&
           isByNumber(Shuffle->getArgOperand(2)) && isa<Constant>(Shuffle->getArgOperand(3)) &&
           isAt(*arrayOf(Store->getPointerOperand()), *Ahead);
  }

  static bool isNumberOf(const Value *V, const Loop *L) {
    auto *Number = dyn_cast<PHINode>(V);
    return Number && L && L->getHeader() == Number->getParent();
  }
  static bool isNumberOf(const Value *V, const Loop &L) { return isNumberOf(V, &L); }

  bool isByNumber(const Value *Lane) const {
    auto *Cast = dyn_cast<CastInst>(Lane);
    return isa<Constant>(Lane) || Lane == Forward.Inner || (Cast && Cast->getOperand(0) == Forward.Inner);
  }

  bool isAt(const Value &V, const BasicBlock &Block) const {
    auto *I = dyn_cast<Instruction>(&V);
    return !I || Before.dominates(I, Block.getTerminator());
  }

  // All loads are in one block of a loop, in iterations that have the same numbers.
  bool findReverse() {
    for (Instruction *User : usersOf(Allocation))
      if (auto *Load = dyn_cast<LoadInst>(User))
        Loads.push_back(Load);
    if (Loads.empty())
      return false;
    First = Loads.front();
    std::optional<NestedIndex> Found = nestedIndexOf(First->getPointerOperand());
    const Loop *Again = Loops.getLoopFor(First->getParent());
    BasicBlock *Ahead = Again ? Again->getLoopPreheader() : nullptr;
    if (!Found || !Ahead || Again == Filled || Found->Iterations != Forward.Iterations ||
        !isNumberOf(Found->Inner, *Again) || Threads.isDivergent(First->getParent()) || !isAt(*Found->Outer, *Ahead) ||
        !isAt(*arrayOf(First->getPointerOperand()), *Ahead))
      return false;
    Reverse = *Found;
    for (LoadInst *Load : Loads) {
      if (Load->getParent() != First->getParent() || nestedIndexOf(Load->getPointerOperand()) != Reverse)
        return false;
      First = Load->comesBefore(First) ? Load : First;
    }
    return true;
  }

  void keepSent() {
    IRBuilder<> Size(&Allocation);
    Value *Bytes = Allocation.getArgOperand(0);
    Value *Fewer = ConstantInt::get(Bytes->getType(), Forward.Iterations->getZExtValue());
    Allocation.setArgOperand(0, Size.CreateUDiv(Bytes, Fewer, "", /*isExact=*/true));
    IRBuilder<> B(Filled->getLoopPreheader()->getTerminator());
    Value *Sent = Shuffle->getArgOperand(1);
    B.CreateStore(Sent, B.CreateGEP(Sent->getType(), arrayOf(Store->getPointerOperand()), Forward.Outer));
    Store->eraseFromParent();
  }

  void receiveAgain() {
    Type *T = Shuffle->getType();
    IRBuilder<> Ahead(Loops.getLoopFor(First->getParent())->getLoopPreheader()->getTerminator());
    Value *Sent = Ahead.CreateLoad(T, Ahead.CreateGEP(T, arrayOf(First->getPointerOperand()), Reverse.Outer));
    Instruction *Again = Shuffle->clone();
    Again->insertBefore(First->getIterator());
    Again->dropUnknownNonDebugMetadata();
    Again->setOperand(1, Sent);
    Again->setOperand(2, laneAgain(*Shuffle->getArgOperand(2), *Again));
    for (LoadInst *Load : Loads) {
      Load->replaceAllUsesWith(Again);
      Load->eraseFromParent();
    }
  }

  Value *laneAgain(Value &Lane, Instruction &Place) const {
    if (&Lane == Forward.Inner)
      return Reverse.Inner;
    auto *Cast = dyn_cast<CastInst>(&Lane);
    if (!Cast)
      return &Lane;
    Instruction *Copy = Cast->clone();
    Copy->insertBefore(Place.getIterator());
    Copy->setOperand(0, Reverse.Inner);
    return Copy;
  }

  CallInst &Allocation;
  const LoopInfo &Loops;
  const DominatorTree &Before;
  const Uniformity &Threads;
  NestedIndex Forward, Reverse;
  StoreInst *Store = nullptr;
  CallInst *Shuffle = nullptr;
  const Loop *Filled = nullptr;
  SmallVector<LoadInst *> Loads;
  LoadInst *First = nullptr;
};

} // namespace

bool sendOnce(CallInst &Allocation, const LoopInfo &Loops, const DominatorTree &Before, const Uniformity &Threads) {
  return KeptFromLanes(Allocation, Loops, Before, Threads).run();
}

} // namespace adgen
