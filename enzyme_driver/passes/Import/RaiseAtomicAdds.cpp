// A sum of floating point that is made of compare-and-swap, as older GPUs needed it for doubles, becomes an atomic
// addition: it has a derivative, and the loop around it does not. The loop is recognised by its swap: the new value is
// the expected one plus something, and where the swap fails, it is tried again. What else is made in this way is left
// to adgen-refuse-unsupported. An atomic subtraction becomes the addition of the negative: Enzyme gives what is
// subtracted the derivative of what is added.
#include "Support/Pass.h"

#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"

using namespace llvm;

namespace adgen {
namespace {

Value *bitsOf(Value *V) {
  while (auto *Cast = dyn_cast<BitCastInst>(V))
    V = Cast->getOperand(0);
  return V;
}

class Candidate {
public:
  Candidate(AtomicCmpXchgInst &Swap, const Loop &Tries) : Swap(Swap), Tries(Tries) {}

  bool isSum() { return findAddition() && isIndependent(Added) && (!Factor || isIndependent(Factor)) && isRetried(); }

  void replace() {
    IRBuilder<> B(&Swap);
    Value *Product = Factor ? B.CreateFMul(Added, Factor) : Added;
    auto *Sum =
        B.CreateAtomicRMW(AtomicRMWInst::FAdd, Swap.getPointerOperand(), Negative ? B.CreateFNeg(Product) : Product,
                          Swap.getAlign(), Swap.getSuccessOrdering(), Swap.getSyncScopeID());
    Sum->setVolatile(Swap.isVolatile());
    for (Value *Test : Made)
      Test->replaceAllUsesWith(B.getTrue());
    for (Value *Test : Failed)
      Test->replaceAllUsesWith(B.getFalse());
    for (ExtractValueInst *Old : Found)
      for (Use &U : make_early_inc_range(Old->uses())) // what tries again is not reached any more
        U.set(isOutside(U) ? B.CreateBitCast(Sum, Old->getType()) : PoisonValue::get(Old->getType()));
    // Behind the loop the expected value is the one that was found.
    for (Use &U : make_early_inc_range(bitsOf(Swap.getCompareOperand())->uses()))
      if (isOutside(U))
        U.set(B.CreateBitCast(Sum, U->getType()));
    Swap.replaceAllUsesWith(PoisonValue::get(Swap.getType()));
    Swap.eraseFromParent();
  }

private:
  bool isOutside(const Use &U) const {
    auto *User = cast<Instruction>(U.getUser());
    auto *Phi = dyn_cast<PHINode>(User);
    return !Tries.contains(User) && !(Phi && !Tries.contains(Phi->getIncomingBlock(U)));
  }

  bool isExpected(Value *V) const { return bitsOf(V) == bitsOf(Swap.getCompareOperand()); }

  bool findAddition() {
    Value *New = bitsOf(Swap.getNewValOperand());
    if (auto *Call = dyn_cast<IntrinsicInst>(New);
        Call && is_contained({Intrinsic::fma, Intrinsic::fmuladd}, Call->getIntrinsicID())) {
      Added = Call->getArgOperand(0);
      Factor = Call->getArgOperand(1);
      return isExpected(Call->getArgOperand(2));
    }
    auto *Sum = dyn_cast<BinaryOperator>(New);
    if (!Sum || (Sum->getOpcode() != Instruction::FAdd && Sum->getOpcode() != Instruction::FSub))
      return false;
    Negative = Sum->getOpcode() == Instruction::FSub;
    bool First = isExpected(Sum->getOperand(0));
    if (!First && (Negative || !isExpected(Sum->getOperand(1))))
      return false;
    Added = Sum->getOperand(First ? 1 : 0);
    return true;
  }

  // The same in every try: it depends neither on what was found nor on memory that the swap may change.
  bool isIndependent(Value *V) const {
    SmallVector<Value *> Work{V};
    SmallPtrSet<Value *, 16> Seen;
    while (!Work.empty()) {
      auto *I = dyn_cast<Instruction>(Work.pop_back_val());
      if (!I || !Tries.contains(I) || !Seen.insert(I).second)
        continue;
      auto *Load = dyn_cast<LoadInst>(I);
      bool ReadsOther =
          Load && getUnderlyingObject(Load->getPointerOperand(), 0) != getUnderlyingObject(Swap.getPointerOperand(), 0);
      if (isa<PHINode>(I) || isExpected(I) || (I->mayReadOrWriteMemory() && !ReadsOther))
        return false;
      append_range(Work, I->operand_values());
    }
    return true;
  }

  // Also finds all that tells whether the swap was made.
  bool isRetried() {
    for (User *U : Swap.users()) {
      auto *Part = dyn_cast<ExtractValueInst>(U);
      if (!Part)
        return false;
      if (Part->getIndices()[0] == 1) {
        Made.push_back(Part);
      } else {
        Found.push_back(Part);
        findTests(*Part);
      }
    }
    return any_of(Made, [&](Value *Test) { return leaves(*Test, 0); }) ||
           any_of(Failed, [&](Value *Test) { return leaves(*Test, 1); });
  }

  void findTests(Value &Old) {
    for (User *U : Old.users()) {
      if (isa<BitCastInst>(U))
        findTests(*U);
      auto *Test = dyn_cast<CmpInst>(U);
      if (!Test || !isExpected(Test->getOperand(Test->getOperand(0) == &Old ? 1 : 0)))
        continue;
      switch (Test->getPredicate()) {
      case CmpInst::ICMP_EQ:
      case CmpInst::FCMP_OEQ:
      case CmpInst::FCMP_UEQ:
        Made.push_back(Test);
        break;
      case CmpInst::ICMP_NE:
      case CmpInst::FCMP_ONE:
      case CmpInst::FCMP_UNE:
        Failed.push_back(Test);
        break;
      default:
        break;
      }
    }
  }

  // Whether the loop is left by that successor, and goes on by the other.
  bool leaves(const Value &Test, unsigned Successor) const {
    return any_of(Test.users(), [&](const User *U) {
      auto *Branch = dyn_cast<BranchInst>(U);
      return Branch && Branch->isConditional() && !Tries.contains(Branch->getSuccessor(Successor)) &&
             Tries.contains(Branch->getSuccessor(1 - Successor));
    });
  }

  AtomicCmpXchgInst &Swap;
  const Loop &Tries;
  Value *Added = nullptr, *Factor = nullptr; // a product of both, where it is added without rounding
  bool Negative = false;
  SmallVector<ExtractValueInst *> Found;
  SmallVector<Value *> Made, Failed; // true where the swap was made, and where it was not
};

void recogniseIn(Function &F) {
  SmallVector<AtomicCmpXchgInst *> Swaps;
  for (Instruction &I : instructions(F))
    if (auto *Swap = dyn_cast<AtomicCmpXchgInst>(&I))
      Swaps.push_back(Swap);
  if (Swaps.empty())
    return;
  DominatorTree Dominators(F);
  LoopInfo Loops(Dominators);
  for (AtomicCmpXchgInst *Swap : Swaps)
    if (const Loop *Tries = Loops.getLoopFor(Swap->getParent()))
      if (Candidate Sum(*Swap, *Tries); Sum.isSum())
        Sum.replace();
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
