// Where threads add to whole records that they have looked up, as to the bones that move a vertex or to the camera that
// sees a point, and there are few of these, all blocks meet at a few lines of memory; how many there are the launch
// knows alone. So a block has the beginning of such a shadow for itself in shared memory: records that lie there are
// added to there, and the sums to the shadow when all threads have come to the end; the others are added to as before.
//   atomic d[12 * bone + k] += x;   becomes   if (bone is among the first) atomic own[12 * bone + k] += x; else ...
// A number alone is, too, where the kernel keeps its index below something that all threads share, as in a table by
// which a function is interpolated: the block has as many elements as that says, if they are few, else none. So are the
// sums of a warp's lanes whose place follows from a division, as a channel does from a pixel's index. Where the kernel
// says nothing of an index that was looked up, the launch lends memory for the whole shadow if that is short: the
// runtime knows how long it is. What a block adds from shared memory is left out where it is zero: of a table, a block
// mostly has few records. Launches of few blocks, which meet seldom, have no tables.
#include "Accumulate/BlockElements.h"
#include "Accumulate/BlockEnd.h"
#include "Accumulate/HandOver.h"
#include "Accumulate/LaneGroups.h"
#include "Accumulate/LaneOrigins.h"
#include "Accumulate/LentTables.h"
#include "Accumulate/Lookups.h"
#include "Accumulate/Ownership.h"
#include "Accumulate/Remainders.h"
#include "Accumulate/TableZeros.h"
#include "Accumulate/UniformBounds.h"
#include "Accumulate/WalkBlocks.h"
#include "Support/Lent.h"
#include "Support/Pass.h"
#include "Support/Threads.h"
#include "Support/Walk.h"

#include "llvm/ADT/SmallSet.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Analysis/AliasAnalysis.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

#define DEBUG_TYPE "adgen-privatize-lookups"

using namespace llvm;

STATISTIC(NumPrivate, "Number of records added to in a block's own table");
STATISTIC(NumWalks, "Number of gradients whose blocks walk over the grid where they have tables");

namespace adgen {
namespace {

constexpr uint64_t Bytes = 6 * 1024;     // of a table
constexpr int64_t MostRecordBytes = 256; // between its first number and its last
constexpr size_t FewestNumbers = 6;      // of a record that a thread adds to
constexpr size_t MostGroups = 8;         // each is there twice
constexpr size_t MostSums = 2;           // tables
constexpr uint64_t BoundedBytes = 8 * 1024;
constexpr uint64_t GuessedBytes = 2 * 1024; // of one whose indices may lie behind it
constexpr size_t MostBounded = 2;           // tables
constexpr uint64_t EachThread = 8;          // elements that a thread zeroes and adds, where it adds once itself
constexpr unsigned SoonAdded = 32;          // elements, which a block adds at once: fewer blocks would take longer

class Privatizer {
public:
  Privatizer(Function &F, const Meetings &Meet, const LoopInfo &LI, bool MayLend)
      : Gradient(&F), Meet(Meet), LI(LI), Room(roomInShared(F)), MayLend(MayLend) {}

  // The gradient, which may be another function by then.
  Function &run() {
    skipZerosOfTables(*Gradient, From);
    MapVector<Argument *, SmallVector<LaneGroup>> Groups;
    for (const LaneGroup &G : laneGroups(*Gradient, Meet, [&](const AtomicRMWInst &A) { return isLookedUp(A); }))
      if (isRecord(G))
        Groups[cast<Argument>(const_cast<Value *>(getUnderlyingObject(G.Base, 0)))].push_back(G);
    for (auto &[Shadow, Records] : Groups)
      if (isAddedToAlone(*Shadow, Records))
        add(*Shadow, Records);
    for (Argument &A : Gradient->args())
      if (Gradient->hasParamAttribute(A.getArgNo(), ShadowAttribute))
        addSums(A);
    addBounded();
    if (!Tabled.empty() && mayWalk(*Gradient))
      walk();
    tellLent();
    if (!All.empty())
      replace();
    return *Gradient;
  }

private:
  struct Record {
    LaneGroup Group;
    size_t Table;
  };

