// Where all threads add to elements of a small table, as to the few matrices by which each site of a lattice
// multiplies, or to the taps of a filter that each pixel chooses, the additions of the whole grid meet at a few lines
// of memory. So a block has the table for itself in shared memory: its threads add there, lanes of one place together
// (adgen-match-lanes), and when all of them have come to the end, each sum is added to the shadow once.
//
// That the table is small follows from what an index may be: a remainder, a mask, a loop's count, a condition.
#include "Accumulate/BlockEnd.h"
#include "Accumulate/HandOver.h"
#include "Accumulate/LaneOrigins.h"
#include "Accumulate/Ownership.h"
#include "Accumulate/WarpRows.h"
#include "Support/Pass.h"
#include "Support/Threads.h"

#include "llvm/Analysis/LazyValueInfo.h"
#include "llvm/IR/PatternMatch.h"

#define DEBUG_TYPE "adgen-privatize-tables"

using namespace llvm;
using namespace llvm::PatternMatch;

STATISTIC(NumPrivate, "Number of additions into a block's own table");

namespace adgen {
namespace {

constexpr int64_t MostBytes = 8 * 1024; // of a table
constexpr size_t EachAddition = 512;    // elements, of what a thread adds: they have to be zeroed and added, too
constexpr unsigned MostSteps = 4;       // of an index, of which each is asked for
constexpr unsigned NumberBits = 64;     // of a place in bytes

// Between which bytes of a shadow an addition is, the end behind the element.
struct Bytes {
  int64_t Begin = INT64_MAX, End = INT64_MIN;

  void widen(const Bytes &Other) { Begin = std::min(Begin, Other.Begin), End = std::max(End, Other.End); }
  uint64_t size() const { return End - Begin; }
};

class Places {
public:
  Places(const DataLayout &DL, LazyValueInfo &Values, ScalarEvolution &SE) : DL(DL), Values(Values), SE(SE) {}

  // Nothing where it is not in a small table, or does not begin at a multiple of its size.
  std::optional<Bytes> of(AtomicRMWInst &Addition) const {
    const int64_t Size = DL.getTypeStoreSize(Addition.getType());
    ConstantRange Sum(APInt(NumberBits, 0));
    bool IsWhole = true;
    for (Value *Pointer = Addition.getPointerOperand(); auto *GEP = dyn_cast<GetElementPtrInst>(Pointer);
         Pointer = GEP->getPointerOperand()) {
      SmallMapVector<Value *, APInt, 4> Scales;
      APInt Constant(NumberBits, 0);
      if (!GEP->collectOffset(DL, NumberBits, Scales, Constant))
        return std::nullopt;
      Sum = Sum.add(ConstantRange(Constant));
      IsWhole &= Constant.srem(Size) == 0;
      for (auto &[Index, Scale] : Scales) {
        ConstantRange Range = rangeOf(*Index, Addition).sextOrTrunc(NumberBits);
        if (!isSmall(Range) || !isSmall(ConstantRange(Scale)))
          return std::nullopt;
        Sum = Sum.add(Range.multiply(ConstantRange(Scale)));
        IsWhole &= Scale.srem(Size) == 0;
      }
    }
    if (!isSmall(Sum) || !IsWhole)
      return std::nullopt;
    return Bytes{Sum.getSignedMin().getSExtValue(), Sum.getSignedMax().getSExtValue() + Size};
  }

private:
  // Also what a few steps make of numbers whose ranges are known.
  ConstantRange rangeOf(Value &V, Instruction &At, unsigned Depth = 0) const {
    ConstantRange Range = Values.getConstantRange(&V, &At, false);
    if (SE.isSCEVable(V.getType()))
      Range = Range.intersectWith(SE.getSignedRange(SE.getSCEV(&V)), ConstantRange::Signed);
    auto *I = dyn_cast<Instruction>(&V);
    if (!I || Depth == MostSteps)
      return Range;
    if (std::optional<ConstantRange> Remainder = remainderOf(*I))
      return Range.intersectWith(*Remainder, ConstantRange::Signed);
    auto Of = [&](unsigned Operand) { return rangeOf(*I->getOperand(Operand), At, Depth + 1); };
    if (isa<BinaryOperator>(I))
      return Range.intersectWith(Of(0).binaryOp(Instruction::BinaryOps(I->getOpcode()), Of(1)), ConstantRange::Signed);
    if (isa<SExtInst, ZExtInst, TruncInst>(I))
      return Range.intersectWith(Of(0).castOp(cast<CastInst>(I)->getOpcode(), I->getType()->getIntegerBitWidth()),
                                 ConstantRange::Signed);
    return Range;
  }

