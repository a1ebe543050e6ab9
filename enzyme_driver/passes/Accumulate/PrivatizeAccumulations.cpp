// Where every warp of a block adds to the same elements of a shadow, as to the gain and the bias of a norm whose rows
// are warps, or every row that a block walks through does, millions of atomic additions meet at a few lines of memory.
// So a block has elements of its own in shared memory for the beginning of such a shadow: it zeroes them when it
// begins, adds there, and adds the sums to the shadow when all its threads have come to the end. How many it has
// follows from the number of its threads; what lies beyond is added to the shadow as before.
//
// That the same elements are meant follows from what the address depends on: lanes, what loops count and what all
// threads share, but neither the block nor the warp; or on the thread, but not on what a loop around it counts.
//
// Where the row is the block's, as in most norms, all blocks of the grid come to the same elements. Then as many blocks
// as fit on the GPU walk over the grid (Support/Walk.h), and each adds to the shadow once for all rows that it has
// done. Elements that only one thread of the block adds to, as their indices say, are added to without atomics.
#include "Accumulate/BlockElements.h"
#include "Accumulate/BlockEnd.h"
#include "Accumulate/HandOver.h"
#include "Accumulate/LaneOrigins.h"
#include "Accumulate/LaunchNumbers.h"
#include "Accumulate/Ownership.h"
#include "Accumulate/WalkBlocks.h"
#include "Support/Pass.h"
#include "Support/Threads.h"
#include "Support/Walk.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/IR/PatternMatch.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

#define DEBUG_TYPE "adgen-privatize-accumulations"

using namespace llvm;
using namespace llvm::PatternMatch;

STATISTIC(NumPrivate, "Number of additions into a block's own elements");
STATISTIC(NumWalks, "Number of gradients whose blocks walk over the grid");

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

// Additions of one basic block that lie a constant apart: the last of them knows where all are.
struct Together {
  SmallVector<AtomicRMWInst *> Members;
  const Value *Base = nullptr;
};

// What one array in shared memory is for.
struct Own {
  BlockElements Elements;
  bool AnyLaunch = false;             // warps of one block, or rows that it walks through anyway, have them in common
  std::optional<int64_t> MostThreads; // of a block in one row, so that each element is one thread's
};

class Privatizer {
public:
  Privatizer(Function &F, FunctionAnalysisManager &FAM)
      : F(&F), M(*F.getParent()), DL(M.getDataLayout()), LI(FAM.getResult<LoopAnalysis>(F)), Index(F, LI) {}

  void run() {
    const bool MayWalk = mayWalk(*F);
    const Addresses Alone(LI, false), Walking(LI, walks(*F) || MayWalk);
    for (Argument &A : F->args())
      if (F->hasParamAttribute(A.getArgNo(), ShadowAttribute))
        find(A, Alone, Walking);
    if (All.empty() || !reserve())
      return;
    if (MayWalk && any_of(All, [](const Own &O) { return !O.AnyLaunch; }))
      walk();
    replace();
  }

private:
  void find(Argument &Shadow, const Addresses &Alone, const Addresses &Walking) {
    std::optional<Ownership::Uses> Uses = Ownership::usesOf(Shadow);
    if (!Uses || Uses->Others || !Uses->Consumptions.empty())
      return;
    Own Found{{&Shadow}};
    for (AtomicRMWInst *Atomic : Uses->Accumulations)
      if (isNumber(*Atomic->getType()) && Walking.areCommon(*Atomic, Shadow) &&
          (Found.Elements.Additions.empty() || Atomic->getType() == Found.Elements.type())) {
        Found.Elements.Additions.push_back(Atomic);
        Found.AnyLaunch |= Alone.areCommon(*Atomic, Shadow);
      }
    if (Found.Elements.Additions.empty())
      return;
    Found.MostThreads = mostThreadsApart(Found.Elements);
    if (Found.MostThreads && any_of(instructions(*F), asksForRow))
      return; // threads of other rows would come to the same elements
    All.push_back(std::move(Found));
  }

  // As only a block of more than one dimension does.
  static bool asksForRow(const Instruction &I) {
    auto *Call = dyn_cast<IntrinsicInst>(&I);
    return Call && is_contained({Intrinsic::nvvm_read_ptx_sreg_tid_y, Intrinsic::nvvm_read_ptx_sreg_tid_z},
                                Call->getIntrinsicID());
  }

  // Numbers of 16 bits are added up in 32.
  static bool isNumber(const Type &T) { return T.isFloatTy() || T.isDoubleTy() || T.is16bitFPTy(); }