  // A table that has as many elements as the launch says.
  struct Bounded {
    SmallVector<LaneGroup> Groups;
    std::unique_ptr<UniformBound> Last; // where its last element begins, in bytes; null where it lies in lent memory
    bool Once = true;                   // a thread adds outside of loops
    size_t Table = 0;

    uint64_t most() const { return Last->isGuessed() ? GuessedBytes : BoundedBytes; }
  };

  struct Handover {
    size_t Table;
    SmallVector<StoreInst *> Handed;
  };

  bool isLookedUp(const AtomicRMWInst &Atomic) {
    const Value *Pointer = Atomic.getPointerOperand();
    auto *A = dyn_cast<Argument>(getUnderlyingObject(Pointer, 0));
    return A && Gradient->hasParamAttribute(A->getArgNo(), ShadowAttribute) && !Atomic.hasMetadata(SeldomMark) &&
           !Atomic.hasMetadata(LanesMark) && From.make(Pointer);
  }

  // Doubles go to memory a record at a time (adgen-bulk-reduce-atomics), while shared memory compares and swaps them.
  static bool isRecord(const LaneGroup &G) {
    if (G.type()->isDoubleTy())
      return false;
    SmallSet<int64_t, 16> Distances;
    for (const AtomicRMWInst *Member : G.Members)
      Distances.insert(distanceOf(*Member));
    const auto [First, Last] = extents(G);
    return Distances.size() >= FewestNumbers && Last - First <= MostRecordBytes;
  }

  static std::pair<int64_t, int64_t> extents(const LaneGroup &G) {
    int64_t First = INT64_MAX, Last = INT64_MIN;
    for (const AtomicRMWInst *Member : G.Members)
      First = std::min(First, distanceOf(*Member)), Last = std::max(Last, distanceOf(*Member));
    return {First, Last};
  }

  static bool isAddedToAlone(Argument &Shadow, ArrayRef<LaneGroup> Records) {
    std::optional<Ownership::Uses> Uses = Ownership::usesOf(Shadow);
    return Uses && !Uses->Others && Uses->Consumptions.empty() &&
           all_of(Records, [&](const LaneGroup &G) { return G.type() == Records.front().type(); });
  }

  void add(Argument &Shadow, ArrayRef<LaneGroup> Records) {
    if (Room < Bytes || Found.size() + Records.size() > MostGroups)
      return;
    Room -= Bytes;
    BlockElements Own{&Shadow};
    for (const LaneGroup &G : Records) {
      append_range(Own.Additions, G.Members);
      Found.push_back({G, All.size()});
    }
    const uint64_t Count = Bytes / Gradient->getDataLayout().getTypeStoreSize(Own.type());
    Own.Own = createExchange(*Gradient, ArrayType::get(Own.type(), Count), ".records");
    All.push_back(std::move(Own));
  }

  // Numbers that lie at indices which the launch bounds.
  void addBounded() {
    MapVector<Argument *, Bounded> Tables;
    for (const LaneGroup &G :
         laneGroups(*Gradient, Meet, [&](const AtomicRMWInst &A) { return mayBeBounded(A); }, /*AlsoHalves=*/true)) {
      auto *Shadow = cast<Argument>(const_cast<Value *>(getUnderlyingObject(G.Base, 0)));
      Bounded &Table = Tables[Shadow];
      std::unique_ptr<UniformBound> Last = lastOf(G);
      Table.Last = Table.Groups.empty() || !Last ? std::move(Last)
                                                 : UniformBound::largest(std::move(Table.Last), std::move(Last));
      Table.Once &= !LI.getLoopFor(G.Members.front()->getParent());
      Table.Groups.push_back(G);
    }
    for (auto &[Shadow, Table] : Tables)
      if (hasPlace(Table) && Table.Groups.size() <= MostGroups && isAddedToAlone(*Shadow, Table.Groups)) {
        BlockElements Own{Shadow};
        for (const LaneGroup &G : Table.Groups)
          append_range(Own.Additions, G.Members);
        place(Own, Table);
        Table.Table = All.size();
        All.push_back(std::move(Own));
        Tabled.push_back(std::move(Table));
      }
  }

