#include "Support/Adgen.h"

#include "Support/Lent.h"

#include "llvm/ADT/SCCIterator.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Analysis/CallGraph.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/BinaryFormat/Dwarf.h"
#include "llvm/Demangle/Demangle.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Transforms/Utils/ModuleUtils.h"

using namespace llvm;

namespace adgen {

Activity parseActivity(StringRef Word) {
  if (Word == "duplicated")
    return Activity::Duplicated;
  return Word == "active" ? Activity::Active : Activity::Const;
}

bool readNumbers(StringRef Text, SmallVectorImpl<uint64_t> &Numbers) {
  SmallVector<StringRef> Parts;
  Text.split(Parts, '@', -1, /*KeepEmpty=*/false);
  return all_of(Parts, [&](StringRef Part) { return !Part.getAsInteger(10, Numbers.emplace_back()); });
}

Expected<std::vector<EntryPlan>> parsePlan(StringRef Text) {
  std::vector<EntryPlan> Plans;
  SmallVector<StringRef> Entries;
  Text.split(Entries, ';', -1, /*KeepEmpty=*/false);
  for (StringRef Entry : Entries) {
    auto [Symbol, Words] = Entry.split('=');
    EntryPlan Plan{Symbol.str(), {}, {}, {}};
    SmallVector<StringRef> Parts;
    Words.split(Parts, ':', -1, /*KeepEmpty=*/false);
    for (StringRef Part : Parts) {
      auto [Word, Offsets] = Part.split('@');
      StringRef OfShadow = StringSwitch<StringRef>(Word)
                               .Case("owned", OwnedAttribute)
                               .Case("fresh", FreshAttribute)
                               .Case("discarded", DiscardedAttribute)
                               .Default("");
      if (OfShadow.empty() && !is_contained({"duplicated", "active", "const"}, Word))
        return createStringError("adgen: unknown activity '" + Part.str() + "'");
      Plan.OfShadows.push_back(OfShadow);
      Plan.Activities.push_back(OfShadow.empty() ? parseActivity(Word) : Activity::Duplicated);
      Plan.ConstMembers.push_back(Offsets);
    }
    Plans.push_back(std::move(Plan));
  }
  return Plans;
}

static SmallVector<StringRef> listAttribute(const Function &F, StringRef Name) {
  SmallVector<StringRef> Parts;
  F.getFnAttribute(Name).getValueAsString().split(Parts, ':', -1, /*KeepEmpty=*/false);
  return Parts;
}

SmallVector<Activity> activitiesOf(const Function &Derivative) {
  SmallVector<Activity> Activities;
  for (StringRef Name : {ActivityAttribute, TangentActivityAttribute})
    for (StringRef Word : listAttribute(Derivative, Name))
      Activities.push_back(parseActivity(Word));
  return Activities;
}

unsigned directionsOf(const Function &Derivative) {
  unsigned Directions = 1;
  Derivative.getFnAttribute(DirectionsAttribute).getValueAsString().getAsInteger(10, Directions);
  return Directions;
}

bool carriesTangents(const Function &F) {
  return F.getName().starts_with(TangentPrefix) || F.getName().starts_with(DirectionsPrefix);
}

SmallVector<StringRef> sharedNames(const Function &F) { return listAttribute(F, SharedAttribute); }

bool isSharedMemory(const Value &Object) {
  if (auto *A = dyn_cast<Argument>(&Object))
    return A->getArgNo() >= A->getParent()->arg_size() - sharedNames(*A->getParent()).size();
  auto *Global = dyn_cast<GlobalVariable>(&Object);
  return Global && Global->getAddressSpace() == SharedSpace;
}

uint64_t structBytes(const Function &F, unsigned Index) {
  uint64_t Bytes = 0;
  Attribute A = F.getAttributeAtIndex(Index + 1, StructAttribute);
  if (A.isValid())
    A.getValueAsString().getAsInteger(10, Bytes);
  return Bytes;
}

uint64_t elementCount(const DICompositeType *Array) {
  uint64_t Count = 1;
  for (DINode *Node : Array->getElements())
    if (auto *Range = dyn_cast<DISubrange>(Node))
      if (auto *N = dyn_cast_if_present<ConstantInt *>(Range->getCount()))
        Count *= N->getZExtValue();
  return Count;
}

static void collectFloats(DIType *Declared, uint64_t Offset, SmallVectorImpl<FloatMember> &Found) {
  DIType *Type = stripQualifiers(Declared);
  auto *Basic = dyn_cast_or_null<DIBasicType>(Type);
  if (Basic && Basic->getEncoding() == dwarf::DW_ATE_float)
    Found.push_back({Offset, Basic->getSizeInBits() / 8});
  if (uint64_t Part = Basic ? Basic->getSizeInBits() / 16 : 0;
      Part && Basic->getEncoding() == dwarf::DW_ATE_complex_float)
    Found.append({{Offset, Part}, {Offset + Part, Part}});
  auto *Composite = dyn_cast_or_null<DICompositeType>(Type);
  if (!Composite || Composite->getTag() == dwarf::DW_TAG_union_type)
    return;
  if (Composite->getTag() == dwarf::DW_TAG_array_type) {
    DIType *Element = stripQualifiers(Composite->getBaseType());
    uint64_t Count = elementCount(Composite);
    for (uint64_t I = 0; Element && I < Count; ++I)
      collectFloats(Element, Offset + I * Element->getSizeInBits() / 8, Found);
    return;
  }
  for (DINode *Node : Composite->getElements()) {
    auto *Member = dyn_cast<DIDerivedType>(Node);
    bool Holds = Member && is_contained({dwarf::DW_TAG_member, dwarf::DW_TAG_inheritance}, Member->getTag());
    if (Holds && !Member->isStaticMember() && !Member->isBitField())
      collectFloats(Member->getBaseType(), Offset + Member->getOffsetInBits() / 8, Found);
  }
}

SmallVector<FloatMember> floatMembers(DIType *Struct) {
  SmallVector<FloatMember> Found;
  collectFloats(Struct, 0, Found);
  return Found;
}

SmallVector<FloatMember> floatMembers(const Function &F, unsigned Index) {
  SmallVector<FloatMember> Found;
  Attribute A = F.getAttributeAtIndex(Index + 1, FloatsAttribute);
  SmallVector<StringRef> Members;
  if (A.isValid())
    A.getValueAsString().split(Members, ';', -1, /*KeepEmpty=*/false);
  for (StringRef Member : Members) {
    FloatMember Next{};
    auto [Offset, Bytes] = Member.split(':');
    if (Offset.getAsInteger(10, Next.Offset) || Bytes.getAsInteger(10, Next.Bytes))
      report_fatal_error("adgen: not a member of floating point: " + Member);
    Found.push_back(Next);
  }
  return Found;
}

void markStruct(Function &F, unsigned Index, uint64_t Bytes, DIType *Type) {
  LLVMContext &Context = F.getContext();
  std::string Floats;
  for (const FloatMember &Member : floatMembers(Type))
    Floats += (Floats.empty() ? "" : ";") + std::to_string(Member.Offset) + ":" + std::to_string(Member.Bytes);
  F.addParamAttr(Index, Attribute::get(Context, StructAttribute, std::to_string(Bytes)));
  if (!Floats.empty())
    F.addParamAttr(Index, Attribute::get(Context, FloatsAttribute, Floats));
}

const Argument *shadowOf(const Value *Pointer) {
  auto *Object = dyn_cast<Argument>(getUnderlyingObject(Pointer));
  return Object && Object->getParent()->hasParamAttribute(Object->getArgNo(), ShadowAttribute) ? Object : nullptr;
}

std::string qualifiedName(const DIScope *Scope, StringRef Name) {
  std::string Full = Name.str();
  for (; Scope; Scope = Scope->getScope())
    if (isa<DINamespace, DICompositeType>(Scope) && !Scope->getName().empty())
      Full = Scope->getName().str() + "::" + Full;
  return Full;
}

// With its arguments, by which the instances of one template differ.
static std::string ofTemplate(StringRef Symbol) {
  std::string Full = demangle(Symbol);
  constexpr StringLiteral Unnamed = "(anonymous namespace)::";
  for (size_t At; (At = Full.find(Unnamed)) != std::string::npos;)
    Full.erase(At, Unnamed.size());
  return Full;
}

std::string sourceName(const GlobalVariable &Global) {
  SmallVector<DIGlobalVariableExpression *> Expressions;
  Global.getDebugInfo(Expressions);
  if (Expressions.empty())
    return Global.getName().str();
  const DIGlobalVariable *Variable = Expressions.front()->getVariable();
  if (Variable->getTemplateParams())
    return ofTemplate(Variable->getLinkageName());
  const DIDerivedType *Member = Variable->getStaticDataMemberDeclaration();
  return qualifiedName(Member ? Member->getScope() : Variable->getScope(), Variable->getName());
}

StringRef assemblyInWords(StringRef Text) {
  constexpr std::pair<StringLiteral, StringLiteral> Known[] = {{"tex.", "a texture read"},
                                                               {"tld4.", "a texture read"},
                                                               {"suld.", "a surface read"},
                                                               {"sust.", "a surface write"},
                                                               {"wgmma.", "a Tensor Core operation (wgmma)"},
                                                               {"mma.", "a Tensor Core operation"},
                                                               {"ldmatrix", "a Tensor Core operation"},
                                                               {"cp.async", "an asynchronous copy"},
                                                               {"e4m3", "a conversion of FP8"},
                                                               {"e5m2", "a conversion of FP8"},
                                                               {"atom.", "an atomic operation in inline assembly"}};
  for (auto &[Mark, Words] : Known)
    if (Text.contains(Mark))
      return Words;
  return "inline assembly";
}

bool isKernel(const Function &F) { return F.getCallingConv() == CallingConv::PTX_Kernel; }

static constexpr std::pair<StringLiteral, StringLiteral> Derivatives[] = {{GradientPrefix, GradientSuffix},
                                                                          {TangentPrefix, TangentSuffix},
                                                                          {DirectionsPrefix, DirectionsSuffix},
                                                                          {SecondPrefix, SecondSuffix}};

StringRef suffixOf(const Function &F) {
  if (F.getName().starts_with(GradientPrefix) && F.getName().ends_with(LentVariant))
    return LentSuffix;
  for (const auto &[Prefix, Suffix] : Derivatives)
    if (F.getName().starts_with(Prefix))
      return Suffix;
  return "";
}

bool isDerivative(const Function &F) { return !F.isDeclaration() && !suffixOf(F).empty(); }

uint64_t roomInShared(const Function &Gradient) {
  constexpr uint64_t Limit = 48 * 1024, Alignment = 16; // of static arrays
  const Module &M = *Gradient.getParent();
  auto BytesOf = [&](const GlobalVariable &Array) {
    return alignTo(M.getDataLayout().getTypeAllocSize(Array.getValueType()).getFixedValue(), Alignment);
  };
  uint64_t Taken = Alignment; // a number by which blocks take the next one
  for (StringRef Name : sharedNames(Gradient)) {
    const GlobalVariable *Array = M.getNamedGlobal(Name);
    if (!Array || Array->isDeclaration())
      return 0;
    Taken += 2 * BytesOf(*Array);
  }
  std::string Exchanged = (ExchangePrefix + symbolOf(Gradient)).str();
  for (const GlobalVariable &Array : M.globals())
    if (Array.getName().starts_with(Exchanged))
      Taken += BytesOf(Array);
  return Taken < Limit ? Limit - Taken : 0;
}

StringRef symbolOf(const Function &F) {
  StringRef Name = F.getName();
  Name.consume_front(BodyPrefix);
  for (const auto &[Prefix, Suffix] : Derivatives)
    Name.consume_front(Prefix);
  Name.consume_back(LentVariant);
  return Name;
}

static bool isEntry(const Function &F) { return isKernel(F) || F.getName().starts_with(BodyPrefix) || isDerivative(F); }

static Function *declare(Module &M, const std::string &Name, Type *Result, ArrayRef<Type *> Types) {
  auto *F = cast<Function>(M.getOrInsertFunction(Name, FunctionType::get(Result, Types, false)).getCallee());
  F->addFnAttr(Attribute::Convergent);
  F->setDoesNotThrow();
  return F;
}

Function *declareRule(Module &M, StringRef Name, unsigned Pointers, ArrayRef<Type *> Operands, Type *Kept) {
  auto *Pointer = PointerType::getUnqual(M.getContext());
  Type *Void = Type::getVoidTy(M.getContext());
  SmallVector<Type *> Primal(Pointers, Pointer), Derivative(2 * Pointers, Pointer);
  append_range(Primal, Operands);
  for (Type *Operand : Operands)
    Derivative.append(2, Operand);
  std::string Full = (RulePrefix + Name).str();
  Function *F = declare(M, Full, Void, Primal);
  auto Register = [&](StringRef Kind, StringRef Part, Type *Result) {
    Function *Function = declare(M, Full + Part.str(), Result, Derivative);
    appendToCompilerUsed(M, {Function}); // metadata alone does not keep it
    F->setMetadata(Kind, MDTuple::get(M.getContext(), {ValueAsMetadata::get(Function)}));
  };
  Register("enzyme_augment", "_augmented", Kept ? Kept : Void);
  if (Kept)
    Derivative.push_back(Kept);
  Register("enzyme_gradient", "_reverse", Void);
  return F;
}

SetVector<const Function *> reachedFrom(const Function &First) {
  SetVector<const Function *> Found;
  Found.insert(&First);
  for (unsigned Next = 0; Next < Found.size(); ++Next)
    for (const Instruction &I : instructions(*Found[Next]))
      for (const Value *Operand : I.operands())
        if (auto *Named = dyn_cast<Function>(Operand); Named && !Named->isDeclaration())
          Found.insert(Named);
  return Found;
}

const Instruction *firstReached(const Function &From, function_ref<bool(const Instruction &)> IsWanted) {
  for (const Function *F : reachedFrom(From))
    for (const Instruction &I : instructions(*F))
      if (IsWanted(I))
        return &I;
  return nullptr;
}

void markForInlining(Module &M) {
  CallGraph Graph(M);
  for (auto It = scc_begin(&Graph); !It.isAtEnd(); ++It) {
    Function *F = It->front()->getFunction();
    if (It.hasCycle() || !F || F->isDeclaration() || isEntry(*F) || F->hasFnAttribute(MathAttribute) ||
        F->hasFnAttribute(ApartAttribute))
      continue;
    F->setLinkage(GlobalValue::InternalLinkage);
    F->setComdat(nullptr);
    F->removeFnAttr(Attribute::NoInline);
    F->removeFnAttr(Attribute::OptimizeNone);
    F->addFnAttr(Attribute::AlwaysInline);
  }
}

bool isConst(DIType *Type) {
  for (auto *Derived = dyn_cast_or_null<DIDerivedType>(Type); Derived;
       Derived = dyn_cast_or_null<DIDerivedType>(Derived->getBaseType())) {
    if (Derived->getTag() == dwarf::DW_TAG_const_type)
      return true;
    if (Derived->getTag() == dwarf::DW_TAG_pointer_type)
      return false;
  }
  return false;
}

static DIType *declaredType(const GlobalVariable &Variable) {
  SmallVector<DIGlobalVariableExpression *> Expressions;
  Variable.getDebugInfo(Expressions);
  return Expressions.empty() ? nullptr : Expressions.front()->getVariable()->getType();
}

static bool isDeclaredConst(const GlobalVariable &Variable) {
  DIType *Type = declaredType(Variable);
  auto *Array = dyn_cast_or_null<DICompositeType>(stripQualifiers(Type));
  bool IsArray = Array && Array->getTag() == dwarf::DW_TAG_array_type;
  return isConst(Type) || (IsArray && isConst(Array->getBaseType()));
}

// `static constexpr` members of templates, which clang takes to the device of itself.
static bool isInlineConstant(const GlobalVariable &Variable) {
  return Variable.hasLinkOnceLinkage() && isDeclaredConst(Variable);
}

bool isSetByHost(const GlobalVariable &Variable) {
  constexpr unsigned ConstantSpace = 4;
  if (Variable.isExternallyInitialized())
    return !isInlineConstant(Variable);
  bool IsEmpty = Variable.hasInternalLinkage() && Variable.hasInitializer() && Variable.getInitializer()->isNullValue();
  return Variable.getAddressSpace() == ConstantSpace && IsEmpty && declaredType(Variable) && !isDeclaredConst(Variable);
}

bool isStructByValue(const Argument &A) {
  return structBytes(*A.getParent(), A.getArgNo()) && !A.hasAttribute(ByAddressAttribute);
}

bool holds(Type *T, function_ref<bool(Type *)> IsWanted) {
  if (auto *Array = dyn_cast<ArrayType>(T))
    return holds(Array->getElementType(), IsWanted);
  return IsWanted(T) || any_of(T->subtypes(), [&](Type *Part) { return holds(Part, IsWanted); });
}

bool isCallOf(const Instruction &I, StringRef Name) {
  auto *Call = dyn_cast<CallBase>(&I);
  return Call && Call->getCalledFunction() && Call->getCalledFunction()->getName() == Name;
}

std::optional<MemberArray> memberArray(const Value *Object) {
  auto *Load = dyn_cast<LoadInst>(Object);
  if (!Load || !Load->getType()->isPointerTy())
    return std::nullopt;
  int64_t Offset = 0;
  auto *A =
      dyn_cast<Argument>(GetPointerBaseWithConstantOffset(Load->getPointerOperand(), Offset, Load->getDataLayout()));
  if (!A || !isStructByValue(*A))
    return std::nullopt;
  return MemberArray{A, Offset};
}

void endThread(IRBuilder<> &B, StringRef Flag) {
  Module &M = *B.GetInsertBlock()->getModule();
  GlobalVariable *Raised = M.getNamedGlobal(Flag);
  if (!Raised)
    Raised = new GlobalVariable(M, B.getInt32Ty(), false, GlobalValue::ExternalLinkage, B.getInt32(0), Flag, nullptr,
                                GlobalValue::NotThreadLocal, 1, true);
  B.CreateStore(B.getInt32(1), Raised, /*isVolatile=*/true);
  B.CreateCall(InlineAsm::get(FunctionType::get(B.getVoidTy(), false), "exit;", "", /*hasSideEffects=*/true));
  B.CreateUnreachable();
}

} // namespace adgen
