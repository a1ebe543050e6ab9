#include "Derivative.h"

using namespace llvm;

namespace adgen {

static Type *resultType(const Function &Body) {
  const Function *Entry = Body.getParent()->getFunction(Body.getName().drop_front(BodyPrefix.size()));
  return Entry->getReturnType();
}

BodyLayout::BodyLayout(Function &Body, ArrayRef<Activity> Activities)
    : Body(Body), Activities(Activities), Shared(sharedNames(Body).size()), ReturnsValue(!resultType(Body)->isVoidTy()),
      Result(resultType(Body)) {
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
  Function *F = Function::Create(FunctionType::get(Type::getVoidTy(M.getContext()), Types, false), GlobalValue::ExternalLinkage,
                                 Prefix + Symbol, &M);
  F->addFnAttr(Words, words(L.Activities));
  for (StringRef Name : {StringRef(SharedAttribute), StringRef("target-cpu"), StringRef("target-features"), StringRef("frame-pointer")})
    if (L.Body.hasFnAttribute(Name))
      F->addFnAttr(L.Body.getFnAttribute(Name));
  for (unsigned I = 0; I < L.parameters(); ++I) {
    F->getArg(I)->setName(L.Body.getArg(I)->getName());
    if (L.Body.getArg(I)->getType()->isPointerTy() && L.Body.getAttributeAtIndex(I + 1, StructAttribute).isValid())
      F->addParamAttr(I, L.Body.getAttributeAtIndex(I + 1, StructAttribute));
  }
  return F;
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

} // namespace adgen