  // Of a block of one dimension, if no two of its threads add to one element: at
  //   stride * (threadIdx.x + any loop counter * blockDim.x, or * so many threads) + less than a stride.
  std::optional<int64_t> mostThreadsApart(const BlockElements &E) {
    int64_t Most = INT32_MAX, Stride = 0, First = INT64_MAX, Last = INT64_MIN;
    std::optional<Polynomial> Common;
    for (AtomicRMWInst *Atomic : E.Additions) {
      std::optional<Polynomial> P = Index.offsetFrom(E.Shadow, Atomic->getPointerOperand());
      const int64_t ByThread = P ? P->take({onAxis(Source::Thread, 0)}) : 0, Within = P ? P->take({}) : 0;
      if (ByThread <= 0 || (Stride && ByThread != Stride))
        return std::nullopt;
      Stride = ByThread;
      First = std::min(First, Within);
      Last = std::max<int64_t>(Last, Within + DL.getTypeStoreSize(E.type()));
      for (auto It = P->Terms.begin(); It != P->Terms.end();) {
        const auto &[Sources, Factor] = *It;
        auto Is = [&, &Each = Sources](Source::Kind Of) {
          return any_of(Each, [=](const Source &S) { return S.Of == Of; });
        };
        if (Is(Source::Thread) || Is(Source::Block))
          return std::nullopt;
        if (!Is(Source::Counter)) {
          ++It;
          continue;
        }
        if (Factor % Stride)
          return std::nullopt;
        if (!is_contained(Sources, onAxis(Source::BlockSize, 0)))
          Most = std::min(Most, std::abs(Factor / Stride));
        It = P->Terms.erase(It);
      }
      if (Common && !(*Common == *P))
        return std::nullopt;
      Common = std::move(P);
    }
    return Last - First <= Stride ? std::optional(Most) : std::nullopt;
  }

  // False where there is no room.
  bool reserve() {
    uint64_t Room = std::min(MostInAll, roomInShared(*F)), Each = std::min(MostBytes, Room / All.size());
    if (Each / sizeof(double) < WarpSize)
      return false;
    const uint64_t Threads = mostThreads(*F), Most = Threads ? Threads * EachThread : ~uint64_t(0);
    for (Own &O : All) {
      BlockElements &E = O.Elements;
      uint64_t Count = std::min<uint64_t>(Each / DL.getTypeStoreSize(E.ownType()), Most);
      E.Own = createExchange(*F, ArrayType::get(E.ownType(), Count), ".sums");
      E.Own->setAlignment(Align(16));
    }
    return true;
  }

  void walk() {
    ADGEN_COUNT(NumWalks, F->getName());
    SmallVector<unsigned> Numbers;
    for (const Own &O : All)
      Numbers.push_back(O.Elements.Shadow->getArgNo());
    F = &makeWalk(*F);
    for (auto [O, Number] : zip(All, Numbers))
      O.Elements.Shadow = F->getArg(Number);
  }

  void replace() {
    const BlockEnds Ends(*F);
    SmallVector<BlockElements> Elements;
    for (const Own &O : All)
      Elements.push_back(O.Elements);
    auto CountOf = [&](IRBuilder<> &B, const BlockElements &E, Value *Threads) {
      return countOf(B, *find_if(All, [&](const Own &O) { return O.Elements.Own == E.Own; }), Threads);
    };
    Instruction &First = *whereAny(Ends.first(), Elements, CountOf), &Last = *whereAny(Ends.last(), Elements, CountOf);
    zeroOwn(First, Elements, CountOf);
    waitForBlock(First);
    IRBuilder<> B(&*F->getEntryBlock().getFirstNonPHIOrDbgOrAlloca());
    Value *Threads = threadsOfBlock(B);
    for (const Own &O : All) {
      Value *Count = countOf(B, O, Threads);
      for (const Together &Group : groupsOf(O.Elements))
        addToOwn(Group, O, Count);
    }
    waitForBlock(Last);
    addOwnToShadows(Last, Elements, CountOf);
  }

  // A block of one warp has none, unless its warp comes by other blocks.
  Value *countOf(IRBuilder<> &B, const Own &O, Value *Threads) const {
    Value *Many = B.CreateMul(Threads, B.getInt32(EachThread)), *None = B.getInt32(0);
    Value *Most = B.getInt32(O.Elements.most());
    Value *Some = B.CreateBinaryIntrinsic(Intrinsic::umin, Many, Most);
    Value *Alone = None;
    if (O.AnyLaunch)
      Alone = unlessFew(B, B.CreateSelect(B.CreateICmpULE(Threads, B.getInt32(WarpSize)), None, Some));
    return inARow(B, O, walks(*F) ? B.CreateSelect(walksHere(B), Some, Alone) : Alone);
  }

