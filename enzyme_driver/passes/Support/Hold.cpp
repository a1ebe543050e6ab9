#include "Support/Hold.h"

using namespace llvm;

namespace adgen {
namespace {

// It gets the argument, which Enzyme then finds out once more for nothing, and the cotangent.
Function *reverseOf(Function &Hold) {
  Type *T = Hold.getReturnType();
  auto *Cotangents = StructType::get(T);
  auto *F = Function::Create(FunctionType::get(Cotangents, {T, T}, false), GlobalValue::InternalLinkage,
                             Hold.getName() + "_reverse", Hold.getParent());
  IRBuilder<> B(BasicBlock::Create(F->getContext(), "entry", F));
  B.CreateRet(B.CreateInsertValue(PoisonValue::get(Cotangents), F->getArg(1), 0));
  F->addFnAttr(Attribute::NoInline);
  F->setDoesNotThrow();
  F->setWillReturn();
  F->setDoesNotAccessMemory();
  return F;
}

void registerDerivative(Function &Hold) {
  LLVMContext &Context = Hold.getContext();
  Hold.setMetadata("enzyme_augment", MDTuple::get(Context, {ValueAsMetadata::get(&Hold)}));
  Hold.setMetadata("enzyme_gradient", MDTuple::get(Context, {ValueAsMetadata::get(reverseOf(Hold))}));
}

// A call that may write the variable, which StripGuards takes away.
FunctionCallee declareTouch(Module &M) {
  FunctionCallee Touch = declarePin(M, "variable", {PointerType::getUnqual(M.getContext())});
  auto *F = cast<Function>(Touch.getCallee());
  F->setMemoryEffects(MemoryEffects::argMemOnly());
  F->addParamAttr(0, Attribute::getWithCaptureInfo(M.getContext(), CaptureInfo::none()));
  return Touch;
}

} // namespace

StringRef typeInWords(const Type *T) {
  const Type *Number = T->getScalarType();
  return Number->isIntegerTy() ? "{[-1]:Integer}" : Number->isFloatTy() ? "{[-1]:Float@float}" : "{[-1]:Float@double}";
}

Function *holdOf(Module &M, Type *T) {
  std::string Name =
      (HoldPrefix + Twine(T->isIntegerTy() ? "" : "eee") + Twine(T->getPrimitiveSizeInBits().getFixedValue())).str();
  if (Function *Known = M.getFunction(Name))
    return Known;
  auto *F = cast<Function>(M.getOrInsertFunction(Name, T, T).getCallee());
  F->setDoesNotThrow();
  F->setWillReturn();
  F->setDoesNotFreeMemory();
  F->setOnlyAccessesInaccessibleMemory();
  Attribute Kind = Attribute::get(M.getContext(), "enzyme_type", typeInWords(T));
  F->addRetAttr(Kind);
  F->addParamAttr(0, Kind);
  if (T->isIntegerTy())
    F->addFnAttr("enzyme_inactive");
  else
    registerDerivative(*F);
  return F;
}

void hold(Value &V, BasicBlock::iterator At) {
  IRBuilder<> B(At->getParent(), At);
  CallInst *Call = B.CreateCall(holdOf(*B.GetInsertBlock()->getModule(), V.getType()), {&V});
  V.replaceUsesWithIf(Call, [&](Use &U) { return U.getUser() != Call; });
}

void holdInVariable(Value &V, BasicBlock::iterator At) {
  BasicBlock &Entry = At->getFunction()->getEntryBlock();
  auto *Variable = new AllocaInst(V.getType(), 0, "held", Entry.begin());
  IRBuilder<> B(At->getParent(), At);
  B.SetCurrentDebugLocation(At->getDebugLoc());
  StoreInst *Store = B.CreateStore(&V, Variable);
  B.CreateCall(declareTouch(*At->getModule()), {Variable});
  Value *Held = B.CreateLoad(V.getType(), Variable);
  V.replaceUsesWithIf(Held, [&](Use &U) { return U.getUser() != Store; });
}

} // namespace adgen
