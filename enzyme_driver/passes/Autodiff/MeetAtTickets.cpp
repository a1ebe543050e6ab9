// A sum that the last block finishes:
//   if (t == 0) { partial[blockIdx.x] = s; __threadfence(); last = atomicInc(&count, gridDim.x) == gridDim.x - 1; }
//   __syncthreads();
//   if (last) sum(partial);
// Which block that is the reverse sweep cannot know before all have come: the others' cotangents are what it adds. So
// in bodies all blocks meet at the barrier behind the ticket, as by this_grid().sync(), and meet there again on their
// way back. The primal waits for nobody. It is the same where no thread reads on its way from the ticket to that
// barrier what others write, and where all threads of all blocks come to the barrier, once.
#include "Analysis/Tickets.h"
#include "Analysis/Uniformity.h"
#include "Support/Pass.h"

#include "llvm/Analysis/CFG.h"
#include "llvm/Analysis/PostDominators.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/IR/PatternMatch.h"

#define DEBUG_TYPE "adgen-meet-at-tickets"

using namespace llvm;
using namespace llvm::PatternMatch;

STATISTIC(NumMeetings, "Number of barriers at which all blocks meet behind a ticket");

namespace adgen {
namespace {

// Whether all threads of the grid compute the same.
bool isSameInGrid(const Value *V) {
  if (isa<Constant>(V))
    return true;
  if (isa<Argument>(V))
    return !V->getType()->isPointerTy();
  auto *I = dyn_cast<Instruction>(V);
  if (auto *Call = dyn_cast_or_null<CallInst>(I); Call && Call->getCalledFunction()) {
    StringRef Name = Call->getCalledFunction()->getName();
    return Name.starts_with("llvm.nvvm.read.ptx.sreg.nctaid.") || Name.starts_with("llvm.nvvm.read.ptx.sreg.ntid.");
  }
  return I && isa<BinaryOperator, CmpInst, CastInst, SelectInst, FreezeInst>(I) && all_of(I->operands(), isSameInGrid);
}

// A barrier of all threads of the block.
bool isMeeting(const Instruction &I) {
  auto *Call = dyn_cast<CallInst>(&I);
  StringRef Name = Call && Call->getCalledFunction() ? Call->getCalledFunction()->getName() : "";
  return Name.starts_with("llvm.nvvm.barrier.cta.") && Name.ends_with(".all") &&
         match(Call->getArgOperand(0), m_Zero());
}

bool isFence(const Instruction &I) {
  auto *Call = dyn_cast<CallInst>(&I);
  StringRef Name = Call && Call->getCalledFunction() ? Call->getCalledFunction()->getName() : "";
  return isa<FenceInst>(I) || (Name.starts_with("llvm.nvvm.membar.") && !Name.ends_with(".cta"));
}

class Tickets {
public:
  explicit Tickets(Function &Body) : Body(Body), Dominators(Body), Behind(Body) {}

  bool run() {
    SmallVector<AtomicRMWInst *> Found;
    for (Instruction &I : instructions(Body)) {
      Fence |= isFence(I);
      if (auto *Atomic = dyn_cast<AtomicRMWInst>(&I); Atomic && isTicket(*Atomic))
        Found.push_back(Atomic);
      if (isMeeting(I))
        Barriers.push_back(&I);
    }
    SmallSetVector<Instruction *, 4> Meetings;
    for (AtomicRMWInst *Ticket : Found)
      if (Instruction *Barrier = Fence || isOnlyAsked(*Ticket) ? meetingBehind(*Ticket) : nullptr;
          Barrier && waitsBeforeItReads(*Ticket, *Barrier) && readsOfOthers(*Barrier)) {
        Ticket->setMetadata(TicketMetadata, MDNode::get(Body.getContext(), {}));
        Meetings.insert(Barrier);
      }
    for (Instruction *Barrier : Meetings) {
      ADGEN_COUNT(NumMeetings, *Barrier);
      IRBuilder<> B(Barrier);
      B.CreateIntrinsic(Intrinsic::nvvm_barrier_cta_sync_aligned_all, ArrayRef<Type *>(), {B.getInt32(GridBarrier)});
    }
    return !Meetings.empty();
  }

private:
  bool isTicket(const AtomicRMWInst &Atomic) const {
    return Atomic.getType()->isIntegerTy() && !Atomic.use_empty() && isCounter(Atomic.getOperation()) &&
           !isOfBlock(getUnderlyingObject(Atomic.getPointerOperand(), /*MaxLookup=*/0));
  }