  // Lanes that add side by side, as to a row that they have looked up, do so at once and seldom meet others. A loop
  // that may walk through a local array has to stay so short that it is unrolled, by which that becomes registers.
  bool mayMeet(const LaneGroup &G) {
    return !Lanes.of(const_cast<Value *>(G.Base)).X && !(hasArrays() && LI.getLoopFor(G.Members.front()->getParent()));
  }

  bool hasArrays() const {
    return any_of(instructions(*Gradient), [](const Instruction &I) {
      auto *Local = dyn_cast<AllocaInst>(&I);
      return Local && Local->getAllocatedType()->isAggregateType();
    });
  }

  bool hasPlace(const Bounded &Table) {
    if (!Table.Last)
      return MayLend && Lent < MostLent && all_of(Table.Groups, [&](const LaneGroup &G) { return mayMeet(G); });
    return Tabled.size() - Lent < MostBounded && Room >= Table.most();
  }

  void place(BlockElements &Own, const Bounded &Table) {
    if (!Table.Last) {
      Own.Own = &lentMemory(*Gradient->getParent());
      Own.Lent.emplace(Lent++);
      return;
    }
    Room -= Table.most();
    const uint64_t Count = Table.most() / Gradient->getDataLayout().getTypeStoreSize(Own.ownType());
    Own.Own = createExchange(*Gradient, ArrayType::get(Own.ownType(), Count), ".bounded");
  }

  // For the manifest.
  void tellLent() {
    SmallVector<std::string> Tables;
    const unsigned First = activitiesOf(*Gradient).size();
    for (const BlockElements &Own : All)
      if (Own.Lent)
        Tables.push_back(std::to_string(Own.Shadow->getArgNo() - First) + ":" + std::to_string(Own.widening()));
    if (!Tables.empty())
      Gradient->addFnAttr(LentAttribute, join(Tables, ","));
  }

  bool mayBeBounded(const AtomicRMWInst &Atomic) {
    const Value *Pointer = Atomic.getPointerOperand();
    auto *A = dyn_cast<Argument>(getUnderlyingObject(Pointer, 0));
    return A && Gradient->hasParamAttribute(A->getArgNo(), ShadowAttribute) && !Atomic.hasMetadata(SeldomMark) &&
           !Atomic.hasMetadata(LanesMark) &&
           none_of(Found, [&](const Record &R) { return All[R.Table].Shadow == A; }) &&
           (From.make(Pointer) || isOfRemainder(*Pointer));
  }

  // In bytes behind the shadow's beginning; nothing where the launch says nothing of it.
  std::unique_ptr<UniformBound> lastOf(const LaneGroup &G) const {
    const DataLayout &DL = Gradient->getDataLayout();
    std::unique_ptr<UniformBound> Sum = UniformBound::constant(extents(G).second);
    for (const Value *Pointer = G.Base; auto *GEP = dyn_cast<GetElementPtrInst>(Pointer);
         Pointer = GEP->getPointerOperand()) {
      SmallMapVector<Value *, APInt, 4> Scales;
      APInt Constant(DL.getIndexTypeSizeInBits(GEP->getType()), 0);
      if (!GEP->collectOffset(DL, Constant.getBitWidth(), Scales, Constant))
        return nullptr;
      Sum = UniformBound::sum(std::move(Sum), UniformBound::constant(Constant.getSExtValue()));
      for (auto &[Index, Scale] : Scales) {
        if (!Scale.isStrictlyPositive())
          return nullptr;
        Sum = UniformBound::sum(
            std::move(Sum), UniformBound::product(UniformBound::of(*Index, *G.Members.front()), Scale.getSExtValue()));
      }
    }
    return Sum;
  }

