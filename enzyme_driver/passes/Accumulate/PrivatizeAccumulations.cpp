// Where every warp of a block adds to the same elements of a shadow, as to the gain and the bias of a norm whose rows
// are warps, or every row that a block walks through does, millions of atomic additions meet at a few lines of memory.
// So a block has elements of its own in shared memory for the beginning of such a shadow: it zeroes them when it
// begins, adds there, and adds the sums to the shadow when all its threads have come to the end. How many it has
// follows from the number of its threads; what lies beyond is added to the shadow as before.
//
// That the same elements are meant follows from what the address depends on: lanes, what loops count and what all
// threads share, but neither the block nor the warp; or on the thread, but not on what a loop around it counts.
#include "Accumulate/BlockElements.h"
#include "Accumulate/BlockEnd.h"
#include "Accumulate/HandOver.h"
#include "Accumulate/LaneOrigins.h"
#include "Accumulate/Ownership.h"
#include "Support/Pass.h"
#include "Support/Threads.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/IR/PatternMatch.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

#define DEBUG_TYPE "adgen-privatize-accumulations"

using namespace llvm;
using namespace llvm::PatternMatch;

STATISTIC(NumPrivate, "Number of additions into a block's own elements");

namespace adgen {
namespace {

constexpr unsigned WarpSize = 1 << LaneBits;
constexpr uint64_t MostBytes = 16 * 1024, MostInAll = 32 * 1024; // of a shadow and of a block
constexpr uint64_t EachThread = 16;                              // elements of a shadow that a thread zeroes and adds

// What an address depends on.
struct Reasons {
  bool Known = true, Lane = false, Thread = false;
  SmallSetVector<const PHINode *, 4> Counters;
};

class Addresses {
public:
  // Where threads walk over the grid, that is a loop around all.
  Addresses(LoopInfo &LI, bool Walk) : LI(LI), Walk(Walk) {}

  // Whether warps of a block, or rows that it walks through, come to the same elements.
  bool areCommon(const AtomicRMWInst &Atomic, const Argument &Shadow) const {
    if (Atomic.hasMetadata(LanesMark))
      return true;
    Reasons R;
    const Value *Pointer = Atomic.getPointerOperand();
    for (; Pointer != &Shadow; Pointer = cast<GetElementPtrInst>(Pointer)->getPointerOperand())
      for (const Use &Index : cast<GetElementPtrInst>(Pointer)->indices())
        add(*Index, R);
    if (!R.Known || !(R.Lane || R.Thread))
      return false;
    return !R.Thread || Walk || any_of(loopsAround(*Atomic.getParent()), [&](const Loop *L) {
      return none_of(R.Counters, [&](const PHINode *Phi) { return Phi->getParent() == L->getHeader(); });
    });
  }

private:
  static void add(const Value &From, Reasons &R) {
    SmallVector<const Value *> Work{&From};
    SmallPtrSet<const Value *, 16> Seen;
    while (!Work.empty() && R.Known) {
      const Value *V = Work.pop_back_val();
      if (auto *A = dyn_cast<Argument>(V); A && isOfTheTape(*A))
        R.Known = false;
      auto *I = dyn_cast<Instruction>(V);
      if (!I || !Seen.insert(V).second)
        continue;
      auto *Call = dyn_cast<IntrinsicInst>(I);
      bool IsLane = match(I, m_And(m_Value(), m_SpecificInt(WarpSize - 1))) ||
                    (isa<TruncInst>(I) && I->getType()->isIntegerTy(LaneBits)) ||
                    (Call && Call->getIntrinsicID() == Intrinsic::nvvm_read_ptx_sreg_laneid);
      bool IsThread = Call && Call->getIntrinsicID() == Intrinsic::nvvm_read_ptx_sreg_tid_x;
      R.Lane |= IsLane;
      R.Thread |= IsThread;
      if (IsLane || IsThread || (Call && isOfLaunch(Call->getIntrinsicID())))
        continue;
      if (auto *Phi = dyn_cast<PHINode>(I))
        R.Counters.insert(Phi);
      else if (!isa<BinaryOperator, CastInst, SelectInst, CmpInst, FreezeInst>(I) &&
               !(Call && !Call->mayReadOrWriteMemory() && isOfNumbers(Call->getIntrinsicID())))
        R.Known = false;
      append_range(Work, I->operands());
    }
  }

  static bool isOfLaunch(Intrinsic::ID Id) {
    return is_contained({Intrinsic::nvvm_read_ptx_sreg_ntid_x, Intrinsic::nvvm_read_ptx_sreg_ntid_y,
                         Intrinsic::nvvm_read_ptx_sreg_ntid_z, Intrinsic::nvvm_read_ptx_sreg_nctaid_x},
                        Id);
  }

  static bool isOfNumbers(Intrinsic::ID Id) {
    return is_contained({Intrinsic::smax, Intrinsic::smin, Intrinsic::umax, Intrinsic::umin, Intrinsic::abs}, Id);
  }

  SmallVector<const Loop *> loopsAround(const BasicBlock &Block) const {
    SmallVector<const Loop *> Found;
    for (const Loop *L = LI.getLoopFor(&Block); L; L = L->getParentLoop())
      Found.push_back(L);
    return Found;
  }

