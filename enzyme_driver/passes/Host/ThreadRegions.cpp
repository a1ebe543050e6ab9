#include "Host/ThreadRegions.h"
#include "Analysis/Cooperates.h"

#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/IR/DebugInfo.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/Local.h"

using namespace llvm;

namespace adgen {

StringRef calleeName(const Instruction &I) {
  auto *Call = dyn_cast<CallInst>(&I);
  return Call && Call->getCalledFunction() ? Call->getCalledFunction()->getName() : "";
}

static bool isThreadIndex(const Value *V) {
  auto *A = dyn_cast<Argument>(V);
  return A && A->getArgNo() >= ThreadX;
}

static Uniformity::Kind kindOf(const Value &V) {
  if (isThreadIndex(&V))
    return Uniformity::Kind::Differs;
  auto *I = dyn_cast<Instruction>(&V);
  return !I || waitsForBlock(*I) || calleeName(*I) == DynamicBytes ? Uniformity::Kind::Same : Uniformity::Kind::Derived;
}

bool isHint(const Instruction &I) {
  auto *Intrinsic = dyn_cast<IntrinsicInst>(&I);
  return Intrinsic &&
         (Intrinsic->isLifetimeStartOrEnd() || Intrinsic->getIntrinsicID() == Intrinsic::assume ||
          Intrinsic->getIntrinsicID() == Intrinsic::experimental_noalias_scope_decl || isa<DbgInfoIntrinsic>(I));
}

bool ThreadRegions::prepare() {
  stripDebugInfo(Work);
  removeUnreachableBlocks(Work);
  unifyReturns();
  isolateBarriers();
  analyse();
  if (!barriersAreUniform())
    return false;
  splitEdges();
  analyse();
  return formRegions();
}

void ThreadRegions::analyse() {
  Threads.emplace(Work, kindOf);
  Tree.recalculate(Work);
}

void ThreadRegions::unifyReturns() {
  SmallVector<ReturnInst *> Returns;
  for (BasicBlock &Block : Work)
    if (auto *Return = dyn_cast<ReturnInst>(Block.getTerminator()))
      Returns.push_back(Return);
  auto *End = BasicBlock::Create(Context, "end", &Work);
  ReturnInst::Create(Context, End);
  for (ReturnInst *Return : Returns) {
    BranchInst::Create(End, Return->getIterator());
    Return->eraseFromParent();
  }
}

void ThreadRegions::isolateBarriers() {
  SmallVector<Instruction *> Barriers;
  for (Instruction &I : instructions(Work))
    if (waitsForBlock(I))
      Barriers.push_back(&I);
  for (Instruction *Barrier : Barriers) {
    BasicBlock *Own = SplitBlock(Barrier->getParent(), Barrier);
    SplitBlock(Own, Barrier->getNextNode());
  }
}

bool ThreadRegions::barriersAreUniform() const {
  for (const Instruction &I : instructions(Work))
    if ((waitsForBlock(I) || isa<ReturnInst>(I)) && Threads->isDivergent(I.getParent()))
      return false;
  return true;
}

void ThreadRegions::splitEdges() {
  SmallVector<std::pair<BasicBlock *, BasicBlock *>> Edges;
  for (BasicBlock &Block : Work) {
    if (Threads->isDivergent(&Block) || succ_size(&Block) < 2 || decidesApart(Block))
      continue;
    SmallSetVector<BasicBlock *, 4> Ways(succ_begin(&Block), succ_end(&Block));
    for (BasicBlock *To : Ways)
      if (Threads->isDivergent(To) || any_of(To->phis(), [&](PHINode &Phi) { return isNeededElsewhere(Phi, Ways); }))
        Edges.push_back({&Block, To});
  }
  for (auto &[From, To] : Edges)
    SplitBlockPredecessors(To, {From}, ".edge");
}

bool ThreadRegions::decidesApart(const BasicBlock &Block) const {
  const Instruction *End = Block.getTerminator();
  return any_of(End->operands(), [&](const Use &U) { return !Threads->isUniform(U.get()); });
}

bool ThreadRegions::isNeededElsewhere(PHINode &Phi, const SmallSetVector<BasicBlock *, 4> &Ways) const {
  if (Threads->isUniform(&Phi))
    return false;
  SmallPtrSet<const BasicBlock *, 8> Using;
  for (const Use &U : Phi.uses()) {
    auto *I = cast<Instruction>(U.getUser());
    auto *Into = dyn_cast<PHINode>(I);
    Using.insert(Into ? Into->getIncomingBlock(U) : I->getParent());
  }
  SmallPtrSet<const BasicBlock *, 16> Seen{Phi.getParent()};
  SmallVector<const BasicBlock *> Next;
  for (const BasicBlock *Way : Ways)
    if (Seen.insert(Way).second)
      Next.push_back(Way);
  while (!Next.empty()) {
    const BasicBlock *Block = Next.pop_back_val();
    if (Using.contains(Block))
      return true;
    for (const BasicBlock *Following : successors(Block))
      if (Seen.insert(Following).second)
        Next.push_back(Following);
  }
  return false;
}

bool ThreadRegions::formRegions() {
  ReversePostOrderTraversal<Function *> Order(&Work);
  for (BasicBlock *Block : Order)
    Rank.insert({Block, Rank.size()});
  SmallPtrSet<BasicBlock *, 16> Taken;
  for (BasicBlock *Block : Order) {
    if (Threads->isDivergent(Block) || Taken.contains(Block))
      continue;
    auto R = std::make_unique<Region>();
    R->Head = Block;
    for (BasicBlock *Next = Block; Next; Next = continues(*R) ? R->Exit : nullptr) {
      Taken.insert(Next);
      if (!append(*R, *Next))
        return false;
    }
    SmallVector<BasicBlock *> Sorted(R->Blocks.begin(), R->Blocks.end());
    sort(Sorted, [&](BasicBlock *A, BasicBlock *B) { return Rank[A] < Rank[B]; });
    R->Blocks = SetVector<BasicBlock *>(Sorted.begin(), Sorted.end());
    ByHead[Block] = R.get();
    ByTail[R->Tail] = R.get();
    Regions.push_back(std::move(R));
  }
  return all_of(Regions, [&](const auto &R) { return isOrderly(*R); });
}

bool ThreadRegions::append(Region &R, BasicBlock &Block) {
  SmallSetVector<BasicBlock *, 4> Exits;
  SetVector<BasicBlock *> Added;
  Added.insert(&Block);
  for (unsigned I = 0; I < Added.size(); ++I)
    for (BasicBlock *Next : successors(Added[I]))
      Threads->isDivergent(Next) ? Added.insert(Next) : Exits.insert(Next);
  R.Tail = &Block;
  R.Decides = Added.size() == 1 && !decidesApart(Block);
  R.Exit = Exits.size() == 1 ? Exits.front() : nullptr;
  R.Blocks.insert(Added.begin(), Added.end());
  return R.Decides || R.Exit;
}

bool ThreadRegions::continues(const Region &R) const {
  BasicBlock *Next = R.Exit;
  if (!Next || waitsForBlock(Next->front()) || waitsForBlock(R.Head->front()))
    return false;
  return Next != R.Head && comesFrom(*Next, R) &&
         all_of(R.Blocks, [&](BasicBlock *Block) { return Block == R.Head || comesFrom(*Block, R); }) &&
         none_of(*Next, [&](Instruction &I) {
           return I.mayReadFromMemory() && !I.getType()->isVoidTy() && Threads->isUniform(&I);
         });
}

bool ThreadRegions::comesFrom(BasicBlock &Block, const Region &R) {
  return all_of(predecessors(&Block), [&](BasicBlock *From) { return R.Blocks.contains(From); });
}

bool ThreadRegions::isOrderly(const Region &R) const {
  for (BasicBlock *Block : R.Blocks) {
    if (Block != R.Head && Tree.dominates(Block, R.Head))
      return false;
    for (PHINode &Phi : Block->phis())
      if (Threads->isUniform(&Phi))
        for (BasicBlock *From : Phi.blocks())
          if (Threads->isDivergent(From))
            return false;
  }
  return true;
}

SmallVector<PHINode *> ThreadRegions::phisBehind(const Region &R) const {
  SmallSetVector<BasicBlock *, 4> Exits;
  if (R.Exit)
    Exits.insert(R.Exit);
  else
    Exits.insert(succ_begin(R.Tail), succ_end(R.Tail));
  SmallVector<PHINode *> Phis;
  for (BasicBlock *Exit : Exits)
    for (PHINode &Phi : Exit->phis())
      if (!Threads->isUniform(&Phi) && !Phi.use_empty())
        Phis.push_back(&Phi);
  return Phis;
}

} // namespace adgen
