#include "Accumulate/WarpRanges.h"
#include "Accumulate/HandOver.h"
#include "Accumulate/WarpRows.h"
#include "Analysis/Accumulation.h"
#include "Support/Threads.h"

#include "llvm/Analysis/Utils/Local.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Operator.h"

using namespace llvm;

namespace adgen {

constexpr uint64_t MostBytes = 8 * 1024, FewestBytes = 1024; // of a block, for all ranges and for each

WarpRanges::WarpRanges(Function &Gradient, function_ref<bool(const AtomicRMWInst &)> IsTaken)
    : F(Gradient), DL(F.getDataLayout()), Roots(F), Shadows(F) {
  for (Instruction &I : instructions(F))
    if (AtomicRMWInst *Atomic = asAccumulation(I); Atomic && !IsTaken(*Atomic))
      add(*Atomic);
}

void WarpRanges::add(AtomicRMWInst &Addition) {
  Range *Of = rangeOf(Addition);
  if (!Of)
    return;
  auto *Base = const_cast<Value *>(baseOf(Addition));
  auto Known = find_if(Of->Runs, [&](const Run &Each) {
    return Each.Base == Base && Each.Additions.front()->getParent() == Addition.getParent();
  });
  if (Known == Of->Runs.end())
    Known = &Of->Runs.emplace_back(Run{Base, {}});
  Known->Additions.push_back(&Addition);
}

// How many bytes a place lies behind the beginning of its array, to which addresses lead.
static Value *bytesBehind(IRBuilder<> &B, Value *Place, const DataLayout &DL) {
  Value *Bytes = B.getInt64(0);
  for (auto *Address = dyn_cast<GEPOperator>(Place); Address; Address = dyn_cast<GEPOperator>(Place)) {
    Bytes = B.CreateAdd(Bytes, emitGEPOffset(&B, DL, Address));
    Place = Address->getPointerOperand();
  }
  return Bytes;
}

// Whether nothing but arithmetic of addresses lies between.
static bool leadsFromBeginning(const Value *Place) {
  while (auto *Address = dyn_cast<GEPOperator>(Place))
    Place = Address->getPointerOperand();
  return isa<Argument, LoadInst>(Place);
}

// Then blocks have elements of their own. What lanes tell each other, as how often the most of them go round, does not
// count.
static bool dependsOnBlock(const Value &Address) {
  SmallVector<const Value *> Work{&Address};
  SmallPtrSet<const Value *, 16> Seen;
  while (!Work.empty()) {
    const Value *V = Work.pop_back_val();
    auto *A = dyn_cast<Argument>(V);
    auto *I = dyn_cast<Instruction>(V);
    auto *Call = dyn_cast<IntrinsicInst>(V);
    if ((A && isOfTheTape(*A)) || (Call && Call->getCalledFunction()->getName().contains(".ctaid.")))
      return true;
    if (I && !isa<CallBase, LoadInst>(I) && Seen.insert(V).second)
      append_range(Work, I->operand_values());
  }
  return false;
}

WarpRanges::Range *WarpRanges::rangeOf(AtomicRMWInst &Addition) {
  Type *T = Addition.getType();
  Value *Pointer = Addition.getPointerOperand();
  if (!(T->isFloatTy() || T->isDoubleTy()) || Addition.hasMetadata(WarpsOwnMark) || Addition.hasMetadata(LanesMark))
    return nullptr;
  auto Led = Roots.of(*Pointer);
  const LaneOrigin &Where = From.of(Pointer);
  if (!Led || Led->size() != 1 || !Roots.isShadow(Led->front()) || !Shadows.contain(*Pointer) || Where.X ||
      Where.OtherAxes || Where.Unknown || Where.Compared.empty() || Where.Compared.size() > MostCompared ||
      !isInt<31>(distanceOf(Addition)) || !leadsFromBeginning(Pointer) || dependsOnBlock(*Pointer))
    return nullptr;
  auto Known = find_if(All, [&](const Range &R) { return R.Shadow == Led->front() && R.T == T; });
  return Known != All.end() ? &*Known : &All.emplace_back(Range{Led->front(), T, {}});
}

void WarpRanges::reserve(uint64_t Room) {
  uint64_t Bytes = bit_floor(std::min(Room, MostBytes));
  while (!All.empty() && Bytes / All.size() < FewestBytes)
    All.pop_back();
  for (auto [Number, R] : enumerate(All)) {
    auto *Memory = ArrayType::get(R.T, bit_floor(Bytes / All.size()) / DL.getTypeStoreSize(R.T));
    R.Memory = createExchange(F, Memory, ".range" + Twine(Number));
  }
}

// A power of two for each of the warps.
Value *WarpRanges::bytesOfWarp(IRBuilder<> &B, const Range &R, Value *Warps) const {
  Value *Leading = B.CreateBinaryIntrinsic(Intrinsic::ctlz, B.CreateSub(Warps, B.getInt32(1)), B.getFalse());
  return B.CreateLShr(B.getInt32(DL.getTypeAllocSize(R.Memory->getValueType())), B.CreateSub(B.getInt32(32), Leading));
}

void WarpRanges::zero(Instruction &Before) const {
  IRBuilder<> B(&Before);
  const BlockPlace At(B);
  for (const Range &R : All) {
    Value *Count = B.CreateLShr(B.CreateMul(bytesOfWarp(B, R, At.Warps), At.Warps), 2);
    forStrided(Before, At.Thread, At.Threads, Count, "own", [&](IRBuilder<> &Each, Value *Index) {
      Each.CreateStore(Each.getInt32(0), Each.CreateInBoundsGEP(Each.getInt32Ty(), R.Memory, Index));
    });
  }
}

void WarpRanges::redirect(Instruction &Start) const {
  IRBuilder<> B(&Start);
  const BlockPlace At(B);
  Value *Warp = B.CreateLShr(At.Thread, LaneBits, "warp");
  for (const Range &R : All) {
    Value *Bytes = bytesOfWarp(B, R, At.Warps);
    Value *Row = B.CreateInBoundsGEP(B.getInt8Ty(), R.Memory, B.CreateMul(Warp, Bytes));
    Row = B.CreateAddrSpaceCast(Row, B.getPtrTy(), "own");
    Value *Wide = B.CreateZExt(Bytes, B.getInt64Ty());
    for (const Run &Each : R.Runs)
      redirect(Each, Row, Wide);
  }
}

// If the warp has all of them.
void WarpRanges::redirect(const Run &Each, Value *Row, Value *Bytes) const {
  int64_t Lowest = INT64_MAX, Highest = INT64_MIN;
  for (const AtomicRMWInst *Addition : Each.Additions) {
    Lowest = std::min(Lowest, distanceOf(*Addition));
    Highest = std::max(Highest, distanceOf(*Addition));
  }
  IRBuilder<> B(Each.Additions.front());
  const int64_t Span = Highest - Lowest + int64_t(DL.getTypeStoreSize(Each.Additions.front()->getType()));
  Value *Before = bytesBehind(B, Each.Base, DL);
  Value *Places = B.CreateBinaryIntrinsic(Intrinsic::usub_sat, B.CreateAdd(Bytes, B.getInt64(1)), B.getInt64(Span));
  Value *IsOwn = B.CreateICmpULT(B.CreateAdd(Before, B.getInt64(Lowest)), Places);
  Value *Chosen = B.CreateSelect(IsOwn, B.CreateGEP(B.getInt8Ty(), Row, Before), Each.Base, "place");
  for (AtomicRMWInst *Addition : Each.Additions) {
    B.SetInsertPoint(Addition);
    addToOwn(*Addition, B.CreateConstGEP1_64(B.getInt8Ty(), Chosen, distanceOf(*Addition)));
  }
}

void WarpRanges::addSums(Instruction &Before) const {
  IRBuilder<> B(&Before);
  const BlockPlace At(B);
  for (const Range &R : All) {
    const uint64_t Size = DL.getTypeStoreSize(R.T);
    Value *Shadow = beginningOf(B, Roots, R.Shadow), *Bytes = bytesOfWarp(B, R, At.Warps);
    Value *Count = B.CreateLShr(Bytes, Log2_64(Size));
    forStrided(Before, At.Thread, At.Threads, Count, "sum", [&](IRBuilder<> &Each, Value *Index) {
      Value *Sum = sumOfRows(Each, R.T, At.Warps, [&](IRBuilder<> &In, Value *Row) {
        return In.CreateInBoundsGEP(R.T, R.Memory, In.CreateAdd(In.CreateMul(Row, Count), Index));
      });
      addUnlessZero(Each, Sum,
                    [&](IRBuilder<> &In) { return In.CreateGEP(R.T, Shadow, In.CreateZExt(Index, In.getInt64Ty())); });
    });
  }
}

} // namespace adgen
