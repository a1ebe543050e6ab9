// Accumulates without atomics into elements that only one thread accumulates into. Either the user says so of an array
// (adgen-owned), or MarkRowOwners has found that rows and columns say so, or the index proves it: every accumulation
// into the shadow is at
//   stride * (blockIdx.x * width + threadIdx.x + any loop counter * gridDim.x * width) + what is the same in all
//   threads,
// with the block's size, a multiple of it, or a constant as the width, and those of one thread stay within one stride,
// or within the strides of a few rounds of the block's threads, which together are no wider. That holds for grids of
// one dimension whose blocks are no wider, which no index shows: the gradient is there twice, with atomics and without,
// and the launch decides. Loads and stores of the shadow do not matter: another thread that writes or reads an element
// there would be a race of the primal with itself. An exchange that takes a cotangent (ConsumeOnce) is one of several
// threads' unless the index proves it to be the thread's own, too; then it becomes a load and a store. The load of an
// addition moves up as far as it can: on a GPU loads come first. An element of a shadow that holds zeros, as the user
// says of it (adgen-fresh), is written without being read by the addition that comes first.
#include "Analysis/Accumulation.h"
#include "Analysis/Indices.h"
#include "Support/Pass.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/Analysis/CFG.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/Transforms/Utils/Cloning.h"

#include <optional>

using namespace llvm;

namespace adgen {
namespace {

constexpr unsigned Axes = 3;
constexpr unsigned MostPlaces = 64;         // of a thread
constexpr int64_t MostElements = INT32_MAX; // with more, an index of 32 bits would come back to elements of others

bool isConsumption(const Instruction &I) { return isa<AtomicRMWInst>(I) && I.hasMetadata(ConsumedMark); }

// What the launch has to keep to.
struct Limits {
  int64_t Threads = MostElements, Blocks = MostElements, BlockSize = MostElements;
  SmallSetVector<StringRef, 4> Rows; // as RowsAttribute has them

  void keepTo(StringRef RowsWords) {
    Rows.insert(RowsWords);
    Threads = std::min(Threads, MostInRows);
  }
};

// Where an accumulation is among those of its thread: so many bytes, and so many rounds of all threads of the block,
// behind a common base.
struct Spot {
  AtomicRMWInst *Of = nullptr;
  int64_t Rounds = 0, Bytes = 0, Width = 0;
  Polynomial Whole;   // the index
  Polynomial Counted; // its part by loops

  bool meets(const Spot &Other) const {
    return Rounds == Other.Rounds && Bytes < Other.Bytes + Other.Width && Other.Bytes < Bytes + Width;
  }
};

// Accumulations into elements that only one thread accumulates into, and those among them that find what the shadow
// held before.
struct OwnElements {
  SmallVector<AtomicRMWInst *> All;
  SmallPtrSet<AtomicRMWInst *, 8> First;
};

// Whether every accumulation into a shadow is to elements of the thread's own: within one stride, in a few rounds.
class Ownership {
public:
  Ownership(Function &F, LoopInfo &LI, ScalarEvolution &SE) : Index(F, LI), LI(LI), SE(SE) {}

  // The accumulations into a shadow, and whether there are loads and stores as well; nothing where there is more.
  struct Uses {
    SmallVector<AtomicRMWInst *> Accumulations, Consumptions;
    bool Others = false;
  };
  static std::optional<Uses> usesOf(Argument &Shadow) {
    Uses Found;
    SmallVector<Value *> Pointers{&Shadow};
    while (!Pointers.empty()) {
      Value *Pointer = Pointers.pop_back_val();
      for (User *U : Pointer->users()) {
        auto *I = cast<Instruction>(U);
        AtomicRMWInst *Atomic = asAccumulation(*I);
        if (isa<GetElementPtrInst>(I))
          Pointers.push_back(I);
        else if (Atomic)
          Found.Accumulations.push_back(Atomic);
        else if (isConsumption(*I))
          Found.Consumptions.push_back(cast<AtomicRMWInst>(I));
        else if (!isa<LoadInst>(I) && !(isa<StoreInst>(I) && getLoadStorePointerOperand(I) == Pointer))
          return std::nullopt;
        else
          Found.Others = true;
      }
    }
    return Found;
  }

