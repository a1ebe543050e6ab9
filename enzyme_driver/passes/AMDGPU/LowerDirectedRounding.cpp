// Writes single-precision arithmetic with a directed rounding (llvm.nvvm.fma.rm.f and the like) in double precision,
// for a target that cannot choose the rounding of an instruction. The sum of two doubles s + e, where s is the nearest
// double to it, holds every sum and product of floats and every fma exactly; the nearest float to s is one of the two
// floats around, and s and e say which.
#include "Support/Pass.h"

#include "llvm/ADT/StringSwitch.h"

using namespace llvm;

namespace adgen {
namespace {

enum class Direction { Down, Up, ToZero };

// A number as the unevaluated sum of two doubles; `Rest` is null where it is zero. Of a sum, `AnyNegative` says whether
// a term has a sign: that is the sign of a zero which is rounded down.
struct Exact {
  Value *Nearest;
  Value *Rest = nullptr;
  Value *AnyNegative = nullptr;
};

class Rounder {
public:
  explicit Rounder(CallInst &Call) : Call(Call), B(&Call) {}

  // The value in the direction that the intrinsic's name says; null where that is not single-precision arithmetic.
  Value *rounded() {
    StringRef Name = Call.getCalledFunction()->getName();
    if (!Name.consume_front("llvm.nvvm.") || !Call.getType()->isFloatTy())
      return nullptr;
    SmallVector<StringRef, 4> Parts;
    Name.split(Parts, '.');
    auto Towards = Parts.size() < 2 ? std::nullopt
                                    : StringSwitch<std::optional<Direction>>(Parts[1])
                                          .Case("rm", Direction::Down)
                                          .Case("rp", Direction::Up)
                                          .Case("rz", Direction::ToZero)
                                          .Default(std::nullopt);
    if (!Towards)
      return nullptr;
    std::optional<Exact> Value = exact(Parts[0]);
    return Value ? round(*Value, *Towards) : nullptr;
  }

private:
  std::optional<Exact> exact(StringRef Operation) {
    if (Operation == "add")
      return sum(wide(0), wide(1));
    if (Operation == "mul")
      return Exact{B.CreateFMul(wide(0), wide(1))};
    if (Operation == "fma")
      return sum(B.CreateFMul(wide(0), wide(1)), wide(2));
    if (Operation == "d2f")
      return Exact{Call.getArgOperand(0)};
    return std::nullopt;
  }

  Value *wide(unsigned Index) { return B.CreateFPExt(Call.getArgOperand(Index), B.getDoubleTy()); }

  // Knuth's sum with its error.
  Exact sum(Value *X, Value *Y) {
    Value *Sum = B.CreateFAdd(X, Y);
    Value *FromY = B.CreateFSub(Sum, X), *FromX = B.CreateFSub(Sum, FromY);
    Value *Signs = B.CreateOr(B.CreateBitCast(X, B.getInt64Ty()), B.CreateBitCast(Y, B.getInt64Ty()));
    return {Sum, B.CreateFAdd(B.CreateFSub(X, FromX), B.CreateFSub(Y, FromY)), B.CreateICmpSLT(Signs, B.getInt64(0))};
  }

  Value *round(const Exact &E, Direction Towards) {
    Value *Nearest = B.CreateFPTrunc(E.Nearest, B.getFloatTy());
    Value *Off = B.CreateFSub(B.CreateFPExt(Nearest, B.getDoubleTy()), E.Nearest);
    Value *Zero = ConstantFP::get(B.getDoubleTy(), 0.0);
    Value *TooHigh = B.CreateFCmpOGT(Off, Zero), *TooLow = B.CreateFCmpOLT(Off, Zero);
    if (E.Rest) {
      Value *Equal = B.CreateFCmpOEQ(Off, Zero);
      TooHigh = B.CreateOr(TooHigh, B.CreateAnd(Equal, B.CreateFCmpOLT(E.Rest, Zero)));
      TooLow = B.CreateOr(TooLow, B.CreateAnd(Equal, B.CreateFCmpOGT(E.Rest, Zero)));
    }
    Value *Bits = B.CreateBitCast(Nearest, B.getInt32Ty());
    Value *Negative = B.CreateICmpSLT(Bits, B.getInt32(0));
    if (Towards == Direction::ToZero) {
      Value *Away = B.CreateSelect(Negative, TooLow, TooHigh);
      return asFloat(B.CreateSelect(Away, B.CreateSub(Bits, B.getInt32(1)), Bits));
    }
    bool Down = Towards == Direction::Down;
    if (Down && E.AnyNegative) {
      Value *IsZero = B.CreateAnd(B.CreateFCmpOEQ(E.Nearest, Zero), E.AnyNegative);
      Bits = B.CreateSelect(IsZero, B.getInt32(0x80000000u), Bits);
    }
    return asFloat(B.CreateSelect(Down ? TooHigh : TooLow, neighbour(Bits, Negative, Down), Bits));
  }

  // The next float below or above: the bits of a float count its magnitude.
  Value *neighbour(Value *Bits, Value *Negative, bool Down) {
    Value *Larger = B.CreateAdd(Bits, B.getInt32(1)), *Smaller = B.CreateSub(Bits, B.getInt32(1));
    Value *Next = Down ? B.CreateSelect(Negative, Larger, Smaller) : B.CreateSelect(Negative, Smaller, Larger);
    Value *IsZero = B.CreateICmpEQ(B.CreateShl(Bits, 1), B.getInt32(0));
    return B.CreateSelect(IsZero, B.getInt32(Down ? 0x80000001u : 1u), Next);
  }

  Value *asFloat(Value *Bits) { return B.CreateBitCast(Bits, B.getFloatTy()); }

  CallInst &Call;
  IRBuilder<> B;
};

} // namespace

ADGEN_DECLARE_PASS(LowerDirectedRounding);

PreservedAnalyses LowerDirectedRounding::run(Module &M, ModuleAnalysisManager &) {
  for (Function &F : make_early_inc_range(M)) {
    if (!F.isDeclaration())
      continue;
    for (User *U : make_early_inc_range(F.users())) {
      auto *Call = dyn_cast<CallInst>(U);
      if (!Call || Call->getCalledFunction() != &F)
        continue;
      if (Value *Rounded = Rounder(*Call).rounded()) {
        Call->replaceAllUsesWith(Rounded);
        Call->eraseFromParent();
      }
    }
    if (F.use_empty())
      F.eraseFromParent();
  }
  return PreservedAnalyses::none();
}

} // namespace adgen
