// In C++: a number of floating point that a call through a pointer returns, of a virtual function too, is used by
// adgen_use_TYPE(value), whose registered derivative hands back zero. Where the number is used in a condition only, or
// not at all, Enzyme's reverse call would leave its cotangent out, while the function that it calls takes the next
// register for it, whatever is in there. StripGuards takes the calls away.
#include "Support/Hold.h"
#include "Support/Pass.h"

#include "llvm/IR/InstIterator.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

using namespace llvm;

namespace adgen {
namespace {

bool returnsNumber(const CallBase &Call) { return Call.isIndirectCall() && Call.getType()->isFPOrFPVectorTy(); }

Function *reverseOf(Function &Use, Type *T) {
  auto *Cotangents = StructType::get(T);
  auto *F = Function::Create(FunctionType::get(Cotangents, {T}, false), GlobalValue::InternalLinkage,
                             Use.getName() + "_reverse", Use.getParent());
  IRBuilder<>(BasicBlock::Create(F->getContext(), "entry", F)).CreateRet(Constant::getNullValue(Cotangents));
  F->addFnAttr(Attribute::NoInline);
  F->setDoesNotThrow();
  F->setWillReturn();
  F->setDoesNotAccessMemory();
  return F;
}

std::string nameFor(Type *T) {
  auto *Vector = dyn_cast<FixedVectorType>(T);
  std::string Count = Vector ? "v" + utostr(Vector->getNumElements()) : "";
  return (UsePrefix + Count + "f" + Twine(T->getScalarSizeInBits())).str();
}

Function *useOf(Module &M, Type *T) {
  std::string Name = nameFor(T);
  if (Function *Known = M.getFunction(Name))
    return Known;
  auto *F = cast<Function>(M.getOrInsertFunction(Name, Type::getVoidTy(M.getContext()), T).getCallee());
  F->setDoesNotThrow();
  F->setWillReturn();
  F->setDoesNotFreeMemory();
  F->setOnlyAccessesInaccessibleMemory();
  if (T->getScalarType()->isFloatTy() || T->getScalarType()->isDoubleTy())
    F->addParamAttr(0, Attribute::get(M.getContext(), "enzyme_type", typeInWords(T)));
  F->setMetadata("enzyme_augment", MDTuple::get(M.getContext(), {ValueAsMetadata::get(F)}));
  F->setMetadata("enzyme_gradient", MDTuple::get(M.getContext(), {ValueAsMetadata::get(reverseOf(*F, T))}));
  return F;
}

void use(CallBase &Call) {
  auto *Invoke = dyn_cast<InvokeInst>(&Call);
  BasicBlock *Next = Invoke ? SplitEdge(Invoke->getParent(), Invoke->getNormalDest()) : nullptr;
  IRBuilder<> B(Next ? &*Next->getFirstInsertionPt() : Call.getNextNode());
  B.SetCurrentDebugLocation(Call.getDebugLoc());
  B.CreateCall(useOf(*Call.getModule(), Call.getType()), {&Call});
}

} // namespace

ADGEN_DECLARE_PASS(UseResults);

PreservedAnalyses UseResults::run(Module &M, ModuleAnalysisManager &) {
  SmallVector<CallBase *> Calls;
  for (Function &F : M)
    for (Instruction &I : instructions(F))
      if (auto *Call = dyn_cast<CallBase>(&I); Call && returnsNumber(*Call))
        Calls.push_back(Call);
  for (CallBase *Call : Calls)
    use(*Call);
  return PreservedAnalyses::none();
}

} // namespace adgen