  // Nothing where it is not proved; lowers the limits to what it is proved for.
  std::optional<OwnElements> elementsOf(const Argument &Shadow, const Uses &All, Limits &Launch) {
    SmallVector<AtomicRMWInst *> Accumulations(All.Accumulations);
    append_range(Accumulations, All.Consumptions);
    OwnElements Found{Accumulations, {}};
    Steps Common;
    Polynomial Base;
    SmallVector<Spot> Elements;
    for (AtomicRMWInst *Atomic : Accumulations) {
      std::optional<Polynomial> P = Index.offsetFrom(&Shadow, Atomic->getPointerOperand());
      if (P && isElsewhereEachTime(*Atomic, *P))
        Found.First.insert(Atomic);
      Polynomial Whole = P.value_or(Polynomial());
      Steps Mine = P ? takeThread(*P) : Steps();
      bool IsFirst = !Common.Thread;
      if (!Mine.Thread || !(IsFirst || Mine == Common))
        return std::nullopt;
      std::optional<Spot> Where = takePlace(*P, Mine);
      if (!Where)
        return std::nullopt;
      Where->Of = Atomic;
      Where->Whole = std::move(Whole);
      Where->Width = Atomic->getDataLayout().getTypeStoreSize(Atomic->getType());
      if (!(IsFirst || *P == Base) || !addElements(*Where, Elements, Mine))
        return std::nullopt;
      Common = Mine;
      Base = *P;
    }
    bool Owned = Common.Thread &&
                 (Common.BlockSize ? areOwnInBlocksOf(Common, Elements, Launch) : areOwn(Common, Elements, Launch));
    if (!Owned)
      return std::nullopt;
    keepFirst(Elements, Found);
    return Found;
  }

private:
  // Whether every iteration of every loop around leads to another element, as far as places that are counted one by one
  // do not tell.
  bool isElsewhereEachTime(const AtomicRMWInst &Atomic, const Polynomial &Where) const {
    const Loop *Innermost = LI.getLoopFor(Atomic.getParent());
    SmallPtrSet<const BasicBlock *, 4> Counted;
    unsigned CountersOverTheGrid = 0;
    for (const auto &[Sources, Factor] : Where.Terms)
      for (const Source &S : Sources) {
        const BasicBlock *Head = S.Of == Source::Counter ? static_cast<const PHINode *>(S.What)->getParent() : nullptr;
        Counted.insert(Head);
        CountersOverTheGrid += Head && Innermost && Innermost->getOutermostLoop()->contains(Head) &&
                               is_contained(Sources, onAxis(Source::GridSize, 0));
      }
    for (const Loop *L = Innermost; L; L = L->getParentLoop())
      if (!Counted.contains(L->getHeader()))
        return false;
    return CountersOverTheGrid <= 1;
  }

  void keepFirst(ArrayRef<Spot> Elements, OwnElements &Found) const {
    for (auto [Index, One] : enumerate(Elements))
      for (const Spot &Other : Elements.drop_front(Index + 1)) {
        if (!One.meets(Other))
          continue;
        bool IsSame = One.Of == Other.Of;
        if (IsSame || mayComeBefore(Other, One))
          Found.First.erase(One.Of);
        if (!IsSame && mayComeBefore(One, Other))
          Found.First.erase(Other.Of);
      }
  }