  LoopInfo &LI;
  bool Walk;
};

class Privatizer {
public:
  explicit Privatizer(Function &F) : F(F), M(*F.getParent()), DL(M.getDataLayout()) {}

  void run(LoopInfo &LI) {
    Addresses Where(LI, F.hasFnAttribute(TapeAttribute));
    for (Argument &A : F.args())
      if (F.hasParamAttribute(A.getArgNo(), ShadowAttribute))
        find(A, Where);
    if (!All.empty() && reserve())
      replace();
  }

private:
  void find(Argument &Shadow, const Addresses &Where) {
    std::optional<Ownership::Uses> Uses = Ownership::usesOf(Shadow);
    if (!Uses || Uses->Others || !Uses->Consumptions.empty())
      return;
    BlockElements Found{&Shadow};
    for (AtomicRMWInst *Atomic : Uses->Accumulations)
      if ((Atomic->getType()->isFloatTy() || Atomic->getType()->isDoubleTy()) && Where.areCommon(*Atomic, Shadow) &&
          (Found.Additions.empty() || Atomic->getType() == Found.type()))
        Found.Additions.push_back(Atomic);
    if (!Found.Additions.empty())
      All.push_back(std::move(Found));
  }

  // False where there is no room.
  bool reserve() {
    uint64_t Room = std::min(MostInAll, roomInShared(F)), Each = std::min(MostBytes, Room / All.size());
    if (Each / sizeof(double) < WarpSize)
      return false;
    const uint64_t Threads = mostThreads(F), Most = Threads ? Threads * EachThread : ~uint64_t(0);
    for (BlockElements &E : All) {
      uint64_t Count = std::min<uint64_t>(Each / DL.getTypeStoreSize(E.type()), Most);
      E.Own = createExchange(F, ArrayType::get(E.type(), Count), ".sums");
    }
    return true;
  }

  void replace() {
    auto CountOf = [&](IRBuilder<> &B, const BlockElements &E, Value *Threads) { return countOf(B, E, Threads); };
    const BlockEnds Ends(F);
    zeroOwn(Ends.first(), All, CountOf);
    waitForBlock(Ends.first());
    IRBuilder<> B(&*F.getEntryBlock().getFirstNonPHIOrDbgOrAlloca());
    Value *Threads = threadsOfBlock(B);
    for (const BlockElements &E : All) {
      Value *Count = countOf(B, E, Threads);
      for (AtomicRMWInst *Atomic : E.Additions)
        addToOwn(*Atomic, E, Count);
    }
    waitForBlock(Ends.last());
    addOwnToShadows(Ends.last(), All, CountOf);
  }

  // A block of one warp has none, unless its warp comes by other blocks.
  Value *countOf(IRBuilder<> &B, const BlockElements &E, Value *Threads) const {
    Value *Many = B.CreateMul(Threads, B.getInt32(EachThread));
    Value *Most = B.getInt32(E.most());
    Value *Some = B.CreateBinaryIntrinsic(Intrinsic::umin, Many, Most);
    if (F.hasFnAttribute(TapeAttribute))
      return Some;
    return B.CreateSelect(B.CreateICmpULE(Threads, B.getInt32(WarpSize)), B.getInt32(0), Some);
  }

  void addToOwn(AtomicRMWInst &Atomic, const BlockElements &E, Value *Count) {
    ADGEN_COUNT(NumPrivate, Atomic);
    IRBuilder<> B(&Atomic);
    Type *Int64 = B.getInt64Ty();
    Value *Bytes = B.CreateSub(B.CreatePtrToInt(Atomic.getPointerOperand(), Int64), B.CreatePtrToInt(E.Shadow, Int64));
    Value *Index = B.CreateExactUDiv(Bytes, B.getInt64(DL.getTypeStoreSize(E.type())));
    Value *IsOwn = B.CreateICmpULT(Index, B.CreateZExt(Count, Int64));
    Instruction *Then, *Else;
    SplitBlockAndInsertIfThenElse(IsOwn, Atomic.getIterator(), &Then, &Else);
    B.SetInsertPoint(Then);
    B.CreateAtomicRMW(AtomicRMWInst::FAdd, E.place(B, B.CreateTrunc(Index, B.getInt32Ty())), Atomic.getValOperand(),
                      MaybeAlign(), AtomicOrdering::Monotonic);
    Atomic.moveBefore(Else->getIterator());
  }

  Function &F;
  Module &M;
  const DataLayout &DL;
  SmallVector<BlockElements> All;
};

} // namespace

ADGEN_DECLARE_PASS(PrivatizeAccumulations);

PreservedAnalyses PrivatizeAccumulations::run(Module &M, ModuleAnalysisManager &MAM) {
  auto &FAM = MAM.getResult<FunctionAnalysisManagerModuleProxy>(M).getManager();
  for (Function &F : M)
    if (F.hasFnAttribute(ActivityAttribute) && !F.isDeclaration())
      Privatizer(F).run(FAM.getResult<LoopAnalysis>(F));
  return PreservedAnalyses::none();
}

} // namespace adgen
