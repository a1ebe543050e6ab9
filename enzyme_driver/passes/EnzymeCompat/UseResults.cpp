// A number of floating point that a call through a pointer returns, of a virtual function too, is used by
// adgen_use_TYPE(value), whose registered derivative hands back zero. Where the number is used in a condition only, or
// not at all, Enzyme's reverse call would leave its cotangent out, while the function that it calls takes the next
// register for it, whatever is in there. So is what a rule of ours returns that only decides about branches, where the
// rule takes what another one returns, at which Enzyme stops. What such numbers are made of then passes through
// adgen_hold_idle_TYPE(value), whose derivative is zero also where the one behind it is zero times an infinite slope.
// StripGuards takes the calls away.
#include "Support/Guards.h"
#include "Support/Pass.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

using namespace llvm;

namespace adgen {
namespace {

bool returnsNumber(const CallBase &Call) { return Call.isIndirectCall() && Call.getType()->isFPOrFPVectorTy(); }

bool isRule(const Value &V) {
  auto *Call = dyn_cast<CallBase>(&V);
  return Call && Call->getCalledFunction() && Call->getCalledFunction()->hasMetadata("enzyme_gradient");
}

bool isNumber(const Value &V) { return V.getType()->isFPOrFPVectorTy(); }

// Numbers of which nothing is made but what is compared, or becomes an integer: no derivative depends on them.
class IdleNumbers {
public:
  explicit IdleNumbers(Function &F) {
    for (Instruction &I : instructions(F))
      if (isNumber(I) && !I.use_empty() && !I.mayReadOrWriteMemory() && onlyDecides(I))
        Found.insert(&I);
  }

  // Whether a rule takes what another one returns.
  bool areNested() const {
    return any_of(Found, [&](const Instruction *I) {
      Numbers Seen;
      return isRule(*I) && comesFromRule(*I, Seen);
    });
  }

  const SetVector<Instruction *> &all() const { return Found; }
  bool contains(const Value *V) const {
    auto *I = dyn_cast<Instruction>(V);
    return I && Found.contains(const_cast<Instruction *>(I));
  }

private:
  using Numbers = SmallPtrSet<const Value *, 8>;

  static bool onlyDecides(const Instruction &Number) {
    Numbers Seen;
    return onlyDecides(Number, Seen);
  }

  static bool onlyDecides(const Value &Number, Numbers &Seen) {
    return all_of(Number.users(), [&](const User *U) {
      auto *I = dyn_cast<Instruction>(U);
      if (!I || isa<FCmpInst, FPToSIInst, FPToUIInst>(I) || !Seen.insert(I).second)
        return I != nullptr;
      return isNumber(*I) && !I->mayReadOrWriteMemory() && onlyDecides(*I, Seen);
    });
  }

  bool comesFromRule(const Instruction &Number, Numbers &Seen) const {
    return any_of(Number.operands(), [&](const Use &Operand) {
      auto *I = dyn_cast<Instruction>(Operand);
      return I && contains(I) && Seen.insert(I).second && (isRule(*I) || comesFromRule(*I, Seen));
    });
  }

  SetVector<Instruction *> Found;
};

void useBehind(CallBase &Call) {
  auto *Invoke = dyn_cast<InvokeInst>(&Call);
  BasicBlock *Next = Invoke ? SplitEdge(Invoke->getParent(), Invoke->getNormalDest()) : nullptr;
  IRBuilder<> B(Next ? &*Next->getFirstInsertionPt() : Call.getNextNode());
  B.SetCurrentDebugLocation(Call.getDebugLoc());
  use(B, Call);
}

// What numbers that only decide are made of goes to them alone.
void bar(const IdleNumbers &Idle, Instruction &Number) {
  for (Use &Operand : Number.operands()) {
    if (!isNumber(*Operand) || isa<Constant>(Operand) || Idle.contains(Operand))
      continue;
    auto *Phi = dyn_cast<PHINode>(&Number);
    IRBuilder<> B(Phi ? Phi->getIncomingBlock(Operand)->getTerminator() : &Number);
    B.SetCurrentDebugLocation(Number.getDebugLoc());
    Operand.set(withoutDerivative(B, *Operand));
  }
}

} // namespace

ADGEN_DECLARE_PASS(UseResults);

PreservedAnalyses UseResults::run(Module &M, ModuleAnalysisManager &) {
  SmallVector<CallBase *> Calls;
  for (Function &F : M) {
    for (Instruction &I : instructions(F))
      if (auto *Call = dyn_cast<CallBase>(&I); Call && returnsNumber(*Call))
        Calls.push_back(Call);
    const IdleNumbers Idle(F);
    if (!Idle.areNested())
      continue;
    for (Instruction *Number : Idle.all()) {
      bar(Idle, *Number);
      if (isRule(*Number))
        Calls.push_back(cast<CallBase>(Number));
    }
  }
  for (CallBase *Call : Calls)
    useBehind(*Call);
  return PreservedAnalyses::none();
}

} // namespace adgen
