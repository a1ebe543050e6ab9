// Adds up what the lanes of a warp add to one element, before one of them adds it. Which lanes have an element in
// common follows from the registers that its address depends on: without the thread's index, all lanes of the warp;
// with y and z alone, a row of the block; with x alone, a column. What else the address depends on and may differ
// between lanes is compared when the kernel runs, and lanes that are not there take no part; in shared memory lanes
// that differ from others add up with those that they are like. The accumulations of a
// block of the same kind are handed over together: the lanes then share the work (rules/accumulate.cu). Columns are
// looked for in shared memory only, where two lanes that meet cost more than shuffles.
//
// Where a shared array's elements belong to rows of the block, and the rows of a warp to no other warp, no atomics are
// needed. That follows from the indices for blocks of so many rows and of a width that divides a warp, which is found
// out when the kernel runs.
//
// Where a lane adds to elements beside its own one, as the gradient of a stencil does, it hands the sum on to the lane
// whose own element that is. Whether the lanes' elements lie side by side is seen when the kernel runs; lanes at an
// edge add by themselves.
#include "Accumulate/HandOver.h"
#include "Analysis/Accumulation.h"
#include "Analysis/Indices.h"
#include "Support/Pass.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/PointerIntPair.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/IR/Operator.h"

using namespace llvm;

namespace adgen {
namespace {

constexpr unsigned MostCompared = 2;
constexpr unsigned MostMembers = 16; // of a group
constexpr unsigned MostPlaces = 256; // of a row's elements
constexpr int64_t MostBeside = 4;    // elements to which a lane's neighbours may be away

// What decides the value of an address, apart from what is the same in the whole grid.
struct Origin {
  bool X = false, OtherAxes = false, Unknown = false;
  SmallSetVector<Value *, MostCompared> Compared; // the same in all lanes, if it turns out so when the kernel runs

  void add(const Origin &Other) {
    X |= Other.X;
    OtherAxes |= Other.OtherAxes;
    Unknown |= Other.Unknown;
    Compared.insert_range(Other.Compared);
  }
};

class UnderlyingObjects {
public:
  // With `Counts`, numbers that were kept for the reverse sweep may be the same as well, such as those of iterations.
  explicit UnderlyingObjects(const Function &F, bool Counts = false) : F(F), Counts(Counts) {}

  const Origin &of(Value *V) {
    auto Known = Found.find(V);
    return Known != Found.end() ? Known->second : Found[V] = find(V);
  }

private:
  Origin find(Value *V) {
    Origin Result;
    if (isa<Constant>(V))
      return Result;
    if (auto *A = dyn_cast<Argument>(V)) {
      if (isOfTheTape(*A))
        A->getType()->isPointerTy() ? void(Result.Unknown = true) : void(Result.Compared.insert(A));
      return Result;
    }
    auto *I = cast<Instruction>(V);
    if (auto *Call = dyn_cast<IntrinsicInst>(I); Call && readsRegister(*Call, Result))
      return Result;
    bool MayDrop = dropsTheLane(*I) || dividesByNumber(*I);
    if (isa<PHINode, LoadInst>(I) || MayDrop) {
      bool Comparable = I->getType()->isIntOrPtrTy() && I->getType()->getPrimitiveSizeInBits() <= 64;
      Comparable && (MayDrop || isLikelyTheSame(I)) ? void(Result.Compared.insert(I)) : void(Result.Unknown = true);
      return Result;
    }
    bool Computed =
        isa<BinaryOperator, CastInst, GetElementPtrInst, CmpInst, SelectInst, FreezeInst>(I) || isArithmetic(*I);
    Result.Unknown = !Computed;
    for (Value *Operand : I->operands())
      if (Computed && !isa<Function>(Operand))
        Result.add(of(Operand));
    return Result;
  }

  // Other intrinsics of the GPU may tell lanes apart.
  static bool isArithmetic(const Instruction &I) {
    auto *Call = dyn_cast<IntrinsicInst>(&I);
    return Call && !Call->mayReadOrWriteMemory() && !Call->getCalledFunction()->getName().starts_with("llvm.nvvm.");
  }

  // A tape's place differs in every lane; the block's index is an argument beside it, and changes as the kernel walks
  // over the grid.
  bool isOfTheTape(const Argument &A) const {
    return F.hasFnAttribute(TapeAttribute) && A.getArgNo() + TapeArguments >= F.arg_size();
  }

