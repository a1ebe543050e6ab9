// Adds up what the lanes of a warp add to one element, before one of them adds it. Which lanes have an element in
// common follows from the registers that its address depends on: without the thread's index, all lanes of the warp;
// with y and z alone, a row of the block; with x alone, a column; in shared memory, with x / 16 or x / 8, as where a
// thread works out its row in a tile itself, halves or quarters of the warp. What else the address depends on and may
// differ between lanes is compared when the kernel runs, and lanes that are not there take no part; in shared memory
// lanes that differ from others add up with those that they are like. The accumulations of a block of the same kind are
// handed over together: the lanes then share the work (rules/accumulate.cu). Columns are looked for in shared memory
// only, where two lanes that meet cost more than shuffles.
//
// Where a shared array's elements belong to rows of the block, and the rows of a warp to no other warp, no atomics are
// needed. That follows from the indices for blocks of so many rows and of a width that divides a warp, which is found
// out when the kernel runs.
//
// Where a lane adds to elements beside its own one, as the gradient of a stencil does, it hands the sum on to the lane
// whose own element that is. Whether the lanes' elements lie side by side is seen when the kernel runs; lanes at an
// edge add by themselves. Where indices are kept in the array, `min(max(x + 1, 0), width - 1)`, so is whether they are
// as far from the own one as without that.
#include "Accumulate/HandOver.h"
#include "Accumulate/LaneOrigins.h"
#include "Accumulate/RowOwners.h"
#include "Analysis/Accumulation.h"
#include "Support/Pass.h"
#include "Support/Threads.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/PointerIntPair.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/IR/Operator.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

#define DEBUG_TYPE "adgen-warp-aggregate-atomics"

using namespace llvm;

STATISTIC(NumGroups, "Number of groups of additions handed over");
STATISTIC(NumRows, "Number of rows handed on");

namespace adgen {
namespace {

constexpr unsigned MostMembers = 16; // of a group
constexpr unsigned Lanes = 1 << LaneBits;
constexpr int64_t MostBeside = 4;  // elements to which a lane's neighbours may be away
constexpr int64_t WidestStep = 64; // bytes from one element to the next, as in an array of structs

// Accumulations of a block that are handed over together.
struct Group {
  StringRef Lanes; // which have their elements in common
  bool InShared;
  bool WarpsOwn; // elements of shared memory that no other warp adds to
  SmallVector<AtomicRMWInst *, 16> Members;
  SmallVector<Value *, MostCompared> Compared;

  Type *type() const { return Members.front()->getType(); }

  // Lanes that add without atomics may not come to one element for two members.
  bool takes(const Group &Other) const {
    bool Like = Lanes == Other.Lanes && InShared == Other.InShared && WarpsOwn == Other.WarpsOwn &&
                Compared == Other.Compared && type() == Other.type();
    int64_t Distance = distanceOf(*Other.Members.front());
    return Like && !(WarpsOwn && any_of(Members, [&](auto *Member) {
                       return distanceOf(*Member) == Distance || baseOf(*Member) != baseOf(*Other.Members.front());
                     }));
  }
};

// A number as a sum: multiples of others, with or without sign, and a constant. Additions that must not overflow are
// taken apart. Bounds of what differs between neighbouring lanes are left out.
struct Sum {
  MapVector<PointerIntPair<Value *, 1, bool>, int64_t> Parts; // with its sign
  int64_t Constant = 0;
  bool Bounded = false;