  // Where LLVM has taken a remainder for a difference, in no more bits than it needs: x % n is x - x / n * n.
  static std::optional<ConstantRange> remainderOf(const Instruction &I) {
    const unsigned Bits = I.getType()->isIntegerTy() ? I.getType()->getIntegerBitWidth() : 0;
    const Value *Of = nullptr, *Again = nullptr;
    const APInt *Divisor = nullptr, *Factor = nullptr;
    auto Quotient = m_Mul(m_SDiv(m_Value(Of), m_APInt(Divisor)), m_APInt(Factor));
    if (!Bits || !match(&I, m_TruncOrSelf(m_c_Add(Quotient, m_Value(Again)))) || Of != Again ||
        !Divisor->isStrictlyPositive() || Divisor->getActiveBits() >= Bits ||
        !(*Divisor + *Factor).trunc(Bits).isZero())
      return std::nullopt;
    const APInt N = Divisor->trunc(Bits);
    return ConstantRange(1 - N, N);
  }

  static bool isSmall(const ConstantRange &Range) {
    return !Range.isEmptySet() && !Range.isFullSet() && Range.getSignedMin().sge(-MostBytes) &&
           Range.getSignedMax().sle(MostBytes);
  }

  const DataLayout &DL;
  LazyValueInfo &Values;
  ScalarEvolution &SE;
};

// A shadow, the additions to its table, and the block's own.
struct Table {
  explicit Table(Argument &Shadow) : Shadow(&Shadow) {}

  Argument *Shadow;
  Bytes At;
  SmallVector<AtomicRMWInst *> Additions;
  GlobalVariable *Own = nullptr;
  DenseMap<Value *, Value *> Redirected; // pointers

  Type *type() const { return Additions.front()->getType(); }
};

class Privatizer {
public:
  Privatizer(Function &F, const Places &Where) : F(F), DL(F.getDataLayout()), Where(Where) {}

  void run() {
    for (Argument &A : F.args())
      if (F.hasParamAttribute(A.getArgNo(), ShadowAttribute))
        find(A);
    uint64_t Room = roomInShared(F);
    erase_if(All, [&](const Table &T) {
      bool Fits = T.At.size() <= Room;
      Room -= Fits ? T.At.size() : 0;
      return !Fits;
    });
    if (!All.empty())
      replace();
  }

private:
  void find(Argument &Shadow) {
    std::optional<Ownership::Uses> Uses = Ownership::usesOf(Shadow);
    if (!Uses || Uses->Others || !Uses->Consumptions.empty())
      return;
    Table Found(Shadow);
    for (AtomicRMWInst *Atomic : Uses->Accumulations) {
      bool IsNumber = Atomic->getType()->isFloatTy() || Atomic->getType()->isDoubleTy();
      if (!IsNumber || !(Found.Additions.empty() || Atomic->getType() == Found.type()) || !differs(*Atomic))
        continue;
      if (std::optional<Bytes> At = Where.of(*Atomic)) {
        Found.At.widen(*At);
        Found.Additions.push_back(Atomic);
      }
    }
    if (!Found.Additions.empty() && countOf(Found) <= EachAddition * Found.Additions.size() &&
        Found.At.size() <= MostBytes)
      All.push_back(std::move(Found));
  }

  // Not what all lanes have in common.
  bool differs(const AtomicRMWInst &Atomic) {
    if (Atomic.hasMetadata(SeldomMark) || Atomic.hasMetadata(LanesMark))
      return false;
    const LaneOrigin &From = Origins.of(const_cast<Value *>(Atomic.getPointerOperand()));
    return From.X || From.OtherAxes || From.Unknown;
  }

