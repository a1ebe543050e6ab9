// Where threads add to whole records that they have looked up, as to the bones that move a vertex or to the camera that
// sees a point, and there are few of these, all blocks meet at a few lines of memory; how many there are the launch
// knows alone. So a block has the beginning of such a shadow for itself in shared memory: records that lie there are
// added to there, and the sums to the shadow when all threads have come to the end; the others are added to as before.
//   atomic d[12 * bone + k] += x;   becomes   if (bone is among the first) atomic own[12 * bone + k] += x; else ...
// So are the sums of a warp's lanes whose place follows from a division, as a channel does from a pixel's index.
// What a block adds from shared memory, its own or the user's tables, is left out where it is zero: of a table, a block
// mostly has few records.
#include "Accumulate/BlockElements.h"
#include "Accumulate/BlockEnd.h"
#include "Accumulate/HandOver.h"
#include "Accumulate/LaneGroups.h"
#include "Accumulate/Lookups.h"
#include "Accumulate/Ownership.h"
#include "Support/Pass.h"
#include "Support/Reaches.h"
#include "Support/Threads.h"

#include "llvm/ADT/SmallSet.h"
#include "llvm/Analysis/AliasAnalysis.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/IR/PatternMatch.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

#define DEBUG_TYPE "adgen-privatize-lookups"

using namespace llvm;
using namespace llvm::PatternMatch;

STATISTIC(NumPrivate, "Number of records added to in a block's own table");
STATISTIC(NumSkipped, "Number of additions left out where they are zero");

namespace adgen {
namespace {

constexpr uint64_t Bytes = 6 * 1024;     // of a table
constexpr int64_t MostRecordBytes = 256; // between its first number and its last
constexpr size_t FewestNumbers = 6;      // of a record that a thread adds to
constexpr size_t MostGroups = 8;         // each is there twice
constexpr size_t MostSums = 2;           // tables
constexpr unsigned LentOperand = 2;      // of adgen_lent

class Privatizer {
public:
  Privatizer(Function &F, const Meetings &Meet) : F(F), Meet(Meet), Room(roomInShared(F)) {}

  void run() {
    skipZeros();
    MapVector<Argument *, SmallVector<LaneGroup>> Groups;
    for (const LaneGroup &G : laneGroups(F, Meet, [&](const AtomicRMWInst &A) { return isLookedUp(A); }))
      if (isRecord(G))
        Groups[cast<Argument>(const_cast<Value *>(getUnderlyingObject(G.Base, 0)))].push_back(G);
    for (auto &[Shadow, Records] : Groups)
      if (isAddedToAlone(*Shadow, Records))
        add(*Shadow, Records);
    for (Argument &A : F.args())
      if (F.hasParamAttribute(A.getArgNo(), ShadowAttribute))
        addSums(A);
    if (!All.empty())
      replace();
  }

private:
  struct Record {
    LaneGroup Group;
    size_t Table;
  };

  struct Handover {
    size_t Table;
    SmallVector<StoreInst *> Handed;
  };

  bool isLookedUp(const AtomicRMWInst &Atomic) {
    const Value *Pointer = Atomic.getPointerOperand();
    auto *A = dyn_cast<Argument>(getUnderlyingObject(Pointer, 0));
    return A && F.hasParamAttribute(A->getArgNo(), ShadowAttribute) && !Atomic.hasMetadata(SeldomMark) &&
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
    const uint64_t Count = Bytes / F.getDataLayout().getTypeStoreSize(Own.type());
    Own.Own = createExchange(F, ArrayType::get(Own.type(), Count), ".records");
    All.push_back(std::move(Own));
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
    Own.Own = createExchange(F, ArrayType::get(T, Bytes / F.getDataLayout().getTypeStoreSize(T)), ".sums");
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
          return Type::getFloatTy(F.getContext());
        if (Name.starts_with("adgen_add_warp_f64_"))
          return Type::getDoubleTy(F.getContext());
      }
    return nullptr;
  }

  // By a lane to those that add nothing.
  static bool isLent(const Instruction &I) {
    auto *Call = dyn_cast<CallInst>(&I);
    return Call && Call->getCalledFunction() && Call->getCalledFunction()->getName() == "adgen_lent";
  }