  static bool readsRegister(const IntrinsicInst &Call, Origin &Result) {
    switch (Call.getIntrinsicID()) {
    case Intrinsic::nvvm_read_ptx_sreg_tid_x:
      return Result.X = true;
    case Intrinsic::nvvm_read_ptx_sreg_tid_y:
    case Intrinsic::nvvm_read_ptx_sreg_tid_z:
      return Result.OtherAxes = true;
    default:
      return isOfTheBlock(Call);
    }
  }

  static bool isOfTheBlock(const IntrinsicInst &Call) {
    constexpr StringLiteral Registers[] = {"ctaid.", "nctaid.", "ntid.", "warpsize"};
    StringRef Name = Call.getCalledFunction()->getName();
    return Name.consume_front("llvm.nvvm.read.ptx.sreg.") &&
           any_of(Registers, [&](StringRef Register) { return Name.starts_with(Register); });
  }

  // Such as threadIdx.x / 32.
  static bool dropsTheLane(const Instruction &I) {
    auto *Number = I.getNumOperands() == 2 ? dyn_cast<ConstantInt>(I.getOperand(1)) : nullptr;
    if (!Number)
      return false;
    const APInt &N = Number->getValue();
    switch (I.getOpcode()) {
    case Instruction::LShr:
    case Instruction::AShr:
      return N.uge(LaneBits);
    case Instruction::UDiv:
    case Instruction::SDiv:
      return N.sge(1 << LaneBits) && N.countr_zero() >= LaneBits;
    case Instruction::And:
      return N.countr_zero() >= LaneBits;
    default:
      return false;
    }
  }

  // As of an index in a matrix by the length of its rows: lanes in one row have the same. Divisors that are known are
  // small, but for those that drop the lane.
  static bool dividesByNumber(const Instruction &I) {
    unsigned Kind = I.getOpcode();
    return (Kind == Instruction::UDiv || Kind == Instruction::SDiv) && !isa<Constant>(I.getOperand(1));
  }

  // Whether it pays to compare: nothing that it comes from is known to differ.
  bool isLikelyTheSame(Value *V) {
    SmallVector<Value *> Next{V};
    SmallPtrSet<Value *, 16> Seen{V};
    while (!Next.empty()) {
      Value *From = Next.pop_back_val();
      auto *I = dyn_cast<Instruction>(From);
      auto *A = dyn_cast<Argument>(From);
      if (Counts && isCount(From))
        continue;
      Origin Register;
      if (isa<AllocaInst>(From) || (A && isOfTheTape(*A) && A->getType()->isPointerTy()))
        return false;
      if (isa_and_nonnull<CallBase>(I)) {
        auto *Read = dyn_cast<IntrinsicInst>(I);
        if (Read && readsRegister(*Read, Register) && !Register.X && !Register.OtherAxes)
          continue;
        if (!isArithmetic(*I))
          return false;
      }
      for (Value *Operand : I ? I->operands() : iterator_range<User::op_iterator>(nullptr, nullptr))
        if (!isa<Constant, BasicBlock>(Operand) && Seen.insert(Operand).second)
          Next.push_back(Operand);
    }
    return true;
  }

  // An integer that a lane has kept in its tape.
  bool isCount(const Value *V) const {
    auto *Load = dyn_cast<LoadInst>(V);
    auto *A = Load ? dyn_cast<Argument>(getUnderlyingObject(Load->getPointerOperand(), 0)) : nullptr;
    return A && isOfTheTape(*A) && Load->getType()->isIntegerTy();
  }

  const Function &F;
  bool Counts;
  DenseMap<Value *, Origin> Found;
};

bool usesOtherAxes(Function &F) {
  return any_of(instructions(F), [](const Instruction &I) {
    auto *Call = dyn_cast<IntrinsicInst>(&I);
    return Call && (Call->getIntrinsicID() == Intrinsic::nvvm_read_ptx_sreg_tid_y ||
                    Call->getIntrinsicID() == Intrinsic::nvvm_read_ptx_sreg_tid_z);
  });
}

// Accumulations of a block that are handed over together.
struct Group {
  StringRef Lanes; // which have their elements in common
  bool InShared;
  SmallVector<AtomicRMWInst *, 16> Members;
  SmallVector<Value *, MostCompared> Compared;