  // Bounds are looked through with `From`, of what differs between lanes.
  void add(LaneOrigins *From, Value *V, int64_t Scale, bool Signed) {
    while (Value *Inner = From ? within(*From, V) : nullptr) {
      Bounded = true;
      V = Inner;
    }
    auto *Extension = dyn_cast<CastInst>(V);
    auto *Binary = dyn_cast<OverflowingBinaryOperator>(V);
    if (auto *Number = dyn_cast<ConstantInt>(V))
      Constant += Scale * (Signed ? Number->getSExtValue() : Number->getZExtValue());
    else if (Extension && (isa<SExtInst>(V) || (isa<ZExtInst>(V) && Extension->hasNonNeg())))
      add(From, Extension->getOperand(0), Scale, true);
    else if (isa<ZExtInst>(V))
      add(From, Extension->getOperand(0), Scale, false);
    else if (Binary && isSum(*Binary, Signed)) {
      add(From, Binary->getOperand(0), Scale, Signed);
      add(From, Binary->getOperand(1), Binary->getOpcode() == Instruction::Sub ? -Scale : Scale, Signed);
    } else
      Parts[{V, Signed}] += Scale;
  }

  bool differsByConstant(const Sum &Other) const {
    return Parts.size() == Other.Parts.size() &&
           all_of(Parts, [&](const auto &Part) { return Other.Parts.lookup(Part.first) == Part.second; });
  }

private:
  // What is kept above or below something that is the same along a row.
  static Value *within(LaneOrigins &From, Value *V) {
    auto *Bound = dyn_cast<MinMaxIntrinsic>(V);
    if (!Bound || From.of(Bound->getRHS()).X == From.of(Bound->getLHS()).X)
      return nullptr;
    return From.of(Bound->getLHS()).X ? Bound->getLHS() : Bound->getRHS();
  }

  static bool isSum(const OverflowingBinaryOperator &I, bool Signed) {
    bool Whole = I.getType()->getIntegerBitWidth() == 64; // as addresses have it
    return (I.getOpcode() == Instruction::Add || I.getOpcode() == Instruction::Sub) &&
           (Whole || (Signed ? I.hasNoSignedWrap() : I.hasNoUnsignedWrap()));
  }
};

// Accumulations of a block whose elements lie in one row, at places that are known to each other.
struct Row {
  struct Member {
    AtomicRMWInst *Atomic;
    int64_t Offset;
  };
  const Value *Object;
  Sum Where;    // of the first
  int64_t Step; // bytes from the element of one lane to the next one's, if they are as close as they may be
  SmallVector<Member, 4> Members;
  bool Bounded = false; // the index of a member is

  Type *type() const { return Members.front().Atomic->getType(); }
};

class Reducer {
public:
  Reducer(Function &F, const Meetings &Meet, LoopInfo &LI, ScalarEvolution &SE)
      : F(F), Meet(Meet), FromInShared(true), Owners(F, LI, SE), HasColumns(usesOtherAxes(F)),
        KeepsOwn(keepsOwnAddresses(F)) {}

  void run() {
    SmallVector<Group> Groups;
    for (BasicBlock &Block : F)
      collect(Block, Groups);
    findOwned(Groups);
    for (const Group &G : Groups)
      handOver(G);
    SmallVector<Row> Rows;
    for (BasicBlock &Block : F)
      collectRows(Block, Rows);
    for (Row &R : Rows)
      handOn(R);
  }

private:
  void collect(BasicBlock &Block, SmallVectorImpl<Group> &Groups) {
    SmallVector<Group> Open;
    auto Close = [&](auto Ends) {
      copy_if(Open, std::back_inserter(Groups), Ends);
      erase_if(Open, Ends);
    };
    for (Instruction &I : Block) {
      Close([&](const Group &G) { return isMet(G, I); });
      AtomicRMWInst *Atomic = asAccumulation(I);
      if (!Atomic || !(Atomic->getType()->isFloatTy() || Atomic->getType()->isDoubleTy()))
        continue;
      std::optional<Group> New = groupOf(*Atomic);
      if (!New)
        continue;
      auto Like = find_if(Open, [&](const Group &G) { return G.takes(*New); });
      if (Like == Open.end())
        Open.push_back(*New);
      else
        Like->Members.push_back(Atomic);
      Close([&](const Group &G) { return G.Members.size() == MostMembers; });
    }
    Close([](const Group &) { return true; });
  }

