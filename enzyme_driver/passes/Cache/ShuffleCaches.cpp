#include "Cache/ShuffleCaches.h"
#include "Analysis/EnzymeCaches.h"

#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/InstIterator.h"

using namespace llvm;

namespace adgen {

bool isShuffle(const Instruction &I) {
  auto *Call = dyn_cast<CallInst>(&I);
  const Function *Callee = Call ? Call->getCalledFunction() : nullptr;
  return Callee && Callee->getName().starts_with("llvm.nvvm.shfl.sync.");
}

Value *indexOf(const Value *Pointer) {
  auto *Address = dyn_cast<GetElementPtrInst>(Pointer);
  return Address && Address->getNumIndices() == 1 ? Address->getOperand(1) : nullptr;
}

SmallSetVector<Instruction *, 16> usersOf(CallInst &Allocation) {
  SmallSetVector<Instruction *, 16> All;
  All.insert(&Allocation);
  for (unsigned At = 0; At != All.size(); ++At)
    if (isa<CallInst, GetElementPtrInst, PHINode>(All[At]) && All[At]->getType()->isPointerTy())
      for (User *U : All[At]->users())
        All.insert(cast<Instruction>(U));
  return All;
}

const Value *maskOf(const Instruction &I) {
  auto *Call = dyn_cast<CallInst>(&I);
  const Function *Callee = Call ? Call->getCalledFunction() : nullptr;
  StringRef Name = Callee ? Callee->getName() : "";
  if (!Name.consume_front("llvm.nvvm."))
    return nullptr;
  bool Waits = Name == "bar.warp.sync" || Name.starts_with("shfl.sync.") || Name.starts_with("match.all.sync.") ||
               Name.starts_with("match.any.sync.") || (Name.starts_with("vote.") && Name.ends_with(".sync"));
  return Waits ? Call->getArgOperand(0) : nullptr;
}

bool isFullMask(const Value *Mask) {
  auto *Number = dyn_cast_or_null<ConstantInt>(Mask);
  return Number && Number->isMinusOne();
}

const Value *onlyValueOf(const Value *V) {
  SmallPtrSet<const Value *, 4> Seen;
  for (auto *Phi = dyn_cast<PHINode>(V); Phi && Seen.insert(Phi).second; Phi = dyn_cast<PHINode>(V)) {
    const Value *Only = nullptr;
    for (const Value *Each : Phi->incoming_values())
      if (!isa<UndefValue>(Each) && Each != Phi && Each != Only) {
        if (Only)
          return V;
        Only = Each;
      }
    if (!Only)
      return V;
    V = Only;
  }
  return V;
}

// Whether nothing comes of it.
static bool isDead(LoadInst &Load) {
  SmallSetVector<Instruction *, 16> All;
  All.insert(&Load);
  for (unsigned At = 0; At != All.size(); ++At)
    for (User *U : All[At]->users()) {
      auto *I = cast<Instruction>(U);
      if (I->isTerminator() || isa<CallBase>(I) || I->mayWriteToMemory())
        return false;
      All.insert(I);
    }
  return true;
}

Groups cachesIn(Function &F, const LoopInfo &Loops) {
  Groups Found;
  for (Instruction &I : instructions(F)) {
    StoreInst *Store = isCacheAllocation(&I) ? onlyStoreTo(cast<CallInst>(I), Loops) : nullptr;
    auto *Number = Store ? dyn_cast_or_null<PHINode>(indexOf(Store->getPointerOperand())) : nullptr;
    const Loop *Around = Number ? Loops.getLoopFor(Number->getParent()) : nullptr;
    if (!Around || Around->getHeader() != Number->getParent() || Around != Loops.getLoopFor(Store->getParent()))
      continue;
    Cache Made{cast<CallInst>(&I), Store, {}};
    MapVector<Value *, SmallVector<LoadInst *>> Loads;
    for (Instruction *User : usersOf(*Made.Allocation))
      if (auto *Load = dyn_cast<LoadInst>(User); Load && !isDead(*Load))
        Loads[indexOf(Load->getPointerOperand())].push_back(Load);
    Made.IsReadElsewhere = Loads.size() > 1;
    for (auto &[Again, Same] : Loads)
      if (Again) {
        Made.Loads = std::move(Same);
        Found[{Number, Again}].push_back(Made);
      }
  }
  return Found;
}

std::optional<Merge> mergeOf(PHINode &Phi, const DominatorTree &Before) {
  BasicBlock *Meeting = Phi.getParent();
  const DomTreeNode *Node = Before.getNode(Meeting);
  BasicBlock *Head = Node && Node->getIDom() ? Node->getIDom()->getBlock() : nullptr;
  Merge Found{Head ? dyn_cast<BranchInst>(Head->getTerminator()) : nullptr};
  if (!Found.Fork || !Found.Fork->isConditional() || Phi.getNumIncomingValues() != 2 ||
      Found.Fork->getSuccessor(0) == Found.Fork->getSuccessor(1))
    return {};
  for (unsigned Way : {0U, 1U}) {
    BasicBlock *Next = Found.Fork->getSuccessor(Way);
    if (Next != Meeting && (Next->getSinglePredecessor() != Head || Next->getSingleSuccessor() != Meeting))
      return {};
    Found.Sides[Way] = Next == Meeting ? nullptr : Next;
    Found.Brought[Way] = Phi.getIncomingValueForBlock(Next == Meeting ? Head : Next);
  }
  return Found;
}

} // namespace adgen
