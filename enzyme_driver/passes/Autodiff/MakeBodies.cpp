// Gives every entry of the option ("symbol;symbol@2@3") a body: an ordinary function
//   void adgen_body_SYMBOL(parameters..., shared arrays..., result)
// with one argument a parameter as the user wrote it. Structs by value become pointers to a copy that the
// caller made, shared arrays become pointers (attribute adgen-shared keeps their names), and what a C++ function
// returns is stored through the last argument (a struct through that of the parameter `return`, the elements of a
// vector in the array that this is). Enzyme then meets nothing but duplicated pointers and scalars. Of the vectors
// whose numbers stand behind
// @ the function changes the size: it gets copies, whose elements are copied back.
#include "Analysis/Layout.h"
#include "Autodiff/OwnVectors.h"
#include "Support/Pass.h"
#include "Support/Result.h"

#include "llvm/IR/Attributes.h"
#include "llvm/IR/ReplaceConstant.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "llvm/Transforms/Utils/ModuleUtils.h"

using namespace llvm;

namespace adgen {
namespace {

void markLayout(Function &Body, unsigned Index, const std::shared_ptr<const Layout> &Memory) {
  if (Memory)
    Body.addParamAttr(Index, Attribute::get(Body.getContext(), LayoutAttribute, print(*Memory)));
}

// Of what a parameter points to, and of a struct by value, which becomes a pointer.
void markLayouts(Function &Body, ArrayRef<LogicalParameter> Parameters) {
  for (auto [Index, P] : enumerate(Parameters)) {
    if (Index >= Body.arg_size() || !Body.getArg(Index)->getType()->isPointerTy())
      continue;
    auto *Pointer = dyn_cast_or_null<DIDerivedType>(stripQualifiers(P.Type));
    DIType *Pointee = P.IsStruct ? P.Type : Pointer ? Pointer->getBaseType() : nullptr;
    if (Pointee)
      markLayout(Body, Index, layoutOf(Pointee));
  }
}

// Of an array's elements, whatever the index.
std::shared_ptr<const Layout> layoutOfElements(const GlobalVariable &Array) {
  Type *Element = Array.getValueType();
  while (auto *Row = dyn_cast<ArrayType>(Element))
    Element = Row->getElementType();
  return layoutOf(Element, Array.getDataLayout());
}

std::vector<GlobalVariable *> sharedArraysUsedBy(Function &F) {
  std::vector<GlobalVariable *> Used;
  for (GlobalVariable &Global : F.getParent()->globals()) {
    if (Global.getAddressSpace() != SharedSpace)
      continue;
    convertUsersOfConstantsToInstructions({&Global}, &F);
    bool Here = any_of(Global.users(), [&](User *U) {
      auto *I = dyn_cast<Instruction>(U);
      return I && I->getFunction() == &F;
    });
    if (Here)
      Used.push_back(&Global);
  }
  return Used;
}

// Bodies go by the array's name, also where the optimiser finds out that the kernel itself does not need it.
// MakeKernels and MakeHostEntries hide it again.
void keepForBodies(GlobalVariable &Array) {
  Array.setLinkage(GlobalValue::ExternalLinkage);
  Array.setComdat(nullptr);
}

bool holdsPointers(const Type &T) {
  return T.isPointerTy() || any_of(T.subtypes(), [](const Type *Part) { return holdsPointers(*Part); });
}

// A use of a shared array in generic space becomes the argument, one in shared space a cast of it.
void handOver(GlobalVariable &Array, Argument &Handed, Function &Body) {
  for (Use &U : make_early_inc_range(Array.uses())) {
    auto *I = dyn_cast<Instruction>(U.getUser());
    if (!I || I->getFunction() != &Body)
      continue;
    if (auto *Cast = dyn_cast<AddrSpaceCastInst>(I); Cast && Cast->getType() == Handed.getType()) {
      Cast->replaceAllUsesWith(&Handed);
      Cast->eraseFromParent();
      continue;
    }
    Instruction *Before = I;
    if (auto *Phi = dyn_cast<PHINode>(I))
      Before = Phi->getIncomingBlock(U)->getTerminator();
    U.set(new AddrSpaceCastInst(&Handed, Array.getType(), "", Before->getIterator()));
  }
}

Function *createBody(Function &F, ArrayRef<Type *> Types) {
  auto *Body = Function::Create(FunctionType::get(Type::getVoidTy(F.getContext()), Types, false),
                                GlobalValue::ExternalLinkage, BodyPrefix + F.getName(), F.getParent());
  return Body;
}

void makeKernelBody(Function &F) {
  std::vector<GlobalVariable *> Shared = sharedArraysUsedBy(F);
  SmallVector<Type *> Types(F.getFunctionType()->params());
  Types.append(Shared.size(), PointerType::getUnqual(F.getContext()));
  Function *Body = createBody(F, Types);

  ValueToValueMapTy Map;
  for (auto [From, To] : zip(F.args(), Body->args())) {
    To.setName(From.getName());
    Map[&From] = &To;
  }
  SmallVector<ReturnInst *> Returns;
  CloneFunctionInto(Body, &F, Map, CloneFunctionChangeType::LocalChangesOnly, Returns);
  Body->setCallingConv(CallingConv::C);
  Body->removeFnAttr(Attribute::NoInline);
  SmallVector<LogicalParameter> Parameters = logicalParameters(F);
  for (Argument &A : Body->args())
    if (A.hasByValAttr()) {
      Type *Struct = A.getParamByValType();
      A.removeAttr(Attribute::ByVal);
      if (holdsPointers(*Struct))      // numbers alone would be loaded early, and take registers
        A.addAttr(Attribute::NoAlias); // a copy, whose address nobody else has
      A.addAttr(Attribute::getWithDereferenceableBytes(F.getContext(), F.getDataLayout().getTypeAllocSize(Struct)));
      DIType *Declared = A.getArgNo() < Parameters.size() ? Parameters[A.getArgNo()].Type : nullptr;
      markStruct(*Body, A.getArgNo(), F.getDataLayout().getTypeAllocSize(Struct), Declared);
    }
  markLayouts(*Body, Parameters);

  std::string Names;
  for (auto [Index, Array] : enumerate(Shared)) {
    Argument *Handed = Body->getArg(F.arg_size() + Index);
    Handed->setName(Array->getName());
    keepForBodies(*Array);
    if (!Array->isDeclaration()) // dynamic arrays are carved up
      markLayout(*Body, Handed->getArgNo(), layoutOfElements(*Array));
    handOver(*Array, *Handed, *Body);
    Names += (Names.empty() ? "" : ":") + Array->getName().str();
  }
  Body->addFnAttr(SharedAttribute, Names);
  appendToCompilerUsed(
      *F.getParent(), SmallVector<GlobalValue *>(Shared.begin(), Shared.end())); // else the optimiser splits small ones
}

// The IR arguments that carry a struct by value, loaded from the struct: eightbyte by eightbyte (System V ABI).
void passStruct(IRBuilder<> &B, const LogicalParameter &P, Value *Struct, SmallVectorImpl<Value *> &Arguments) {
  for (auto [Index, Carrier] : enumerate(P.Arguments)) {
    bool ByAddress = Carrier->getType()->isPointerTy() && !Carrier->getName().contains(".coerce");
    if (ByAddress) {
      Arguments.push_back(Struct);
      continue;
    }
    Value *Part = B.CreateConstInBoundsGEP1_64(B.getInt8Ty(), Struct, 8 * Index);
    Arguments.push_back(B.CreateLoad(Carrier->getType(), Part));
  }
}

// A struct that is returned in registers, which may hold more than it.
void storeStruct(IRBuilder<> &B, Value &Returned, Value &Result, uint64_t Bytes) {
  IRBuilder<> Entry(&*B.GetInsertBlock()->begin());
  AllocaInst *Registers = Entry.CreateAlloca(Returned.getType());
  B.CreateStore(&Returned, Registers);
  B.CreateMemCpy(&Result, Align(1), Registers, Registers->getAlign(), Bytes);
}

// A local vector, or a struct with vectors, in place of what the argument stands for.
struct OwnVectors {
  Argument *Given;
  Value *Own;
  SmallVector<VectorMember> Vectors;
  bool ByValue = false; // nobody gets the elements back
};

// `Resized` are the numbers of the parameters that are vectors of which the function changes the size.
// The body's parameters, and with them the arguments of the function that it calls.
class FunctionBody {
public:
  FunctionBody(Function &F, ArrayRef<uint64_t> Resized)
      : F(F), Context(F.getContext()), Resized(Resized), Parameters(logicalParameters(F)),
        ReturnsStruct(!Parameters.empty() && isResult(Parameters.back())),
        ReturnsNumber(!ReturnsStruct && !F.getReturnType()->isVoidTy()), B(Context) {}