  // Whether a block of this launch does the work of several.
  Value *walksHere(IRBuilder<> &B) const {
    Value *Launched = readRegister(B, Intrinsic::nvvm_read_ptx_sreg_nctaid_x);
    if (!F->hasFnAttribute(TapeAttribute))
      return B.CreateICmpULT(stepOfWalk(B), Launched);
    LaunchNumbers Grid(B, *B.GetInsertBlock()->getParent());
    Value *Blocks = B.CreateMul(B.CreateMul(Grid.blocks(0), Grid.blocks(1)), Grid.blocks(2));
    return B.CreateICmpULT(Launched, Blocks);
  }

  // None where threads would meet that add without atomics.
  static Value *inARow(IRBuilder<> &B, const Own &O, Value *Count) {
    if (!O.MostThreads)
      return Count;
    BlockExtents N(B);
    Value *Row = B.CreateICmpEQ(B.CreateMul(N.Y, N.Z), B.getInt32(1));
    Value *Short = B.CreateICmpULE(N.X, B.getInt32(*O.MostThreads));
    return B.CreateSelect(B.CreateAnd(Row, Short), Count, B.getInt32(0));
  }

  static SmallVector<Together> groupsOf(const BlockElements &E) {
    SmallVector<Together> Groups;
    for (AtomicRMWInst *Atomic : E.Additions) {
      const Value *Base = baseOf(*Atomic);
      auto Known = find_if(Groups, [&](const Together &G) {
        return G.Base == Base && G.Members.front()->getParent() == Atomic->getParent();
      });
      if (Known == Groups.end())
        Known = Groups.insert(Groups.end(), {{}, Base});
      Known->Members.push_back(Atomic);
    }
    for (Together &G : Groups)
      llvm::sort(G.Members, [](AtomicRMWInst *A, AtomicRMWInst *B) { return A->comesBefore(B); });
    return Groups;
  }

  // All of them, or none if the last element is not the block's.
  void addToOwn(const Together &Group, const Own &O, Value *Count) {
    ADGEN_COUNT(NumPrivate, *Group.Members.back());
    const BlockElements &E = O.Elements;
    const int64_t Size = DL.getTypeStoreSize(E.type()), Widening = E.widening();
    const Align OwnAlign(Size * Widening);
    auto Distance = [](const AtomicRMWInst *A) { return distanceOf(*A); };
    const int64_t First = *min_element(map_range(Group.Members, Distance)),
                  Last = *max_element(map_range(Group.Members, Distance));
    Instruction *Behind = Group.Members.back()->getNextNode();
    IRBuilder<> B(Behind);
    Type *Int64 = B.getInt64Ty();
    AtomicRMWInst *Lowest = *find_if(Group.Members, [&](AtomicRMWInst *A) { return distanceOf(*A) == First; });
    Value *Bytes = B.CreateSub(B.CreatePtrToInt(Lowest->getPointerOperand(), Int64), B.CreatePtrToInt(E.Shadow, Int64));
    Value *Bound = B.CreateMul(B.CreateZExt(Count, Int64), B.getInt64(Size));
    Value *IsOwn = B.CreateICmpULT(Last == First ? Bytes : B.CreateAdd(Bytes, B.getInt64(Last - First)), Bound);
    Instruction *Then, *Else;
    SplitBlockAndInsertIfThenElse(IsOwn, Behind->getIterator(), &Then, &Else);
    B.SetInsertPoint(Then);
    Value *Begin = B.CreateInBoundsPtrAdd(
        E.Own, B.CreateMul(B.CreateTrunc(Bytes, B.getInt32Ty()), B.getInt32(Widening), "", true, true));
    for (AtomicRMWInst *Member : Group.Members) {
      Value *Place = B.CreateInBoundsPtrAdd(Begin, B.getInt32((distanceOf(*Member) - First) * Widening));
      Value *Number = E.widened(B, Member->getValOperand());
      if (O.MostThreads)
        B.CreateAlignedStore(B.CreateFAdd(B.CreateAlignedLoad(E.ownType(), Place, OwnAlign), Number), Place, OwnAlign);
      else
        B.CreateAtomicRMW(AtomicRMWInst::FAdd, Place, Number, MaybeAlign(), AtomicOrdering::Monotonic);
      Member->moveBefore(Else->getIterator());
    }
  }

  Function *F;
  Module &M;
  const DataLayout &DL;
  LoopInfo &LI;
  Indices Index;
  SmallVector<Own> All;
};

} // namespace

ADGEN_DECLARE_PASS(PrivatizeAccumulations);

PreservedAnalyses PrivatizeAccumulations::run(Module &M, ModuleAnalysisManager &MAM) {
  auto &FAM = MAM.getResult<FunctionAnalysisManagerModuleProxy>(M).getManager();
  SmallVector<Function *> Gradients;
  for (Function &F : M)
    if (F.hasFnAttribute(ActivityAttribute) && !F.isDeclaration())
      Gradients.push_back(&F);
  for (Function *F : Gradients)
    Privatizer(*F, FAM).run();
  return PreservedAnalyses::none();
}

} // namespace adgen
