// Where all threads add to the same few elements of a shadow, as to the coefficients of a light probe or to a
// material's constant, every warp of the grid comes to one line of the second-level cache, where additions wait for
// each other. So each warp has those elements for itself, in a row of shared memory: it adds there, without atomics
// once its lanes have added up (adgen-warp-aggregate-atomics), and when all threads of the block have come to the end,
// the rows' sums are added to the shadow, once for each block.
//
// That all threads mean the same elements follows from addresses that are constants away from the shadow's beginning.
// What all lanes of a warp have in common without that, as the tap of a filter that a loop has come to, has a row, too,
// where it is among few elements: those that the index may lead to, or all of a device variable's.
#include "Accumulate/BlockEnd.h"
#include "Accumulate/HandOver.h"
#include "Accumulate/LaneOrigins.h"
#include "Accumulate/Places.h"
#include "Accumulate/WarpRows.h"
#include "Analysis/Accumulation.h"
#include "Analysis/ArrayRoots.h"
#include "Analysis/Indices.h"
#include "Support/Pass.h"
#include "Support/Threads.h"

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/InstIterator.h"

#include <map>

#define DEBUG_TYPE "adgen-sum-in-blocks"

using namespace llvm;

STATISTIC(NumSummed, "Number of additions into a warp's own elements");

namespace adgen {
namespace {

constexpr uint64_t MostBytes = 16 * 1024; // of a block
constexpr uint64_t MostThreads = 1024, WarpSize = 1 << LaneBits;

// An element of a shadow, so many bytes behind its beginning, and what adds to it.
struct Element {
  int64_t Offset;
  SmallVector<AtomicRMWInst *> Additions;
};

// Additions to elements of one type: by how far behind the shadow's beginning they are, and those that are led to some
// of a few places.
struct OfShadow {
  std::map<int64_t, SmallVector<AtomicRMWInst *>> Fixed;
  SmallVector<AtomicRMWInst *> Led;
  Bytes Reached;      // by the latter
  unsigned Depth = 0; // of the innermost loop that has one
};

// The elements of a shadow that have one type, and where they begin in a warp's row.
struct Part {
  ArrayRoot Shadow;
  SmallVector<Element> Elements;
  size_t First = 0;
  SmallVector<AtomicRMWInst *> Led; // to what begins so many bytes behind the shadow's beginning
  int64_t LedFrom = 0;
};

// A row for each warp of elements of one type.
struct Rows {
  Type *T;
  SmallVector<Part> Parts;
  size_t Width = 0;
  GlobalVariable *Memory = nullptr;
};

// The order of the parameters, the same in every run.
struct ByNumber {
  bool operator()(const ArrayRoot &A, const ArrayRoot &B) const {
    return std::make_pair(A.Of->getArgNo(), A.Held) < std::make_pair(B.Of->getArgNo(), B.Held);
  }
};

class Summer {
public:
  Summer(Function &F, const Places &Where, const LoopInfo &LI)
      : F(F), M(*F.getParent()), DL(M.getDataLayout()), Where(Where), LI(LI), Roots(F), Shadows(F) {
    uint64_t Threads = mostThreads(F);
    Warps = divideCeil(Threads ? Threads : MostThreads, WarpSize);
  }

  void run() {
    uint64_t Room = std::min(MostBytes, roomInShared(F)) / Warps;
    LLVMContext &C = F.getContext();
    for (Type *T : {Type::getFloatTy(C), Type::getDoubleTy(C)})
      if (Rows Found = find(T, Room); Found.Width)
        All.push_back(std::move(Found));
    if (!All.empty())
      replace();
  }

private:
  // As many elements as there is room for, in bytes of a row; those first to which loops add.
  Rows find(Type *T, uint64_t &Room) {
    Rows Found{T, {}};
    const uint64_t Each = DL.getTypeStoreSize(T);
    auto Additions = additionsOf(T);
    SmallVector<std::pair<ArrayRoot, OfShadow>> Ordered(Additions.begin(), Additions.end());
    stable_sort(Ordered, [](const auto &A, const auto &B) { return A.second.Depth > B.second.Depth; });
    for (auto &[Shadow, All] : Ordered) {
      Part Next{Shadow, {}, Found.Width};
      if (addReached(All, Each, Room)) {
        Next.Led = All.Led;
        Next.LedFrom = All.Reached.Begin;
      }
      for (auto &[Offset, Additions] : All.Fixed)
        if (Each <= Room) {
          Next.Elements.push_back({Offset, Additions});
          Room -= Each;
        }
      Found.Width += Next.Elements.size();
      if (!Next.Elements.empty())
        Found.Parts.push_back(std::move(Next));
    }
    return Found;
  }

  // All elements to which additions are led, if there is room.
  static bool addReached(OfShadow &All, uint64_t Each, uint64_t Room) {
    if (All.Led.empty() || All.Reached.size() + Each * All.Fixed.size() > Room ||
        any_of(All.Fixed, [&](const auto &Known) { return Known.first % int64_t(Each) != 0; }))
      return false;
    for (int64_t Offset = All.Reached.Begin; Offset < All.Reached.End; Offset += Each)
      All.Fixed[Offset];
    return true;
  }

