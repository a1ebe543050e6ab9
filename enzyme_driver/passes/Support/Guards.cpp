#include "Support/Guards.h"

#include "llvm/Transforms/Utils/Cloning.h"

using namespace llvm;

namespace adgen {
namespace {

constexpr StringLiteral OpaqueName = "adgen_opaque", QuestionPrefix = "adgen_asks_", HoldPrefix = "adgen_hold_i",
                        AsidePrefix = "adgen_aside_", SettledPrefix = "adgen_settled_f";
constexpr StringLiteral PinPrefix = "adgen_pin_", UsePrefix = "adgen_use_", AgainSuffix = "__again";

// What Enzyme is to take a number for, in its words: a zero, or one that is only handed on, does not show it.
StringRef typeInWords(const Type *T) {
  const Type *Number = T->getScalarType();
  return Number->isIntegerTy() ? "{[-1]:Integer}" : Number->isFloatTy() ? "{[-1]:Float@float}" : "{[-1]:Float@double}";
}

Function *declared(Module &M, const Twine &Name, Type *Result, ArrayRef<Type *> Parameters) {
  auto *Signature = FunctionType::get(Result, Parameters, false);
  auto *F = cast<Function>(M.getOrInsertFunction(Name.str(), Signature).getCallee());
  F->setDoesNotThrow();
  F->setWillReturn();
  F->setDoesNotFreeMemory();
  F->setOnlyAccessesInaccessibleMemory();
  return F;
}

// The derivative is what comes back for the result, or zero. It gets the argument, which Enzyme then finds out once
// more for nothing, and the cotangent of a result.
void registerDerivative(Function &Guard, bool IsZero) {
  LLVMContext &Context = Guard.getContext();
  Type *T = Guard.getArg(0)->getType();
  auto *Cotangents = StructType::get(T);
  SmallVector<Type *> Types{T};
  if (!Guard.getReturnType()->isVoidTy())
    Types.push_back(T);
  auto *Reverse = Function::Create(FunctionType::get(Cotangents, Types, false), GlobalValue::InternalLinkage,
                                   Guard.getName() + "_reverse", Guard.getParent());
  IRBuilder<> B(BasicBlock::Create(Context, "entry", Reverse));
  B.CreateRet(IsZero ? Constant::getNullValue(Cotangents)
                     : B.CreateInsertValue(PoisonValue::get(Cotangents), Reverse->getArg(1), 0));
  Reverse->addFnAttr(Attribute::NoInline);
  Reverse->setDoesNotThrow();
  Reverse->setWillReturn();
  Reverse->setDoesNotAccessMemory();
  Guard.setMetadata("enzyme_augment", MDTuple::get(Context, {ValueAsMetadata::get(&Guard)}));
  Guard.setMetadata("enzyme_gradient", MDTuple::get(Context, {ValueAsMetadata::get(Reverse)}));
}

Function *holdOf(Module &M, Type *T) {
  std::string Name =
      (HoldPrefix + Twine(T->isIntegerTy() ? "" : "eee") + Twine(T->getPrimitiveSizeInBits().getFixedValue())).str();
  if (Function *Known = M.getFunction(Name))
    return Known;
  Function *F = declared(M, Name, T, T);
  Attribute Kind = Attribute::get(M.getContext(), "enzyme_type", typeInWords(T));
  F->addRetAttr(Kind);
  F->addParamAttr(0, Kind);
  if (T->isIntegerTy())
    F->addFnAttr("enzyme_inactive");
  else
    registerDerivative(*F, /*IsZero=*/false);
  return F;
}

// A function of a number that does nothing, and whose derivative is zero.
Function *useOf(Module &M, Type *T) {
  auto *Vector = dyn_cast<FixedVectorType>(T);
  std::string Count = Vector ? "v" + utostr(Vector->getNumElements()) : "";
  std::string Name = (UsePrefix + Count + "f" + Twine(T->getScalarSizeInBits())).str();
  if (Function *Known = M.getFunction(Name))
    return Known;
  Function *F = declared(M, Name, Type::getVoidTy(M.getContext()), T);
  if (T->getScalarType()->isFloatTy() || T->getScalarType()->isDoubleTy())
    F->addParamAttr(0, Attribute::get(M.getContext(), "enzyme_type", typeInWords(T)));
  registerDerivative(*F, /*IsZero=*/true);
  return F;
}

} // namespace

// A function of nothing but its argument, without a derivative.
static void declareInactive(Function &F) {
  F.setDoesNotAccessMemory();
  F.setDoesNotThrow();
  F.setWillReturn();
  F.addFnAttr(Attribute::NoFree);
  F.addFnAttr(Attribute::NoSync);
  F.addFnAttr("enzyme_inactive");
}

// A condition of what nobody can see; Enzyme takes it for inactive by its type.
static CallInst *asked(const Twine &Name, ArrayRef<Value *> Of, BasicBlock::iterator Before) {
  SmallVector<Type *> Types;
  for (Value *V : Of)
    Types.push_back(V->getType());
  auto *Signature = FunctionType::get(Type::getInt1Ty(Before->getContext()), Types, false);
  auto *F = cast<Function>(Before->getModule()->getOrInsertFunction(Name.str(), Signature).getCallee());
  declareInactive(*F);
  F->addFnAttr(Attribute::Speculatable);
  return CallInst::Create(F, Of, "guard", Before);
}

CallInst *hidden(Value *Condition, BasicBlock::iterator Before) { return asked(OpaqueName, {Condition}, Before); }

void hide(FCmpInst &Question) {
  Value *X = Question.getOperand(0), *Y = Question.getOperand(1);
  Value *Predicate = ConstantInt::get(Type::getInt32Ty(Question.getContext()), Question.getPredicate());
  CallInst *Hidden =
      asked(QuestionPrefix + Twine(X->getType()->getScalarSizeInBits()), {Predicate, X, Y}, Question.getIterator());
  Hidden->setDebugLoc(Question.getDebugLoc());
  Question.replaceAllUsesWith(Hidden);
  Question.eraseFromParent();
}

static Value *askAgain(CallInst &Hidden) {
  auto Predicate = CmpInst::Predicate(cast<ConstantInt>(Hidden.getArgOperand(0))->getZExtValue());
  return IRBuilder<>(&Hidden).CreateFCmp(Predicate, Hidden.getArgOperand(1), Hidden.getArgOperand(2));
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
  FunctionCallee Touch = declarePin(*At->getModule(), "variable", {Variable->getType()});
  auto *Toucher = cast<Function>(Touch.getCallee());
  Toucher->setMemoryEffects(MemoryEffects::argMemOnly());
  Toucher->addParamAttr(0, Attribute::getWithCaptureInfo(Toucher->getContext(), CaptureInfo::none()));
  B.CreateCall(Touch, {Variable});
  Value *Held = B.CreateLoad(V.getType(), Variable);
  V.replaceUsesWithIf(Held, [&](Use &U) { return U.getUser() != Store; });
}

bool isHeld(const Value *V) {
  auto *Call = dyn_cast_or_null<CallBase>(V);
  return Call && Call->getCalledFunction() && Call->getCalledFunction()->getName().starts_with(HoldPrefix);
}

void callAside(CallBase &Call) {
  const Function &Callee = *Call.getCalledFunction();
  FunctionCallee Aside =
      Call.getModule()->getOrInsertFunction((AsidePrefix + Callee.getName()).str(), Callee.getFunctionType());
  auto *F = cast<Function>(Aside.getCallee());
  F->setAttributes(Callee.getAttributes());
  F->addFnAttr("enzyme_inactive");
  F->addFnAttr("enzyme_no_escaping_allocation");
  F->addFnAttr(Attribute::NoFree);
  Call.setCalledFunction(F);
}

void callAgain(CallBase &Call) {
  const Function &Callee = *Call.getCalledFunction();
  FunctionCallee Again =
      Call.getModule()->getOrInsertFunction((Callee.getName() + AgainSuffix).str(), Callee.getFunctionType());
  auto *F = cast<Function>(Again.getCallee());
  F->setAttributes(Callee.getAttributes());
  F->addFnAttr("enzyme_shouldrecompute");
  F->copyMetadata(&Callee, 0);
  Call.setCalledFunction(F);
}

void use(IRBuilder<> &B, Value &Number) {
  B.CreateCall(useOf(*B.GetInsertBlock()->getModule(), Number.getType()), {&Number});
}

FunctionCallee declarePin(Module &M, StringRef Name, ArrayRef<Type *> Parameters) {
  Function *F = declared(M, PinPrefix + Name, Type::getVoidTy(M.getContext()), Parameters);
  F->addFnAttr("enzyme_inactive");
  F->addFnAttr("enzyme_no_escaping_allocation");
  return F;
}

bool isPin(const CallBase &Call) {
  const Function *Callee = Call.getCalledFunction();
  return Callee && Callee->getName().starts_with(PinPrefix);
}

// V + (Other - Other), of which Enzyme takes the second Other for constant. The sum is held: the reverse sweep would
// find it out again from parts.
Value *withDerivativeOf(IRBuilder<> &B, Value &V, Value &Other) {
  Module &M = *B.GetInsertBlock()->getModule();
  Type *T = Other.getType();
  std::string Name = (SettledPrefix + Twine(T->getPrimitiveSizeInBits().getFixedValue())).str();
  auto *Settled = cast<Function>(M.getOrInsertFunction(Name, T, T).getCallee());
  declareInactive(*Settled);
  Settled->addFnAttr("enzyme_no_escaping_allocation");
  Value *Nothing = B.CreateFSub(&Other, B.CreateCall(Settled, {&Other}));
  return B.CreateCall(holdOf(M, T), {B.CreateFAdd(&V, Nothing)});
}

// The value alone is left, whatever the other number is.
static void dropDerivative(CallInst &Settled) {
  for (User *U : Settled.users())
    if (auto *Nothing = dyn_cast<BinaryOperator>(U))
      for (User *Sum : Nothing->users())
        if (auto *Plus = dyn_cast<BinaryOperator>(Sum); Plus && Plus->getOpcode() == Instruction::FAdd)
          Plus->replaceAllUsesWith(Plus->getOperand(Plus->getOperand(0) == Nothing));
  Settled.replaceAllUsesWith(Settled.getArgOperand(0));
  Settled.eraseFromParent();
}

// What a guard's derivative does is next to nothing: a call of it would cost more, and all registers of vectors. Nor
// does it need the argument, which would be kept for it.
static void inlineDerivative(Function &Derivative) {
  Derivative.removeFnAttr(Attribute::NoInline);
  Derivative.addFnAttr(Attribute::AlwaysInline);
  for (User *U : make_early_inc_range(Derivative.users()))
    if (auto *Call = dyn_cast<CallInst>(U); Call && Call->getCalledFunction() == &Derivative) { // not what registers it
      InlineFunctionInfo Inlined;
      InlineFunction(*Call, Inlined);
    }
}

// Enzyme may have given a pin a body.
void stripGuards(Module &M) {
  for (Function &F : make_early_inc_range(M)) {
    StringRef Name = F.getName();
    if (Name.starts_with(SettledPrefix)) {
      for (User *U : make_early_inc_range(F.users()))
        dropDerivative(*cast<CallInst>(U));
      F.eraseFromParent();
      continue;
    }
    if (Name.consume_front(AsidePrefix) || Name.consume_back(AgainSuffix)) {
      F.replaceAllUsesWith(M.getOrInsertFunction(Name, F.getFunctionType(), F.getAttributes()).getCallee());
      F.eraseFromParent();
      continue;
    }
    bool IsGuard = Name == OpaqueName || Name.starts_with(QuestionPrefix) || Name.starts_with(HoldPrefix) ||
                   Name.starts_with(UsePrefix);
    if (IsGuard && !F.isDeclaration())
      inlineDerivative(F);
    if (!(IsGuard && F.isDeclaration()) && !Name.starts_with(PinPrefix))
      continue;
    for (User *U : make_early_inc_range(F.users())) {
      auto *Call = cast<CallInst>(U);
      if (!Call->getType()->isVoidTy())
        Call->replaceAllUsesWith(Name.starts_with(QuestionPrefix) ? askAgain(*Call) : Call->getArgOperand(0));
      Call->eraseFromParent();
    }
    F.eraseFromParent();
  }
}

} // namespace adgen