  // Whether a place follows from a division and is among few: from a remainder, or from a quotient of which the block's
  // number is no part. A quotient of a number that counts all threads of the grid hardly comes back.
  static bool isDivided(const Value &Pointer) {
    bool Divides = false;
    bool Grows = reaches(Pointer, [&](const Value &V, SmallVectorImpl<const Value *> &Next) {
      auto *I = dyn_cast<Instruction>(&V);
      if (!I)
        return false;
      const bool Remains = isRemainder(*I), Divided = match(I, m_IDiv(m_Value(), m_Value()));
      Divides |= Remains || Divided;
      if (!Remains)
        addOperands(*I, Next);
      return !Remains && Divided && countsBlocks(*I->getOperand(0));
    });
    return Divides && !Grows;
  }

  // Also where the quotient is there anyway, or lent: x - x / n * n.
  static bool isRemainder(const Instruction &I) {
    if (match(&I, m_IRem(m_Value(), m_Value())))
      return true;
    const Value *Number, *Product, *Quotient, *Factor;
    if (!match(&I, m_Sub(m_Value(Number), m_Value(Product))) ||
        !match(bare(Product), m_Mul(m_Value(Quotient), m_Value(Factor))))
      return false;
    const auto IsOf = [&](const Value *Quotient, const Value *Factor) {
      const Value *Of, *By;
      return match(bare(Quotient), m_IDiv(m_Value(Of), m_Value(By))) && bare(Of) == bare(Number) &&
             bare(By) == bare(Factor);
    };
    return IsOf(Quotient, Factor) || IsOf(Factor, Quotient);
  }

  static const Value *bare(const Value *Number) {
    while (auto *I = dyn_cast<Instruction>(Number)) {
      if (!isa<CastInst>(I) && !isLent(*I))
        break;
      Number = I->getOperand(isa<CastInst>(I) ? 0 : LentOperand);
    }
    return Number;
  }

  static bool countsBlocks(const Value &Number) {
    return reaches(Number, [](const Value &V, SmallVectorImpl<const Value *> &Next) {
      auto *I = dyn_cast<Instruction>(&V);
      auto *Register = dyn_cast<IntrinsicInst>(&V);
      if (I)
        addOperands(*I, Next);
      return Register && is_contained({Intrinsic::nvvm_read_ptx_sreg_ctaid_x, Intrinsic::nvvm_read_ptx_sreg_ctaid_y,
                                       Intrinsic::nvvm_read_ptx_sreg_ctaid_z},
                                      Register->getIntrinsicID());
    });
  }

  // Those that an address or a number is computed from.
  static void addOperands(const Instruction &I, SmallVectorImpl<const Value *> &Next) {
    if (isa<GetElementPtrInst, BinaryOperator, CastInst, PHINode, SelectInst>(I) || isLent(I))
      append_range(Next, I.operands());
  }

  void replace() {
    const BlockEnds Ends(F);
    zeroOwn(Ends.first(), All, countAll);
    waitForBlock(Ends.first());
    waitForBlock(Ends.last());
    addOwnToShadows(Ends.last(), All, countAll);
    for (const Record &R : Found)
      choose(R.Group, All[R.Table]);
    for (const Handover &H : Sums)
      for (StoreInst *Store : H.Handed)
        chooseAddress(*Store, All[H.Table]);
  }

  void chooseAddress(StoreInst &Store, const BlockElements &Own) {
    ADGEN_COUNT(NumPrivate, Store);
    IRBuilder<> B(&Store);
    Type *Int64 = B.getInt64Ty();
    Value *There = Store.getValueOperand();
    Value *At = B.CreateSub(B.CreatePtrToInt(There, Int64), B.CreatePtrToInt(Own.Shadow, Int64));
    Value *Mine = B.CreatePtrAdd(B.CreateAddrSpaceCast(Own.Own, B.getPtrTy()), At);
    Store.setOperand(0, B.CreateSelect(B.CreateICmpULT(At, B.getInt64(Bytes)), Mine, There));
  }

