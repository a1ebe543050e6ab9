// For second derivatives: the gradients that Enzyme has made become bodies, through which it carries tangents. What
// they call is inlined, and what derivatives of mathematics compute (rules/mathematics.cu, the file of the option, and
// gradients of the user's own) can be looked into: it is differentiated once more. Everything else of the module
// leaves; LinkSeconds brings the result back.
//
// The shadows of static shared arrays become shared arrays themselves, which begin with zeros; barriers and shuffles
// have a forward form (ForwardRules). A gradient whose threads work together otherwise is refused, and so is one with
// dynamic shared memory, regions of threads, active variables, or calls through pointers.
#include "Support/Derivative.h"
#include "Support/Pass.h"
#include "Support/Threads.h"

#include "llvm/ADT/StringSwitch.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/ModuleUtils.h"

using namespace llvm;

namespace adgen {
namespace {

constexpr StringLiteral SealedPrefix = "adgen_sealed_";

void makeDeclaration(Function &F) {
  F.deleteBody();
  F.setComdat(nullptr);
  F.setCallingConv(CallingConv::C);
  F.setLinkage(GlobalValue::ExternalLinkage);
}

bool isMathematics(const Function &F) {
  return F.getName().starts_with(MathPrefix) && F.hasMetadata("enzyme_gradient");
}

// Of a derivative that is declared with a struct of the same shape, but of another name.
void callAsDefined(Function &Reverse) {
  for (User *U : Reverse.users())
    if (auto *Call = dyn_cast<CallBase>(U); Call && Call->getCalledOperand() == &Reverse)
      Call->mutateFunctionType(Reverse.getFunctionType());
}

// The bodies of derivatives come from the file; of the functions themselves Enzyme gets no body, but a rule.
void openRules(Module &M, StringRef Path) {
  SmallVector<Function *> Declared;
  for (Function &F : M)
    if (isMathematics(F) && F.isDeclaration())
      Declared.push_back(&F);
  for (Function *F : Declared)
    F->setName(SealedPrefix + F->getName());
  linkFile(M, Path);
  for (Function *F : Declared)
    F->setName(F->getName().drop_front(SealedPrefix.size()));
  for (Function &F : M) {
    if (ruleOfGradient(F.getName()) != RuleOfGradient::Other && !F.isDeclaration())
      makeDeclaration(F); // ForwardRules says what becomes of its calls
    if (!F.getName().starts_with(MathPrefix))
      continue;
    callAsDefined(F);
    F.removeFnAttr("target-cpu"); // the GPU's, also in C++
    F.removeFnAttr("target-features");
  }
}

// Also of the user's own: the function keeps its rule, the gradient is looked into.
void openUserGradients(Module &M) {
  for (Function &F : M)
    if (isMathematics(F) && !F.isDeclaration()) {
      auto *Reverse =
          cast<Function>(cast<ValueAsMetadata>(F.getMetadata("enzyme_gradient")->getOperand(0))->getValue());
      Reverse->removeFnAttr(ApartAttribute);
      for (Instruction &I : instructions(Reverse))
        if (auto *Call = dyn_cast<CallInst>(&I); Call && Call->getCalledFunction())
          Call->getCalledFunction()->removeFnAttr(ApartAttribute);
    }
}

bool isActiveVariable(const Value *V) { return isa<GlobalVariable>(V) && V->getName().starts_with(ShadowPrefix); }

bool isStaticVariable(const Value *V) {
  auto *Global = dyn_cast<GlobalVariable>(V);
  return Global && Global->hasLocalLinkage() && !Global->isConstant();
}

// Why the instruction stands in the way, in the user's words; empty where it does not.
StringRef obstacle(const Instruction &I) {
  if (auto *Call = dyn_cast<CallBase>(&I)) {
    const Function *Callee = Call->getCalledFunction();
    if (!Callee)
      return Call->isInlineAsm() ? "inline assembly" : "a call through a pointer";
    StringRef Name = Callee->getName();
    if (Name.starts_with("__kmpc_"))
      return "a parallel region";
    bool Hidden = Name.starts_with(HiddenPrefix) && !Name.starts_with(BitsPrefix);
    bool IsNumber = Name.starts_with((HiddenPrefix + "llvm.expect.").str()); // what forward rules are given
    if (ruleOfGradient(Name) != RuleOfGradient::Other || IsNumber)
      return "";
    if (Name.starts_with(RulePrefix) || Hidden || Name.starts_with("llvm.nvvm.barrier") ||
        Name.starts_with("llvm.nvvm.shfl"))
      return "threads that work together";
  }
  for (const Use &U : I.operands())
    if (isActiveVariable(U->stripPointerCasts()))
      return "an active variable";
    else if (isStaticVariable(U->stripPointerCasts()))
      return "a static variable";
  return "";
}

// A way around it.
StringRef wayAround(StringRef Obstacle) {
  return StringSwitch<StringRef>(Obstacle)
      .Case("an active variable", "pass the variable as a parameter or leave it const, or ")
      .Case("a parallel region", "take them of a function with the same loop and no region, or ")
      .Case("dynamic shared memory", "declare the shared array with its size, or ")
      .Default("");
}

// Whether it can be adopted.
bool check(Function &Gradient) {
  const Instruction *I = firstReached(Gradient, [](const Instruction &Each) { return !obstacle(Each).empty(); });
  bool IsDynamic = any_of(sharedNames(Gradient), [&](StringRef Name) {
    const GlobalVariable *Array = Gradient.getParent()->getNamedGlobal(Name);
    return !Array || Array->isDeclaration();
  });
  if (!I && !IsDynamic)
    return true;
  StringRef What = I ? obstacle(*I) : "dynamic shared memory";
  refuse(&Gradient, I ? I->getDebugLoc() : DebugLoc(), ("cannot take second derivatives through " + What).str(),
         (wayAround(What) + "take differences of gradients: (vjp at x + h v) - (vjp at x - h v)").str());
  return false;
}

// What cannot be adopted does nothing, and takes the parameters alone.
Function *emptied(Function &Gradient) {
  unsigned Count = Gradient.arg_size() - 2 * sharedNames(Gradient).size();
  auto *Type =
      FunctionType::get(Gradient.getReturnType(), Gradient.getFunctionType()->params().take_front(Count), false);
  auto *Empty = Function::Create(Type, GlobalValue::ExternalLinkage, "", Gradient.getParent());
  AttributeList All = Gradient.getAttributes();
  SmallVector<AttributeSet> Parameters;
  for (unsigned I = 0; I < Count; ++I)
    Parameters.push_back(All.getParamAttrs(I));
  Empty->setAttributes(AttributeList::get(Gradient.getContext(), All.getFnAttrs(), All.getRetAttrs(), Parameters));
  if (Gradient.hasFnAttribute(SharedAttribute)) // a kernel
    Empty->addFnAttr(SharedAttribute, "");
  ReturnInst::Create(Gradient.getContext(), BasicBlock::Create(Gradient.getContext(), "entry", Empty));
  Empty->takeName(&Gradient);
  makeDeclaration(Gradient);
  return Empty;
}

// A struct that holds pointers has a struct as its shadow.
void markShadowStructs(Function &Gradient) {
  SmallVector<Activity> Activities = activitiesOf(Gradient);
  unsigned Shadow = Activities.size();
  for (auto [Index, A] : enumerate(Activities)) {
    if (A == Activity::Const)
      continue;
    if (uint64_t Bytes = structBytes(Gradient, Index); Bytes && A == Activity::Duplicated)
      Gradient.addParamAttr(Shadow, Gradient.getAttributeAtIndex(Index + 1, StructAttribute));
    ++Shadow;
  }
}

// The threads of the block share the words.
void zeroWords(Function &F, Value *Array, uint64_t Bytes) {
  constexpr uint64_t Word = 8;
  uint64_t Step = MinAlign(Bytes, Word);
  Instruction *Start = &*F.getEntryBlock().getFirstNonPHIOrDbgOrAlloca();
  IRBuilder<> B(Start);
  Value *First = threadInBlock(B), *Threads = threadsOfBlock(B);
  forStrided(*Start, First, Threads, B.getInt32(Bytes / Step), "word", [&](IRBuilder<> &Each, Value *Index) {
    Value *Offset = Each.CreateMul(Each.CreateZExt(Index, Each.getInt64Ty()), Each.getInt64(Step));
    Each.CreateMemSet(Each.CreateGEP(Each.getInt8Ty(), Array, Offset), Each.getInt8(0), Step, Align(Step));
  });
}

// Cotangents of shared arrays are shared arrays of the body.
void adoptShared(Function &Gradient) {
  Module &M = *Gradient.getParent();
  SmallVector<StringRef> Names = sharedNames(Gradient);
  std::string All = join(Names, ":");
  for (StringRef Name : Names)
    All += (":" + CotangentsPrefix + Name).str();
  Type *Pointer = PointerType::getUnqual(M.getContext());
  IRBuilder<> B(&*Gradient.getEntryBlock().getFirstNonPHIOrDbgOrAlloca());
  FunctionCallee Wait =
      M.getOrInsertFunction((RulePrefix + "barrier_augmented").str(), B.getVoidTy(), Pointer, Pointer);
  Value *Anchor = Gradient.getArg(Gradient.arg_size() - 1);
  B.CreateCall(Wait, {Anchor, Anchor})->addFnAttr(Attribute::Convergent);
  for (auto [Index, Name] : enumerate(Names)) {
    unsigned At = Gradient.arg_size() - Names.size() + Index;
    Gradient.removeParamAttr(At, SharedShadowAttribute);
    zeroWords(Gradient, Gradient.getArg(At),
              M.getDataLayout().getTypeAllocSize(M.getNamedGlobal(Name)->getValueType()));
  }
  Gradient.addFnAttr(SharedAttribute, All);
}

void adopt(Function &Gradient) {
  markShadowStructs(Gradient);
  std::string Name = (BodyPrefix + symbolOf(Gradient)).str();
  if (Function *Body = Gradient.getParent()->getFunction(Name)) {
    makeDeclaration(*Body);
    Body->setName(SealedPrefix + Name);
  }
  Gradient.setName(Name);
  Gradient.removeFnAttr(ActivityAttribute);
  if (!sharedNames(Gradient).empty())
    adoptShared(Gradient);
}

// Variables stay where they are: only the names of what others may see are needed.
void leaveVariables(Module &M) {
  for (GlobalVariable &Global : M.globals())
    if (!Global.isDeclaration() && !Global.hasLocalLinkage() && !Global.hasAppendingLinkage()) {
      Global.setInitializer(nullptr);
      Global.setLinkage(GlobalValue::ExternalLinkage);
      Global.setComdat(nullptr);
    }
}

// What had no derivative in the gradient may have a tangent.
void forgetConstants(Module &M) {
  for (Function &F : M)
    for (Instruction &I : instructions(F))
      I.setMetadata(InactiveMark, nullptr);
}

} // namespace

ADGEN_DECLARE_PASS_WITH_OPTION(AdoptGradients);

PreservedAnalyses AdoptGradients::run(Module &M, ModuleAnalysisManager &) {
  SmallVector<Function *> Gradients, Others;
  for (Function &F : M)
    if (F.getName().starts_with(GradientPrefix) && !F.isDeclaration())
      Gradients.push_back(&F);
    else if (isKernel(F) || isDerivative(F))
      Others.push_back(&F);
  for (Function *F : Others)
    makeDeclaration(*F);
  for (Function *Gradient : Gradients)
    adopt(check(*Gradient) ? *Gradient : *emptied(*Gradient));
  leaveVariables(M);
  forgetConstants(M);
  openUserGradients(M);
  openRules(M, Option);
  markForInlining(M);
  for (Function &F : M)
    if (isMathematics(F))
      F.removeFnAttr(Attribute::AlwaysInline);
  return PreservedAnalyses::none();
}

} // namespace adgen
