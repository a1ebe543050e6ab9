// A sum of floating point that is made of compare-and-swap, as older GPUs needed it for doubles, becomes an atomic
// addition: it has a derivative, and the loop around it does not. The loop is recognised by its swap: the new value is
// the expected one plus something, and where the swap fails, it is tried again. What else is made in this way is left
// to adgen-refuse-unsupported. An atomic subtraction becomes the addition of the negative: Enzyme gives what is
// subtracted the derivative of what is added.
#include "Import/SwapLoop.h"

#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"

using namespace llvm;

namespace adgen {
namespace {

class Candidate {
public:
  explicit Candidate(SwapLoop &Tries) : Tries(Tries) {}

  bool isSum() {
    return findAddition() && Tries.isIndependent(Added) && (!Factor || Tries.isIndependent(Factor)) &&
           Tries.isRetried();
  }

  void replace() {
    AtomicCmpXchgInst &Swap = Tries.swap();
    IRBuilder<> B(&Swap);
    Value *Product = Factor ? B.CreateFMul(Added, Factor) : Added;
    auto *Sum =
        B.CreateAtomicRMW(AtomicRMWInst::FAdd, Swap.getPointerOperand(), Negative ? B.CreateFNeg(Product) : Product,
                          Swap.getAlign(), Swap.getSuccessOrdering(), Swap.getSyncScopeID());
    Sum->setVolatile(Swap.isVolatile());
    Tries.remove(Sum);
  }

private:
  bool findAddition() {
    Value *New = Tries.newValue();
    if (auto *Call = dyn_cast<IntrinsicInst>(New);
        Call && is_contained({Intrinsic::fma, Intrinsic::fmuladd}, Call->getIntrinsicID())) {
      Added = Call->getArgOperand(0);
      Factor = Call->getArgOperand(1);
      return Tries.isExpected(Call->getArgOperand(2));
    }
    auto *Sum = dyn_cast<BinaryOperator>(New);
    if (!Sum || (Sum->getOpcode() != Instruction::FAdd && Sum->getOpcode() != Instruction::FSub))
      return false;
    Negative = Sum->getOpcode() == Instruction::FSub;
    bool First = Tries.isExpected(Sum->getOperand(0));
    if (!First && (Negative || !Tries.isExpected(Sum->getOperand(1))))
      return false;
    Added = Sum->getOperand(First ? 1 : 0);
    return true;
  }

  SwapLoop &Tries;
  Value *Added = nullptr, *Factor = nullptr; // a product of both, where it is added without rounding
  bool Negative = false;
};

void recogniseIn(Function &F) {
  forEachSwapLoop(F, [](SwapLoop &Tries) {
    if (Candidate Sum(Tries); Sum.isSum())
      Sum.replace();
  });
}

void addNegatives(Function &F) {
  for (Instruction &I : instructions(F))
    if (auto *Atomic = dyn_cast<AtomicRMWInst>(&I); Atomic && Atomic->getOperation() == AtomicRMWInst::FSub) {
      Atomic->setOperation(AtomicRMWInst::FAdd);
      Atomic->setOperand(1, IRBuilder<>(Atomic).CreateFNeg(Atomic->getValOperand()));
    }
}

} // namespace

ADGEN_DECLARE_PASS(RaiseAtomicAdds);

PreservedAnalyses RaiseAtomicAdds::run(Module &M, ModuleAnalysisManager &) {
  for (Function &F : M)
    if (!F.isDeclaration()) {
      recogniseIn(F);
      addNegatives(F);
    }
  return PreservedAnalyses::none();
}

} // namespace adgen
