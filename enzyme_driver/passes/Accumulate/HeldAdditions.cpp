#include "Accumulate/HeldAdditions.h"
#include "Accumulate/HandOver.h"
#include "Accumulate/LaneOrigins.h"
#include "Accumulate/Ownership.h"
#include "Support/Reaches.h"

#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsNVPTX.h"

using namespace llvm;

namespace adgen {

static constexpr size_t MostHeld = 8; // numbers in a function, each in a register

bool mayBeHeld(const AtomicRMWInst &Addition, const LoopInfo &LI) {
  const Loop *L = LI.getLoopFor(Addition.getParent());
  auto *Shadow = dyn_cast<Argument>(getUnderlyingObject(Addition.getPointerOperand(), 0));
  if (!L || !L->getLoopPreheader() || !L->hasDedicatedExits() || Addition.hasMetadata(SeldomMark) || !Shadow ||
      !Shadow->hasAttribute(ShadowAttribute))
    return false;
  std::optional<Ownership::Uses> Uses = Ownership::usesOf(*const_cast<Argument *>(Shadow));
  return Uses && !Uses->Others && Uses->Consumptions.empty();
}

bool followsFrom(const Value &Address, function_ref<bool(const Instruction &)> IsWanted) {
  return reaches(Address, [&](const Value &Each, SmallVectorImpl<const Value *> &Next) {
    auto *I = dyn_cast<Instruction>(&Each);
    if (I && (isa<GetElementPtrInst, BinaryOperator, CastInst, PHINode, SelectInst, FreezeInst>(I) ||
              isCallOf(*I, LentByLane) || isCallOf(*I, LentToAll)))
      append_range(Next, I->operands());
    return I && IsWanted(*I);
  });
}

bool countsBlocks(const Instruction &I) {
  auto *Call = dyn_cast<IntrinsicInst>(&I);
  return Call && Call->getIntrinsicID() == Intrinsic::nvvm_read_ptx_sreg_nctaid_x;
}

SmallVector<HeldPlace> chooseHeld(MutableArrayRef<LaneGroup> Groups, const LoopInfo &LI) {
  size_t Room = MostHeld;
  SmallVector<HeldPlace> Chosen;
  for (LaneGroup &G : Groups) {
    if (G.Members.size() > Room)
      continue;
    Room -= G.Members.size();
    const Loop *L = LI.getLoopFor(G.Members.front()->getParent());
    HeldPlace &New = Chosen.emplace_back(HeldPlace{std::move(G), L->getLoopPreheader()->getTerminator(), {}});
    L->getUniqueExitBlocks(New.Exits);
  }
  return Chosen;
}

HeldSums::HeldSums(Function &F, const LaneGroup &Additions) {
  IRBuilder<> B(&*F.getEntryBlock().getFirstNonPHIOrDbgOrAlloca());
  Held = B.CreateAlloca(B.getPtrTy(), nullptr, "held");
  for (const AtomicRMWInst *Member : Additions.Members) {
    Sums.push_back(B.CreateAlloca(Member->getType(), nullptr, "sum"));
    Distances.push_back(distanceOf(*Member) - distanceOf(*Additions.Members.front()));
  }
}

void HeldSums::begin(IRBuilder<> &B, Value *Place) const {
  move(B, Place);
  for (AllocaInst *Sum : Sums)
    B.CreateStore(Constant::getNullValue(Sum->getAllocatedType()), Sum);
}

Value *HeldSums::held(IRBuilder<> &B) const { return B.CreateLoad(B.getPtrTy(), Held); }

SmallVector<AtomicRMWInst *> HeldSums::add(IRBuilder<> &B, Value *Place) const {
  SmallVector<AtomicRMWInst *> Made;
  for (auto [Sum, Distance] : zip(Sums, Distances))
    Made.push_back(B.CreateAtomicRMW(AtomicRMWInst::FAdd, B.CreatePtrAdd(Place, B.getInt64(Distance)),
                                     B.CreateLoad(Sum->getAllocatedType(), Sum), MaybeAlign(),
                                     AtomicOrdering::Monotonic));
  return Made;
}

void HeldSums::take(IRBuilder<> &B, ArrayRef<AtomicRMWInst *> Additions) const {
  for (auto [Member, Sum] : zip(Additions, Sums)) {
    B.CreateStore(B.CreateFAdd(B.CreateLoad(Member->getType(), Sum), Member->getValOperand()), Sum);
    Member->eraseFromParent();
  }
}

} // namespace adgen
