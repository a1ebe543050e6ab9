#include "Checkpointing/LeftApart.h"
#include "Checkpointing/HandedOn.h"

#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/SSAUpdater.h"

using namespace llvm;

namespace adgen {
namespace {

// A block for that way alone.
BasicBlock *wayOf(BranchInst &Decides, unsigned Index, DominatorTree &DT, LoopInfo &LI) {
  BasicBlock *Way = Decides.getSuccessor(Index);
  if (Way->getSinglePredecessor() && Way->getSingleSuccessor())
    return Way;
  return SplitEdge(Decides.getParent(), Way, &DT, &LI);
}

class LeftApart {
public:
  LeftApart(Loop &L, BranchInst &Decides, DominatorTree &DT, LoopInfo &LI)
      : L(L), Outer(*L.getParentLoop()), Decides(Decides), DT(DT), LI(LI) {}

  void part() {
    SmallVector<PHINode *> Products;
    for (PHINode &Phi : L.getHeader()->phis())
      if (isMultiplied(Phi))
        Products.push_back(&Phi);
    if (Products.empty())
      return;
    Stops = wayOf(Decides, 0, DT, LI);
    wayOf(Decides, 1, DT, LI); // on which the number is divided
    for (PHINode *Phi : Products)
      part(*Phi);
  }

private:
  // By the iteration that stops as well.
  bool isMultiplied(const PHINode &Phi) const {
    if (!Phi.getType()->isFloatingPointTy())
      return false;
    auto IsProduct = [&](const Value *V) {
      auto *I = dyn_cast<Instruction>(V);
      return I && L.contains(I) && (I->getOpcode() == Instruction::FMul || I->getOpcode() == Instruction::FSub) &&
             is_contained(I->operands(), &Phi) && DT.dominates(I, &Decides);
    };
    SmallVector<const Value *> Work{Phi.getIncomingValueForBlock(L.getLoopLatch())};
    SmallPtrSet<const Value *, 8> Seen;
    bool Found = false;
    while (!Work.empty()) {
      const Value *V = Work.pop_back_val();
      auto *Met = dyn_cast<PHINode>(V);
      if (V == &Phi || !Seen.insert(V).second)
        continue;
      if (!Met && !IsProduct(V))
        return false;
      Found |= !Met;
      if (Met && (!L.contains(Met) || Met->getParent() == L.getHeader()))
        return false;
      if (Met)
        append_range(Work, Met->incoming_values());
    }
    return Found;
  }

  void part(PHINode &Phi) {
    auto *Before = dyn_cast<PHINode>(Phi.getIncomingValueForBlock(L.getLoopPreheader()));
    Value *Next = Phi.getIncomingValueForBlock(L.getLoopLatch());
    HandedOn Twins(L, "kept");
    if (!Before || Before->getParent() != Outer.getHeader() ||
        !Twins.isMadeOf(*Before->getIncomingValueForBlock(Outer.getLoopLatch()), {Before, Next}))
      return;
    Value *Stopped = stopped(*Next, *L.getLoopLatch(), Phi);
    PHINode *Left = PHINode::Create(Phi.getType(), 2, "left", L.getHeader()->begin());
    PHINode *Kept = PHINode::Create(Phi.getType(), 2, "kept", Outer.getHeader()->begin());
    Left->addIncoming(Before, L.getLoopPreheader());
    Left->addIncoming(Next, L.getLoopLatch());
    Phi.setIncomingValueForBlock(L.getLoopPreheader(), Kept);
    Phi.setIncomingValueForBlock(L.getLoopLatch(), Stopped);
    Kept->addIncoming(Before->getIncomingValueForBlock(Outer.getLoopPreheader()), Outer.getLoopPreheader());
    Twins.pair(*Before, *Kept);
    Twins.pair(*Next, *Stopped);
    Kept->addIncoming(&Twins.twin(*Before->getIncomingValueForBlock(Outer.getLoopLatch())), Outer.getLoopLatch());
  }

  // What there is at the end of a block, where the way on which a thread stops brings the number of before.
  Value *stopped(Value &V, BasicBlock &At, PHINode &Phi) {
    auto *Met = dyn_cast<PHINode>(&V);
    if (&V == &Phi)
      return &Phi;
    if (!Met || !isBehind(*Met->getParent())) {
      SSAUpdater Update;
      Update.Initialize(Phi.getType(), "kept");
      Update.AddAvailableValue(cast<Instruction>(V).getParent(), &V);
      Update.AddAvailableValue(Stops, &Phi);
      return Update.GetValueAtEndOfBlock(&At);
    }
    Value *&Known = Apart[{&V, &Phi}];
    if (Known)
      return Known;
    PHINode *New = PHINode::Create(Met->getType(), Met->getNumIncomingValues(), "kept", Met->getIterator());
    Known = New;
    for (auto [Value, From] : zip(Met->incoming_values(), Met->blocks()))
      New->addIncoming(From == Stops ? &Phi : stopped(*Value, *From, Phi), From);
    return New;
  }

  // Whether the way on which a thread stops leads there.
  bool isBehind(const BasicBlock &Block) const {
    SmallVector<const BasicBlock *> Work{Stops->getSingleSuccessor()};
    SmallPtrSet<const BasicBlock *, 8> Seen;
    while (!Work.empty()) {
      const BasicBlock *Each = Work.pop_back_val();
      if (Each == &Block)
        return true;
      if (L.contains(Each) && Each != L.getHeader() && Seen.insert(Each).second)
        append_range(Work, successors(Each));
    }
    return false;
  }

  Loop &L, &Outer;
  BranchInst &Decides;
  BasicBlock *Stops = nullptr; // the way on which a thread stops
  DominatorTree &DT;
  LoopInfo &LI;
  DenseMap<std::pair<Value *, Value *>, Value *> Apart;
};

} // namespace

void leaveApart(Loop &L, BranchInst &Decides, DominatorTree &DT, LoopInfo &LI) { LeftApart(L, Decides, DT, LI).part(); }

} // namespace adgen