  void make() {
    Body = createBody(F, parameterTypes());
    Body->addFnAttrs(AttrBuilder(Context, F.getAttributes().getFnAttrs()).removeAttribute(Attribute::NoInline));
    B.SetInsertPoint(BasicBlock::Create(Context, "entry", Body));
    if (F.arg_size() && F.getArg(0)->hasStructRetAttr())
      passResult();
    for (auto [Index, P] : enumerate(Parameters))
      pass(Index, P);
    markLayouts(*Body, Parameters);
    CallInst &Call = call();
    if (ReturnsNumber) {
      Body->addFnAttr(ResultAttribute);
      B.CreateStore(&Call, Body->getArg(Parameters.size()));
    } else if (ReturnsStruct && !F.getReturnType()->isVoidTy()) {
      storeStruct(B, Call, *Body->getArg(Parameters.size() - 1), Parameters.back().StructBytes);
    }
    for (const OwnVectors &V : Owned)
      V.ByValue ? release(B, *V.Own, V.Vectors) : handBack(B, *V.Given, *V.Own, V.Vectors.front());
    B.CreateRetVoid();
    F.addFnAttr(Attribute::AlwaysInline);
    F.removeFnAttr(Attribute::NoInline);
  }

private:
  SmallVector<Type *> parameterTypes() {
    auto *Pointer = PointerType::getUnqual(Context);
    SmallVector<Type *> Types;
    for (LogicalParameter &P : Parameters)
      Types.push_back(P.IsStruct || isResult(P) ? Pointer : P.Arguments.front()->getType());
    if (ReturnsNumber)
      Types.push_back(Pointer);
    return Types;
  }

