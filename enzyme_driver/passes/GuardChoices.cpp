// Where a pointer may lead to memory with a derivative or to memory without one (`p = i % 3 ? x : table`), Enzyme takes it for one
// with a shadow, and the shadow of the other is the memory itself: derivatives would be added to the user's numbers. It is asked to
// look at the pointers when the gradient runs.
#include "Passes.h"

#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/InstIterator.h"

using namespace llvm;

namespace adgen {
namespace {

// Which parameters of the body have shadows, as the call says.
SmallPtrSet<const Value *, 8> withShadows(const CallInst &Autodiff, Function &Body) {
  SmallPtrSet<const Value *, 8> Found;
  unsigned Parameter = 0;
  for (unsigned I = 1; I < Autodiff.arg_size(); ++Parameter) { // a word, the primal, and its shadow where it has one
    auto *Word = cast<MDString>(cast<MetadataAsValue>(Autodiff.getArgOperand(I))->getMetadata());
    bool Duplicated = Word->getString().starts_with("enzyme_dup");
    if (Duplicated)
      Found.insert(Body.getArg(Parameter));
    I += Duplicated ? 3 : 2;
  }
  return Found;
}

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
  for (Function &F : M)
    if (F.getName().starts_with(GradientPrefix))
      for (Instruction &I : make_early_inc_range(instructions(F))) {
        auto *Call = dyn_cast<CallInst>(&I);
        if (!Call || !Call->getCalledFunction() || !Call->getCalledFunction()->getName().starts_with(AutodiffPrefix))
          continue;
        auto *Body = cast<Function>(Call->getArgOperand(0));
        auto Active = withShadows(*Call, *Body);
        if (any_of(instructions(Body), [&](const Instruction &Each) { return choosesBetweenBoth(Each, Active); }))
          askAtRunTime(*Call);
      }
  return PreservedAnalyses::none();
}

} // namespace adgen