  Type *type() const { return Members.front()->getType(); }
};

// A number as a sum: multiples of others, with or without sign, and a constant. Additions that must not overflow are
// taken apart.
struct Sum {
  MapVector<PointerIntPair<Value *, 1, bool>, int64_t> Parts; // with its sign
  int64_t Constant = 0;

  void add(Value *V, int64_t Scale, bool Signed) {
    auto *Extension = dyn_cast<CastInst>(V);
    auto *Binary = dyn_cast<OverflowingBinaryOperator>(V);
    if (auto *Number = dyn_cast<ConstantInt>(V))
      Constant += Scale * (Signed ? Number->getSExtValue() : Number->getZExtValue());
    else if (Extension && (isa<SExtInst>(V) || (isa<ZExtInst>(V) && Extension->hasNonNeg())))
      add(Extension->getOperand(0), Scale, true);
    else if (isa<ZExtInst>(V))
      add(Extension->getOperand(0), Scale, false);
    else if (Binary && isSum(*Binary, Signed)) {
      add(Binary->getOperand(0), Scale, Signed);
      add(Binary->getOperand(1), Binary->getOpcode() == Instruction::Sub ? -Scale : Scale, Signed);
    } else
      Parts[{V, Signed}] += Scale;
  }

  bool differsByConstant(const Sum &Other) const {
    return Parts.size() == Other.Parts.size() &&
           all_of(Parts, [&](const auto &Part) { return Other.Parts.lookup(Part.first) == Part.second; });
  }

private:
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
  Sum Where; // of the first
  SmallVector<Member, 4> Members;

  Type *type() const { return Members.front().Atomic->getType(); }
};

// Which shared shadows have elements of which each belongs to one row of the block.
class RowOwners {
public:
  RowOwners(Function &F, LoopInfo &LI, ScalarEvolution &SE) : Index(F, LI), SE(SE) {}

  // The most rows that a block may have for it; nothing where it does not follow from the indices. These are all
  // accumulations into the shadow.
  std::optional<int64_t> mostRows(const Argument &Shadow, ArrayRef<AtomicRMWInst *> All) {
    int64_t Stride = 0, Width = 0;
    SmallVector<int64_t> Places; // in bytes, of the first row
    for (AtomicRMWInst *Atomic : All) {
      std::optional<Polynomial> P = Index.offsetFrom(&Shadow, Atomic->getPointerOperand());
      int64_t ByRow = P ? P->take({onAxis(Source::Thread, 1)}) : 0,
              Bytes = Atomic->getDataLayout().getTypeStoreSize(Atomic->getType());
      if (!ByRow || (Stride && (ByRow != Stride || Bytes != Width)) || !addPlaces(*P, Places))
        return {};
      Stride = ByRow;
      Width = Bytes;
    }
    int64_t Most = INT32_MAX;
    for (int64_t One : Places)
      for (int64_t Other : Places) {
        if ((One - Other) % Width || Stride % Width)
          return {};
        if ((One - Other) % Stride == 0 && One != Other)
          Most = std::min(Most, std::abs((One - Other) / Stride));
      }
    return Most;
  }

private:
  // A constant, and multiples of counters.
  bool addPlaces(Polynomial &P, SmallVectorImpl<int64_t> &Places) {
    SmallVector<int64_t> Mine{P.take({})};
    for (const auto &[Sources, Factor] : P.Terms) {
      std::optional<uint64_t> Last =
          Sources.size() == 1 && Sources[0].Of == Source::Counter ? Index.lastIteration(Sources[0], SE) : std::nullopt;
      if (!Last || *Last >= MostPlaces || Mine.size() * (*Last + 1) > MostPlaces)
        return false;
      SmallVector<int64_t> Before = std::move(Mine);
      Mine.clear();
      for (int64_t Place : Before)
        for (uint64_t Iteration = 0; Iteration <= *Last; ++Iteration)
          Mine.push_back(Place + int64_t(Iteration) * Factor);
    }
    append_range(Places, Mine);
    return Places.size() <= MostPlaces;
  }