  // Whether one accumulation may have been to the element when the other comes to it; by the same index only in the
  // same iteration.
  bool mayComeBefore(const Spot &One, const Spot &Other) const {
    const BasicBlock *From = One.Of->getParent(), *To = Other.Of->getParent();
    const Loop *Around = LI.getLoopFor(To);
    if (!(One.Whole == Other.Whole) || !Around || !Around->contains(From))
      return isPotentiallyReachable(One.Of, Other.Of);
    if (From == To)
      return One.Of->comesBefore(Other.Of);
    SmallPtrSet<BasicBlock *, 1> Head{Around->getHeader()};
    return To != Around->getHeader() && isPotentiallyReachable(One.Of, Other.Of, &Head);
  }

  // From thread to thread in bytes; from block to block in threads, where that is a constant, else in rounds of the
  // block's threads.
  struct Steps {
    int64_t Thread = 0, BlockSize = 0, Rounds = 0;
    bool operator==(const Steps &Other) const {
      return Thread == Other.Thread && BlockSize == Other.BlockSize && Rounds == Other.Rounds;
    }
  };

  // Takes what depends on the thread out of an offset; no steps where that is not a stride times the thread's number,
  // or times that in the block and a multiple of that of the block.
  static Steps takeThread(Polynomial &P) {
    Source Thread = onAxis(Source::Thread, 0), Block = onAxis(Source::Block, 0), Size = onAxis(Source::BlockSize, 0);
    Steps Found{P.take({Thread})};
    if (!Found.Thread)
      return {};
    int64_t Constant = P.take({Block}), BySize = P.take({Block, Size}), Step = Constant ? Constant : BySize;
    if ((Constant && BySize) || Step % Found.Thread || Step / Found.Thread < 1)
      return {};
    (Constant ? Found.BlockSize : Found.Rounds) = Step / Found.Thread;
    for (auto It = P.Terms.begin(); It != P.Terms.end();) {
      auto Is = [&](Source::Kind Of) { return any_of(It->first, [=](const Source &L) { return L.Of == Of; }); };
      if (Is(Source::Thread) || Is(Source::Block))
        return {};
      It = Is(Source::Counter) && isOverTheGrid(It->first, It->second, Found) ? P.Terms.erase(It) : std::next(It);
    }
    return Found;
  }

  // Whether a loop counter leads from one round of all threads of the grid to another.
  static bool isOverTheGrid(const Polynomial::Product &Sources, int64_t Factor, const Steps &By) {
    bool Grid = is_contained(Sources, onAxis(Source::GridSize, 0)),
         Size = is_contained(Sources, onAxis(Source::BlockSize, 0));
    return Grid &&
           (By.BlockSize ? Factor % (By.BlockSize * By.Thread) == 0 : Size && Factor % (By.Rounds * By.Thread) == 0);
  }

  // Takes out of an offset what tells a thread's own elements apart.
  static std::optional<Spot> takePlace(Polynomial &P, const Steps &By) {
    Spot Found;
    Found.Bytes = P.take({});
    int64_t BySize = By.Rounds ? P.take({onAxis(Source::BlockSize, 0)}) : 0;
    if (BySize % By.Thread)
      return std::nullopt;
    Found.Rounds = BySize / By.Thread;
    for (auto It = P.Terms.begin(); It != P.Terms.end();) {
      if (none_of(It->first, [](const Source &L) { return L.Of == Source::Counter; })) {
        ++It;
        continue;
      }
      Found.Counted.Terms.insert(*It);
      It = P.Terms.erase(It);
    }
    return Found;
  }

  // The elements that an accumulation in loops with few iterations is to.
  bool addElements(const Spot &Where, SmallVectorImpl<Spot> &Elements, const Steps &By) {
    SmallVector<Spot> Own{Where};
    for (const auto &[Sources, Factor] : Where.Counted.Terms) {
      auto Counter = find_if(Sources, [](const Source &L) { return L.Of == Source::Counter; });
      bool InRounds = Sources.size() == 2 && By.Rounds && is_contained(Sources, onAxis(Source::BlockSize, 0));
      std::optional<uint64_t> Most = Index.lastIteration(*Counter, SE);
      if (!Most || *Most >= MostPlaces || !(InRounds || Sources.size() == 1) || (InRounds && Factor % By.Thread))
        return false;
      SmallVector<Spot> Before = std::move(Own);
      Own.clear();
      for (Spot P : Before)
        for (uint64_t Iteration = 0; Iteration <= *Most; ++Iteration) {
          Own.push_back(P);
          (InRounds ? P.Rounds : P.Bytes) += InRounds ? Factor / By.Thread : Factor;
        }
      if (Own.size() > MostPlaces)
        return false;
    }
    append_range(Elements, Own);
    return Elements.size() <= MostPlaces;
  }

