// A thread that walks over the grid adds, in each iteration, at an index that comes back: to the bias of the column
// that an element has as a remainder. The step over the grid often is a multiple of the row's length, and then a thread
// has one column throughout. So it holds what it adds in registers as long as the place stays the same:
//   if (place != held) { add sum at held; held = place; sum = 0; } sum += x;
// and adds the rest behind the loop.
#include "Accumulate/HandOver.h"
#include "Accumulate/LaneGroups.h"
#include "Accumulate/Ownership.h"
#include "Support/Pass.h"
#include "Support/Reaches.h"

#include "llvm/Analysis/AliasAnalysis.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

#define DEBUG_TYPE "adgen-hold-additions"

using namespace llvm;

STATISTIC(NumHeld, "Number of additions held while their place stays the same");

namespace adgen {
namespace {

constexpr size_t MostHeld = 8; // numbers in a function, each in a register

class Holder {
public:
  Holder(Function &F, const Meetings &Meet, LoopInfo &LI) : F(F), Meet(Meet), LI(LI) {}

  bool run() {
    size_t Room = MostHeld;
    SmallVector<Place> Chosen;
    for (LaneGroup &G : laneGroups(F, Meet, [&](const AtomicRMWInst &A) { return comesBack(A); }))
      if (G.Members.size() <= Room) {
        Room -= G.Members.size();
        Chosen.push_back(placeOf(std::move(G)));
      }
    for (const Place &P : Chosen)
      hold(P);
    return !Chosen.empty();
  }

private:
  // Additions in a loop, where that is entered and where it is left.
  struct Place {
    LaneGroup Additions;
    Instruction *Before;
    SmallVector<BasicBlock *> Exits;
  };

  Place placeOf(LaneGroup G) const {
    const Loop *L = LI.getLoopFor(G.Members.front()->getParent());
    Place Found{std::move(G), L->getLoopPreheader()->getTerminator(), {}};
    L->getUniqueExitBlocks(Found.Exits);
    return Found;
  }

  bool comesBack(const AtomicRMWInst &Atomic) {
    const Loop *L = LI.getLoopFor(Atomic.getParent());
    auto *Shadow = dyn_cast<Argument>(getUnderlyingObject(Atomic.getPointerOperand(), 0));
    if (!L || !L->getLoopPreheader() || !L->hasDedicatedExits() || Atomic.hasMetadata(LanesMark) ||
        Atomic.hasMetadata(SeldomMark) || !Shadow || !F.hasParamAttribute(Shadow->getArgNo(), ShadowAttribute))
      return false;
    std::optional<Ownership::Uses> Uses = Ownership::usesOf(*const_cast<Argument *>(Shadow));
    return Uses && !Uses->Others && Uses->Consumptions.empty() && isRemainder(*Atomic.getPointerOperand(), *L);
  }

  // Whether an index is a remainder by what the loop does not change, of a number that it counts over the grid.
  static bool isRemainder(const Value &Pointer, const Loop &L) {
    auto IsRemainder = [&](const Instruction &I) {
      bool Is = I.getOpcode() == Instruction::URem || I.getOpcode() == Instruction::SRem;
      return Is && !L.isLoopInvariant(&I) && L.isLoopInvariant(I.getOperand(1)) && !isa<Constant>(I.getOperand(1)) &&
             dependsOn(*I.getOperand(0), [](const Instruction &Each) { return countsBlocks(Each); });
    };
    return dependsOn(Pointer, IsRemainder);
  }

  static bool countsBlocks(const Instruction &I) {
    auto *Call = dyn_cast<IntrinsicInst>(&I);
    return Call && Call->getIntrinsicID() == Intrinsic::nvvm_read_ptx_sreg_nctaid_x;
  }

  static bool dependsOn(const Value &V, function_ref<bool(const Instruction &)> IsWanted) {
    return reaches(V, [&](const Value &Each, SmallVectorImpl<const Value *> &Next) {
      auto *I = dyn_cast<Instruction>(&Each);
      if (I && isa<GetElementPtrInst, BinaryOperator, CastInst, PHINode, SelectInst, FreezeInst>(I))
        append_range(Next, I->operands());
      return I && IsWanted(*I);
    });
  }

  void hold(const Place &P) {
    const LaneGroup &G = P.Additions;
    Type *T = G.type(); // until its members are gone
    ADGEN_COUNT(NumHeld, *G.Members.back());
    IRBuilder<> B(&*F.getEntryBlock().getFirstNonPHIOrDbgOrAlloca());
    AllocaInst *Held = B.CreateAlloca(B.getPtrTy(), nullptr, "held");
    SmallVector<AllocaInst *> Sums;
    for (size_t I = 0; I < G.Members.size(); ++I)
      Sums.push_back(B.CreateAlloca(T, nullptr, "sum"));
    B.SetInsertPoint(P.Before);
    begin(B, *Held, Sums, ConstantPointerNull::get(B.getPtrTy()));
    Value *There = G.Members.front()->getPointerOperand();
    SmallVector<int64_t> Distances;
    for (const AtomicRMWInst *Member : G.Members)
      Distances.push_back(distanceOf(*Member) - distanceOf(*G.Members.front()));
    for (BasicBlock *Exit : P.Exits)
      add(*Exit->getFirstNonPHIOrDbg(), *Held, Sums, Distances);
    Instruction *Behind = G.Members.back()->getNextNode();
    B.SetInsertPoint(Behind);
    Value *Moved = B.CreateICmpNE(B.CreateLoad(B.getPtrTy(), Held), There);
    Instruction *Other = SplitBlockAndInsertIfThen(Moved, Behind->getIterator(), false);
    B.SetInsertPoint(Other);
    begin(B, *Held, Sums, There);
    add(*Other->getParent()->getFirstNonPHIOrDbg(), *Held, Sums, Distances);
    B.SetInsertPoint(Behind);
    for (auto [Member, Sum] : zip(G.Members, Sums)) {
      B.CreateStore(B.CreateFAdd(B.CreateLoad(T, Sum), Member->getValOperand()), Sum);
      Member->eraseFromParent();
    }
  }

  // What is held, if anything is.
  static void add(Instruction &Before, AllocaInst &Held, ArrayRef<AllocaInst *> Sums, ArrayRef<int64_t> Distances) {
    IRBuilder<> B(&Before);
    Value *Place = B.CreateLoad(B.getPtrTy(), &Held);
    Instruction *Then = SplitBlockAndInsertIfThen(B.CreateIsNotNull(Place), Before.getIterator(), false);
    B.SetInsertPoint(Then);
    for (auto [Sum, Distance] : zip(Sums, Distances))
      B.CreateAtomicRMW(AtomicRMWInst::FAdd, B.CreatePtrAdd(Place, B.getInt64(Distance)),
                        B.CreateLoad(Sum->getAllocatedType(), Sum), MaybeAlign(), AtomicOrdering::Monotonic);
  }

  static void begin(IRBuilder<> &B, AllocaInst &Held, ArrayRef<AllocaInst *> Sums, Value *Place) {
    B.CreateStore(Place, &Held);
    for (AllocaInst *Sum : Sums)
      B.CreateStore(Constant::getNullValue(Sum->getAllocatedType()), Sum);
  }

  Function &F;
  const Meetings &Meet;
  LoopInfo &LI;
};

} // namespace

ADGEN_DECLARE_PASS(HoldAdditions);

PreservedAnalyses HoldAdditions::run(Module &M, ModuleAnalysisManager &MAM) {
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