  // Of one accumulation; nothing where no lanes have its element in common.
  std::optional<Group> groupOf(AtomicRMWInst &Atomic) {
    if (Atomic.hasMetadata(WarpsOwnMark))
      return Group{"warp", true, true, {&Atomic}, toCompare(inRow(Atomic), Atomic)};
    bool InShared = isInShared(Atomic);
    const LaneOrigin &Where = (InShared ? FromInShared : From).of(Atomic.getPointerOperand());
    StringRef Lanes = inCommon(Where, Atomic);
    return Lanes.empty() ? std::nullopt
                         : std::optional(Group{Lanes, InShared, false, {&Atomic}, toCompare(Where, Atomic)});
  }

  // Which element of a warp's own row: the row all of its lanes have in common.
  LaneOrigin inRow(const AtomicRMWInst &Atomic) {
    LaneOrigin Which;
    for (auto *At = dyn_cast<GetElementPtrInst>(Atomic.getPointerOperand()); At;
         At = dyn_cast<GetElementPtrInst>(At->getPointerOperand()))
      for (const Use &Index : At->indices())
        Which.add(From.of(Index.get()));
    return Which;
  }

  // Where that is many numbers, the element's address instead, without what is constant in it.
  static SmallVector<Value *, MostCompared> toCompare(const LaneOrigin &Where, const AtomicRMWInst &Atomic) {
    if (Where.Compared.size() <= MostCompared)
      return {Where.Compared.begin(), Where.Compared.end()};
    return {const_cast<Value *>(baseOf(Atomic))};
  }

  // Shared shadows into which only rows accumulate, each into elements of its own.
  void findOwned(ArrayRef<Group> Groups) {
    SmallPtrSet<const AtomicRMWInst *, 16> OfRows;
    for (const Group &G : Groups)
      if (G.Lanes == "row")
        OfRows.insert(G.Members.begin(), G.Members.end());
    MapVector<const Argument *, SmallVector<AtomicRMWInst *>> All;
    for (Instruction &I : instructions(F))
      if (AtomicRMWInst *Atomic = asAccumulation(I))
        if (auto *A = dyn_cast<Argument>(getUnderlyingObject(Atomic->getPointerOperand()));
            A && isShadow(*A, SharedShadowAttribute))
          All[A].push_back(Atomic);
    for (auto &[Shadow, Accumulations] : All)
      if (all_of(Accumulations, [&](AtomicRMWInst *Each) { return OfRows.contains(Each); }))
        if (std::optional<int64_t> Rows = Owners.mostRows(*Shadow, Accumulations))
          Owned[Shadow] = inOneWarp(*Rows);
  }

  // Whether the block has no more rows than that, and each lies in one warp.
  Value *inOneWarp(int64_t Rows) {
    IRBuilder<> B(&*F.getEntryBlock().getFirstInsertionPt());
    auto [X, Y, Z] = BlockExtents(B);
    Value *Divides = B.CreateICmpEQ(B.CreateAnd(X, B.CreateSub(X, B.getInt32(1))), B.getInt32(0));
    Value *Fits = B.CreateAnd(B.CreateICmpULE(X, B.getInt32(1 << LaneBits)), B.CreateICmpULE(Y, B.getInt32(Rows)));
    return B.CreateAnd(B.CreateAnd(Divides, Fits), B.CreateICmpEQ(Z, B.getInt32(1)), "alone");
  }

  // All members may be added without atomics where this holds.
  Value *isAlone(IRBuilder<> &B, ArrayRef<AtomicRMWInst *> Members) const {
    Value *Alone = B.getTrue();
    if (isBlocksOnlyWarp(Members))
      return Alone;
    for (AtomicRMWInst *Member : Members) {
      Value *Mine = Owned.lookup(dyn_cast<Argument>(getUnderlyingObject(Member->getPointerOperand())));
      if (!Mine)
        return B.getFalse();
      if (Mine != Alone)
        Alone = Alone == B.getTrue() ? Mine : B.CreateAnd(Alone, Mine);
    }
    return Alone;
  }