  // A block's elements are in as many rounds as lie between it and the next.
  static bool areOwn(const Steps &By, ArrayRef<Spot> Elements, Limits &Launch) {
    int64_t First = INT64_MAX, Last = INT64_MIN, FirstRound = INT64_MAX, LastRound = INT64_MIN, Width = 1;
    for (const Spot &P : Elements) {
      First = std::min(First, P.Bytes);
      Last = std::max(Last, P.Bytes + P.Width);
      FirstRound = std::min(FirstRound, P.Rounds);
      LastRound = std::max(LastRound, P.Rounds);
      Width = P.Width;
    }
    int64_t Stride = std::abs(By.Thread);
    if (Last - First > Stride || LastRound - FirstRound >= By.Rounds)
      return false;
    Launch.Threads = std::min(Launch.Threads, MostElements / (std::max<int64_t>(1, Stride / Width) * By.Rounds));
    return true;
  }

  // The threads of a block that is no wider than the limit fill the strides up to the next of their rounds, and the
  // last ones those up to the next block.
  static bool areOwnInBlocksOf(const Steps &By, ArrayRef<Spot> Elements, Limits &Launch) {
    SmallVector<Spot> Sorted(Elements);
    llvm::sort(Sorted, [](const Spot &A, const Spot &B) { return A.Bytes < B.Bytes; });
    int64_t Stride = std::abs(By.Thread), BlockSize = By.BlockSize, Round = Sorted.front().Bytes;
    for (const Spot &P : Sorted) {
      if (P.Bytes + P.Width - Round <= Stride)
        continue;
      BlockSize = std::min(BlockSize, (P.Bytes - Round) / Stride);
      Round = P.Bytes;
      if (P.Width > Stride)
        return false;
    }
    BlockSize = std::min(BlockSize, By.BlockSize - (Round - Sorted.front().Bytes) / Stride);
    if (BlockSize < 1)
      return false;
    Launch.BlockSize = std::min(Launch.BlockSize, BlockSize);
    Launch.Blocks =
        std::min(Launch.Blocks, MostElements / (std::max<int64_t>(1, Stride / Sorted.front().Width) * By.BlockSize));
    return true;
  }

  Indices Index;
  LoopInfo &LI;
  ScalarEvolution &SE;
};

// Makes accumulations plain.
class Plain {
public:
  Plain(Function &F, FunctionAnalysisManager &FAM)
      : Meet(F, FAM.getResult<AAManager>(F)), Index(F, FAM.getResult<LoopAnalysis>(F)),
        Dominators(FAM.getResult<DominatorTreeAnalysis>(F)) {}

  // Into an element that holds zero, behind the loads that follow.
  void write(AtomicRMWInst &Atomic) {
    IRBuilder<> B(&Atomic);
    StoreInst *Store = B.CreateAlignedStore(Atomic.getValOperand(), Atomic.getPointerOperand(), Atomic.getAlign());
    Store->setAAMetadata(Atomic.getAAMetadata());
    Atomic.eraseFromParent();
    Instruction *Next = Store->getNextNode();
    auto IsInTheWay = [&](const Instruction &I) {
      return Meet.mayTouch(I, Store->getPointerOperand(), Store->getValueOperand()->getType()) &&
             !Index.areApart(I, *Store);
    };
    while (!Next->isTerminator() && !IsInTheWay(*Next))
      Next = Next->getNextNode();
    Store->moveBefore(Next->getIterator());
  }

