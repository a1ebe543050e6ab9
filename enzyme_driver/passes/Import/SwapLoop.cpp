#include "Import/SwapLoop.h"

#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/PatternMatch.h"

using namespace llvm;
using namespace llvm::PatternMatch;

namespace adgen {

Value *bitsOf(Value *V) {
  while (auto *Cast = dyn_cast<BitCastInst>(V))
    V = Cast->getOperand(0);
  return V;
}

bool SwapLoop::isOutside(const Use &U) const {
  auto *User = cast<Instruction>(U.getUser());
  auto *Phi = dyn_cast<PHINode>(User);
  return !Tries.contains(User) && !(Phi && !Tries.contains(Phi->getIncomingBlock(U)));
}

bool SwapLoop::isIndependent(Value *V) const {
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

bool SwapLoop::isRetried() {
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
  return isLeft();
}

bool SwapLoop::isRetried(Value *Number, bool Largest) {
  const bool Known = isRetried();
  for (ExtractValueInst *Old : Found)
    findSizes(*Old, *Number, Largest);
  return Known || isLeft();
}

void SwapLoop::findTests(Value &Old) {
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

// What was found may be compared with the number: once the swap is made, it is not the smaller (larger) one.
void SwapLoop::findSizes(Value &Old, const Value &Number, bool Largest) {
  for (User *U : Old.users()) {
    if (isa<BitCastInst>(U))
      findSizes(*U, Number, Largest);
    auto *Test = dyn_cast<FCmpInst>(U);
    if (!Test || !Tries.contains(Test) || Test->getOperand(Test->getOperand(0) == &Old ? 1 : 0) != &Number)
      continue;
    const CmpInst::Predicate Asked = Test->getOperand(0) == &Old ? Test->getPredicate() : Test->getSwappedPredicate();
    if (Asked == (Largest ? CmpInst::FCMP_OLT : CmpInst::FCMP_OGT))
      Failed.push_back(Test);
    else if (Asked == (Largest ? CmpInst::FCMP_UGE : CmpInst::FCMP_ULE))
      Made.push_back(Test);
  }
}

// What a condition is once the swap is made, where that decides it.
std::optional<bool> SwapLoop::onceMade(Value &Condition) const {
  Value *A, *B;
  if (auto *Known = dyn_cast<ConstantInt>(&Condition))
    return Known->isOne();
  if (is_contained(Made, &Condition))
    return true;
  if (is_contained(Failed, &Condition))
    return false;
  const bool Any = match(&Condition, m_LogicalOr(m_Value(A), m_Value(B)));
  if (!Any && !match(&Condition, m_LogicalAnd(m_Value(A), m_Value(B))))
    return std::nullopt;
  const std::optional<bool> One = onceMade(*A), Other = onceMade(*B);
  if (One == Any || Other == Any)
    return Any;
  return One && Other ? std::optional(!Any) : std::nullopt;
}

// Whether conditions that the swap decides lead out of the loop.
bool SwapLoop::isLeft() const {
  const BasicBlock *At = Swap.getParent();
  do {
    auto *Branch = dyn_cast<BranchInst>(At->getTerminator());
    if (!Branch)
      return false;
    const std::optional<bool> Holds = Branch->isConditional() ? onceMade(*Branch->getCondition()) : true;
    if (!Holds)
      return false;
    At = Branch->getSuccessor(Branch->isConditional() && !*Holds);
  } while (Tries.contains(At) && At != Tries.getHeader());
  return !Tries.contains(At);
}

bool SwapLoop::isFoundUnused() const {
  auto IsOutside = [&](const Use &U) { return isOutside(U); };
  Value *Expected = bitsOf(Swap.getCompareOperand());
  return none_of(Found, [&](Value *Old) { return any_of(Old->uses(), IsOutside); }) &&
         (!Expected->hasUseList() || none_of(Expected->uses(), IsOutside));
}

// What is expected at the first try is read for that alone. A volatile or atomic read would stay where nothing uses it.
void SwapLoop::forgetFirstRead() {
  auto *Expected = dyn_cast<PHINode>(bitsOf(Swap.getCompareOperand()));
  if (!Expected)
    return;
  for (Value *First : Expected->incoming_values())
    if (auto *Read = dyn_cast<LoadInst>(bitsOf(First)); Read && !Tries.contains(Read)) {
      Read->setAtomic(AtomicOrdering::NotAtomic);
      Read->setVolatile(false);
    }
}

void SwapLoop::remove(Value *Old) {
  forgetFirstRead();
  LLVMContext &Context = Swap.getContext();
  IRBuilder<> B(&Swap);
  auto Given = [&](Type *T) -> Value * { return Old ? B.CreateBitCast(Old, T) : PoisonValue::get(T); };
  for (Value *Test : Made)
    Test->replaceAllUsesWith(ConstantInt::getTrue(Context));
  for (Value *Test : Failed)
    Test->replaceAllUsesWith(ConstantInt::getFalse(Context));
  for (ExtractValueInst *Part : Found)
    for (Use &U : make_early_inc_range(Part->uses())) // what tries again is not reached any more
      U.set(isOutside(U) ? Given(Part->getType()) : PoisonValue::get(Part->getType()));
  // Behind the loop the expected value is the one that was found.
  Value *Expected = bitsOf(Swap.getCompareOperand());
  if (Old && Expected->hasUseList())
    for (Use &U : make_early_inc_range(Expected->uses()))
      if (isOutside(U))
        U.set(Given(U->getType()));
  Swap.replaceAllUsesWith(PoisonValue::get(Swap.getType()));
  Swap.eraseFromParent();
}

void forEachSwapLoop(Function &F, function_ref<void(SwapLoop &)> Visit) {
  SmallVector<AtomicCmpXchgInst *> Swaps;
  for (Instruction &I : instructions(F))
    if (auto *Swap = dyn_cast<AtomicCmpXchgInst>(&I))
      Swaps.push_back(Swap);
  if (Swaps.empty())
    return;
  DominatorTree Dominators(F);
  LoopInfo Loops(Dominators);
  for (AtomicCmpXchgInst *Swap : Swaps)
    if (const Loop *Tries = Loops.getLoopFor(Swap->getParent())) {
      SwapLoop Found(*Swap, *Tries);
      Visit(Found);
    }
}

} // namespace adgen
