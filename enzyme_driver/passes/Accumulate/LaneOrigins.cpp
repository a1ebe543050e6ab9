#include "Accumulate/LaneOrigins.h"
#include "Analysis/Indices.h"
#include "Support/Walk.h"

#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicsNVPTX.h"

using namespace llvm;

namespace adgen {

LaneOrigin LaneOrigins::find(Value *V) {
  LaneOrigin Result;
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
  if (unsigned Bits = Counts ? dropsMostOfTheLane(*I) : 0) {
    Result.Compared.insert(I);
    Result.Dropped = Bits;
    return Result;
  }
  if (isCallOf(*I, LentToAll))
    return Result;
  if (isCallOf(*I, LentByLane)) {
    Result.Compared.insert(I);
    return Result;
  }
  bool MayDrop = dropsTheLane(*I) || dividesByNumber(*I);
  if (isa<PHINode, LoadInst>(I) || MayDrop) {
    bool Comparable = I->getType()->isIntOrPtrTy() && I->getType()->getPrimitiveSizeInBits() <= 64;
    bool Likely = Comparable && (MayDrop || isLikelyTheSame(I) || choosesAmongAlike(*I));
    Likely ? void(Result.Compared.insert(I)) : void(Result.Unknown = true);
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

bool LaneOrigins::choosesAmongAlike(Instruction &I) {
  auto *Phi = dyn_cast<PHINode>(&I);
  Found[&I].Unknown = true; // for what goes round in a loop
  return Phi && all_of(Phi->incoming_values(), [&](Value *V) {
           const LaneOrigin &Where = of(V);
           return !Where.X && !Where.OtherAxes && !Where.Unknown;
         });
}

bool isArithmetic(const Instruction &I) {
  auto *Call = dyn_cast<IntrinsicInst>(&I);
  return Call && !Call->mayReadOrWriteMemory() && !Call->getCalledFunction()->getName().starts_with("llvm.nvvm.");
}

bool isOfTheTape(const Argument &A) {
  const Function &F = *A.getParent();
  return (F.hasFnAttribute(TapeAttribute) && A.getArgNo() + TapeArguments >= F.arg_size()) ||
         (F.hasFnAttribute(WalkAttribute) && A.getArgNo() + 1 == F.arg_size());
}

bool LaneOrigins::readsRegister(const IntrinsicInst &Call, LaneOrigin &Result) {
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

bool isOfTheBlock(const Instruction &I) {
  constexpr StringLiteral Registers[] = {"ctaid.", "nctaid.", "ntid.", "warpsize"};
  auto *Call = dyn_cast<IntrinsicInst>(&I);
  StringRef Name = Call ? Call->getCalledFunction()->getName() : "";
  return Name.consume_front("llvm.nvvm.read.ptx.sreg.") &&
         any_of(Registers, [&](StringRef Register) { return Name.starts_with(Register); });
}

namespace {

// Bits of an integer that come from the thread's index x: bit N is its bit N + Shift, and those below Lowest are none.
struct BitsOfX {
  int Shift = 0, Lowest = 0;
};

std::optional<BitsOfX> bitsOfX(const Value *V) {
  auto *I = dyn_cast<Instruction>(V);
  if (auto *Call = dyn_cast_or_null<IntrinsicInst>(I))
    return Call->getIntrinsicID() == Intrinsic::nvvm_read_ptx_sreg_tid_x ? std::optional(BitsOfX()) : std::nullopt;
  if (isa_and_nonnull<ZExtInst, SExtInst, TruncInst>(I))
    return bitsOfX(I->getOperand(0));
  auto *Number = isa_and_nonnull<BinaryOperator>(I) ? dyn_cast<ConstantInt>(I->getOperand(1)) : nullptr;
  std::optional<BitsOfX> Bits = Number ? bitsOfX(I->getOperand(0)) : std::nullopt;
  if (!Bits)
    return {};
  int N = Number->getValue().getLimitedValue(Number->getBitWidth());
  switch (I->getOpcode()) {
  case Instruction::LShr:
    return BitsOfX{Bits->Shift + N, std::max(0, Bits->Lowest - N)};
  case Instruction::Shl:
    return BitsOfX{Bits->Shift - N, Bits->Lowest + N};
  case Instruction::And:
    return BitsOfX{Bits->Shift, std::max<int>(Bits->Lowest, Number->getValue().countr_zero())};
  default:
    return {};
  }
}

} // namespace

unsigned LaneOrigins::dropsMostOfTheLane(const Instruction &I) {
  constexpr int Fewest = 3; // bits: with fewer lanes in common, additions that meet cost less than shuffles
  std::optional<BitsOfX> Bits = I.getType()->isIntegerTy() ? bitsOfX(&I) : std::nullopt;
  int Dropped = Bits ? Bits->Shift + Bits->Lowest : 0;
  return Dropped >= Fewest && Dropped < int(LaneBits) ? Dropped : 0;
}

bool LaneOrigins::dropsTheLane(const Instruction &I) {
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

bool LaneOrigins::dividesByNumber(const Instruction &I) {
  unsigned Kind = I.getOpcode();
  return (Kind == Instruction::UDiv || Kind == Instruction::SDiv) && !isa<Constant>(I.getOperand(1));
}

bool LaneOrigins::isLikelyTheSame(Value *V) {
  SmallVector<Value *> Next{V};
  SmallPtrSet<Value *, 16> Seen{V};
  while (!Next.empty()) {
    Value *From = Next.pop_back_val();
    auto *I = dyn_cast<Instruction>(From);
    auto *A = dyn_cast<Argument>(From);
    if (Assumed.contains(From) || (Counts && isCount(From)))
      continue;
    LaneOrigin Register;
    if (isa<AllocaInst>(From) || (A && isOfTheTape(*A) && A->getType()->isPointerTy()))
      return false;
    if (isa_and_nonnull<CallBase>(I)) {
      auto *Read = dyn_cast<IntrinsicInst>(I);
      if (Read && readsRegister(*Read, Register) && !Register.X)
        continue; // rows of a block are mostly whole warps
      if (isCallOf(*I, MostOfLanes) || isCallOf(*I, LentByLane))
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

bool LaneOrigins::isCount(const Value *V) const {
  auto *Load = dyn_cast<LoadInst>(V);
  auto *A = Load ? dyn_cast<Argument>(getUnderlyingObject(Load->getPointerOperand(), 0)) : nullptr;
  return A && isOfTheTape(*A) && Load->getType()->isIntegerTy();
}

bool usesOtherAxes(Function &F) {
  return any_of(instructions(F), [](const Instruction &I) {
    auto *Call = dyn_cast<IntrinsicInst>(&I);
    return Call && (Call->getIntrinsicID() == Intrinsic::nvvm_read_ptx_sreg_tid_y ||
                    Call->getIntrinsicID() == Intrinsic::nvvm_read_ptx_sreg_tid_z);
  });
}

bool keepsOwnAddresses(Function &F) {
  return any_of(instructions(F), [](const Instruction &I) {
    auto *Store = dyn_cast<StoreInst>(&I);
    if (!Store || !Store->getValueOperand()->getType()->isPointerTy())
      return false;
    return !isa<Argument, GlobalVariable, LoadInst>(getUnderlyingObject(Store->getValueOperand()));
  });
}

} // namespace adgen