  void make(AtomicRMWInst &Atomic) {
    IRBuilder<> B(&Atomic);
    LoadInst *Old = B.CreateAlignedLoad(Atomic.getType(), Atomic.getPointerOperand(), Atomic.getAlign());
    bool Takes = Atomic.getOperation() == AtomicRMWInst::Xchg;
    Value *New = Takes ? Atomic.getValOperand() : B.CreateFAdd(Old, Atomic.getValOperand());
    StoreInst *Store = B.CreateAlignedStore(New, Atomic.getPointerOperand(), Atomic.getAlign());
    Old->setAAMetadata(Atomic.getAAMetadata());
    Store->setAAMetadata(Atomic.getAAMetadata());
    Atomic.replaceAllUsesWith(Old);
    Atomic.eraseFromParent();
    moveUp(*Old);
  }

private:
  // Moves a load to where its block may do it first.
  void moveUp(LoadInst &Load) {
    Instruction *First = &Load;
    while (Instruction *Before = First->getPrevNode()) {
      if (isa<PHINode>(Before) || mayTouch(*Before, Load))
        break;
      First = Before;
    }
    while (First != &Load && !moveUpTo(*First, Load, Dominators)) // what is needed stays where it is
      First = First->getNextNode();
  }

  bool mayTouch(const Instruction &I, const LoadInst &Load) {
    return Meet.mayTouch(I, Load.getPointerOperand(), Load.getType()) && !Index.areApart(I, Load);
  }

  Meetings Meet;
  Indices Index;
  const DominatorTree &Dominators;
};

bool readsOtherAxes(Function &F) {
  constexpr Intrinsic::ID Registers[] = {Intrinsic::nvvm_read_ptx_sreg_tid_y, Intrinsic::nvvm_read_ptx_sreg_tid_z,
                                         Intrinsic::nvvm_read_ptx_sreg_ctaid_y, Intrinsic::nvvm_read_ptx_sreg_ctaid_z,
                                         Intrinsic::nvvm_read_ptx_sreg_laneid};
  bool Reads = any_of(instructions(F), [&](const Instruction &I) {
    auto *Call = dyn_cast<IntrinsicInst>(&I);
    return Call && is_contained(Registers, Call->getIntrinsicID());
  });
  unsigned First = F.arg_size() - 2 * Axes;
  return Reads ||
         (F.hasFnAttribute(TapeAttribute) && !(F.getArg(First + 1)->use_empty() && F.getArg(First + 2)->use_empty()));
}

// The gradient in two versions, of which the launch chooses one.
class Versions {
public:
  Versions(Function &F, Limits Launch) : Shared(F), Launch(Launch) {}