  Indices Index;
  ScalarEvolution &SE;
};

class Reducer {
public:
  Reducer(Function &F, const Meetings &Meet, LoopInfo &LI, ScalarEvolution &SE)
      : F(F), Meet(Meet), From(F), FromInShared(F, true), Owners(F, LI, SE), HasColumns(usesOtherAxes(F)),
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
      bool InShared = isInShared(*Atomic);
      const Origin &Where = (InShared ? FromInShared : From).of(Atomic->getPointerOperand());
      StringRef Lanes = inCommon(Where, *Atomic);
      if (Lanes.empty())
        continue;
      Group New{
          Lanes, InShared, {Atomic}, SmallVector<Value *, MostCompared>(Where.Compared.begin(), Where.Compared.end())};
      auto Like = find_if(Open, [&](const Group &G) {
        return G.Lanes == Lanes && G.InShared == InShared && G.Compared == New.Compared && G.type() == New.type();
      });
      if (Like == Open.end())
        Open.push_back(New);
      else
        Like->Members.push_back(Atomic);
      Close([&](const Group &G) { return G.Members.size() == MostMembers; });
    }
    Close([](const Group &) { return true; });
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
    auto Extent = [&](Intrinsic::ID Id) { return B.CreateIntrinsic(Id, ArrayRef<Type *>(), ArrayRef<Value *>()); };
    Value *X = Extent(Intrinsic::nvvm_read_ptx_sreg_ntid_x), *Y = Extent(Intrinsic::nvvm_read_ptx_sreg_ntid_y),
          *Z = Extent(Intrinsic::nvvm_read_ptx_sreg_ntid_z);
    Value *Divides = B.CreateICmpEQ(B.CreateAnd(X, B.CreateSub(X, B.getInt32(1))), B.getInt32(0));
    Value *Fits = B.CreateAnd(B.CreateICmpULE(X, B.getInt32(1 << LaneBits)), B.CreateICmpULE(Y, B.getInt32(Rows)));
    return B.CreateAnd(B.CreateAnd(Divides, Fits), B.CreateICmpEQ(Z, B.getInt32(1)), "alone");
  }

  // All members may be added without atomics where this holds.
  Value *isAlone(IRBuilder<> &B, ArrayRef<AtomicRMWInst *> Members) const {
    Value *Alone = B.getTrue();
    for (AtomicRMWInst *Member : Members) {
      Value *Mine = Owned.lookup(dyn_cast<Argument>(getUnderlyingObject(Member->getPointerOperand())));
      if (!Mine)
        return B.getFalse();
      if (Mine != Alone)
        Alone = Alone == B.getTrue() ? Mine : B.CreateAnd(Alone, Mine);
    }
    return Alone;
  }

  bool isMet(const Group &G, const Instruction &I) const {
    return any_of(G.Members, [&](const AtomicRMWInst *Member) {
      return Meet.mayMeet(I, Member->getPointerOperand(), Member->getType());
    });
  }

  StringRef inCommon(const Origin &Where, const AtomicRMWInst &Atomic) const {
    if (Where.Unknown || Where.Compared.size() > MostCompared || (Where.X && Where.OtherAxes))
      return "";
    const Value *Object = getUnderlyingObject(Atomic.getPointerOperand());
    if (!isa<Argument>(Object) && KeepsOwn)
      return "";
    if (auto *A = dyn_cast<Argument>(Object);
        A && !isShadow(*A, ShadowAttribute) && !isShadow(*A, SharedShadowAttribute))
      return ""; // the thread's own copy of a struct, whose address is the same in all threads
    if (!Where.X)
      return Where.OtherAxes ? "row" : "warp";
    return isInShared(Atomic) && HasColumns ? "column" : "";
  }

  // In shared memory, where each of several lanes that add to one element tries again until it is the only one.
  bool isInShared(const AtomicRMWInst &Atomic) const {
    auto *A = dyn_cast<Argument>(getUnderlyingObject(Atomic.getPointerOperand()));
    return A && isShadow(*A, SharedShadowAttribute);
  }

  bool isShadow(const Argument &A, StringRef Kind) const { return F.hasParamAttribute(A.getArgNo(), Kind); }