  // What is handed over to be added up among lanes: where its elements' addresses are stored.
  void addSums(Argument &Shadow) {
    SmallVector<StoreInst *> Handed;
    SmallVector<Value *> Pointers{&Shadow};
    while (!Pointers.empty()) {
      Value *Pointer = Pointers.pop_back_val();
      for (User *U : Pointer->users()) {
        auto *Store = dyn_cast<StoreInst>(U);
        if (isa<GetElementPtrInst>(U))
          Pointers.push_back(U);
        else if (isa<PtrToIntInst>(U)) // which lanes compare
          continue;
        else if (Store && Store->getValueOperand() == Pointer &&
                 isa<AllocaInst>(getUnderlyingObject(Store->getPointerOperand())))
          Handed.push_back(Store);
        else
          return;
      }
    }
    Type *T = Handed.empty() ? nullptr : typeHanded(*Handed.front());
    if (!T || Room < Bytes || Sums.size() == MostSums ||
        !all_of(Handed, [&](StoreInst *Each) { return typeHanded(*Each) == T && isDivided(*Each->getValueOperand()); }))
      return;
    Room -= Bytes;
    BlockElements Own{&Shadow};
    Own.Element = T;
    Own.Own =
        createExchange(*Gradient, ArrayType::get(T, Bytes / Gradient->getDataLayout().getTypeStoreSize(T)), ".sums");
    Sums.push_back({All.size(), std::move(Handed)});
    All.push_back(std::move(Own));
  }

  // Of the numbers that go to the addresses in an array; null where they are not handed over to a warp's lanes.
  Type *typeHanded(const StoreInst &Store) const {
    const Value *Addresses = getUnderlyingObject(Store.getPointerOperand());
    for (const User *U : Addresses->users())
      if (auto *Call = dyn_cast<CallInst>(U); Call && Call->getCalledFunction()) {
        StringRef Name = Call->getCalledFunction()->getName();
        if (Name.starts_with("adgen_add_warp_f32_"))
          return Type::getFloatTy(Gradient->getContext());
        if (Name.starts_with("adgen_add_warp_f64_"))
          return Type::getDoubleTy(Gradient->getContext());
      }
    return nullptr;
  }

  // So that a block adds what it has to the shadow once for many: where the tables have elements.
  void walk() {
    ADGEN_COUNT(NumWalks, Gradient->getName());
    SmallVector<unsigned> Numbers;
    for (const BlockElements &Own : All)
      Numbers.push_back(Own.Shadow->getArgNo());
    createQuestion();
    Gradient = &makeWalk(*Gradient, /*FitsRegisters=*/Lent < Tabled.size());
    for (auto [Own, Number] : zip(All, Numbers))
      Own.Shadow = Gradient->getArg(Number);
  }

  void createQuestion() {
    LLVMContext &C = Gradient->getContext();
    auto *Form = FunctionType::get(Type::getInt1Ty(C), Gradient->getFunctionType()->params(), false);
    auto *Asked = Function::Create(Form, GlobalValue::ExternalLinkage, (WalkQuestion + symbolOf(*Gradient)).str(),
                                   Gradient->getParent());
    IRBuilder<> B(BasicBlock::Create(C, "entry", Asked));
    Value *Any = B.getFalse(), *Threads = threadsOfBlock(B);
    for (const Bounded &T : Tabled)
      Any = B.CreateOr(Any, B.CreateICmpUGT(countOf(B, T, Threads), B.getInt32(SoonAdded)));
    B.CreateRet(Any);
  }

  void replace() {
    const BlockEnds Ends(*Gradient);
    auto Count = [&](IRBuilder<> &B, const BlockElements &E, Value *Threads) {
      auto Of = find_if(Tabled, [&](const Bounded &T) { return All[T.Table].Shadow == E.Shadow; });
      return Of == Tabled.end() ? unlessFew(B, countAll(B, E, Threads)) : countOf(B, *Of, Threads);
    };
    Instruction *First = whereAny(Ends.first(), All, Count), *Last = whereAny(Ends.last(), All, Count);
    zeroOwn(*First, All, Count);
    waitForBlock(*First);
    waitForBlock(*Last);
    addOwnToShadows(*Last, All, Count);
    for (const Record &R : Found)
      choose(R.Group, All[R.Table], limit(R.Group));
    for (const Handover &H : Sums)
      for (StoreInst *Store : H.Handed)
        chooseAddress(*Store, All[H.Table]);
    for (const Bounded &T : Tabled)
      for (const LaneGroup &G : T.Groups)
        choose(G, All[T.Table], limit(T, G), /*IsBounded=*/true);
  }

