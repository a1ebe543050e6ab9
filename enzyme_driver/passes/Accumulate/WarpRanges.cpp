#include "Accumulate/WarpRanges.h"
#include "Accumulate/HandOver.h"
#include "Accumulate/WarpRows.h"
#include "Analysis/Accumulation.h"
#include "Support/Threads.h"

#include "llvm/ADT/PointerIntPair.h"
#include "llvm/Analysis/Utils/Local.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/IR/Operator.h"

using namespace llvm;

namespace adgen {

constexpr uint64_t MostBytes = 8 * 1024, FewestBytes = 1024; // of a block, for all ranges and for each
constexpr size_t ManyInIteration = 8;
constexpr uint64_t MostOfFew = 64; // elements
constexpr uint32_t FewestBlocks = 64;

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

// A number that a loop counts up or down.
static bool isCounter(const Value &V) {
  auto *Phi = dyn_cast<PHINode>(&V);
  return Phi && any_of(Phi->incoming_values(), [&](const Value *Next) {
           auto *Step = dyn_cast<BinaryOperator>(Next);
           return Step && is_contained(Step->operand_values(), Phi) && isa<ConstantInt>(Step->getOperand(1));
         });
}

// Whether indices come of counting alone, as loops do it for all blocks alike: not of the block, nor of what was read.
// A loop may begin with a count that was kept for the reverse sweep, or with the largest of some lanes.
static bool isCounted(ArrayRef<const Value *> Indices) {
  using Part = PointerIntPair<const Value *, 1, bool>; // whether it is where a counter begins
  SmallVector<Part> Work;
  SmallPtrSet<Part, 16> Seen;
  auto Add = [&](const Value *V, bool Begins) {
    if (Seen.insert({V, Begins}).second)
      Work.push_back({V, Begins});
  };
  for (const Value *Index : Indices)
    Add(Index, false);
  while (!Work.empty()) {
    const Part Next = Work.pop_back_val();
    const Value *V = Next.getPointer();
    const bool Begins = Next.getInt();
    auto *A = dyn_cast<Argument>(V);
    auto *I = dyn_cast<Instruction>(V);
    auto *Load = dyn_cast<LoadInst>(V);
    auto *Kept = Load ? dyn_cast<Argument>(getUnderlyingObject(Load->getPointerOperand(), 0)) : nullptr;
    if ((A && isOfTheTape(*A)) || (I && isOfTheBlock(*I)) || (Load && !(Begins && Kept && isOfTheTape(*Kept))))
      return false;
    if (I && !Load && !isCallOf(*I, MostOfLanes))
      for (const Value *Operand : I->operand_values())
        Add(Operand, Begins || isCounter(*V));
  }
  return true;
}

// Whether nothing but counted indices lies between.
static bool leadsFromBeginning(const Value *Place) {
  SmallVector<const Value *> Indices;
  while (auto *Address = dyn_cast<GEPOperator>(Place)) {
    append_range(Indices, make_range(Address->idx_begin(), Address->idx_end()));
    Place = Address->getPointerOperand();
  }
  return isa<Argument, LoadInst>(Place) && isCounted(Indices);
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
      !isInt<31>(distanceOf(Addition)) || !leadsFromBeginning(Pointer))
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

// The same for each of the warps. Where an iteration adds to few elements, handing them to the warp's own costs more
// than they do in memory, unless all meet at few lines of it. So it does where few blocks meet.
Value *WarpRanges::bytesOfWarp(IRBuilder<> &B, const Range &R, Value *Warps) const {
  const bool AreMany = any_of(R.Runs, [](const Run &Each) { return Each.Additions.size() >= ManyInIteration; });
  Value *Leading = B.CreateBinaryIntrinsic(Intrinsic::ctlz, B.CreateSub(Warps, B.getInt32(1)), B.getFalse());
  Value *Share =
      B.CreateLShr(B.getInt32(DL.getTypeAllocSize(R.Memory->getValueType())), B.CreateSub(B.getInt32(32), Leading));
  if (!AreMany)
    Share = B.CreateBinaryIntrinsic(Intrinsic::umin, Share, B.getInt32(MostOfFew * DL.getTypeStoreSize(R.T)));
  Value *Blocks = readRegister(B, Intrinsic::nvvm_read_ptx_sreg_nctaid_x);
  for (Intrinsic::ID Axis : {Intrinsic::nvvm_read_ptx_sreg_nctaid_y, Intrinsic::nvvm_read_ptx_sreg_nctaid_z})
    Blocks = B.CreateMul(Blocks, readRegister(B, Axis));
  return B.CreateSelect(B.CreateICmpUGE(Blocks, B.getInt32(FewestBlocks)), Share, B.getInt32(0));
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
