#include "Support/Derivative.h"

#include "llvm/IR/InstIterator.h"

using namespace llvm;

namespace adgen {

static Type *resultType(const Function &Body) {
  const Function *Entry = Body.getParent()->getFunction(Body.getName().drop_front(BodyPrefix.size()));
  return Entry->getReturnType();
}

BodyLayout::BodyLayout(Function &Body, ArrayRef<Activity> Activities)
    : Body(Body), Activities(Activities), Shared(sharedNames(Body).size()),
      ReturnsValue(Body.hasFnAttribute(ResultAttribute)), Result(ReturnsValue ? resultType(Body) : nullptr) {
  if (parameters() != Activities.size())
    report_fatal_error("adgen: wrong number of activities for " + Body.getName());
}

static std::string words(ArrayRef<Activity> Activities) {
  std::string Text;
  for (Activity A : Activities) {
    StringRef Word = A == Activity::Duplicated ? "duplicated" : A == Activity::Active ? "active" : "const";
    Text += (Text.empty() ? "" : ":") + Word.str();
  }
  return Text;
}

Function *createDerivative(const BodyLayout &L, StringRef Prefix, StringRef Words, Type *Last) {
  Module &M = *L.Body.getParent();
  auto *Pointer = PointerType::getUnqual(M.getContext());
  SmallVector<Type *> Types(L.Body.getFunctionType()->params().take_front(L.parameters()));
  Types.append(count_if(L.Activities, [](Activity A) { return A != Activity::Const; }), Pointer);
  Types.append(2 * L.Shared, Pointer);
  if (Last)
    Types.push_back(Last);
  StringRef Symbol = L.Body.getName().drop_front(BodyPrefix.size());
  Function *F = Function::Create(FunctionType::get(Type::getVoidTy(M.getContext()), Types, false),
                                 GlobalValue::ExternalLinkage, Prefix + Symbol, &M);
  F->addFnAttr(Words, words(L.Activities));
  for (StringRef Name :
       {StringRef(SharedAttribute), StringRef("target-cpu"), StringRef("target-features"), StringRef("frame-pointer")})
    if (L.Body.hasFnAttribute(Name))
      F->addFnAttr(L.Body.getFnAttribute(Name));
  for (unsigned I = 0; I < L.parameters(); ++I) {
    F->getArg(I)->setName(L.Body.getArg(I)->getName());
    for (StringRef Name : {StructAttribute, ByAddressAttribute})
      if (Attribute A = L.Body.getAttributeAtIndex(I + 1, Name); A.isValid() && F->getArg(I)->getType()->isPointerTy())
        F->addParamAttr(I, A);
  }
  return F;
}

RuleOfGradient ruleOfGradient(StringRef Name) {
  if (!Name.consume_front(RulePrefix) || !(Name.consume_back("_augmented") || Name.consume_back("_reverse")))
    return RuleOfGradient::Other;
  if (Name.ends_with("turn") || Name == "barrier" || Name == "counted_barrier" || Name == "warp_barrier")
    return RuleOfGradient::Orders;
  return Name.starts_with("shfl_") ? RuleOfGradient::Moves : RuleOfGradient::Other;
}

void EnzymeCall::add(StringRef Word, ArrayRef<Value *> Values) {
  Arguments.push_back(MetadataAsValue::get(B.getContext(), MDString::get(B.getContext(), Word)));
  append_range(Arguments, Values);
}

CallInst *EnzymeCall::emit(StringRef Prefix, Type *Result) {
  FunctionCallee Callee =
      Body.getParent()->getOrInsertFunction((Prefix + Body.getName()).str(), FunctionType::get(Result, true));
  CallInst *Call = B.CreateCall(Callee, Arguments);
  if (DISubprogram *Program = B.GetInsertBlock()->getParent()->getSubprogram())
    Call->setDebugLoc(DILocation::get(B.getContext(), Program->getLine(), 0, Program));
  return Call;
}

void forEachPlanned(Module &M, StringRef Option, StringRef Pass,
                    function_ref<void(Function &, const EntryPlan &)> Make) {
  auto Plans = parsePlan(Option);
  if (!Plans)
    report_fatal_error(Plans.takeError());
  for (const EntryPlan &Plan : *Plans) {
    Function *Body = M.getFunction((BodyPrefix + Plan.Symbol).str());
    if (!Body)
      report_fatal_error(Pass + ": no body for " + StringRef(Plan.Symbol));
    Make(*Body, Plan);
  }
}

SmallVector<CallInst *> gradientCalls(Module &M) {
  SmallVector<CallInst *> Calls;
  for (Function &F : M)
    if (F.getName().starts_with(GradientPrefix))
      for (Instruction &I : instructions(F)) {
        auto *Call = dyn_cast<CallInst>(&I);
        if (Call && Call->getCalledFunction() && Call->getCalledFunction()->getName().starts_with(AutodiffPrefix))
          Calls.push_back(Call);
      }
  return Calls;
}

SmallVector<Said> saidOfParameters(const CallInst &Autodiff) {
  auto *Body = cast<Function>(Autodiff.getArgOperand(0));
  SmallVector<Said> Found;
  for (unsigned I = 1; I < Autodiff.arg_size();) { // a word, the primal, and its shadow where it has one
    auto *Word = cast<MDString>(cast<MetadataAsValue>(Autodiff.getArgOperand(I))->getMetadata());
    bool Duplicated = Word->getString().starts_with("enzyme_dup");
    Found.push_back(
        {Word->getString(), I, Body->getArg(Found.size()), Duplicated ? Autodiff.getArgOperand(I + 2) : nullptr});
    I += Duplicated ? 3 : 2;
  }
  return Found;
}

bool asksForTangents(const Module &M) {
  return any_of(M, [](const Function &F) { return F.getName().starts_with(ForwardPrefix); });
}

} // namespace adgen
