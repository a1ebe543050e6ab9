// Prints the signature of every kernel and function that the module defines, read from the debug
// information that clang made of its AST:
//   {"entries": [{"symbol", "name", "kernel", "dynamic_shared", "local", "file", "line", "parameters": [{"name",
//   "type", "by_address", "reference", "const"}], "returns"}],
//    "instances": {number: symbol}, "variables": [{"name", "symbol", "file", "shape", "type"}]}
#include "Import/VoidPointers.h"
#include "Support/DynamicShared.h"
#include "Support/Pass.h"
#include "Support/Result.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/BinaryFormat/Dwarf.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace adgen {
namespace {

json::Value describe(DIType *Type, unsigned PointersToFollow);

StringRef basicKind(const DIBasicType *Type) {
  switch (Type->getEncoding()) {
  case dwarf::DW_ATE_float:
    return "float";
  case dwarf::DW_ATE_boolean:
    return "bool";
  case dwarf::DW_ATE_signed:
  case dwarf::DW_ATE_signed_char:
    return "int";
  case dwarf::DW_ATE_unsigned:
  case dwarf::DW_ATE_unsigned_char:
    return "uint";
  default:
    return "opaque";
  }
}

// A complex number of the compiler's: its real part, and its imaginary part.
json::Value describeComplex(const DIBasicType *Type) {
  json::Array Parts;
  int64_t Bytes = Type->getSizeInBits() / 16;
  for (StringRef Name : {"real", "imag"})
    Parts.push_back(json::Object{{"name", Name},
                                 {"offset", int64_t(Parts.size()) * Bytes},
                                 {"count", 1},
                                 {"type", json::Object{{"kind", "float"}, {"name", "part"}, {"size", Bytes}}}});
  return json::Object{
      {"kind", "struct"}, {"name", Type->getName()}, {"size", 2 * Bytes}, {"members", std::move(Parts)}};
}

DICompositeType *asArray(DIType *Type) {
  auto *Array = dyn_cast_or_null<DICompositeType>(Type);
  return Array && Array->getTag() == dwarf::DW_TAG_array_type ? Array : nullptr;
}

// The name of a member; of a union without a name, that of the first member of its own which stands for it.
StringRef memberName(const DIDerivedType &Member, const DIType *Type) {
  auto *Union = dyn_cast_or_null<DICompositeType>(Member.getBaseType());
  if (!Member.getName().empty() || !Union || Union->getTag() != dwarf::DW_TAG_union_type)
    return Member.getName();
  for (DINode *Node : Union->getElements())
    if (auto *Inner = dyn_cast<DIDerivedType>(Node); Inner && stripQualifiers(Inner->getBaseType()) == Type)
      return Inner->getName();
  return "";
}

// The members of a struct, those of its bases first, each at its offset. What has no name lends it its own members.
void describeMembers(const DICompositeType *Struct, uint64_t BaseOffset, unsigned Follow, json::Array &Members) {
  for (DINode *Node : Struct->getElements()) {
    auto *Member = dyn_cast<DIDerivedType>(Node);
    if (!Member || Member->isStaticMember())
      continue;
    uint64_t Offset = BaseOffset + Member->getOffsetInBits() / 8;
    if (Member->getTag() == dwarf::DW_TAG_inheritance) {
      if (auto *Base = dyn_cast_or_null<DICompositeType>(stripQualifiers(Member->getBaseType())))
        describeMembers(Base, Offset, Follow, Members);
      continue;
    }
    if (Member->getTag() != dwarf::DW_TAG_member)
      continue;
    DIType *Type = stripQualifiers(Member->getBaseType());
    StringRef Name = memberName(*Member, Type);
    auto *Inner = dyn_cast_or_null<DICompositeType>(Type);
    if (Name.empty() && Inner && Inner->getTag() == dwarf::DW_TAG_structure_type) {
      describeMembers(Inner, Offset, Follow, Members);
      continue;
    }
    uint64_t Count = 1;
    if (DICompositeType *Array = asArray(Type)) {
      Count = elementCount(Array);
      Type = Array->getBaseType();
    }
    json::Value Described = Member->isBitField()
                                ? json::Value(json::Object{{"kind", "opaque"}, {"name", "a bit-field"}, {"size", 0}})
                                : describe(Type, Follow);
    Members.push_back(json::Object{
        {"name", Name}, {"offset", int64_t(Offset)}, {"count", int64_t(Count)}, {"type", std::move(Described)}});
  }
}

constexpr StringLiteral Unnamed = "(unnamed)";

// The name of a type; of one without, the first that the program gives it: `typedef struct { ... } Point`.
std::string nameOf(const DICompositeType *Type, const DIType *Declared) {
  StringRef Name = Type->getName();
  if (!Name.empty())
    return Name.str();
  for (auto *Outer = dyn_cast<DIDerivedType>(Declared); Outer;
       Outer = dyn_cast_or_null<DIDerivedType>(Outer->getBaseType()))
    if (Outer->getTag() == dwarf::DW_TAG_typedef)
      Name = Outer->getName();
  return Name.empty() ? Unnamed.str() : Name.str();
}

// Where the program does not say, the compiler has chosen a type of the size of int, and people take it for int.
StringRef kindOfEnumeration(const DICompositeType *Type) {
  auto *Underlying = dyn_cast_or_null<DIBasicType>(stripQualifiers(Type->getBaseType()));
  const bool Said = (Type->getFlags() & DINode::FlagEnumClass) || Type->getSizeInBits() != 32;
  return Underlying && Said ? basicKind(Underlying) : "int";
}

json::Value describeComposite(DICompositeType *Type, const DIType *Declared, unsigned Follow) {
  int64_t Size = Type->getSizeInBits() / 8;
  std::string Name = nameOf(Type, Declared);
  if (Type->getTag() == dwarf::DW_TAG_enumeration_type)
    return json::Object{{"kind", kindOfEnumeration(Type)}, {"name", Name}, {"size", Size}};
  if (asArray(Type)) // rows of a two-dimensional array follow each other
    return describe(Type->getBaseType(), Follow);
  if (Type->getTag() == dwarf::DW_TAG_union_type)
    return json::Object{
        {"kind", "opaque"}, {"name", Name == Unnamed ? "an unnamed union" : "the union " + Name}, {"size", Size}};
  if (Type->getTag() != dwarf::DW_TAG_structure_type && Type->getTag() != dwarf::DW_TAG_class_type)
    return json::Object{{"kind", "opaque"}, {"name", Name}, {"size", Size}};
  json::Array Members;
  describeMembers(Type, 0, Follow, Members);
  return json::Object{{"kind", "struct"}, {"name", Name}, {"size", Size}, {"members", std::move(Members)}};
}

bool isRestrict(DIType *Type) {
  auto *Derived = dyn_cast_or_null<DIDerivedType>(Type);
  while (Derived && Derived->getTag() != dwarf::DW_TAG_pointer_type) {
    if (Derived->getTag() == dwarf::DW_TAG_restrict_type)
      return true;
    Derived = dyn_cast_or_null<DIDerivedType>(Derived->getBaseType());
  }
  return false;
}

// A reference to an array is a pointer to its elements.
json::Value describePointer(DIDerivedType *Pointer, DIType *Declared, unsigned Follow) {
  DICompositeType *Array = asArray(stripQualifiers(Pointer->getBaseType()));
  DIType *Pointee = Array ? Array->getBaseType() : Pointer->getBaseType();
  json::Object Result{{"kind", "pointer"},
                      {"name", "pointer"},
                      {"size", 8},
                      {"const", isConst(Pointee)},
                      {"restrict", isRestrict(Declared)},
                      {"reference", !Array && Pointer->getTag() != dwarf::DW_TAG_pointer_type}};
  if (Follow)
    Result["pointee"] = describe(Pointee, Follow - 1);
  return Result;
}

json::Value describe(DIType *Declared, unsigned Follow) {
  DIType *Type = stripQualifiers(Declared);
  if (!Type)
    return json::Object{{"kind", "void"}, {"name", "void"}, {"size", 0}};
  if (auto *Basic = dyn_cast<DIBasicType>(Type); Basic && Basic->getEncoding() == dwarf::DW_ATE_complex_float)
    return describeComplex(Basic);
  if (auto *Basic = dyn_cast<DIBasicType>(Type))
    return json::Object{
        {"kind", basicKind(Basic)}, {"name", Basic->getName()}, {"size", int64_t(Basic->getSizeInBits() / 8)}};
  if (auto *Composite = dyn_cast<DICompositeType>(Type))
    return describeComposite(Composite, Declared, Follow);
  if (auto *Pointer = dyn_cast<DIDerivedType>(Type); Pointer && isPointerOrReference(*Pointer))
    return describePointer(Pointer, Declared, Follow);
  StringRef Name = isa<DISubroutineType>(Type) ? "a function" : Type->getName();
  return json::Object{{"kind", "opaque"}, {"name", Name}, {"size", 0}};
}

bool isVoid(const json::Object &Described) {
  const json::Object *Pointee = Described.getObject("pointee");
  return Pointee && Pointee->getString("kind") == "void";
}

// A pointer of type void * is one to the numbers that the function takes it for.
void retype(json::Object *Pointer, const Number &Found) {
  if (Found.Half)
    (*Pointer)["pointee"] = describe(Found.Half, 0);
  if (!Found.Language)
    return;
  StringRef Kind = Found.Language->isIntegerTy() ? "int" : "float";
  int64_t Bytes = Found.Language->getPrimitiveSizeInBits() / 8;
  if (Bytes)
    (*Pointer)["pointee"] = json::Object{{"kind", Kind}, {"name", Kind}, {"size", Bytes}};
}

void retypeMembers(json::Object &Struct, Argument &Given, int64_t Offset, const HalfClasses &Halves) {
  json::Array *Members = Struct.getArray("members");
  if (!Members)
    return;
  for (json::Value &Each : *Members) {
    json::Object &Member = *Each.getAsObject(), &Described = *Member.getObject("type");
    const int64_t At = Offset + *Member.getInteger("offset");
    if (Member.getInteger("count") != 1)
      continue;
    retypeMembers(Described, Given, At, Halves);
    if (isVoid(Described))
      retype(&Described, numberBehind(Given, At, Halves));
  }
}

void describeVoid(json::Value &Described, const LogicalParameter &P, const HalfClasses &Halves) {
  json::Object *Whole = Described.getAsObject();
  Argument &Given = *P.Arguments.front();
  if (isVoid(*Whole))
    retype(Whole, numberBehind(Given, Halves));
  else if (Given.hasByValAttr())
    retypeMembers(*Whole, Given, 0, Halves);
}

bool startsWithOne(StringRef Name, ArrayRef<StringRef> Beginnings) {
  return any_of(Beginnings, [&](StringRef Beginning) { return Name.starts_with(Beginning); });
}

// Of C++ names on the host, those of std and its library; which names of C the linker knows is not seen here.
bool isProvidedOnHost(StringRef Name) {
  if (!Name.consume_front("_Z") || startsWithOne(Name, {"nw", "na", "dl", "da"}))
    return true;
  if (Name.consume_front("N"))
    Name = Name.ltrim("rVK");
  return startsWithOne(Name, {"S", "9__gnu_cxx", "10__cxxabiv1"});
}

bool isProvided(const Function &F) {
  StringRef Name = F.getName();
  if (F.isIntrinsic() || Name.starts_with("__nv"))
    return true;
  return F.getParent()->getTargetTriple().isNVPTX() ? is_contained({"malloc", "free", "vprintf", "__assertfail"}, Name)
                                                    : isProvidedOnHost(Name);
}

// Calls of functions that no file defines, by the functions that come to them: each is looked into once, however many
// of a file with large headers lead to it.
class CallsOfNothing {
public:
  explicit CallsOfNothing(const Module &M) {
    SmallVector<const Function *> Work;
    for (const Function &F : M)
      if (const CallBase *Call = firstIn(F))
        note(F, *Call, Work);
    while (!Work.empty()) {
      const Function *F = Work.pop_back_val();
      for (const User *U : F->users())
        if (auto *Call = dyn_cast<CallBase>(U); Call && Call->getCalledFunction() == F)
          note(*Call->getFunction(), *Known.lookup(F), Work);
    }
  }