  // All members move to the place of the last.
  void handOver(const Group &G) {
    IRBuilder<> B(G.Members.back());
    Value *Active = B.CreateIntrinsic(Intrinsic::nvvm_activemask, ArrayRef<Type *>(), ArrayRef<Value *>());
    Value *Alike = Active;
    for (Value *V : G.Compared)
      Alike = B.CreateAnd(
          Alike, callTogether(B, "adgen_alike", B.getInt32Ty(), {Active, asNumber(B, V), B.getInt1(G.InShared)}));
    ArrayRef<AtomicRMWInst *> Rest = G.Members;
    while (!Rest.empty()) {
      ArrayRef<AtomicRMWInst *> Next = Rest.take_front(mostAtOnce(Rest));
      adgen::handOver(B, G.Lanes, Next, Active, Alike, isAlone(B, Next));
      Rest = Rest.drop_front(Next.size());
    }
    for (AtomicRMWInst *Member : G.Members)
      Member->eraseFromParent();
  }

  static Value *asNumber(IRBuilder<> &B, Value *V) {
    Type *Int64 = B.getInt64Ty();
    return V->getType()->isPointerTy() ? B.CreatePtrToInt(V, Int64) : B.CreateZExt(V, Int64);
  }

  void collectRows(BasicBlock &Block, SmallVectorImpl<Row> &Rows) {
    SmallVector<Row> Open;
    auto Close = [&](auto Ends) {
      copy_if(Open, std::back_inserter(Rows), [&](const Row &R) { return Ends(R) && R.Members.size() > 1; });
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

  // Whether the place in the array follows from the thread's index, so that lanes side by side may have elements side
  // by side.
  bool mayBeBeside(AtomicRMWInst &Atomic) {
    auto *A = dyn_cast<Argument>(getUnderlyingObject(Atomic.getPointerOperand()));
    if (!A || !(isShadow(*A, ShadowAttribute) || isShadow(*A, SharedShadowAttribute)) ||
        !(Atomic.getType()->isFloatTy() || Atomic.getType()->isDoubleTy()))
      return false;
    const Origin &Where = From.of(Atomic.getPointerOperand());
    return Where.X && !Where.Unknown;
  }

  void insert(AtomicRMWInst &Atomic, SmallVectorImpl<Row> &Open) {
    const Value *Object = getUnderlyingObject(Atomic.getPointerOperand());
    std::optional<Sum> Where = offsetFrom(Object, Atomic.getPointerOperand());
    if (!Where)
      return;
    for (Row &R : Open) {
      int64_t Distance = Where->Constant - R.Where.Constant;
      if (R.Object == Object && R.type() == Atomic.getType() && Where->differsByConstant(R.Where) &&
          Distance % bytesOf(R) == 0 && std::abs(Distance) <= MostBeside * bytesOf(R)) {
        R.Members.push_back({&Atomic, Distance / bytesOf(R)});
        return;
      }
    }
    Open.push_back({Object, *Where, {{&Atomic, 0}}});
  }

  int64_t bytesOf(const Row &R) const { return F.getDataLayout().getTypeAllocSize(R.type()); }

  std::optional<Sum> offsetFrom(const Value *Object, Value *Pointer) const {
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
        Result.add(Index, Scale.getSExtValue(), true);
    }
    Result.Constant += Constant.getSExtValue();
    return Result;
  }

  // The members move to the place of the last. The one in the middle stays, and gets what other lanes hand on.
  void handOn(Row &R) {
    IRBuilder<> B(R.Members.back().Atomic);
    B.setFastMathFlags(inAnyOrder());
    sort(R.Members, [](const Row::Member &X, const Row::Member &Y) { return X.Offset < Y.Offset; });
    Row::Member &Own = R.Members[R.Members.size() / 2];
    Value *Active = B.CreateIntrinsic(Intrinsic::nvvm_activemask, ArrayRef<Type *>(), ArrayRef<Value *>());
    Value *Beside = callTogether(B, "adgen_beside", B.getInt32Ty(),
                                 {Active, Own.Atomic->getPointerOperand(), B.getInt64(bytesOf(R))});
    Value *Total = Own.Atomic->getValOperand();
    for (const Row::Member &M : R.Members)
      if (M.Atomic != Own.Atomic)
        Total = B.CreateFAdd(Total, handedOn(B, M, M.Offset - Own.Offset, Active, Beside));
    auto *Sum = cast<AtomicRMWInst>(B.Insert(Own.Atomic->clone()));
    Sum->setOperand(1, Total);
    for (const Row::Member &M : R.Members)
      M.Atomic->eraseFromParent();
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
  UnderlyingObjects From, FromInShared;
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