  static bool isOfBlock(const Value *Object) { return isa<AllocaInst>(Object) || isSharedMemory(*Object); }

  // The first barrier to which all threads of the grid come behind the ticket, once.
  Instruction *meetingBehind(const AtomicRMWInst &Ticket) const {
    Instruction *First = nullptr;
    for (Instruction *Barrier : Barriers)
      if (Behind.dominates(Barrier, &Ticket) && (!First || Behind.dominates(First, Barrier)))
        First = Barrier;
    SmallPtrSet<const BasicBlock *, 8> Asked;
    bool IsOnce = First && none_of(successors(First->getParent()), [&](const BasicBlock *Next) {
                    return isPotentiallyReachable(Next, First->getParent());
                  });
    return IsOnce && allComeTo(First->getParent(), Asked) ? First : nullptr;
  }

  bool allComeTo(const BasicBlock *Block, SmallPtrSetImpl<const BasicBlock *> &Asked) const {
    if (Behind.dominates(Block, &Body.getEntryBlock()) || !Asked.insert(Block).second)
      return true;
    for (const BasicBlock &From : Body) {
      bool Decides = any_of(successors(&From), [&](const BasicBlock *Next) { return Behind.dominates(Block, Next); }) &&
                     !Behind.properlyDominates(Block, &From) && From.getTerminator()->getNumSuccessors() > 1;
      auto *Branch = dyn_cast<BranchInst>(From.getTerminator());
      if (Decides && !(Branch && isSameInGrid(Branch->getCondition()) && allComeTo(&From, Asked)))
        return false;
    }
    return true;
  }

  // Whether a thread that reads behind the ticket what others may write has met them.
  bool waitsBeforeItReads(const Instruction &Ticket, const Instruction &Barrier) const {
    return all_of(instructions(Body), [&](const Instruction &I) {
      return !isRead(I) || Dominators.dominates(&Barrier, &I) || !isPotentiallyReachable(&Ticket, &I);
    });
  }

  bool isRead(const Instruction &I) const { return isa<LoadInst>(I) && isNumberOfGrid(I, I.getType()); }

  bool isNumberOfGrid(const Instruction &I, const Type *T) const {
    return (T->isFPOrFPVectorTy() || T->isVectorTy()) &&
           !isOfBlock(getUnderlyingObject(getLoadStorePointerOperand(&I), /*MaxLookup=*/0));
  }

  // What an access is of: a pointer in a struct by value is known by where it lies.
  static std::pair<const Value *, int64_t> placeOf(const Instruction &I) {
    const Value *Object = getUnderlyingObject(getLoadStorePointerOperand(&I), /*MaxLookup=*/0);
    int64_t Offset = -1;
    if (auto *Load = dyn_cast<LoadInst>(Object))
      Object = GetPointerBaseWithConstantOffset(Load->getPointerOperand(), Offset, Load->getDataLayout());
    return {Object, Offset};
  }

  // Whether something that the kernel writes is read behind the barrier.
  bool readsOfOthers(const Instruction &Barrier) const {
    SmallVector<std::pair<const Value *, int64_t>> Written;
    for (const Instruction &I : instructions(Body))
      if (auto *Store = dyn_cast<StoreInst>(&I); Store && isNumberOfGrid(I, Store->getValueOperand()->getType()))
        Written.push_back(placeOf(I));
    return any_of(instructions(Body), [&](const Instruction &I) {
      return isRead(I) && Dominators.dominates(&Barrier, &I) && is_contained(Written, placeOf(I));
    });
  }

  Function &Body;
  DominatorTree Dominators;
  PostDominatorTree Behind;
  SmallVector<Instruction *> Barriers;
  bool Fence = false;
};

} // namespace

ADGEN_DECLARE_PASS(MeetAtTickets);

PreservedAnalyses MeetAtTickets::run(Module &M, ModuleAnalysisManager &) {
  bool Changed = false;
  for (Function &F : M)
    if (F.getName().starts_with(BodyPrefix) && !F.isDeclaration())
      Changed |= Tickets(F).run();
  return Changed ? PreservedAnalyses::none() : PreservedAnalyses::all();
}

} // namespace adgen
