// Makes one division of several by the same square root: Enzyme's derivatives of q / sqrt(s) divide by the root three
// times. The root is divided into one, and what was divided by it is multiplied. The reciprocal of a square root
// neither overflows nor becomes subnormal, so that zeros, infinities and what is not a number come out as before, and
// other results differ by one rounding. Only what Enzyme made is changed (its arithmetic takes zeros without a sign),
// for the primal's results are to stay what they are.
#include "Support/Pass.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/PatternMatch.h"

#define DEBUG_TYPE "adgen-share-reciprocals"

using namespace llvm;
using namespace llvm::PatternMatch;

STATISTIC(NumShared, "Number of reciprocals shared");

namespace adgen {
namespace {

bool isSquareRoot(const Value *V) {
  auto *Call = dyn_cast<CallInst>(V);
  const Function *Callee = Call ? Call->getCalledFunction() : nullptr;
  return Callee && (Callee->getIntrinsicID() == Intrinsic::sqrt || Callee->getName() == "__nv_sqrt" ||
                    Callee->getName() == "__nv_sqrtf");
}

// A division by a root, or by twice a root, as the derivative of the root has it.
struct Division {
  BinaryOperator *I;
  bool ByTwice;
};

MapVector<Instruction *, SmallVector<Division, 4>> divisionsByRoots(Function &F) {
  MapVector<Instruction *, SmallVector<Division, 4>> Found;
  for (Instruction &I : instructions(F)) {
    Value *Divisor, *Root;
    if (!match(&I, m_FDiv(m_Value(), m_Value(Divisor))) || !I.hasNoSignedZeros() || I.getType()->isVectorTy())
      continue;
    bool ByTwice = match(Divisor, m_c_FMul(m_SpecificFP(2.0), m_Value(Root)));
    if (isSquareRoot(ByTwice ? Root : Divisor))
      Found[cast<Instruction>(ByTwice ? Root : Divisor)].push_back({cast<BinaryOperator>(&I), ByTwice});
  }
  return Found;
}

void share(Instruction &Root, ArrayRef<Division> Divisions) {
  IRBuilder<> B(Root.getNextNode());
  B.SetCurrentDebugLocation(Root.getDebugLoc());
  Value *Reciprocal = B.CreateFDiv(ConstantFP::get(Root.getType(), 1.0), &Root);
  Value *Half = B.CreateFMul(Reciprocal, ConstantFP::get(Root.getType(), 0.5)); // exact
  for (auto [I, ByTwice] : Divisions) {
    B.SetInsertPoint(I);
    B.setFastMathFlags(I->getFastMathFlags());
    I->replaceAllUsesWith(B.CreateFMul(I->getOperand(0), ByTwice ? Half : Reciprocal));
    I->eraseFromParent();
  }
}

} // namespace

ADGEN_DECLARE_PASS(ShareReciprocals);

PreservedAnalyses ShareReciprocals::run(Module &M, ModuleAnalysisManager &) {
  for (Function &F : M)
    if (F.hasFnAttribute(ActivityAttribute) && !F.isDeclaration())
      for (auto &[Root, Divisions] : divisionsByRoots(F))
        if (Divisions.size() > 1) {
          ADGEN_COUNT(NumShared, *Root);
          share(*Root, Divisions);
        }
  return PreservedAnalyses::none();
}

} // namespace adgen
