#include "Checkpointing/BarrierIntervals.h"

using namespace llvm;

namespace adgen {

Interval intervalBehind(LoadInst &Load, const Argument *A, const SharedArrays &Arrays) {
  Interval Found;
  SmallVector<BasicBlock::iterator> Work{std::next(Load.getIterator())};
  SmallPtrSet<BasicBlock *, 16> Seen;
  while (!Work.empty() && Found.Repeatable) {
    auto At = Work.pop_back_val();
    BasicBlock *Block = At->getParent();
    for (; At != Block->end(); ++At) {
      Found.LanesMeet |= isOtherMeeting(*At);
      if (Arrays.mayWrite(*At, A))
        Found.Repeatable = false;
      if (!Found.Repeatable || isBlockBarrier(*At))
        break;
    }
    if (At != Block->end()) {
      if (Found.Repeatable)
        Found.Ends.insert(cast<CallInst>(&*At));
      continue;
    }
    if (succ_empty(Block))
      Found.Returns.insert(Block->getTerminator());
    for (BasicBlock *Next : successors(Block))
      if (Seen.insert(Next).second)
        Work.push_back(Next->begin());
  }
  return Found;
}

Instructions reachedFrom(SmallVector<BasicBlock::iterator> Work, function_ref<bool(const Instruction &)> Stops) {
  Instructions Reached;
  SmallPtrSet<BasicBlock *, 16> Seen;
  while (!Work.empty()) {
    auto At = Work.pop_back_val();
    BasicBlock *Block = At->getParent();
    while (At != Block->end() && !Stops(*At))
      Reached.insert(&*At++);
    if (At != Block->end())
      continue;
    for (BasicBlock *Next : successors(Block))
      if (Seen.insert(Next).second)
        Work.push_back(Next->begin());
  }
  return Reached;
}

bool reachesPast(const Instruction &From, const Instruction &To, const Instruction &Avoided) {
  SmallVector<const BasicBlock *> Work;
  SmallPtrSet<const BasicBlock *, 16> Seen;
  auto Comes = [&](const BasicBlock *Block, const Instruction *Behind) {
    auto IsThere = [&](const Instruction &I) { return I.getParent() == Block && (!Behind || Behind->comesBefore(&I)); };
    if (IsThere(To) && !(IsThere(Avoided) && Avoided.comesBefore(&To)))
      return true;
    if (!IsThere(Avoided))
      append_range(Work, successors(Block));
    return false;
  };
  if (Comes(From.getParent(), &From))
    return true;
  while (!Work.empty())
    if (const BasicBlock *Block = Work.pop_back_val(); Seen.insert(Block).second && Comes(Block, nullptr))
      return true;
  return false;
}

bool isWrittenBefore(const Instruction &There, const Argument *A, const SharedArrays &Arrays) {
  SmallVector<std::pair<const BasicBlock *, const Instruction *>> Work{{There.getParent(), There.getPrevNode()}};
  SmallPtrSet<const BasicBlock *, 16> Seen;
  while (!Work.empty()) {
    auto [Block, At] = Work.pop_back_val();
    for (; At && !isBlockBarrier(*At); At = At->getPrevNode())
      if (Arrays.mayWrite(*At, A))
        return true;
    if (At)
      continue;
    for (const BasicBlock *Before : predecessors(Block))
      if (Seen.insert(Before).second)
        Work.push_back({Before, Before->getTerminator()});
  }
  return false;
}

} // namespace adgen