  // Of elements of shared memory that differ, in a block that has no other warp.
  bool isBlocksOnlyWarp(ArrayRef<AtomicRMWInst *> Members) const {
    const uint64_t Threads = mostThreads(F);
    SmallSet<int64_t, 16> Distances;
    return Threads && Threads <= Lanes && all_of(Members, [&](const AtomicRMWInst *Member) {
             return isInShared(*Member) && baseOf(*Member) == baseOf(*Members.front()) &&
                    Distances.insert(distanceOf(*Member)).second;
           });
  }

  bool isMet(const Group &G, const Instruction &I) const {
    return !G.WarpsOwn && any_of(G.Members, [&](const AtomicRMWInst *Member) {
      return Meet.mayMeet(I, Member->getPointerOperand(), Member->getType());
    });
  }

  StringRef inCommon(const LaneOrigin &Where, const AtomicRMWInst &Atomic) const {
    if (Where.Unknown || (Where.X && Where.OtherAxes))
      return "";
    const Value *Object = getUnderlyingObject(Atomic.getPointerOperand());
    if (!isa<Argument>(Object) && KeepsOwn)
      return "";
    if (auto *A = dyn_cast<Argument>(Object);
        A && !isShadow(*A, ShadowAttribute) && !isShadow(*A, SharedShadowAttribute))
      return ""; // the thread's own copy of a struct, whose address is the same in all threads
    if (!Where.X)
      return Where.OtherAxes ? "row" : inParts(Where.Dropped);
    return isInShared(Atomic) && HasColumns ? "column" : "";
  }

  static StringRef inParts(unsigned DroppedBits) {
    return DroppedBits == 0 ? "warp" : 1u << DroppedBits == Lanes / 2 ? "half" : "quarter";
  }

  // In shared memory, where each of several lanes that add to one element tries again until it is the only one.
  bool isInShared(const AtomicRMWInst &Atomic) const {
    auto *A = dyn_cast<Argument>(getUnderlyingObject(Atomic.getPointerOperand()));
    return A && isShadow(*A, SharedShadowAttribute);
  }

  bool isShadow(const Argument &A, StringRef Kind) const { return F.hasParamAttribute(A.getArgNo(), Kind); }

  // All members move to the place of the last.
  void handOver(const Group &G) {
    ADGEN_COUNT(NumGroups, *G.Members.front());
    IRBuilder<> B(G.Members.back());
    Value *Active = activeLanes(B);
    Value *Alike = Active;
    for (Value *V : G.Compared)
      Alike = B.CreateAnd(Alike, alike(B, G, Active, V));
    adgen::handOver(B, G.Lanes, G.Members, Active, Alike,
                    [&](ArrayRef<AtomicRMWInst *> Next) { return G.WarpsOwn ? B.getTrue() : isAlone(B, Next); });
  }

  Value *alike(IRBuilder<> &B, const Group &G, Value *Active, Value *V) {
    if (G.Lanes == "column")
      return alikeInColumn(B, Active, V);
    unsigned Dropped = G.InShared ? FromInShared.of(V).Dropped : 0;
    return Dropped ? alikeNeighbours(B, Active, V, 1 << Dropped) : alikeLanes(B, Active, V, G.InShared);
  }

  void collectRows(BasicBlock &Block, SmallVectorImpl<Row> &Rows) {
    SmallVector<Row> Open;
    auto Close = [&](auto Ends) {
      copy_if(Open, std::back_inserter(Rows),
              [&](const Row &R) { return Ends(R) && R.Members.size() > 1 && !areOfVector(R); });
      erase_if(Open, Ends);
    };
    for (Instruction &I : Block) {
      Close([&](const Row &R) {
        return any_of(R.Members,
                      [&](const Row::Member &M) { return Meet.mayMeet(I, M.Atomic->getPointerOperand(), R.type()); });
      });
      if (AtomicRMWInst *Atomic = asAccumulation(I); Atomic && mayBeBeside(*Atomic))
        insert(*Atomic, Open);
    }
    Close([](const Row &) { return true; });
  }

