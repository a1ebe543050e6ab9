// Functions with a gradient of ours (enzyme_gradient) get a forward derivative, NAME_forward, which Enzyme finds by
// metadata.
//   Mathematics, T adgen_math_NAME(arguments): the value, and the product of NAME_reverse with the arguments' tangents.
//   Products of a warp, T adgen_math_mma_NAME(factors): the value, and what NAME_tangent has, of both and their
//   tangents.
//   What moves a value, void adgen_rule_NAME(T *to, T *from, ...): the same with the tangents.
//   What chooses among threads' values, void adgen_rule_choose_NAME(T *place, T *value), and what clears the shadow of
//   a number, void adgen_rule_clear_BYTES(place): NAME_tangent of rules/.
//   What only orders threads, void adgen_rule_NAME(anchor, ...): itself.
// So do, for second derivatives, adgen_rule_NAME_augmented and _reverse of what moves values or orders threads.
// A derivative gets every argument twice: a pointer with its shadow, a number with its tangent, anything else with
// itself. A pointer that is constant comes with itself too.
//
// Calls through pointers have no forward form: Enzyme would hand a constant number over as its own tangent, and tables
// of functions have one shadow for both modes. An entry in which tangents would come to one is refused in forward mode.
#include "Support/Derivative.h"
#include "Support/OpenMP.h"
#include "Support/Pass.h"

#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "llvm/Transforms/Utils/ModuleUtils.h"

using namespace llvm;