  void make(ArrayRef<AtomicRMWInst *> Owned, const SmallPtrSetImpl<AtomicRMWInst *> &Written,
            FunctionAnalysisManager &FAM) {
    Module &M = *Shared.getParent();
    DISubprogram *Program = Shared.getSubprogram();
    Shared.setSubprogram(nullptr); // what is inlined below keeps its places
    ValueToValueMapTy Map;
    Function *Own = CloneFunction(&Shared, Map);
    {
      Plain Maker(*Own, FAM);
      for (AtomicRMWInst *Atomic : Owned) {
        auto &Mapped = *cast<AtomicRMWInst>(Map[Atomic]);
        Written.contains(Atomic) ? Maker.write(Mapped) : Maker.make(Mapped);
      }
    }
    Function *Both = Function::Create(Shared.getFunctionType(), Shared.getLinkage(), "", &M);
    Both->takeName(&Shared);
    Both->copyAttributesFrom(&Shared);
    SmallVector<Value *> Arguments;
    for (auto [From, To] : zip(Shared.args(), Both->args())) {
      To.takeName(&From);
      Arguments.push_back(&To);
    }
    LLVMContext &Context = M.getContext();
    auto *Entry = BasicBlock::Create(Context, "entry", Both), *Yes = BasicBlock::Create(Context, "own", Both),
         *No = BasicBlock::Create(Context, "shared", Both);
    IRBuilder<> B(Entry);
    B.CreateCondBr(keepsToLimits(B, *Both), Yes, No);
    for (auto [Block, Version] : {std::pair(Yes, Own), std::pair(No, &Shared)}) {
      B.SetInsertPoint(Block);
      CallInst *Call = B.CreateCall(Version, Arguments);
      B.CreateRetVoid();
      InlineFunctionInfo Info;
      if (!InlineFunction(*Call, Info).isSuccess())
        report_fatal_error("adgen-relax-private-atomics: a version could not be inlined");
      FAM.clear(*Version, Version->getName());
      Version->eraseFromParent();
    }
    Both->setSubprogram(Program);
  }

private:
  Value *keepsToLimits(IRBuilder<> &B, Function &F) const {
    auto Register = [&](Intrinsic::ID Id) -> Value * {
      return B.CreateIntrinsic(Id, ArrayRef<Type *>(), ArrayRef<Value *>());
    };
    Value *Grid[Axes],
        *Block[Axes] = {Register(Intrinsic::nvvm_read_ptx_sreg_ntid_x), Register(Intrinsic::nvvm_read_ptx_sreg_ntid_y),
                        Register(Intrinsic::nvvm_read_ptx_sreg_ntid_z)};
    constexpr Intrinsic::ID Extents[] = {Intrinsic::nvvm_read_ptx_sreg_nctaid_x, Intrinsic::nvvm_read_ptx_sreg_nctaid_y,
                                         Intrinsic::nvvm_read_ptx_sreg_nctaid_z};
    for (unsigned Axis = 0; Axis < Axes; ++Axis)
      Grid[Axis] = F.hasFnAttribute(TapeAttribute) ? F.getArg(F.arg_size() - Axes + Axis) : Register(Extents[Axis]);
    Type *Int64 = B.getInt64Ty();
    Value *Threads = B.CreateMul(B.CreateZExt(Grid[0], Int64), B.CreateZExt(Block[0], Int64));
    Value *Holds = B.CreateICmpULE(Threads, B.getInt64(Launch.Threads));
    if (Launch.Blocks < MostElements)
      Holds = B.CreateAnd(Holds, B.CreateICmpULE(Grid[0], B.getInt32(Launch.Blocks)));
    if (Launch.BlockSize < MostElements)
      Holds = B.CreateAnd(Holds, B.CreateICmpULE(Block[0], B.getInt32(Launch.BlockSize)));
    for (Value *Extent : {Block[1], Block[2], Grid[1], Grid[2]})
      Holds = B.CreateAnd(Holds, B.CreateICmpEQ(Extent, B.getInt32(1)));
    for (StringRef Words : Launch.Rows)
      Holds = B.CreateAnd(Holds, keepsToRows(B, F, Words, Block[0], Grid[0]));
    return Holds;
  }

  static Value *keepsToRows(IRBuilder<> &B, Function &F, StringRef Words, Value *Block, Value *Grid) {
    auto [First, Rest] = Words.split(':');
    auto [Rows, Scalars] = First.split('*');
    Value *InWarps = B.CreateLShr(Block, LaneBits), *Holds = B.CreateICmpEQ(B.CreateShl(InWarps, LaneBits), Block),
          *Count = B.getInt64(1);
    Type *Int64 = B.getInt64Ty();
    if (Rows == "warps" || Rows == "threads")
      Count = B.CreateZExt(Rows == "warps" ? InWarps : Block, Int64);
    if (!Rows.empty())
      Count = B.CreateMul(Count, B.CreateMul(B.CreateZExt(Grid, Int64), B.getInt64(numberIn(Scalars))));
    SmallVector<StringRef> Lengths;
    Rest.split(Lengths, ':', -1, /*KeepEmpty=*/false);
    for (StringRef Name : Lengths) {
      Value *Length = B.CreateSExt(lengthOf(B, F, Name), Int64);
      Holds = B.CreateAnd(Holds, B.CreateICmpULT(Length, B.getInt64(MostInRows)));
      if (!Rows.empty()) {
        Count = B.CreateMul(Count, Length);
        Holds = B.CreateAnd(Holds, B.CreateICmpULT(Count, B.getInt64(MostElements)));
      }
    }
    return Holds;
  }