  // Behind the last of a record's additions; those to the shadow go the other way.
  void choose(const LaneGroup &G, const BlockElements &Own) {
    ADGEN_COUNT(NumPrivate, *G.Members.back());
    auto [First, Last] = extents(G);
    const int64_t Size = F.getDataLayout().getTypeStoreSize(Own.type());
    Instruction *Behind = G.Members.back()->getNextNode();
    IRBuilder<> B(Behind);
    Type *Int64 = B.getInt64Ty();
    auto *Base = const_cast<Value *>(G.Base);
    Value *At = B.CreateSub(B.CreatePtrToInt(Base, Int64), B.CreatePtrToInt(Own.Shadow, Int64));
    Value *IsAmongFirst =
        B.CreateICmpULT(B.CreateAdd(At, B.getInt64(First)), B.getInt64(int64_t(Bytes) - (Last - First) - Size + 1));
    Instruction *Then, *Else;
    SplitBlockAndInsertIfThenElse(IsAmongFirst, Behind->getIterator(), &Then, &Else);
    B.SetInsertPoint(Then);
    Value *Begin = B.CreatePtrAdd(B.CreateAddrSpaceCast(Own.Own, B.getPtrTy()), At, "record");
    for (AtomicRMWInst *Member : G.Members) {
      Value *Place = B.CreatePtrAdd(Begin, B.getInt64(distanceOf(*Member)));
      B.CreateAtomicRMW(AtomicRMWInst::FAdd, Place, Member->getValOperand(), MaybeAlign(Size),
                        AtomicOrdering::Monotonic);
      Member->moveBefore(Else->getIterator());
    }
  }

  // What comes from a shared table, of which elements were looked up.
  void skipZeros() {
    SmallPtrSet<const Value *, 4> Tables;
    for (Instruction &I : instructions(F))
      if (AtomicRMWInst *Atomic = asAccumulation(I); Atomic && From.make(Atomic->getPointerOperand()))
        if (const Argument *A = sharedOf(*Atomic->getPointerOperand()))
          Tables.insert(A);
    SmallVector<AtomicRMWInst *> Flushes;
    for (Instruction &I : instructions(F)) {
      AtomicRMWInst *Atomic = asAccumulation(I);
      auto *Taken = Atomic ? dyn_cast<Instruction>(Atomic->getValOperand()) : nullptr;
      const Value *Pointer = Taken ? accessedPointer(*Taken) : nullptr;
      if (Pointer && !isa<StoreInst>(Taken) && Tables.contains(sharedOf(*Pointer)) &&
          !sharedOf(*Atomic->getPointerOperand()))
        Flushes.push_back(Atomic);
    }
    for (AtomicRMWInst *Atomic : Flushes) {
      ADGEN_COUNT(NumSkipped, *Atomic);
      IRBuilder<> B(Atomic);
      Value *Zero = Constant::getNullValue(Atomic->getType());
      Value *Counts = B.CreateFCmpUNE(Atomic->getValOperand(), Zero);
      Atomic->moveBefore(SplitBlockAndInsertIfThen(Counts, Atomic->getNextNode()->getIterator(), false)->getIterator());
    }
  }

  const Argument *sharedOf(const Value &Pointer) const {
    auto *A = dyn_cast<Argument>(getUnderlyingObject(&Pointer, 0));
    return A && F.hasParamAttribute(A->getArgNo(), SharedShadowAttribute) ? A : nullptr;
  }

  Function &F;
  const Meetings &Meet;
  Lookups From;
  SmallVector<BlockElements> All;
  SmallVector<Record> Found;
  SmallVector<Handover> Sums;
  uint64_t Room;
};

} // namespace

ADGEN_DECLARE_PASS(PrivatizeLookups);

PreservedAnalyses PrivatizeLookups::run(Module &M, ModuleAnalysisManager &MAM) {
  auto &FAM = MAM.getResult<FunctionAnalysisManagerModuleProxy>(M).getManager();
  for (Function &F : M)
    if (F.hasFnAttribute(ActivityAttribute) && !F.isDeclaration())
      Privatizer(F, Meetings(F, FAM.getResult<AAManager>(F))).run();
  return PreservedAnalyses::none();
}

} // namespace adgen