namespace adgen {
namespace {

constexpr StringLiteral ProductPrefix = "adgen_math_mma_"; // rules/tensor_cores.cu
constexpr StringLiteral RefillRule = "adgen_rule_refill_";
constexpr StringLiteral ForwardMetadata = "enzyme_derivative";

Function *declareForward(Function &Rule, Type *Result) {
  SmallVector<Type *> Types;
  for (Argument &A : Rule.args())
    Types.append(2, A.getType());
  auto *F = Function::Create(FunctionType::get(Result, Types, false), GlobalValue::InternalLinkage,
                             Rule.getName() + "_forward", Rule.getParent());
  F->addFnAttr(Attribute::NoInline);
  F->setDoesNotThrow();
  return F;
}

Function *reverseOf(const Function &Rule) {
  auto *Reverse = cast<ValueAsMetadata>(Rule.getMetadata("enzyme_gradient")->getOperand(0));
  return cast<Function>(Reverse->getValue());
}

// Where a tangent is zero the derivative may be anything, such as that of a power by its exponent for a negative base.
Value *product(IRBuilder<> &B, Value *Derivative, Value *Tangent) {
  Value *Zero = Constant::getNullValue(Tangent->getType());
  return B.CreateSelect(B.CreateFCmpOEQ(Tangent, Zero), Zero, B.CreateFMul(Derivative, Tangent));
}

Function *forwardOfMathematics(Function &Rule) {
  Type *T = Rule.getReturnType();
  Function *Forward = declareForward(Rule, StructType::get(T, T));
  IRBuilder<> B(BasicBlock::Create(Rule.getContext(), "entry", Forward));
  Argument *Numbers = Forward->getArg(0), *Tangents = Forward->getArg(1);
  Value *Derivatives = B.CreateExtractValue(B.CreateCall(reverseOf(Rule), {Numbers, ConstantFP::get(T, 1.0)}), 0);
  Value *Sum = product(B, Derivatives, Tangents);
  if (auto *Vector = dyn_cast<FixedVectorType>(Numbers->getType())) {
    Value *Products = Sum;
    Sum = B.CreateExtractElement(Products, uint64_t(0));
    for (unsigned I = 1; I < Vector->getNumElements(); ++I)
      Sum = B.CreateFAdd(Sum, B.CreateExtractElement(Products, I));
  }
  Value *Both = B.CreateInsertValue(PoisonValue::get(Forward->getReturnType()), B.CreateCall(&Rule, {Numbers}), 0);
  B.CreateRet(B.CreateInsertValue(Both, Sum, 1));
  return Forward;
}

Function *forwardOfProduct(Function &Rule) {
  Type *T = Rule.getReturnType();
  Function *Forward = declareForward(Rule, StructType::get(T, T));
  IRBuilder<> B(BasicBlock::Create(Rule.getContext(), "entry", Forward));
  Argument *Factors = Forward->getArg(0), *Tangents = Forward->getArg(1);
  FunctionCallee Tangent = Rule.getParent()->getOrInsertFunction((Rule.getName() + "_tangent").str(), T,
                                                                 Factors->getType(), Factors->getType());
  auto Called = [&](FunctionCallee F, ArrayRef<Value *> Arguments) {
    CallInst *Call = B.CreateCall(F, Arguments);
    Call->addFnAttr(Attribute::Convergent);
    return Call;
  };
  Value *Both = B.CreateInsertValue(PoisonValue::get(Forward->getReturnType()), Called(&Rule, {Factors}), 0);
  B.CreateRet(B.CreateInsertValue(Both, Called(Tangent, {Factors, Tangents}), 1));
  Forward->addFnAttr(Attribute::Convergent);
  return Forward;
}

Function *forwardOfOrder(Function &Rule) {
  Function *Forward = declareForward(Rule, Type::getVoidTy(Rule.getContext()));
  IRBuilder<> B(BasicBlock::Create(Rule.getContext(), "entry", Forward));
  SmallVector<Value *> Arguments;
  for (unsigned I = 0; I < Forward->arg_size(); I += 2)
    Arguments.push_back(Forward->getArg(I));
  B.CreateCall(&Rule, Arguments)->addFnAttr(Attribute::Convergent);
  B.CreateRetVoid();
  Forward->addFnAttr(Attribute::Convergent);
  return Forward;
}

// What is constant has no tangent to be moved.
Function *forwardOfMove(Function &Rule) {
  Function *Forward = forwardOfOrder(Rule);
  Argument *To = Forward->getArg(0), *ToTangent = Forward->getArg(1), *From = Forward->getArg(2),
           *FromTangent = Forward->getArg(3);
  IRBuilder<> B(Forward->getEntryBlock().getTerminator());
  Type *T = Rule.getName().ends_with("_f64") ? B.getDoubleTy() : B.getFloatTy();
  AllocaInst *Sent = B.CreateAlloca(T), *Received = B.CreateAlloca(T);
  Value *Tangent =
      B.CreateSelect(B.CreateICmpEQ(From, FromTangent), ConstantFP::get(T, 0.0), B.CreateLoad(T, FromTangent));
  B.CreateStore(Tangent, Sent);
  SmallVector<Value *> Arguments{Received, Sent};
  for (unsigned I = 4; I < Forward->arg_size(); I += 2)
    Arguments.push_back(Forward->getArg(I));
  B.CreateCall(&Rule, Arguments)->addFnAttr(Attribute::Convergent);
  Value *Held = B.CreateLoad(T, ToTangent);
  B.CreateStore(B.CreateSelect(B.CreateICmpEQ(To, ToTangent), Held, B.CreateLoad(T, Received)), ToTangent);
  return Forward;
}

// Of a gradient: the same with the tangents of all numbers behind pointers, which are zero where there are none.
Function *forwardOfLinear(Function &Rule) {
  Function *Forward = forwardOfOrder(Rule);
  IRBuilder<> B(Forward->getEntryBlock().getTerminator());
  SmallVector<Value *> Arguments;
  for (unsigned I = 0; I < Forward->arg_size(); I += 2) {
    Argument *Number = Forward->getArg(I), *Tangent = Forward->getArg(I + 1);
    if (!Number->getType()->isPointerTy()) {
      Arguments.push_back(Number);
      continue;
    }
    AllocaInst *None = B.CreateAlloca(B.getInt64Ty());
    B.CreateStore(B.getInt64(0), None);
    Arguments.push_back(B.CreateSelect(B.CreateICmpEQ(Number, Tangent), None, Tangent));
  }
  B.CreateCall(&Rule, Arguments)->addFnAttr(Attribute::Convergent);
  return Forward;
}

// The first call through a pointer in what is called from a function.
bool isIndirectCall(const Instruction &I) {
  auto *Call = dyn_cast<CallBase>(&I);
  return Call && !Call->isInlineAsm() && !Call->getCalledFunction();
}

// Whose tangent it is that remains would be known behind the barrier alone.
bool choosesInShared(const Instruction &I) {
  auto *Call = dyn_cast<CallInst>(&I);
  StringRef Name = Call && Call->getCalledFunction() ? Call->getCalledFunction()->getName() : "";
  if (!Name.consume_front(RulePrefix) || !Name.starts_with(ChoicePrefix))
    return false;
  auto *Array = dyn_cast<Argument>(getUnderlyingObject(Call->getArgOperand(0), 0));
  const Function &Body = *I.getFunction();
  return Array && Array->getArgNo() >= Body.arg_size() - sharedNames(Body).size();
}

void refuseUnsupported(Function &Tangent, function_ref<bool(const Instruction &)> IsUnsupported, StringRef What,
                       StringRef Hint) {
  for (Instruction &I : instructions(Tangent)) {
    auto *Call = dyn_cast<CallInst>(&I);
    bool IsForward =
        Call && Call->getCalledFunction() && Call->getCalledFunction()->getName().starts_with(ForwardPrefix);
    if (const Instruction *Found =
            IsForward ? firstReached(*cast<Function>(Call->getArgOperand(0)), IsUnsupported) : nullptr)
      refuse(&Tangent, Found->getDebugLoc(), ("cannot carry tangents through " + What).str(), Hint);
  }
}

// A number that only a rule asks for, as the lane of a shuffle that a loop looks for, is an integer to Enzyme where it
// comes from a call that says so: else it wants a tangent for it, with which it knows no forward derivative.
void nameInteger(Use &Operand) {
  auto *Number = dyn_cast<Instruction>(Operand.get());
  if (!Number || !Number->getType()->isIntegerTy() || isa<CallBase>(Number))
    return;
  Type *T = Number->getType();
  Module &M = *Number->getModule();
  std::string Name = (HiddenPrefix + "llvm.expect.i" + Twine(T->getIntegerBitWidth())).str();
  FunctionCallee Same = M.getOrInsertFunction(Name, T, T, T);
  auto *F = cast<Function>(Same.getCallee());
  F->addFnAttr("enzyme_inactive");
  F->setDoesNotThrow();
  F->setDoesNotFreeMemory();
  F->setDoesNotAccessMemory();
  F->addRetAttr(Attribute::get(M.getContext(), "enzyme_type", "{[-1]:Integer}"));
  IRBuilder<> B(cast<Instruction>(Operand.getUser()));
  Operand.set(B.CreateCall(Same, {Number, ConstantInt::get(T, 0)}));
}

Function *forwardOfOwn(Function &Rule) {
  SmallVector<Type *> Pointers(2 * Rule.arg_size(), Rule.getArg(0)->getType());
  auto *Type = FunctionType::get(Rule.getReturnType(), Pointers, false);
  auto Forward = Rule.getParent()->getOrInsertFunction((Rule.getName() + "_tangent").str(), Type);
  cast<Function>(Forward.getCallee())->setDoesNotThrow();
  return cast<Function>(Forward.getCallee());
}

bool isCalledByGradients(const Function &F) {
  return ruleOfGradient(F.getName()) != RuleOfGradient::Other &&
         any_of(F.users(), [](const User *U) { return isa<CallInst>(U); });
}

// What keeps a number that is about to be overwritten takes two pointers too, and moves nothing.
bool movesValue(const Function &Rule) {
  return Rule.arg_size() > 1 && Rule.getArg(1)->getType()->isPointerTy() && !Rule.getName().starts_with(OverwriteRule);
}

// What fills a shared array again for the reverse sweep (adgen-rematerialize-shared-loads) is nothing to tangents: they
// are asked of a body without it, as the pointers to indices among what it takes have no tangent.
void leaveRefillsOut(Function &Tangent) {
  for (Instruction &I : instructions(Tangent)) {
    auto *Call = dyn_cast<CallInst>(&I);
    if (!Call || !Call->getCalledFunction() || !Call->getCalledFunction()->getName().starts_with(ForwardPrefix))
      continue;
    auto *Body = cast<Function>(Call->getArgOperand(0)->stripPointerCasts());
    auto Refills = [](const Instruction &Each) {
      auto *Filling = dyn_cast<CallInst>(&Each);
      return Filling && Filling->getCalledFunction() && Filling->getCalledFunction()->getName().starts_with(RefillRule);
    };
    if (none_of(instructions(*Body), Refills))
      continue;
    ValueToValueMapTy Map;
    Function *Copy = CloneFunction(Body, Map);
    Copy->setName(Body->getName() + ".forward");
    Copy->setLinkage(GlobalValue::InternalLinkage);
    for (Instruction &Each : make_early_inc_range(instructions(*Copy)))
      if (Refills(Each))
        Each.eraseFromParent();
    Call->setArgOperand(0, Copy);
  }
}

} // namespace

ADGEN_DECLARE_PASS(ForwardRules);

PreservedAnalyses ForwardRules::run(Module &M, ModuleAnalysisManager &) {
  SmallVector<Function *> Rules, Tangents;
  for (Function &F : M)
    if (F.getName().starts_with(TangentPrefix))
      Tangents.push_back(&F);
  for (Function *Tangent : Tangents)
    leaveRefillsOut(*Tangent);
  for (Function &F : M)
    if (F.getName().starts_with(TangentPrefix)) {
      refuseUnsupported(F, isIndirectCall, "a call through a function pointer or a virtual function",
                        "call the function by its name, or use the gradient");
      refuseUnsupported(F, choosesInShared, "a maximum or minimum by atomics in shared memory", "use the gradient");
    } else if (F.hasMetadata("enzyme_gradient") || isCalledByGradients(F))
      Rules.push_back(&F);
  for (Function *Rule : Rules) {
    if (Rule->getName().starts_with(RulePrefix))
      for (User *U : Rule->users())
        if (auto *Call = dyn_cast<CallInst>(U); Call && Call->getFunction()->getName().starts_with(BodyPrefix))
          for (Use &Operand : Call->args())
            nameInteger(Operand);
    bool IsMathematics = !Rule->getReturnType()->isVoidTy();
    bool IsProduct = Rule->getName().starts_with(ProductPrefix);
    RuleOfGradient OfGradient = ruleOfGradient(Rule->getName());
    bool HasTangent = any_of(ArrayRef<StringRef>{ChoicePrefix, ClearPrefix}, [&](StringRef Prefix) {
      return Rule->getName().starts_with((RulePrefix + Prefix).str());
    });
    Function *Forward = HasTangent                                                 ? forwardOfOwn(*Rule)
                        : IsProduct                                                ? forwardOfProduct(*Rule)
                        : IsMathematics                                            ? forwardOfMathematics(*Rule)
                        : OfGradient == RuleOfGradient::Moves                      ? forwardOfLinear(*Rule)
                        : OfGradient == RuleOfGradient::Other && movesValue(*Rule) ? forwardOfMove(*Rule)
                                                                                   : forwardOfOrder(*Rule);
    appendToCompilerUsed(M, {Forward}); // metadata alone does not keep it
    Rule->setMetadata(ForwardMetadata, MDTuple::get(M.getContext(), {ValueAsMetadata::get(Forward)}));
  }
  return PreservedAnalyses::none();
}

} // namespace adgen