  // None where they are too many, or more than a block's threads should have to do with.
  Value *countOf(IRBuilder<> &B, const Bounded &T, Value *Threads) const {
    const BlockElements &Own = All[T.Table];
    Value *Count = T.Last ? countBelow(B, T) : countLent(B, Own);
    if (T.Once)
      Count =
          B.CreateSelect(B.CreateICmpULE(Count, B.CreateMul(Threads, B.getInt32(EachThread))), Count, B.getInt32(0));
    return T.Last ? unlessFew(B, Count) : Count; // who lends knows how many there are
  }

  Value *countBelow(IRBuilder<> &B, const Bounded &T) const {
    const int64_t Size = Gradient->getDataLayout().getTypeStoreSize(All[T.Table].type());
    Value *Last = B.CreateFreeze(T.Last->make(B)), *Fit = B.getInt64(T.most() / All[T.Table].widening());
    Value *Count = B.CreateAdd(B.CreateUDiv(Last, B.getInt64(Size)), B.getInt64(1));
    return B.CreateSelect(B.CreateICmpULT(Last, Fit), B.CreateTrunc(Count, B.getInt32Ty()), B.getInt32(0));
  }

  Value *countLent(IRBuilder<> &B, const BlockElements &Own) const {
    return B.CreateUDiv(Own.Lent->bytes(B, Lent),
                        B.getInt32(Gradient->getDataLayout().getTypeStoreSize(Own.ownType())));
  }

  // Below how many bytes a group's first element lies so that the last one is in the table.
  Value *limit(const LaneGroup &G) const {
    IRBuilder<> B(entry());
    return unlessFew(B, B.getInt64(int64_t(Bytes) + beyond(G)));
  }

  Value *limit(const Bounded &T, const LaneGroup &G) const {
    IRBuilder<> B(entry());
    Value *Count = B.CreateZExt(countOf(B, T, threadsOfBlock(B)), B.getInt64Ty());
    const int64_t Size = Gradient->getDataLayout().getTypeStoreSize(G.type());
    Value *Less = B.CreateAdd(B.CreateMul(Count, B.getInt64(Size)), B.getInt64(beyond(G)));
    return B.CreateBinaryIntrinsic(Intrinsic::smax, Less, B.getInt64(0));
  }

  int64_t beyond(const LaneGroup &G) const {
    auto [First, Last] = extents(G);
    const int64_t Size = Gradient->getDataLayout().getTypeStoreSize(G.type());
    return -(Last - First) - Size + 1;
  }

  Instruction *entry() const { return &*Gradient->getEntryBlock().getFirstNonPHIOrDbgOrAlloca(); }

  void chooseAddress(StoreInst &Store, const BlockElements &Own) {
    ADGEN_COUNT(NumPrivate, Store);
    IRBuilder<> Entry(entry()), B(&Store);
    Type *Int64 = B.getInt64Ty();
    Value *SumBytes = unlessFew(Entry, B.getInt64(Bytes));
    Value *There = Store.getValueOperand();
    Value *At = B.CreateSub(B.CreatePtrToInt(There, Int64), B.CreatePtrToInt(Own.Shadow, Int64));
    Value *Mine = B.CreatePtrAdd(B.CreateAddrSpaceCast(Own.Own, B.getPtrTy()), At);
    Store.setOperand(0, B.CreateSelect(B.CreateICmpULT(At, SumBytes), Mine, There));
  }

