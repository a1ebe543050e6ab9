// Where a thread walks along an image or a row and adds, in each iteration, to what its channel or row has one of, all
// lanes of a warp add to the same element for many iterations. Instead of adding up among lanes in each, every lane
// holds what it adds in registers as long as the places of all stay the same:
//   if (any lane of (place != held)) { lanes add sums at held; sum = 0; } held = place; sum += x;
// and lanes add up the rest behind the loop.
#include "Accumulate/HandOver.h"
#include "Accumulate/LaneGroups.h"
#include "Accumulate/LaneOrigins.h"
#include "Accumulate/Ownership.h"
#include "Support/Pass.h"
#include "Support/Reaches.h"
#include "Support/Threads.h"

#include "llvm/Analysis/AliasAnalysis.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

#define DEBUG_TYPE "adgen-hold-lane-sums"

using namespace llvm;

STATISTIC(NumHeld, "Number of additions of lanes held while their place stays the same");

namespace adgen {
namespace {

constexpr size_t MostHeld = 8; // numbers in a function, each in a register

class Holder {
public:
  Holder(Function &F, const Meetings &Meet, LoopInfo &LI) : F(F), Meet(Meet), LI(LI) {}

  bool run() {
    SmallVector<LaneGroup> Groups = laneGroups(F, Meet, [&](const AtomicRMWInst &A) { return stays(A); });
    stable_sort(Groups, [](const auto &A, const auto &B) { return A.Members.size() > B.Members.size(); });
    size_t Room = MostHeld;
    SmallVector<Place> Chosen;
    for (LaneGroup &G : Groups)
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

  // What a lane holds: the address of the first addition, or null; sums; and how far the others lie from the first.
  struct Registers {
    AllocaInst *Held;
    SmallVector<AllocaInst *> Sums;
    SmallVector<int64_t> Distances;
  };

  Place placeOf(LaneGroup G) const {
    const Loop *L = LI.getLoopFor(G.Members.front()->getParent());
    Place Found{std::move(G), L->getLoopPreheader()->getTerminator(), {}};
    L->getUniqueExitBlocks(Found.Exits);
    return Found;
  }

  bool stays(const AtomicRMWInst &Atomic) {
    const Loop *L = LI.getLoopFor(Atomic.getParent());
    Value *Pointer = const_cast<Value *>(Atomic.getPointerOperand());
    auto *Shadow = dyn_cast<Argument>(getUnderlyingObject(Pointer, 0));
    if (!L || !L->getLoopPreheader() || !L->hasDedicatedExits() || Atomic.hasMetadata(SeldomMark) || !Shadow ||
        !F.hasParamAttribute(Shadow->getArgNo(), ShadowAttribute))
      return false;
    const LaneOrigin &Where = From.of(Pointer);
    std::optional<Ownership::Uses> Uses = Ownership::usesOf(*Shadow);
    return !Where.X && !Where.OtherAxes && !Where.Unknown && !Where.Dropped && Uses && !Uses->Others &&
           Uses->Consumptions.empty() && isQuotient(*Pointer, *L);
  }

  // Whether an index is a quotient by what the loop does not change, of a number that it moves on by less than a grid:
  // the next one is near, and often has the same quotient.
  static bool isQuotient(const Value &Pointer, const Loop &L) {
    return dependsOn(Pointer,
                     [&](const Instruction &I) {
                       bool Divides = I.getOpcode() == Instruction::UDiv || I.getOpcode() == Instruction::SDiv;
                       return Divides && L.contains(&I) && !isa<Constant>(I.getOperand(1)) &&
                              L.isLoopInvariant(I.getOperand(1)) && !L.isLoopInvariant(I.getOperand(0));
                     }) &&
           !dependsOn(Pointer, [](const Instruction &I) {
             auto *Call = dyn_cast<IntrinsicInst>(&I);
             return Call && Call->getIntrinsicID() == Intrinsic::nvvm_read_ptx_sreg_nctaid_x;
           });
  }

  static bool dependsOn(const Value &V, function_ref<bool(const Instruction &)> IsWanted) {
    return reaches(V, [&](const Value &Each, SmallVectorImpl<const Value *> &Next) {
      auto *I = dyn_cast<Instruction>(&Each);
      if (I && (isa<GetElementPtrInst, BinaryOperator, CastInst, PHINode, SelectInst, FreezeInst>(I) ||
                isCallOf(*I, LentByLane) || isCallOf(*I, LentToAll)))
        append_range(Next, I->operands());
      return I && IsWanted(*I);
    });
  }

  void hold(const Place &P) {
    const LaneGroup &G = P.Additions;
    ADGEN_COUNT(NumHeld, *G.Members.back());
    IRBuilder<> B(&*F.getEntryBlock().getFirstNonPHIOrDbgOrAlloca());
    Registers R{B.CreateAlloca(B.getPtrTy(), nullptr, "held"), {}, {}};
    for (const AtomicRMWInst *Member : G.Members) {
      R.Sums.push_back(B.CreateAlloca(Member->getType(), nullptr, "sum"));
      R.Distances.push_back(distanceOf(*Member) - distanceOf(*G.Members.front()));
    }
    B.SetInsertPoint(P.Before);
    begin(B, R, ConstantPointerNull::get(B.getPtrTy()));
    Value *There = G.Members.front()->getPointerOperand();
    for (BasicBlock *Exit : P.Exits) {
      Instruction &Behind = *Exit->getFirstNonPHIOrDbg();
      B.SetInsertPoint(&Behind);
      Value *Holds = B.CreateIsNotNull(B.CreateLoad(B.getPtrTy(), R.Held));
      B.SetInsertPoint(SplitBlockAndInsertIfThen(Holds, Behind.getIterator(), false));
      add(B, R, B.CreateLoad(B.getPtrTy(), R.Held), activeLanes(B));
    }
    Instruction *Behind = G.Members.back()->getNextNode();
    B.SetInsertPoint(Behind);
    Value *Held = B.CreateLoad(B.getPtrTy(), R.Held), *Active = activeLanes(B);
    Value *Leaves = B.CreateAnd(B.CreateIsNotNull(Held), B.CreateICmpNE(Held, There));
    Value *Moved = B.CreateIntrinsic(Intrinsic::nvvm_vote_any_sync, ArrayRef<Type *>(), {Active, Leaves});
    B.SetInsertPoint(SplitBlockAndInsertIfThen(Moved, Behind->getIterator(), false));
    add(B, R, B.CreateSelect(B.CreateIsNull(Held), There, Held), Active);
    begin(B, R, There);
    B.SetInsertPoint(Behind);
    B.CreateStore(There, R.Held);
    for (auto [Member, Sum] : zip(G.Members, R.Sums)) {
      B.CreateStore(B.CreateFAdd(B.CreateLoad(Member->getType(), Sum), Member->getValOperand()), Sum);
      Member->eraseFromParent();
    }
  }

  // Lanes that are here add up what they hold for one place.
  static void add(IRBuilder<> &B, const Registers &R, Value *Place, Value *Active) {
    SmallVector<AtomicRMWInst *> Members;
    for (auto [Sum, Distance] : zip(R.Sums, R.Distances))
      Members.push_back(B.CreateAtomicRMW(AtomicRMWInst::FAdd, B.CreatePtrAdd(Place, B.getInt64(Distance)),
                                          B.CreateLoad(Sum->getAllocatedType(), Sum), MaybeAlign(),
                                          AtomicOrdering::Monotonic));
    handOver(B, "warp", Members, Active, alikeLanes(B, Active, Place, false),
             [&](ArrayRef<AtomicRMWInst *>) { return B.getFalse(); });
  }

  static void begin(IRBuilder<> &B, const Registers &R, Value *Place) {
    B.CreateStore(Place, R.Held);
    for (AllocaInst *Sum : R.Sums)
      B.CreateStore(Constant::getNullValue(Sum->getAllocatedType()), Sum);
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
