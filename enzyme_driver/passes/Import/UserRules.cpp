// What the user says of functions of the file, in the option ("log;soft=soft_gradient") or by the macros of
// include/adgen.h. One that is named alone is inactive: it is called as it is, and what it computes counts as constant.
// For one with a gradient, T f(T, T, ...), every call becomes one of
//   T adgen_math_user_SYMBOL(the numbers in one vector)
// for which the gradient, void g(T, T, ..., T cotangent, T *, T *, ...), is registered; g stores the cotangent of each
// parameter. Both stay functions of their own until Enzyme has run, and nothing in them is looked at.
#include "Support/Pass.h"

#include "llvm/Transforms/Utils/Local.h"
#include "llvm/Transforms/Utils/ModuleUtils.h"

using namespace llvm;

namespace adgen {
namespace {

constexpr StringLiteral UserPrefix = "adgen_math_user_";

// With namespaces, without the arguments of a template.
std::string nameOf(const Function &F) {
  const DISubprogram *Program = F.getSubprogram();
  return Program ? StringRef(qualifiedName(Program->getScope(), Program->getName())).split('<').first.str() : "";
}

SmallVector<Function *> named(Module &M, StringRef Name) {
  SmallVector<Function *> Found;
  for (Function &F : M)
    if (!F.isDeclaration() && !isKernel(F) && nameOf(F) == Name)
      Found.push_back(&F);
  if (Found.empty())
    refuse(nullptr, ("there is no function '" + Name + "' in the file, or nothing calls it").str(),
           "name it as in C++, with its namespaces; leave static and inline out where nothing calls it");
  return Found;
}

void keepApart(Function &F) {
  F.removeFnAttr(Attribute::AlwaysInline);
  F.addFnAttr(Attribute::NoInline);
  F.addFnAttr(ApartAttribute);
}

void makeInactive(Function &F) {
  keepApart(F);
  F.addFnAttr("enzyme_inactive");
}

bool fits(const Function &F, const Function &Gradient) {
  Type *T = F.getReturnType();
  if (!T->isFloatingPointTy() || F.arg_empty() || any_of(F.args(), [&](const Argument &A) { return A.getType() != T; }))
    return false;
  unsigned Count = F.arg_size();
  bool Right = Gradient.getReturnType()->isVoidTy() && Gradient.arg_size() == 2 * Count + 1;
  for (unsigned I = 0; Right && I < Gradient.arg_size(); ++I)
    Right = I <= Count ? Gradient.getArg(I)->getType() == T : Gradient.getArg(I)->getType()->isPointerTy();
  return Right;
}

SmallVector<Value *> unpacked(IRBuilder<> &B, Value *Packed) {
  auto *Vector = dyn_cast<FixedVectorType>(Packed->getType());
  if (!Vector)
    return {Packed};
  SmallVector<Value *> Numbers;
  for (unsigned I = 0; I < Vector->getNumElements(); ++I)
    Numbers.push_back(B.CreateExtractElement(Packed, I));
  return Numbers;
}

Value *packed(IRBuilder<> &B, ArrayRef<Value *> Numbers) {
  if (Numbers.size() == 1)
    return Numbers.front();
  Value *Vector = PoisonValue::get(FixedVectorType::get(Numbers.front()->getType(), Numbers.size()));
  for (auto [Index, Number] : enumerate(Numbers))
    Vector = B.CreateInsertElement(Vector, Number, Index);
  return Vector;
}

Function *create(Function &Like, const Twine &Name, Type *Result, ArrayRef<Type *> Types) {
  auto *F =
      Function::Create(FunctionType::get(Result, Types, false), GlobalValue::InternalLinkage, Name, Like.getParent());
  for (StringRef Attribute : {"target-cpu", "target-features", "frame-pointer"})
    if (Like.hasFnAttribute(Attribute))
      F->addFnAttr(Like.getFnAttribute(Attribute));
  F->setDoesNotThrow();
  keepApart(*F);
  return F;
}

Function *makeReverse(Function &F, Function &Gradient, Type *Numbers) {
  Type *T = F.getReturnType();
  auto *Cotangents = StructType::get(F.getContext(), ArrayRef<Type *>(Numbers));
  Function *Reverse = create(F, UserPrefix + F.getName() + "_reverse", Cotangents, {Numbers, T});
  IRBuilder<> B(BasicBlock::Create(F.getContext(), "entry", Reverse));
  SmallVector<Value *> Arguments = unpacked(B, Reverse->getArg(0)), Places, Sums;
  for (unsigned I = 0; I < F.arg_size(); ++I) {
    Value *Place = B.CreateAlloca(T);
    Places.push_back(B.CreateAddrSpaceCast(Place, PointerType::getUnqual(F.getContext())));
    B.CreateStore(Constant::getNullValue(T), Places.back());
  }
  Arguments.push_back(Reverse->getArg(1));
  append_range(Arguments, Places);
  B.CreateCall(&Gradient, Arguments);
  for (Value *Place : Places)
    Sums.push_back(B.CreateLoad(T, Place));
  B.CreateRet(B.CreateInsertValue(PoisonValue::get(Cotangents), packed(B, Sums), 0));
  return Reverse;
}

void useGradient(Function &F, Function &Gradient) {
  Module &M = *F.getParent();
  LLVMContext &Context = M.getContext();
  Type *T = F.getReturnType(), *Numbers = F.arg_size() == 1 ? T : FixedVectorType::get(T, F.arg_size());
  SmallVector<CallInst *> Calls;
  for (User *U : make_early_inc_range(F.users())) {
    auto *Call = dyn_cast<CallBase>(U);
    if (!Call || Call->getCalledFunction() != &F)
      return refuse(nullptr, ("the address of '" + nameOf(F) + "', which has a gradient of its own, is taken"),
                    "call it by its name");
    auto *Invoke = dyn_cast<InvokeInst>(Call);
    Calls.push_back(Invoke ? changeToCall(Invoke) : cast<CallInst>(Call));
  }
  Function *Rule = create(F, UserPrefix + F.getName(), T, {Numbers});
  for (CallInst *Call : Calls) {
    IRBuilder<> B(Call);
    CallInst *New = B.CreateCall(Rule, {packed(B, SmallVector<Value *>(Call->args()))});
    Call->replaceAllUsesWith(New);
    Call->eraseFromParent();
  }
  IRBuilder<> B(BasicBlock::Create(Context, "entry", Rule));
  B.CreateRet(B.CreateCall(&F, unpacked(B, Rule->getArg(0))));
  Function *Reverse = makeReverse(F, Gradient, Numbers);
  appendToCompilerUsed(M, {Rule, Reverse}); // metadata alone does not keep them
  Rule->setMetadata("enzyme_augment", MDTuple::get(Context, {ValueAsMetadata::get(Rule)}));
  Rule->setMetadata("enzyme_gradient", MDTuple::get(Context, {ValueAsMetadata::get(Reverse)}));
}

// What the macros say: the functions, and the names of their gradients, empty for those that are inactive.
SmallVector<std::pair<Function *, std::string>> takeAnnotations(Module &M) {
  SmallVector<std::pair<Function *, std::string>> Found;
  GlobalVariable *All = M.getNamedGlobal("llvm.global.annotations");
  auto *Entries = All ? dyn_cast<ConstantArray>(All->getInitializer()) : nullptr;
  if (!Entries)
    return Found;
  for (const Use &Entry : Entries->operands()) {
    auto *F = dyn_cast<Function>(cast<Constant>(Entry)->getOperand(0)->stripPointerCasts());
    auto *Text = dyn_cast<GlobalVariable>(cast<Constant>(Entry)->getOperand(1)->stripPointerCasts());
    auto *Characters = Text && Text->hasInitializer() ? dyn_cast<ConstantDataArray>(Text->getInitializer()) : nullptr;
    StringRef Said = Characters && Characters->isCString() ? Characters->getAsCString() : "";
    if (F && !F->isDeclaration() && (Said == "adgen:inactive" || Said.consume_front("adgen:gradient=")))
      Found.push_back({F, Said == "adgen:inactive" ? "" : Said.str()});
  }
  All->eraseFromParent(); // or the address of such a function were taken
  for (auto &[F, Gradient] : Found)
    F->removeDeadConstantUsers();
  return Found;
}

void useGradientOf(StringRef Name, ArrayRef<Function *> Found, StringRef GradientName) {
  SmallVector<Function *> Gradients = named(*Found.front()->getParent(), GradientName);
  if (Gradients.empty())
    return;
  if (Found.size() == 1 && Gradients.size() == 1 && fits(*Found.front(), *Gradients.front()))
    useGradient(*Found.front(), *Gradients.front());
  else
    refuse(nullptr, ("'" + GradientName + "' cannot be the gradient of '" + Name + "'").str(),
           "of T f(T x, T y) it is void g(T x, T y, T cotangent, T *d_x, T *d_y), T float or double, and neither is "
           "overloaded");
}

} // namespace

ADGEN_DECLARE_PASS_WITH_OPTION(UserRules);

PreservedAnalyses UserRules::run(Module &M, ModuleAnalysisManager &) {
  for (auto &[F, Gradient] : takeAnnotations(M))
    if (Gradient.empty())
      makeInactive(*F);
    else
      useGradientOf(nameOf(*F), {F}, Gradient);
  SmallVector<StringRef> Said;
  StringRef(Option).split(Said, ';', -1, /*KeepEmpty=*/false);
  for (StringRef Each : Said) {
    auto [Name, GradientName] = Each.split('=');
    SmallVector<Function *> Found = named(M, Name);
    if (GradientName.empty()) {
      for (Function *F : Found)
        makeInactive(*F);
      continue;
    }
    if (!Found.empty())
      useGradientOf(Name, Found, GradientName);
  }
  return PreservedAnalyses::none();
}

} // namespace adgen
