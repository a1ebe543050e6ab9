// Where a pointer may lead to memory with a derivative or to memory without one (`p = i % 3 ? x : table`), Enzyme takes
// it for one with a shadow, and the shadow of the other is the memory itself: derivatives would be added to the user's
// numbers. It is asked to look at the pointers when the gradient runs. Whether a local variable has a derivative only
// Enzyme finds out: one that is not read has none.
#include "Support/Derivative.h"
#include "Support/Guards.h"
#include "Support/Pass.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/InstIterator.h"

using namespace llvm;

namespace adgen {
namespace {

// Tables of virtual functions and texts are in no sum.
bool isWithout(const Value *V, const SmallPtrSetImpl<const Value *> &Active) {
  if (const auto *Global = dyn_cast<GlobalVariable>(V))
    return !Global->isConstant() || holds(Global->getValueType(), [](const Type *T) { return T->isFloatingPointTy(); });
  return isa<AllocaInst>(V) || (isa<Argument>(V) && !Active.contains(V));
}

bool choosesBetweenBoth(const Instruction &I, const SmallPtrSetImpl<const Value *> &Active) {
  if (!I.getType()->isPointerTy() || !isa<PHINode, SelectInst>(I))
    return false;
  SmallVector<const Value *> Found;
  getUnderlyingObjects(&I, Found, nullptr, /*MaxLookup=*/0);
  SmallSetVector<const Value *, 4> Objects(Found.begin(), Found.end());
  auto MayHave = [&](const Value *V) { return Active.contains(V) || isa<LoadInst, AllocaInst>(V); };
  return Objects.size() > 1 && any_of(Objects, MayHave) &&
         any_of(Objects, [&](const Value *V) { return isWithout(V, Active); });
}

void askAtRunTime(CallInst &Autodiff) {
  LLVMContext &C = Autodiff.getContext();
  SmallVector<Value *> Arguments(Autodiff.args());
  Arguments.insert(Arguments.begin() + 1, MetadataAsValue::get(C, MDString::get(C, "enzyme_runtime_activity")));
  CallInst *Asked =
      CallInst::Create(Autodiff.getFunctionType(), Autodiff.getCalledOperand(), Arguments, "", Autodiff.getIterator());
  Asked->setDebugLoc(Autodiff.getDebugLoc());
  Autodiff.replaceAllUsesWith(Asked);
  Autodiff.eraseFromParent();
}

// In the reverse sweep of its own Enzyme hands a function nothing for a pointer that it only writes through, but
// compares that pointer with its shadow there. So each is read, for all that Enzyme sees; StripGuards takes the calls
// away.
void readThroughPointers(Function &F) {
  Type *Pointer = PointerType::getUnqual(F.getContext());
  FunctionCallee Read = declarePin(*F.getParent(), "read", {Pointer});
  cast<Function>(Read.getCallee())->setMemoryEffects(MemoryEffects::argMemOnly(ModRefInfo::Ref));
  cast<Function>(Read.getCallee())->addParamAttr(0, Attribute::getWithCaptureInfo(F.getContext(), CaptureInfo::none()));
  for (Argument &Each : F.args())
    if (Each.getType() == Pointer && !Each.use_empty() && !Each.onlyReadsMemory()) {
      Each.removeAttr(Attribute::WriteOnly);
      CallInst::Create(Read, {&Each}, "", F.getEntryBlock().getFirstNonPHIOrDbgOrAlloca());
    }
}

} // namespace

ADGEN_DECLARE_PASS(GuardChoices);

PreservedAnalyses GuardChoices::run(Module &M, ModuleAnalysisManager &) {
  bool Asked = false;
  for (CallInst *Call : gradientCalls(M)) {
    SmallPtrSet<const Value *, 8> Active;
    for (const Said &Each : saidOfParameters(*Call))
      if (Each.Shadow)
        Active.insert(Each.Parameter);
    auto *Body = cast<Function>(Call->getArgOperand(0));
    if (any_of(instructions(Body), [&](const Instruction &Each) { return choosesBetweenBoth(Each, Active); })) {
      askAtRunTime(*Call);
      Asked = true;
    }
  }
  for (Function &F : M)
    if (Asked && !F.isDeclaration() && !F.getName().starts_with(BodyPrefix) && !F.getName().starts_with(GradientPrefix))
      readThroughPointers(F);
  return PreservedAnalyses::none();
}

} // namespace adgen
