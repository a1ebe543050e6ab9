// Where a pointer may lead to memory with a derivative or to memory without one (`p = i % 3 ? x : table`), Enzyme takes it for one
// with a shadow, and the shadow of the other is the memory itself: derivatives would be added to the user's numbers. It is asked to
// look at the pointers when the gradient runs.
#include "Derivative.h"
#include "Passes.h"

#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/InstIterator.h"

using namespace llvm;

namespace adgen {
namespace {

bool choosesBetweenBoth(const Instruction &I, const SmallPtrSetImpl<const Value *> &Active) {
  if (!I.getType()->isPointerTy() || !isa<PHINode, SelectInst>(I))
    return false;
  SmallVector<const Value *> Objects;
  getUnderlyingObjects(&I, Objects, nullptr, /*MaxLookup=*/0);
  bool With = any_of(Objects, [&](const Value *V) { return Active.contains(V) || isa<LoadInst>(V); });
  return With && any_of(Objects, [&](const Value *V) { return isa<AllocaInst, GlobalVariable>(V) || (isa<Argument>(V) && !Active.contains(V)); });
}

void askAtRunTime(CallInst &Autodiff) {
  LLVMContext &C = Autodiff.getContext();
  SmallVector<Value *> Arguments(Autodiff.args());
  Arguments.insert(Arguments.begin() + 1, MetadataAsValue::get(C, MDString::get(C, "enzyme_runtime_activity")));
  CallInst *Asked = CallInst::Create(Autodiff.getFunctionType(), Autodiff.getCalledOperand(), Arguments, "", Autodiff.getIterator());
  Asked->setDebugLoc(Autodiff.getDebugLoc());
  Autodiff.replaceAllUsesWith(Asked);
  Autodiff.eraseFromParent();
}

} // namespace

PreservedAnalyses GuardChoices::run(Module &M, ModuleAnalysisManager &) {
  for (CallInst *Call : gradientCalls(M)) {
    SmallPtrSet<const Value *, 8> Active;
    for (const Said &Each : saidOfParameters(*Call))
      if (Each.Shadow)
        Active.insert(Each.Parameter);
    auto *Body = cast<Function>(Call->getArgOperand(0));
    if (any_of(instructions(Body), [&](const Instruction &Each) { return choosesBetweenBoth(Each, Active); }))
      askAtRunTime(*Call);
  }
  return PreservedAnalyses::none();
}

} // namespace adgen