  void replace() {
    for (Table &T : All)
      T.Own = createExchange(F, ArrayType::get(T.type(), countOf(T)), ".table");
    const BlockEnds Ends(F);
    forOwn(Ends.first(), [](IRBuilder<> &B, const Table &T, Value *Index) {
      B.CreateStore(Constant::getNullValue(T.type()), place(B, T, Index));
    });
    waitForBlock(Ends.first());
    for (Table &T : All)
      for (AtomicRMWInst *Atomic : T.Additions)
        redirect(*Atomic, T);
    waitForBlock(Ends.last());
    forOwn(Ends.last(), [&](IRBuilder<> &B, const Table &T, Value *Index) {
      Value *Sum = B.CreateLoad(T.type(), place(B, T, Index));
      addUnlessZero(B, Sum, [&](IRBuilder<> &Then) {
        Value *First = Then.CreatePtrAdd(BlockEnds::argument(Ends.last(), *T.Shadow), Then.getInt64(T.At.Begin));
        return Then.CreateGEP(T.type(), First, Then.CreateZExt(Index, Then.getInt64Ty()));
      });
    });
  }

  void redirect(AtomicRMWInst &Atomic, Table &T) {
    ADGEN_COUNT(NumPrivate, Atomic);
    Atomic.setOperand(0, inOwn(Atomic.getPointerOperand(), T));
    Atomic.setMetadata(TableMark, MDNode::get(F.getContext(), {}));
  }

  // The same steps, so that what lies at fixed distances from each other is seen to.
  Value *inOwn(Value *Pointer, Table &T) {
    if (Value *Known = T.Redirected.lookup(Pointer))
      return Known;
    if (Pointer == T.Shadow) {
      IRBuilder<> B(&*F.getEntryBlock().getFirstNonPHIOrDbgOrAlloca());
      Value *Own = B.CreateAddrSpaceCast(T.Own, B.getPtrTy());
      return T.Redirected[Pointer] = B.CreatePtrAdd(Own, B.getInt64(-T.At.Begin), "table");
    }
    auto *GEP = cast<GetElementPtrInst>(Pointer);
    Value *From = inOwn(GEP->getPointerOperand(), T);
    auto *Copy = cast<GetElementPtrInst>(GEP->clone());
    Copy->setOperand(0, From);
    Copy->setNoWrapFlags(GEPNoWrapFlags::none()); // what lies between may be outside
    Copy->insertAfter(GEP->getIterator());
    return T.Redirected[Pointer] = Copy;
  }

  void forOwn(Instruction &Before, function_ref<void(IRBuilder<> &, const Table &, Value *)> Body) const {
    IRBuilder<> B(&Before);
    Value *Thread = threadInBlock(B), *Threads = threadsOfBlock(B);
    for (const Table &T : All)
      forStrided(Before, Thread, Threads, B.getInt32(countOf(T)), "table",
                 [&](IRBuilder<> &Each, Value *Index) { Body(Each, T, Index); });
  }

  static Value *place(IRBuilder<> &B, const Table &T, Value *Index) {
    return B.CreateInBoundsGEP(T.Own->getValueType(), T.Own, {B.getInt32(0), Index});
  }

  uint64_t countOf(const Table &T) const { return T.At.size() / DL.getTypeStoreSize(T.type()); }

  Function &F;
  const DataLayout &DL;
  const Places &Where;
  LaneOrigins Origins;
  SmallVector<Table> All;
};

} // namespace

ADGEN_DECLARE_PASS(PrivatizeTables);

PreservedAnalyses PrivatizeTables::run(Module &M, ModuleAnalysisManager &MAM) {
  auto &FAM = MAM.getResult<FunctionAnalysisManagerModuleProxy>(M).getManager();
  for (Function &F : M)
    if (F.hasFnAttribute(ActivityAttribute) && !F.isDeclaration()) {
      const Places Where(F.getDataLayout(), FAM.getResult<LazyValueAnalysis>(F),
                         FAM.getResult<ScalarEvolutionAnalysis>(F));
      Privatizer(F, Where).run();
    }
  return PreservedAnalyses::none();
}

} // namespace adgen
