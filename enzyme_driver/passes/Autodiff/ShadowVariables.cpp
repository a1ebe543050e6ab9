// Gives the device's variables that the option names ("symbol;symbol") a shadow each, adgen_shadow_SYMBOL, through
// which Enzyme takes their derivative; the runtime fills it before a gradient and reads it after. Such a variable lies
// in global memory, also one that was __constant__: what reads it and what reads its shadow must be able to share an
// address space.
#include "Support/Pass.h"

#include "llvm/IR/ReplaceConstant.h"
#include "llvm/Transforms/Utils/ModuleUtils.h"

using namespace llvm;

namespace adgen {
namespace {

constexpr unsigned GlobalSpace = 1;

GlobalVariable *createVariable(GlobalVariable &Like, const Twine &Name, Constant *Value) {
  auto *New = new GlobalVariable(*Like.getParent(), Like.getValueType(), /*isConstant=*/false,
                                 GlobalValue::ExternalLinkage, Value, Name, &Like, GlobalValue::NotThreadLocal,
                                 GlobalSpace, /*isExternallyInitialized=*/true);
  New->setAlignment(Like.getAlign());
  return New;
}

GlobalVariable *movedToGlobalMemory(GlobalVariable &Old) {
  Module &M = *Old.getParent();
  removeFromUsedLists(M, [&](Constant *C) { return C->stripPointerCasts() == &Old; });
  convertUsersOfConstantsToInstructions({&Old});
  GlobalVariable *New = createVariable(Old, "", Old.getInitializer());
  New->copyMetadata(&Old, 0);
  New->takeName(&Old);
  Constant *Generic = ConstantExpr::getAddrSpaceCast(New, PointerType::getUnqual(M.getContext()));
  for (Use &U : make_early_inc_range(Old.uses())) {
    auto *User = cast<Instruction>(U.getUser());
    if (isa<AddrSpaceCastInst>(User) && User->getType() == Generic->getType()) { // as clang makes them
      User->replaceAllUsesWith(Generic);
      User->eraseFromParent();
    } else if (isa<LoadInst>(User)) {
      U.set(Generic);
    } else {
      report_fatal_error("adgen-shadow-variables: a use that clang does not make of " + New->getName());
    }
  }
  Old.eraseFromParent();
  return New;
}

} // namespace

ADGEN_DECLARE_PASS_WITH_OPTION(ShadowVariables);

PreservedAnalyses ShadowVariables::run(Module &M, ModuleAnalysisManager &) {
  SmallVector<StringRef> Symbols;
  StringRef(Option).split(Symbols, ';', -1, /*KeepEmpty=*/false);
  for (StringRef Symbol : Symbols) {
    GlobalVariable *Variable = M.getNamedGlobal(Symbol);
    if (!Variable || Variable->isDeclaration())
      report_fatal_error("adgen-shadow-variables: no variable " + Symbol);
    bool IsConstant = Variable->getAddressSpace() == ConstantSpace;
    if (Variable->getAddressSpace() != GlobalSpace)
      Variable = movedToGlobalMemory(*Variable);
    Variable->setConstant(false);
    if (IsConstant)
      Variable->setMetadata(ConstantMetadata, MDNode::get(M.getContext(), {}));
    GlobalVariable *Shadow =
        createVariable(*Variable, ShadowPrefix + Symbol, Constant::getNullValue(Variable->getValueType()));
    appendToCompilerUsed(M, {Shadow});
    Variable->setMetadata(ShadowMetadata, MDTuple::get(M.getContext(), {ConstantAsMetadata::get(Shadow)}));
  }
  return PreservedAnalyses::none();
}

} // namespace adgen