  // What lies at a multiple of more than its size is copied as a vector, and not beside another lane's first element.
  bool areOfVector(const Row &R) const {
    return any_of(R.Members, [&](const Row::Member &M) { return int64_t(M.Atomic->getAlign().value()) > R.Step; });
  }

  // Whether the place in the array follows from the thread's index, so that lanes side by side may have elements side
  // by side.
  bool mayBeBeside(AtomicRMWInst &Atomic) {
    auto *A = dyn_cast<Argument>(getUnderlyingObject(Atomic.getPointerOperand()));
    if (!A || Atomic.hasMetadata(SeldomMark) ||
        !(isShadow(*A, ShadowAttribute) || isShadow(*A, SharedShadowAttribute)) ||
        !(Atomic.getType()->isFloatTy() || Atomic.getType()->isDoubleTy()))
      return false;
    const LaneOrigin &Where = From.of(Atomic.getPointerOperand());
    return Where.X && !Where.Unknown;
  }

  void insert(AtomicRMWInst &Atomic, SmallVectorImpl<Row> &Open) {
    const Value *Object = getUnderlyingObject(Atomic.getPointerOperand());
    std::optional<Sum> Where = offsetFrom(Object, Atomic.getPointerOperand(), isInShared(Atomic));
    if (!Where)
      return;
    for (Row &R : Open) {
      int64_t Distance = Where->Constant - R.Where.Constant;
      if (R.Object == Object && R.type() == Atomic.getType() && Where->differsByConstant(R.Where) &&
          Distance % R.Step == 0 && std::abs(Distance) <= MostBeside * R.Step) {
        R.Members.push_back({&Atomic, Distance / R.Step});
        R.Bounded |= Where->Bounded;
        return;
      }
    }
    Open.push_back({Object, *Where, stepOf(*Where, bytesOf(Atomic)), {{&Atomic, 0}}, Where->Bounded});
  }

  int64_t bytesOf(const AtomicRMWInst &Atomic) const { return F.getDataLayout().getTypeAllocSize(Atomic.getType()); }

  // Of structs and vectors more than a number.
  int64_t stepOf(const Sum &Where, int64_t Number) {
    int64_t Step = 0;
    for (const auto &[Part, Scale] : Where.Parts)
      if (From.of(Part.getPointer()).X)
        Step = Step ? Number : Scale;
    return Step > 0 && Step <= WidestStep && Step % Number == 0 ? Step : Number;
  }

  // In shared memory bounds stay: few lanes' additions meet there, and looking for those at the edges takes longer.
  std::optional<Sum> offsetFrom(const Value *Object, Value *Pointer, bool InShared) {
    const DataLayout &Layout = F.getDataLayout();
    unsigned Bits = Layout.getIndexTypeSizeInBits(Pointer->getType());
    APInt Constant(Bits, 0);
    Sum Result;
    for (; Pointer != Object; Pointer = cast<GEPOperator>(Pointer)->getPointerOperand()) {
      SmallMapVector<Value *, APInt, 4> Scales;
      auto *Address = dyn_cast<GEPOperator>(Pointer);
      if (!Address || !Address->collectOffset(Layout, Bits, Scales, Constant))
        return {};
      for (auto &[Index, Scale] : Scales)
        Result.add(InShared ? nullptr : &From, Index, Scale.getSExtValue(), true);
    }
    Result.Constant += Constant.getSExtValue();
    return Result;
  }