  void passResult() {
    Argument *Result = Body->getArg(Parameters.size() - 1);
    std::optional<VectorMember> Vector = asVector(Parameters.back().Type);
    if (Vector)
      Owned.push_back({Result, createVector(B), {*Vector}});
    Arguments.push_back(Vector ? Owned.back().Own : Result);
  }

  void pass(unsigned Index, LogicalParameter &P) {
    Argument *A = Body->getArg(Index);
    A->setName(P.Name);
    if (!P.IsStruct) {
      isResult(P) ? Body->addParamAttr(Index, Attribute::NoAlias) : Arguments.push_back(A);
      return;
    }
    markStruct(*Body, Index, P.StructBytes, P.Type);
    if (P.ByAddress || isResult(P))
      Body->addParamAttr(Index, Attribute::get(Context, ByAddressAttribute));
    else
      Body->addParamAttr(Index, Attribute::NoAlias); // a copy, whose address nobody else has
    if (isResult(P))
      return;
    if (is_contained(Resized, Index)) {
      SmallVector<VectorMember> Vectors = vectorMembers(P.Type);
      Owned.push_back({A, copyStruct(B, *A, P.StructBytes, Vectors), Vectors, !P.ByAddress});
    }
    passStruct(B, P, is_contained(Resized, Index) ? Owned.back().Own : A, Arguments);
  }

  CallInst &call() {
    AttributeList Attributes = F.getAttributes();
    SmallVector<AttributeSet> Sets;
    for (unsigned I = 0; I < F.arg_size(); ++I)
      Sets.push_back(Attributes.getParamAttrs(I));
    CallInst *Call = B.CreateCall(&F, Arguments);
    Call->setAttributes(AttributeList::get(Context, {}, Attributes.getRetAttrs(), Sets));
    if (DISubprogram *Program = F.getSubprogram()) { // a call in a function with debug information needs a place
      DISubprogram *Own =
          DISubprogram::getDistinct(Context, Program->getScope(), Body->getName(), Body->getName(), Program->getFile(),
                                    Program->getLine(), Program->getType(), Program->getScopeLine(), nullptr, 0, 0,
                                    DINode::FlagZero, DISubprogram::SPFlagDefinition, Program->getUnit());
      Body->setSubprogram(Own);
      Call->setDebugLoc(DILocation::get(Context, Program->getLine(), 0, Own));
    }
    return *Call;
  }

  Function &F;
  LLVMContext &Context;
  ArrayRef<uint64_t> Resized;
  SmallVector<LogicalParameter> Parameters;
  const bool ReturnsStruct, ReturnsNumber;
  IRBuilder<> B;
  Function *Body = nullptr;
  SmallVector<Value *> Arguments;
  SmallVector<OwnVectors> Owned;
};

// The variables that asked for instances have done their work.
void dropInstances(Module &M) {
  auto IsInstance = [](const Constant *C) { return C->stripPointerCasts()->getName().contains(InstancePrefix); };
  removeFromUsedLists(M, [&](Constant *C) { return IsInstance(C); });
  for (GlobalVariable &Global : make_early_inc_range(M.globals())) {
    Global.removeDeadConstantUsers();
    if (IsInstance(&Global) && Global.use_empty())
      Global.eraseFromParent();
  }
}

} // namespace

ADGEN_DECLARE_PASS_WITH_OPTION(MakeBodies);

PreservedAnalyses MakeBodies::run(Module &M, ModuleAnalysisManager &) {
  dropInstances(M);
  SmallVector<StringRef> Symbols;
  StringRef(Option).split(Symbols, ';', -1, /*KeepEmpty=*/false);
  for (StringRef Entry : Symbols) {
    auto [Symbol, Numbers] = Entry.split('@');
    SmallVector<uint64_t> Resized;
    if (!Numbers.empty() && !readNumbers(Numbers, Resized))
      report_fatal_error("adgen-make-bodies: no numbers of parameters: " + Entry);
    Function *F = M.getFunction(Symbol);
    if (!F || F->isDeclaration())
      report_fatal_error("adgen-make-bodies: no function " + Symbol);
    isKernel(*F) ? makeKernelBody(*F) : FunctionBody(*F, Resized).make();
  }
  return PreservedAnalyses::none();
}

} // namespace adgen
