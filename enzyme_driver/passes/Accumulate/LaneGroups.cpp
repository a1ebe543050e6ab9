#include "Accumulate/LaneGroups.h"
#include "Accumulate/HandOver.h"
#include "Accumulate/LaneOrigins.h"

#include "llvm/Analysis/ValueTracking.h"

using namespace llvm;

namespace adgen {

static void collect(BasicBlock &Block, const Meetings &Meet, function_ref<bool(const AtomicRMWInst &)> IsWanted,
                    bool AlsoHalves, SmallVectorImpl<LaneGroup> &Groups) {
  SmallVector<LaneGroup> Open;
  for (Instruction &I : Block) {
    auto IsMet = [&](const LaneGroup &G) {
      return any_of(G.Members, [&](AtomicRMWInst *Member) {
        return Meet.mayMeet(I, Member->getPointerOperand(), Member->getType());
      });
    };
    copy_if(Open, std::back_inserter(Groups), IsMet);
    erase_if(Open, IsMet);
    AtomicRMWInst *Atomic = asAccumulation(I);
    bool IsNumber = Atomic && (Atomic->getType()->isFloatTy() || Atomic->getType()->isDoubleTy() ||
                               (AlsoHalves && Atomic->getType()->is16bitFPTy()));
    if (!IsNumber || !IsWanted(*Atomic))
      continue;
    const Value *Base = baseOf(*Atomic);
    auto Like = find_if(Open, [&](const LaneGroup &G) { return G.Base == Base && G.type() == Atomic->getType(); });
    if (Like == Open.end())
      Open.push_back({&Block, Base, {Atomic}});
    else
      Like->Members.push_back(Atomic);
  }
  append_range(Groups, Open);
}

SmallVector<LaneGroup> laneGroups(Function &F, const Meetings &Meet, function_ref<bool(const AtomicRMWInst &)> IsWanted,
                                  bool AlsoHalves) {
  SmallVector<LaneGroup> Groups;
  for (BasicBlock &Block : F)
    collect(Block, Meet, IsWanted, AlsoHalves, Groups);
  return Groups;
}

GivenShadows::GivenShadows(Function &F) : F(F), KeepsOwn(keepsOwnAddresses(F)) {}

bool GivenShadows::contain(const Value &Pointer) const {
  const Value *Object = getUnderlyingObject(&Pointer);
  if (auto *Load = dyn_cast<LoadInst>(Object))
    return !KeepsOwn && isa<Argument>(getUnderlyingObject(Load->getPointerOperand()));
  auto *A = dyn_cast<Argument>(Object);
  return A && F.hasParamAttribute(A->getArgNo(), ShadowAttribute);
}

} // namespace adgen
