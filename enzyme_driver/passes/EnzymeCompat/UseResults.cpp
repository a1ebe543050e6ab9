// A number of floating point that a call through a pointer returns, of a virtual function too, is used by
// adgen_use_TYPE(value), whose registered derivative hands back zero. Where the number is used in a condition only, or
// not at all, Enzyme's reverse call would leave its cotangent out, while the function that it calls takes the next
// register for it, whatever is in there. Of a rule of ours that only decides about branches there is no derivative: it
// is called by another name, adgen_aside_RULE, which has none, because Enzyme stops where what such a rule takes is
// made for it alone. StripGuards takes the calls away, and gives rules their names back.
#include "Support/Guards.h"
#include "Support/Pass.h"

#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

using namespace llvm;

namespace adgen {
namespace {

bool returnsNumber(const CallBase &Call) { return Call.isIndirectCall() && Call.getType()->isFPOrFPVectorTy(); }

bool isRule(const CallBase &Call) {
  return Call.getCalledFunction() && Call.getCalledFunction()->hasMetadata("enzyme_gradient");
}

bool isNumber(const Value &V) { return V.getType()->isFPOrFPVectorTy(); }

bool onlyDecides(const Value &Number, SmallPtrSetImpl<const Value *> &Seen) {
  return all_of(Number.users(), [&](const User *U) {
    auto *I = dyn_cast<Instruction>(U);
    if (!I || isa<FCmpInst, FPToSIInst, FPToUIInst>(I) || !Seen.insert(I).second)
      return I != nullptr;
    return isNumber(*I) && !I->mayReadOrWriteMemory() && onlyDecides(*I, Seen);
  });
}

// Whether it is a rule's result, of which nothing is made but what is compared, or becomes an integer.
bool isIdle(const CallBase &Call) {
  SmallPtrSet<const Value *, 8> Seen;
  return isRule(Call) && isNumber(Call) && !Call.mayReadOrWriteMemory() && onlyDecides(Call, Seen);
}

void useBehind(CallBase &Call) {
  auto *Invoke = dyn_cast<InvokeInst>(&Call);
  BasicBlock *Next = Invoke ? SplitEdge(Invoke->getParent(), Invoke->getNormalDest()) : nullptr;
  IRBuilder<> B(Next ? &*Next->getFirstInsertionPt() : Call.getNextNode());
  B.SetCurrentDebugLocation(Call.getDebugLoc());
  use(B, Call);
}

} // namespace

ADGEN_DECLARE_PASS(UseResults);

PreservedAnalyses UseResults::run(Module &M, ModuleAnalysisManager &) {
  SmallVector<CallBase *> Calls;
  for (Function &F : M)
    for (Instruction &I : instructions(F))
      if (auto *Call = dyn_cast<CallBase>(&I); Call && returnsNumber(*Call))
        Calls.push_back(Call);
      else if (Call && isIdle(*Call))
        callAside(*Call);
  for (CallBase *Call : Calls)
    useBehind(*Call);
  return PreservedAnalyses::none();
}

} // namespace adgen