  // In the function, or in what it calls; null where there is none.
  const CallBase *of(const Function &F) const { return Known.lookup(&F); }

private:
  static const CallBase *firstIn(const Function &F) {
    for (const Instruction &I : instructions(F)) {
      auto *Call = dyn_cast<CallBase>(&I);
      const Function *Callee = Call ? Call->getCalledFunction() : nullptr;
      if (Callee && Callee->isDeclaration() && !isProvided(*Callee))
        return Call;
    }
    return nullptr;
  }

  void note(const Function &F, const CallBase &Call, SmallVectorImpl<const Function *> &Work) {
    if (Known.insert({&F, &Call}).second)
      Work.push_back(&F);
  }

  DenseMap<const Function *, const CallBase *> Known;
};

// The functions that use dynamic shared memory, or call one that does.
SmallPtrSet<const Function *, 8> usersOfDynamicShared(const Module &M) {
  SmallPtrSet<const Function *, 8> Found;
  SmallVector<const User *> Work;
  for (const GlobalVariable &Array : M.globals())
    if (isDynamicShared(Array))
      append_range(Work, Array.users());
  while (!Work.empty()) {
    const User *U = Work.pop_back_val();
    auto *I = dyn_cast<Instruction>(U);
    if (!I)
      append_range(Work, U->users());
    else if (Found.insert(I->getFunction()).second)
      append_range(Work, I->getFunction()->users());
  }
  return Found;
}

json::Value describeFunction(Function &F, const HalfClasses &Halves, const CallsOfNothing &Undefined,
                             bool UsesDynamicShared) {
  DISubprogram *Program = F.getSubprogram();
  json::Array Parameters;
  bool ByAddress = false;
  for (LogicalParameter &P : logicalParameters(F)) {
    ByAddress |= isResult(P);
    json::Value Described = describe(P.Type, 2);
    if (P.Arguments.size() == 1)
      describeVoid(Described, P, Halves);
    Parameters.push_back(json::Object{{"name", P.Name},
                                      {"type", std::move(Described)},
                                      {"by_address", P.ByAddress},
                                      {"reference", P.IsReference},
                                      {"const", P.IsConst}});
  }
  DITypeRefArray Types = Program->getType()->getTypeArray();
  DIFile *File = Program->getFile();
  json::Object Facts{{"symbol", F.getName()},
                     {"name", qualifiedName(Program->getScope(), Program->getName())},
                     {"kernel", isKernel(F)},
                     {"dynamic_shared", UsesDynamicShared},
                     {"local", F.hasLocalLinkage() || Program->isArtificial() ||
                                   isa_and_nonnull<DICompositeType>(Program->getScope())},
                     {"file", File ? File->getFilename() : ""},
                     {"directory", File ? File->getDirectory() : ""},
                     {"line", int64_t(Program->getLine())},
                     {"parameters", std::move(Parameters)},
                     {"returns", describe(Types.size() && !ByAddress ? Types[0] : nullptr, 0)}};
  if (const CallBase *Call = Undefined.of(F)) {
    unsigned Line = Call->getDebugLoc() ? Call->getDebugLoc().getLine() : Program->getLine();
    Facts["undefined"] =
        json::Object{{"name", demangle(Call->getCalledFunction()->getName())}, {"line", int64_t(Line)}};
  }
  return Facts;
}

} // namespace