  // Behind the last of a record's additions; those to the shadow go the other way.
  void choose(const LaneGroup &G, const BlockElements &Own, Value *Limit, bool IsBounded = false) {
    ADGEN_COUNT(NumPrivate, *G.Members.back());
    const int64_t First = extents(G).first, Size = Gradient->getDataLayout().getTypeStoreSize(Own.type());
    Instruction *Behind = G.Members.back()->getNextNode();
    IRBuilder<> B(Behind);
    Type *Int64 = B.getInt64Ty();
    auto *Base = const_cast<Value *>(G.Base);
    Value *At = B.CreateSub(B.CreatePtrToInt(Base, Int64), B.CreatePtrToInt(Own.Shadow, Int64));
    Value *IsAmongFirst = B.CreateICmpULT(B.CreateAdd(At, B.getInt64(First)), Limit);
    Instruction *Then, *Else;
    SplitBlockAndInsertIfThenElse(IsAmongFirst, Behind->getIterator(), &Then, &Else);
    B.SetInsertPoint(Then);
    // By an address of shared memory the two ways stay apart; lanes that are compared need one of either.
    IRBuilder<> Entry(entry());
    Value *Table = IsBounded ? Own.begin(Entry) : B.CreateAddrSpaceCast(Own.Own, B.getPtrTy());
    const int64_t Widening = Own.widening();
    At = IsBounded ? B.CreateTrunc(At, B.getInt32Ty()) : At;
    At = Widening == 1 ? At : B.CreateMul(At, ConstantInt::get(At->getType(), Widening));
    Value *Begin = B.CreatePtrAdd(Table, At, "record");
    for (AtomicRMWInst *Member : G.Members) {
      Value *Place = B.CreatePtrAdd(Begin, B.getInt64(distanceOf(*Member) * Widening));
      auto *Addition = B.CreateAtomicRMW(AtomicRMWInst::FAdd, Place, Own.widened(B, Member->getValOperand()),
                                         MaybeAlign(Size * Widening), AtomicOrdering::Monotonic);
      if (IsBounded)
        Addition->setMetadata(TableMark, MDNode::get(Gradient->getContext(), {}));
      Member->moveBefore(Else->getIterator());
    }
  }

  Function *Gradient;
  const Meetings &Meet;
  const LoopInfo &LI;
  Lookups From;
  LaneOrigins Lanes;
  SmallVector<BlockElements> All;
  SmallVector<Record> Found;
  SmallVector<Handover> Sums;
  SmallVector<Bounded> Tabled;
  uint64_t Room;
  const bool MayLend;
  unsigned Lent = 0; // tables
};

} // namespace

ADGEN_DECLARE_PASS(PrivatizeLookups);

static Function &privatize(Function &F, FunctionAnalysisManager &FAM, bool MayLend) {
  Meetings Meet(F, FAM.getResult<AAManager>(F));
  return Privatizer(F, Meet, FAM.getResult<LoopAnalysis>(F), MayLend).run();
}

// Launches that lend nothing run a gradient that asks for nothing: it may do with fewer registers.
static void privatizeBoth(Function &F, FunctionAnalysisManager &FAM) {
  Function *Lending = mayBeLent(F) ? &cloneToLend(F) : nullptr;
  privatize(F, FAM, /*MayLend=*/false);
  if (!Lending)
    return;
  Lending = &privatize(*Lending, FAM, /*MayLend=*/true);
  if (!Lending->hasFnAttribute(LentAttribute))
    eraseUnlent(*Lending, FAM);
}

PreservedAnalyses PrivatizeLookups::run(Module &M, ModuleAnalysisManager &MAM) {
  auto &FAM = MAM.getResult<FunctionAnalysisManagerModuleProxy>(M).getManager();
  SmallVector<Function *> Gradients; // some are replaced
  for (Function &F : M)
    if (F.hasFnAttribute(ActivityAttribute) && !F.isDeclaration())
      Gradients.push_back(&F);
  for (Function *F : Gradients)
    privatizeBoth(*F, FAM);
  return PreservedAnalyses::none();
}

} // namespace adgen