  // The members move to the place of the last. The one in the middle stays, and gets what other lanes hand on.
  void handOn(Row &R) {
    ADGEN_COUNT(NumRows, *R.Members.front().Atomic);
    IRBuilder<> B(R.Members.back().Atomic);
    B.setFastMathFlags(inAnyOrder());
    sort(R.Members, [](const Row::Member &X, const Row::Member &Y) { return X.Offset < Y.Offset; });
    Row::Member &Own = R.Members[R.Members.size() / 2];
    Value *Active = activeLanes(B);
    Value *Beside =
        callTogether(B, "adgen_beside", B.getInt32Ty(), {Active, Own.Atomic->getPointerOperand(), B.getInt64(R.Step)});
    Value *Total = Own.Atomic->getValOperand();
    for (const Row::Member &M : R.Members)
      if (M.Atomic != Own.Atomic) {
        if (R.Bounded && M.Offset != Own.Offset)
          addWhereBounded(B, *M.Atomic, *Own.Atomic, (M.Offset - Own.Offset) * R.Step);
        Total = B.CreateFAdd(Total, handedOn(B, M, M.Offset - Own.Offset, Active, Beside));
      }
    auto *Sum = cast<AtomicRMWInst>(B.Insert(Own.Atomic->clone()));
    Sum->setOperand(1, Total);
    for (const Row::Member &M : R.Members)
      M.Atomic->eraseFromParent();
  }

  // A lane whose bounds keep the element elsewhere than so far from its own adds there by itself, and hands on zero.
  void addWhereBounded(IRBuilder<> &B, AtomicRMWInst &Member, const AtomicRMWInst &Own, int64_t Distance) {
    Instruction *Last = &*B.GetInsertPoint();
    Value *There = B.CreateConstGEP1_64(B.getInt8Ty(), const_cast<Value *>(Own.getPointerOperand()), Distance);
    Value *Elsewhere = B.CreateICmpNE(Member.getPointerOperand(), There);
    auto *Alone = cast<AtomicRMWInst>(Member.clone());
    Alone->insertBefore(SplitBlockAndInsertIfThen(Elsewhere, Last->getIterator(), false)->getIterator());
    Alone->setMetadata(SeldomMark, MDNode::get(B.getContext(), {}));
    B.SetInsertPoint(Last);
    Value *Number = Member.getValOperand();
    Member.setOperand(1, B.CreateSelect(Elsewhere, Constant::getNullValue(Number->getType()), Number));
  }

  // What this lane gets instead of adding it; lanes that have none at this distance add by themselves.
  Value *handedOn(IRBuilder<> &B, const Row::Member &M, int64_t Distance, Value *Active, Value *Beside) {
    Value *Number = M.Atomic->getValOperand();
    if (Distance == 0)
      return Number;
    StringRef Name = Number->getType()->isFloatTy() ? "adgen_hand_on_f32" : "adgen_hand_on_f64";
    return callTogether(B, Name, Number->getType(),
                        {Active, Beside, B.getInt32(Distance), M.Atomic->getPointerOperand(), Number});
  }

  Function &F;
  const Meetings &Meet;
  LaneOrigins From, FromInShared;
  RowOwners Owners;
  DenseMap<const Argument *, Value *> Owned;
  bool HasColumns, KeepsOwn;
};

} // namespace

ADGEN_DECLARE_PASS(WarpAggregateAtomics);

PreservedAnalyses WarpAggregateAtomics::run(Module &M, ModuleAnalysisManager &MAM) {
  auto &FAM = MAM.getResult<FunctionAnalysisManagerModuleProxy>(M).getManager();
  for (Function &F : M)
    if (F.hasFnAttribute(ActivityAttribute) && !F.isDeclaration())
      Reducer(F, Meetings(F, FAM.getResult<AAManager>(F)), FAM.getResult<LoopAnalysis>(F),
              FAM.getResult<ScalarEvolutionAnalysis>(F))
          .run();
  return PreservedAnalyses::none();
}

} // namespace adgen