  // A parameter, or an integer in a struct by value.
  static Value *lengthOf(IRBuilder<> &B, Function &F, StringRef Name) {
    auto [Number, Place] = Name.split('+');
    Argument *A = F.getArg(numberIn(Number));
    if (Place.empty())
      return A;
    return B.CreateLoad(B.getInt32Ty(), B.CreateConstInBoundsGEP1_64(B.getInt8Ty(), A, numberIn(Place)));
  }

  static uint64_t numberIn(StringRef Text) {
    uint64_t Number = 0;
    if (Text.getAsInteger(10, Number))
      report_fatal_error("adgen-relax-private-atomics: not a number: " + Text);
    return Number;
  }

  Function &Shared;
  Limits Launch;
};

void ownAsTheUserSays(Function &F, FunctionAnalysisManager &FAM) {
  SmallVector<AtomicRMWInst *> Owned;
  for (Instruction &I : instructions(F))
    if (AtomicRMWInst *Atomic = asAccumulation(I))
      if (const Argument *Shadow = shadowOf(Atomic->getPointerOperand()))
        if (F.hasParamAttribute(Shadow->getArgNo(), OwnedAttribute))
          Owned.push_back(Atomic);
  Plain Maker(F, FAM);
  for (AtomicRMWInst *Atomic : Owned)
    Maker.make(*Atomic);
}

void own(Function &F, FunctionAnalysisManager &FAM) {
  ownAsTheUserSays(F, FAM);
  Ownership Owner(F, FAM.getResult<LoopAnalysis>(F), FAM.getResult<ScalarEvolutionAnalysis>(F));
  bool MayProve = F.hasFnAttribute(SharedAttribute) && !readsOtherAxes(F);
  SmallVector<AtomicRMWInst *> Proved;
  SmallPtrSet<AtomicRMWInst *, 8> Written;
  Limits Launch;
  for (Argument &A : F.args()) {
    bool InRows = A.hasAttribute(RowsAttribute);
    if (!F.hasParamAttribute(A.getArgNo(), ShadowAttribute) || !(MayProve || InRows))
      continue;
    std::optional<Ownership::Uses> Uses = Ownership::usesOf(A);
    if (Uses && InRows) {
      append_range(Proved, Uses->Accumulations);
      Launch.keepTo(F.getAttributes().getParamAttr(A.getArgNo(), RowsAttribute).getValueAsString());
      continue;
    }
    std::optional<OwnElements> Own = Uses ? Owner.elementsOf(A, *Uses, Launch) : std::nullopt;
    if (!Own)
      continue;
    append_range(Proved, Own->All);
    if (A.hasAttribute(FreshAttribute) && !Uses->Others && Uses->Consumptions.empty())
      Written.insert_range(Own->First);
  }
  if (!Proved.empty())
    Versions(F, Launch).make(Proved, Written, FAM);
}

} // namespace

ADGEN_DECLARE_PASS(RelaxPrivateAtomics);

PreservedAnalyses RelaxPrivateAtomics::run(Module &M, ModuleAnalysisManager &MAM) {
  auto &FAM = MAM.getResult<FunctionAnalysisManagerModuleProxy>(M).getManager();
  SmallVector<Function *> Gradients;
  for (Function &F : M)
    if (F.hasFnAttribute(ActivityAttribute) && !F.isDeclaration())
      Gradients.push_back(&F);
  for (Function *F : Gradients)
    own(*F, FAM);
  return PreservedAnalyses::none();
}

} // namespace adgen
