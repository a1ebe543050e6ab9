// In C++: where derivatives need the sum of numbers that were read, and not the numbers themselves,
//   f = 0; for (k : corners of the node) f += force[k]; v[n] += step * f;
// Enzyme keeps all that was read, because it could compute the sum again. In a loop the sum goes through a local
// variable, and a call that might write it, so that Enzyme keeps what is read of the variable. StripGuards takes the
// call away, and the optimiser the variable.
#include "Support/Guards.h"
#include "Support/Pass.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"

#define DEBUG_TYPE "adgen-cache-reductions"

using namespace llvm;

STATISTIC(NumReductions, "Number of reductions cached");

namespace adgen {
namespace {

constexpr unsigned LeastRead = 3; // numbers in the place of which a sum is kept

bool isMultiplyAdd(const Value *V) {
  auto *Call = dyn_cast<IntrinsicInst>(V);
  return Call && (Call->getIntrinsicID() == Intrinsic::fma || Call->getIntrinsicID() == Intrinsic::fmuladd);
}

// A sum whose terms are to be kept no longer: all that lies between what was read and the result.
class Sum {
public:
  Sum(Instruction &Result, const LoopInfo &LI) : Result(Result), LI(LI) {
    Parts.insert(&Result);
    for (unsigned I = 0; I < Parts.size(); ++I)
      if (isSum(*Parts[I]))
        for (Value *Term : Parts[I]->operands())
          if (auto *Next = dyn_cast<Instruction>(Term);
              Next && isOfIteration(*Next) && (isSum(*Next) || isa<LoadInst>(Next)))
            Parts.insert(Next);
  }

  bool isWorthKeeping() const {
    return isNeeded() && count_if(Parts, [&](const Instruction *Part) { return isReadForThis(*Part); }) >= LeastRead;
  }

  // Whether a number is a sum or a choice of others, but for what one iteration hands to the next.
  bool isSum(const Instruction &I) const {
    if (!I.getType()->isFloatTy() && !I.getType()->isDoubleTy())
      return false;
    unsigned Code = I.getOpcode();
    return Code == Instruction::FAdd || Code == Instruction::FSub || Code == Instruction::FNeg || isa<SelectInst>(I) ||
           (isa<PHINode>(I) && !LI.isLoopHeader(I.getParent()));
  }

private:
  bool isOfIteration(const Instruction &I) const {
    return LI.getLoopFor(I.getParent()) == LI.getLoopFor(Result.getParent());
  }

  // Whether the derivative of something needs the sum itself.
  bool isNeeded() const {
    return any_of(Result.uses(), [](const Use &U) {
      auto *I = cast<Instruction>(U.getUser());
      unsigned Code = I->getOpcode(), Operand = U.getOperandNo();
      if (Code == Instruction::FMul || (isMultiplyAdd(I) && Operand < 2))
        return !isa<Constant>(I->getOperand(1 - Operand));
      return Code == Instruction::FDiv && !(Operand == 0 && isa<Constant>(I->getOperand(1)));
    });
  }

  bool isReadForThis(const Instruction &Part) const {
    auto *Load = dyn_cast<LoadInst>(&Part);
    return Load && Load->isSimple() && !Load->hasMetadata(LLVMContext::MD_invariant_load) &&
           all_of(Load->users(),
                  [&](const User *U) { return Parts.contains(cast<Instruction>(U)) && isSum(*cast<Instruction>(U)); });
  }

  Instruction &Result;
  const LoopInfo &LI;
  SetVector<Instruction *> Parts;
};

} // namespace

ADGEN_DECLARE_PASS(CacheReductions);

PreservedAnalyses CacheReductions::run(Module &M, ModuleAnalysisManager &) {
  bool Changed = false;
  for (Function &F : M) {
    if (F.isDeclaration())
      continue;
    const DominatorTree DT(F);
    const LoopInfo LI(DT);
    SmallVector<Instruction *> Found;
    for (Instruction &I : instructions(F))
      if (LI.getLoopFor(I.getParent()))
        if (const Sum Made(I, LI); Made.isSum(I) && Made.isWorthKeeping()) {
          ADGEN_COUNT(NumReductions, I);
          Found.push_back(&I);
        }
    for (Instruction *Each : Found)
      holdInVariable(*Each, isa<PHINode>(Each) ? Each->getParent()->getFirstInsertionPt() : ++Each->getIterator());
    Changed |= !Found.empty();
  }
  return Changed ? PreservedAnalyses::none() : PreservedAnalyses::all();
}

} // namespace adgen