  std::map<ArrayRoot, OfShadow, ByNumber> additionsOf(const Type *T) {
    std::map<ArrayRoot, OfShadow, ByNumber> Found;
    for (Instruction &I : instructions(F)) {
      AtomicRMWInst *Atomic = asAccumulation(I);
      if (!Atomic || Atomic->getType() != T)
        continue;
      std::optional<ArrayRoot> Shadow = fromBeginning(*Atomic);
      std::optional<Bytes> Few = Shadow ? std::nullopt : amongFew(*Atomic);
      if (!Shadow && !Few)
        continue;
      if (Few)
        Shadow = ArrayRoot{cast<Argument>(getUnderlyingObject(Atomic->getPointerOperand(), 0)), 0};
      OfShadow &All = Found[*Shadow];
      All.Depth = std::max(All.Depth, LI.getLoopDepth(Atomic->getParent()));
      if (Few) {
        All.Led.push_back(Atomic);
        All.Reached.widen(*Few);
      } else {
        All.Fixed[distanceOf(*Atomic)].push_back(Atomic);
      }
    }
    return Found;
  }

  // Which elements all lanes of a warp may mean, once they mean the same one.
  std::optional<Bytes> amongFew(AtomicRMWInst &Addition) {
    auto *Shadow = dyn_cast<Argument>(getUnderlyingObject(Addition.getPointerOperand(), 0));
    if (!Shadow || !Shadow->hasAttribute(ShadowAttribute) || !Shadows.contain(*Shadow) ||
        Addition.hasMetadata(SeldomMark) || Addition.hasMetadata(LanesMark))
      return std::nullopt;
    const LaneOrigin &From = Origins.of(Addition.getPointerOperand());
    return From.X || From.OtherAxes || From.Unknown ? std::nullopt : Where.of(Addition);
  }

  // The shadow from whose beginning the element is a constant away; nothing where it is none, or more is done with it.
  std::optional<ArrayRoot> fromBeginning(const AtomicRMWInst &Addition) const {
    const Value *Base = baseOf(Addition);
    auto Led = Roots.of(*Base);
    if (!Led || Led->size() != 1 || !Roots.isShadow(Led->front()) || !Shadows.contain(*Base) ||
        !isInt<32>(distanceOf(Addition)))
      return std::nullopt;
    const ArrayRoot &Root = Led->front();
    auto *Load = dyn_cast<LoadInst>(Base);
    int64_t Held = 0;
    bool IsMember = Load && Root.Of == GetPointerBaseWithConstantOffset(Load->getPointerOperand(), Held, DL);
    return Base == Root.Of || (IsMember && Held == Root.Held) ? std::optional(Root) : std::nullopt;
  }

  void replace() {
    for (Rows &R : All) {
      auto *Row = ArrayType::get(R.T, R.Width);
      R.Memory = createExchange(F, ArrayType::get(Row, Warps), R.T->isFloatTy() ? ".warps" : ".warps.double");
    }
    const BlockEnds Ends(F);
    zero(Ends.first());
    waitForBlock(Ends.first());
    redirect(*F.getEntryBlock().getFirstNonPHIOrDbgOrAlloca());
    waitForBlock(Ends.last());
    addSums(Ends.last());
  }

  void zero(Instruction &Before) const {
    IRBuilder<> B(&Before);
    const BlockPlace At(B);
    for (const Rows &R : All)
      forStrided(Before, At.Thread, At.Threads, B.CreateMul(At.Warps, B.getInt32(R.Width)), "own",
                 [&](IRBuilder<> &B, Value *Index) {
                   B.CreateStore(Constant::getNullValue(R.T), B.CreateInBoundsGEP(R.T, R.Memory, Index));
                 });
  }

  void redirect(Instruction &Start) const {
    IRBuilder<> B(&Start);
    Value *Warp = B.CreateLShr(threadInBlock(B), LaneBits, "warp");
    for (const Rows &R : All) {
      Value *Row = B.CreateAddrSpaceCast(at(B, R, Warp, B.getInt32(0)), B.getPtrTy(), "own");
      for (const Part &P : R.Parts)
        for (auto [Index, Each] : enumerate(P.Elements))
          for (AtomicRMWInst *Addition : Each.Additions)
            addTo(*Addition, *Row, P.First + Index);
      for (const Part &P : R.Parts)
        if (!P.Led.empty())
          addWhereLed(B, R, P, *Row);
    }
  }

  void addWhereLed(IRBuilder<> &B, const Rows &R, const Part &P, Value &Row) const {
    const Element *First = find_if(P.Elements, [&](const Element &E) { return E.Offset == P.LedFrom; });
    const int64_t Before = (P.First + (First - P.Elements.begin())) * DL.getTypeStoreSize(R.T);
    Elsewhere Own(*const_cast<Argument *>(P.Shadow.Of), *B.CreatePtrAdd(&Row, B.getInt64(Before - P.LedFrom), "led"));
    for (AtomicRMWInst *Addition : P.Led) {
      ADGEN_COUNT(NumSummed, *Addition);
      addToOwn(*Addition, &Own.of(*Addition->getPointerOperand()));
    }
  }

