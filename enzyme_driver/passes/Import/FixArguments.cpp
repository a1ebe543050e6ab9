// In C++: functions with any number of arguments (`...`) that look at none of them, as the lambda by which libstdc++'s
// std::visit finds its first variant, get as many as they name: f(a, b, c) becomes f(a). Enzyme stops at the others.
#include "Support/Pass.h"

#include "llvm/IR/InstIterator.h"

#define DEBUG_TYPE "adgen-fix-arguments"

using namespace llvm;

STATISTIC(NumFixed, "Number of functions that no longer take any number of arguments");

namespace adgen {
namespace {

bool looksAtOthers(const Function &F) {
  return any_of(instructions(F), [](const Instruction &I) {
    auto *Call = dyn_cast<CallBase>(&I);
    return Call && (Call->getIntrinsicID() == Intrinsic::vastart || Call->isMustTailCall());
  });
}

bool canBeFixed(const Function &F) {
  return F.isVarArg() && !F.isInterposable() && !looksAtOthers(F) && all_of(F.uses(), [](const Use &U) {
           auto *Call = dyn_cast<CallBase>(U.getUser());
           return Call && Call->isCallee(&U) && isa<CallInst, InvokeInst>(Call) && !Call->isMustTailCall();
         });
}

CallBase *callOf(Function &New, CallBase &Old) {
  SmallVector<Value *> Arguments(Old.arg_begin(), Old.arg_begin() + New.arg_size());
  IRBuilder<> B(&Old);
  if (auto *Invoke = dyn_cast<InvokeInst>(&Old))
    return B.CreateInvoke(&New, Invoke->getNormalDest(), Invoke->getUnwindDest(), Arguments);
  return B.CreateCall(&New, Arguments);
}

AttributeList firstOf(const AttributeList &Old, unsigned Count, LLVMContext &C) {
  SmallVector<AttributeSet> Each;
  for (unsigned I = 0; I < Count; ++I)
    Each.push_back(Old.getParamAttrs(I));
  return AttributeList::get(C, Old.getFnAttrs(), Old.getRetAttrs(), Each);
}

void fix(Function &Old) {
  FunctionType *Type = Old.getFunctionType();
  auto *New = Function::Create(FunctionType::get(Type->getReturnType(), Type->params(), false), Old.getLinkage(),
                               Old.getAddressSpace());
  Old.getParent()->getFunctionList().insert(Old.getIterator(), New);
  New->copyAttributesFrom(&Old);
  New->copyMetadata(&Old, 0);
  New->setComdat(Old.getComdat());
  Old.setSubprogram(nullptr);
  New->splice(New->begin(), &Old);
  for (auto [From, To] : zip(Old.args(), New->args())) {
    To.takeName(&From);
    From.replaceAllUsesWith(&To);
  }
  for (User *U : make_early_inc_range(Old.users())) {
    auto *Call = cast<CallBase>(U);
    CallBase *With = callOf(*New, *Call);
    With->setCallingConv(Call->getCallingConv());
    With->setAttributes(firstOf(Call->getAttributes(), New->arg_size(), Old.getContext()));
    With->setDebugLoc(Call->getDebugLoc());
    With->takeName(Call);
    Call->replaceAllUsesWith(With);
    Call->eraseFromParent();
  }
  New->takeName(&Old);
  Old.eraseFromParent();
  ADGEN_COUNT(NumFixed, New->getName());
}

} // namespace

ADGEN_DECLARE_PASS(FixArguments);

PreservedAnalyses FixArguments::run(Module &M, ModuleAnalysisManager &) {
  for (Function &F : make_early_inc_range(M))
    if (!F.isDeclaration() && canBeFixed(F))
      fix(F);
  return PreservedAnalyses::none();
}

} // namespace adgen
