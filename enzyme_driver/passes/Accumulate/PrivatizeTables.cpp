// Where all threads add to elements of a small table, as to the few matrices by which each site of a lattice
// multiplies, or to the taps of a filter that each pixel chooses, the additions of the whole grid meet at a few lines
// of memory. So a block has the table for itself in shared memory: its threads add there, lanes of one place together
// (adgen-match-lanes), and when all of them have come to the end, each sum is added to the shadow once.
//
// That the table is small follows from what an index may be: a remainder, a mask, a loop's count, a condition.
#include "Accumulate/BlockElements.h"
#include "Accumulate/BlockEnd.h"
#include "Accumulate/HandOver.h"
#include "Accumulate/LaneOrigins.h"
#include "Accumulate/Ownership.h"
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

class Privatizer {
public:
  Privatizer(Function &F, const Places &Where) : F(F), DL(F.getDataLayout()), Where(Where), Room(roomInShared(F)) {}

  void run() {
    for (Argument &A : F.args())
      if (F.hasParamAttribute(A.getArgNo(), ShadowAttribute))
        find(A);
    if (!All.empty())
      replace();
  }

private:
  void find(Argument &Shadow) {
    std::optional<Ownership::Uses> Uses = Ownership::usesOf(Shadow);
    if (!Uses || Uses->Others || !Uses->Consumptions.empty())
      return;
    BlockElements Found{&Shadow};
    Bytes Places;
    for (AtomicRMWInst *Atomic : Uses->Accumulations) {
      bool IsNumber = Atomic->getType()->isFloatTy() || Atomic->getType()->isDoubleTy();
      if (!IsNumber || !(Found.Additions.empty() || Atomic->getType() == Found.type()) || !differs(*Atomic))
        continue;
      if (std::optional<Bytes> At = Where.of(*Atomic)) {
        Places.widen(*At);
        Found.Additions.push_back(Atomic);
      }
    }
    if (!Found.Additions.empty() && Places.size() <= std::min<uint64_t>(MostBytes, Room) &&
        countOf(Found, Places) <= EachAddition * Found.Additions.size()) {
      Found.Begin = Places.Begin;
      Found.Own = createExchange(F, ArrayType::get(Found.type(), countOf(Found, Places)), ".table");
      Room -= Places.size();
      All.push_back(std::move(Found));
    }
  }

  // Not what all lanes have in common.
  bool differs(const AtomicRMWInst &Atomic) {
    if (Atomic.hasMetadata(SeldomMark) || Atomic.hasMetadata(LanesMark))
      return false;
    const LaneOrigin &From = Origins.of(const_cast<Value *>(Atomic.getPointerOperand()));
    return From.X || From.OtherAxes || From.Unknown;
  }

  void replace() {
    const BlockEnds Ends(F);
    zeroOwn(Ends.first(), All, countAll);
    waitForBlock(Ends.first());
    for (const BlockElements &E : All) {
      DenseMap<Value *, Value *> Redirected;
      for (AtomicRMWInst *Atomic : E.Additions)
        redirect(*Atomic, E, Redirected);
    }
    waitForBlock(Ends.last());
    addOwnToShadows(Ends.last(), All, countAll);
  }

  void redirect(AtomicRMWInst &Atomic, const BlockElements &E, DenseMap<Value *, Value *> &Redirected) {
    ADGEN_COUNT(NumPrivate, Atomic);
    Atomic.setOperand(0, inOwn(Atomic.getPointerOperand(), E, Redirected));
    Atomic.setMetadata(TableMark, MDNode::get(F.getContext(), {}));
  }

  // The same steps, so that what lies at fixed distances from each other is seen to.
  Value *inOwn(Value *Pointer, const BlockElements &E, DenseMap<Value *, Value *> &Redirected) {
    if (Value *Known = Redirected.lookup(Pointer))
      return Known;
    if (Pointer == E.Shadow) {
      IRBuilder<> B(&*F.getEntryBlock().getFirstNonPHIOrDbgOrAlloca());
      Value *Own = B.CreateAddrSpaceCast(E.Own, B.getPtrTy());
      return Redirected[Pointer] = B.CreatePtrAdd(Own, B.getInt64(-E.Begin), "table");
    }
    auto *GEP = cast<GetElementPtrInst>(Pointer);
    Value *From = inOwn(GEP->getPointerOperand(), E, Redirected);
    auto *Copy = cast<GetElementPtrInst>(GEP->clone());
    Copy->setOperand(0, From);
    Copy->setNoWrapFlags(GEPNoWrapFlags::none()); // what lies between may be outside
    Copy->insertAfter(GEP->getIterator());
    return Redirected[Pointer] = Copy;
  }

  uint64_t countOf(const BlockElements &E, const Bytes &Places) const {
    return Places.size() / DL.getTypeStoreSize(E.type());
  }

  Function &F;
  const DataLayout &DL;
  const Places &Where;
  LaneOrigins Origins;
  SmallVector<BlockElements> All;
  uint64_t Room;
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
