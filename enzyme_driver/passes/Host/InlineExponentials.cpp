// Exponentials of doubles in loops of gradients are computed in place: without a call, whose registers a loop would
// have to save and of which LLVM cannot do several at once.
//   exp(x) = 2^k exp(r), x = k log 2 + r, exp(r) = 1 + (r + r^2 q(r))
// The result is off by less than one unit in the last place, also where it is subnormal; exponentials of infinity and
// NaN are those of the C library.
#include "Support/Iterations.h"
#include "Support/Pass.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"

#define DEBUG_TYPE "adgen-inline-exponentials"

using namespace llvm;

STATISTIC(NumCalls, "Number of exponentials that are computed in place");

namespace adgen {
namespace {

// q, by interpolation of (exp(r) - 1 - r) / r^2 at Chebyshev's nodes of |r| < log(2) / 2: 2^-61 of exp(r).
constexpr double Coefficients[] = {0x1p-1,
                                   0x1.5555555555557p-3,
                                   0x1.5555555555556p-5,
                                   0x1.11111111100cep-7,
                                   0x1.6c16c16c162ccp-10,
                                   0x1.a01a01abef415p-13,
                                   0x1.a01a01a6dcaffp-16,
                                   0x1.71de021a90822p-19,
                                   0x1.27e4db57442fbp-22,
                                   0x1.af4e196027428p-26,
                                   0x1.1f731ea5352cap-29};

// The upper part of log 2 has so few bits that its product with k is exact.
constexpr double Log2E = 0x1.71547652b82fep+0, Log2Upper = 0x1.62e42fefa0000p-1, Log2Lower = 0x1.cf79abc9e3b3ap-40;
// Beyond these there is nothing but infinity and zero, and k still fits into two exponents.
constexpr double Most = 710, Least = -746;
// What is added to it is rounded to an integer, which its lowest bits are.
constexpr double Rounder = 0x1.8p52;

class Exponential {
public:
  explicit Exponential(CallInst &Call) : B(&Call), Double(B.getDoubleTy()), Whole(B.getInt64Ty()) {}

  Value *of(Value *X) {
    X = B.CreateSelect(B.CreateFCmpOGT(X, number(Most)), number(Most), X);
    X = B.CreateSelect(B.CreateFCmpOLT(X, number(Least)), number(Least), X);
    Value *K = B.CreateFSub(fused(X, number(Log2E), number(Rounder)), number(Rounder));
    Value *Negative = B.CreateFNeg(K);
    Value *R = fused(Negative, number(Log2Lower), fused(Negative, number(Log2Upper), X));
    // What 1 + r leaves out counts, too.
    Value *Upper = B.CreateFAdd(R, number(1)), *Lower = B.CreateFSub(R, B.CreateFSub(Upper, number(1)));
    Value *Small = B.CreateFAdd(Upper, fused(B.CreateFMul(R, R), polynomial(R), Lower));
    // In two steps: each power is a normal number, and what is subnormal is rounded once.
    Value *Half = B.CreateFAdd(B.CreateFMul(K, number(0.5)), number(Rounder));
    Value *Rest = B.CreateFAdd(B.CreateFSub(K, B.CreateFSub(Half, number(Rounder))), number(Rounder));
    return B.CreateFMul(B.CreateFMul(Small, power(Half)), power(Rest));
  }

private:
  Constant *number(double Value) const { return ConstantFP::get(Double, Value); }

  Value *fused(Value *A, Value *By, Value *Plus) { return B.CreateIntrinsic(Intrinsic::fma, {Double}, {A, By, Plus}); }

  // In pairs, then in pairs of these: few operations wait for each other.
  Value *polynomial(Value *R) {
    SmallVector<Value *> Terms;
    for (double Each : Coefficients)
      Terms.push_back(number(Each));
    for (Value *Power = R; Terms.size() > 1; Power = B.CreateFMul(Power, Power)) {
      SmallVector<Value *> Pairs;
      for (unsigned I = 0; I < Terms.size(); I += 2)
        Pairs.push_back(I + 1 < Terms.size() ? fused(Terms[I + 1], Power, Terms[I]) : Terms[I]);
      Terms = std::move(Pairs);
    }
    return Terms.front();
  }

  // 2 to what has been rounded.
  Value *power(Value *Rounded) {
    Value *Exponent = B.CreateShl(B.CreateBitCast(Rounded, Whole), B.getInt64(52));
    return B.CreateBitCast(B.CreateAdd(Exponent, B.CreateBitCast(number(1), Whole)), Double);
  }

  IRBuilder<> B;
  Type *Double, *Whole;
};

bool isOfSweeps(const Function &F) { return isOfGradient(F) || F.getName().starts_with(ForwardSweepPrefix); }

bool isExponential(const CallInst &Call) {
  const Function *Callee = Call.getCalledFunction();
  return Callee && Callee->isDeclaration() && Call.getType()->isDoubleTy() && Call.arg_size() == 1 &&
         (Callee->getName() == "exp" || Callee->getIntrinsicID() == Intrinsic::exp);
}

bool inlineIn(Function &F, LoopInfo &LI) {
  SmallVector<CallInst *> Found;
  for (Instruction &I : instructions(F))
    if (auto *Call = dyn_cast<CallInst>(&I); Call && isExponential(*Call) && LI.getLoopFor(Call->getParent()))
      Found.push_back(Call);
  for (CallInst *Call : Found) {
    ADGEN_COUNT(NumCalls, *Call);
    Call->replaceAllUsesWith(Exponential(*Call).of(Call->getArgOperand(0)));
    Call->eraseFromParent();
  }
  return !Found.empty();
}

} // namespace

ADGEN_DECLARE_PASS(InlineExponentials);

PreservedAnalyses InlineExponentials::run(Module &M, ModuleAnalysisManager &MAM) {
  auto &FAM = MAM.getResult<FunctionAnalysisManagerModuleProxy>(M).getManager();
  bool Changed = false;
  for (Function &F : M)
    if (!F.isDeclaration() && isOfSweeps(F))
      Changed |= inlineIn(F, FAM.getResult<LoopAnalysis>(F));
  return Changed ? PreservedAnalyses::none() : PreservedAnalyses::all();
}

} // namespace adgen