  void addTo(AtomicRMWInst &Addition, Value &Row, size_t Column) const {
    ADGEN_COUNT(NumSummed, Addition);
    IRBuilder<> B(&Addition);
    addToOwn(Addition, B.CreateConstInBoundsGEP1_32(Addition.getType(), &Row, Column));
  }

  // Each thread those of some elements; parts share the threads.
  void addSums(Instruction &Before) const {
    IRBuilder<> B(&Before);
    const BlockPlace At(B);
    for (const Rows &R : All)
      for (const Part &P : R.Parts) {
        Value *Shadow = beginningOf(B, Roots, P.Shadow);
        forStrided(Before, inPart(B, P, At.Thread, At.Threads), At.Threads, B.getInt32(P.Elements.size()), "sum",
                   [&](IRBuilder<> &B, Value *Index) { addSum(B, R, P, Shadow, Index, At.Warps); });
      }
  }

  void addSum(IRBuilder<> &B, const Rows &R, const Part &P, Value *Shadow, Value *Index, Value *Here) const {
    Value *Column = B.CreateNUWAdd(Index, B.getInt32(P.First));
    Value *Sum = sumOfRows(B, R.T, Here, [&](IRBuilder<> &Each, Value *Row) { return at(Each, R, Row, Column); });
    addUnlessZero(B, Sum, [&](IRBuilder<> &Each) {
      return Each.CreateGEP(Each.getInt8Ty(), Shadow, Each.CreateSExt(offsetOf(Each, R, P, Index), Each.getInt64Ty()));
    });
  }

  // The number of a thread where the first is the one that the elements before a part leave over.
  static Value *inPart(IRBuilder<> &B, const Part &P, Value *Thread, Value *Threads) {
    if (P.First == 0)
      return Thread;
    Value *Before = B.getInt32(P.First), *Moved = B.CreateSub(Thread, Before);
    Value *Around = B.CreateSelect(B.CreateICmpULE(Before, Threads), B.CreateAdd(Moved, Threads), Thread);
    return B.CreateSelect(B.CreateICmpUGE(Thread, Before), Moved, Around);
  }

  static Value *at(IRBuilder<> &B, const Rows &R, Value *Row, Value *Column) {
    return B.CreateInBoundsGEP(R.Memory->getValueType(), R.Memory, {B.getInt32(0), Row, Column});
  }

  // Of an element of a part, in bytes: from a table, unless they lie side by side.
  Value *offsetOf(IRBuilder<> &B, const Rows &R, const Part &P, Value *Index) const {
    const int64_t First = P.Elements.front().Offset, Bytes = DL.getTypeStoreSize(R.T);
    bool AreBeside = all_of(enumerate(P.Elements), [&](const auto &Each) {
      return Each.value().Offset == First + Bytes * int64_t(Each.index());
    });
    if (AreBeside)
      return B.CreateAdd(B.CreateMul(Index, B.getInt32(Bytes)), B.getInt32(First));
    SmallVector<uint32_t> Offsets;
    for (const Element &Each : P.Elements)
      Offsets.push_back(Each.Offset);
    Constant *Numbers = ConstantDataArray::get(M.getContext(), Offsets);
    auto *Table = new GlobalVariable(M, Numbers->getType(), true, GlobalValue::InternalLinkage, Numbers,
                                     "adgen_offsets", nullptr, GlobalValue::NotThreadLocal, GlobalSpace);
    return B.CreateLoad(B.getInt32Ty(), B.CreateInBoundsGEP(B.getInt32Ty(), Table, Index));
  }

  static constexpr unsigned GlobalSpace = 1;

  Function &F;
  Module &M;
  const DataLayout &DL;
  const Places &Where;
  const LoopInfo &LI;
  LaneOrigins Origins;
  ArrayRoots Roots;
  AccumulatedShadows Shadows;
  uint64_t Warps;
  SmallVector<Rows> All;
};

} // namespace

ADGEN_DECLARE_PASS(SumInBlocks);

PreservedAnalyses SumInBlocks::run(Module &M, ModuleAnalysisManager &MAM) {
  auto &FAM = MAM.getResult<FunctionAnalysisManagerModuleProxy>(M).getManager();
  for (Function &F : M)
    if (F.hasFnAttribute(ActivityAttribute) && !F.isDeclaration()) {
      const Places Where(F.getDataLayout(), FAM.getResult<LazyValueAnalysis>(F),
                         FAM.getResult<ScalarEvolutionAnalysis>(F));
      Summer(F, Where, FAM.getResult<LoopAnalysis>(F)).run();
    }
  return PreservedAnalyses::none();
}

} // namespace adgen