// The functions that the variables of the rendered translation unit point to, by the number in the variable's name.
static json::Object describeInstances(Module &M) {
  json::Object Instances;
  for (GlobalVariable &Global : M.globals()) {
    size_t At = Global.getName().find(InstancePrefix);
    if (At == StringRef::npos || !Global.hasInitializer())
      continue;
    if (auto *F = dyn_cast<Function>(Global.getInitializer()->stripPointerCasts()))
      Instances[Global.getName().drop_front(At + InstancePrefix.size())] = F->getName();
  }
  return Instances;
}

// The device's variables that the host may set, with their extents.
static json::Array describeVariables(Module &M) {
  json::Array Variables;
  for (GlobalVariable &Global : M.globals()) {
    SmallVector<DIGlobalVariableExpression *> Expressions;
    Global.getDebugInfo(Expressions);
    if (!isSetByHost(Global) || Expressions.empty())
      continue;
    const DIGlobalVariable *Variable = Expressions.front()->getVariable();
    DIType *Type = stripQualifiers(Variable->getType());
    json::Array Shape;
    if (auto *Array = dyn_cast_or_null<DICompositeType>(Type); Array && Array->getTag() == dwarf::DW_TAG_array_type) {
      for (DINode *Node : Array->getElements())
        if (auto *Range = dyn_cast<DISubrange>(Node))
          if (auto *N = dyn_cast_if_present<ConstantInt *>(Range->getCount()))
            Shape.push_back(N->getSExtValue());
      Type = Array->getBaseType();
    }
    DIFile *File = Variable->getFile();
    Variables.push_back(json::Object{{"name", sourceName(Global)},
                                     {"symbol", Global.getName()},
                                     {"file", File ? File->getFilename() : ""},
                                     {"directory", File ? File->getDirectory() : ""},
                                     {"shape", std::move(Shape)},
                                     {"type", describe(Type, 1)}});
  }
  return Variables;
}

ADGEN_DECLARE_PASS(Describe);

PreservedAnalyses Describe::run(Module &M, ModuleAnalysisManager &) {
  json::Array Entries;
  const HalfClasses Halves(M);
  const CallsOfNothing Undefined(M);
  const auto Dynamic = usersOfDynamicShared(M);
  for (Function &F : M)
    if (!F.isDeclaration() && F.getSubprogram() && F.getSubprogram()->getType())
      Entries.push_back(describeFunction(F, Halves, Undefined, Dynamic.contains(&F)));
  outs() << formatv("{0:2}", json::Value(json::Object{{"entries", std::move(Entries)},
                                                      {"instances", describeInstances(M)},
                                                      {"variables", describeVariables(M)}}))
         << "\n";
  return PreservedAnalyses::all();
}

} // namespace adgen
