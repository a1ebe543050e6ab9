// For every entry of the option ("symbol=activity:activity;..."), makes
//   void adgen_gradient_SYMBOL(parameters..., shadows..., shared arrays..., their shadows..., [cotangent of the
//   result])
// that calls Enzyme's autodiff of the body. Shadows stand for the parameters that are not const, in order. A scalar
// that is active has a pointer as its shadow, to which every thread adds its part.
#include "Analysis/Cooperates.h"
#include "Analysis/SharedConstants.h"
#include "Support/Derivative.h"
#include "Support/Pass.h"

#include "llvm/IR/InstIterator.h"

using namespace llvm;

namespace adgen {
namespace {

class AutodiffCall : public EnzymeCall {
public:
  using EnzymeCall::EnzymeCall;

  void active(Value *Primal, Value *Shadow) {
    add("enzyme_out", {Primal});
    Outs.push_back({Primal->getType(), Shadow});
  }
  // An active struct has a shadow of its own in each thread: the kernel may change its copy of the struct.
  void activeStruct(Value *Primal, Value *Shadow, uint64_t Bytes, ArrayRef<FloatMember> Members) {
    AllocaInst *Own = B.CreateAlloca(ArrayType::get(B.getInt8Ty(), Bytes), nullptr, "own");
    Own->setAlignment(Align(16));
    B.CreateMemSet(Own, B.getInt8(0), Bytes, Align(16));
    duplicated(Primal, Own);
    Structs.push_back({Own, Shadow, SmallVector<FloatMember>(Members)});
  }

  void zero(Value *Struct, ArrayRef<FloatMember> Members) {
    for (const FloatMember &Member : Members)
      B.CreateStore(Constant::getNullValue(floatOf(Member)), member(Struct, Member));
  }

  void emit() {
    SmallVector<Type *> Types;
    for (auto &[Type, Shadow] : Outs)
      Types.push_back(Type);
    Type *Result = Outs.empty() ? B.getVoidTy() : StructType::get(B.getContext(), Types);
    CallInst *Call = EnzymeCall::emit(AutodiffPrefix, Result);
    for (auto [Index, Out] : enumerate(Outs))
      accumulate(Out.second, B.CreateExtractValue(Call, Index));
    for (const OwnStruct &Struct : Structs)
      for (const FloatMember &Member : Struct.Members)
        accumulate(member(Struct.Shadow, Member), B.CreateLoad(floatOf(Member), member(Struct.Own, Member)));
  }

private:
  struct OwnStruct {
    Value *Own, *Shadow;
    SmallVector<FloatMember> Members;
  };

  Value *member(Value *Struct, const FloatMember &Member) {
    return B.CreateConstInBoundsGEP1_64(B.getInt8Ty(), Struct, Member.Offset);
  }
  Type *floatOf(const FloatMember &Member) {
    switch (Member.Bytes) {
    case 2:
      return B.getHalfTy();
    case 4:
      return B.getFloatTy();
    case 8:
      return B.getDoubleTy();
    default: // long double
      return Type::getX86_FP80Ty(B.getContext());
    }
  }
  void accumulate(Value *Shadow, Value *Part) {
    B.CreateAtomicRMW(AtomicRMWInst::FAdd, Shadow, Part, MaybeAlign(), AtomicOrdering::Monotonic);
  }

  SmallVector<std::pair<Type *, Value *>> Outs;
  SmallVector<OwnStruct> Structs;
};

// `Waits`: a kernel in which threads may see what others have written.
void addParameters(AutodiffCall &Call, const BodyLayout &L, const EntryPlan &Plan, bool Waits, Function &Gradient) {
  unsigned Shadow = L.parameters();
  for (auto [Index, A] : enumerate(L.Activities)) {
    Argument *Primal = Gradient.getArg(Index);
    if (A == Activity::Const) {
      Call.constant(Primal);
      continue;
    }
    Argument *Adjoint = Gradient.getArg(Shadow++);
    Adjoint->setName("d_" + Primal->getName());
    // LLVM takes it that nothing but the argument changes what is noalias, not even a barrier behind which others have.
    if (!Waits)
      Adjoint->addAttr(Attribute::NoAlias);
    if (StringRef Offsets = Plan.ConstMembers[Index]; !Offsets.empty())
      L.Body.addParamAttr(Index, Attribute::get(Gradient.getContext(), ConstMembersAttribute, Offsets));
    uint64_t Bytes = structBytes(L.Body, Index);
    if (!Bytes || A == Activity::Active) // else a struct of pointers, of which each thread has a copy
      Gradient.addParamAttr(Adjoint->getArgNo(), Attribute::get(Gradient.getContext(), ShadowAttribute));
    if (StringRef Said = Plan.OfShadows[Index]; !Said.empty())
      Gradient.addParamAttr(Adjoint->getArgNo(), Attribute::get(Gradient.getContext(), Said));
    SmallVector<FloatMember> Members = floatMembers(L.Body, Index);
    if (Bytes && A == Activity::Active)
      Call.activeStruct(Primal, Adjoint, Bytes, Members);
    else
      Primal->getType()->isPointerTy() ? Call.duplicated(Primal, Adjoint) : Call.active(Primal, Adjoint);
    if (Bytes && A == Activity::Duplicated && L.isKernel()) // each thread has a copy, whose numbers are no cotangents
      Call.zero(Adjoint, Members);
  }
  Constants Known(L.Body, L.Activities);
  SmallVector<StringRef> Names = sharedNames(L.Body);
  for (unsigned I = 0; I < L.Shared; ++I) {
    if (Known.isArray(L.Body.getArg(L.parameters() + I))) {
      Call.constant(Gradient.getArg(Shadow + I));
      continue;
    }
    Argument *Adjoint = Gradient.getArg(Shadow + L.Shared + I);
    const GlobalVariable *Array = Gradient.getParent()->getNamedGlobal(Names[I]);
    StringRef Size = Array && !Array->isDeclaration() ? StringRef(StaticArray) : "";
    Gradient.addParamAttr(Adjoint->getArgNo(), Attribute::get(Gradient.getContext(), SharedShadowAttribute, Size));
    Call.duplicated(Gradient.getArg(Shadow + I), Adjoint);
  }
}

void makeGradient(Function &Body, const EntryPlan &Plan) {
  Module &M = *Body.getParent();
  BodyLayout L(Body, Plan.Activities);
  bool Waits = L.isKernel() && any_of(instructions(Body), ordersThreads);
  Function *Gradient = createDerivative(L, GradientPrefix, ActivityAttribute, L.ReturnsValue ? L.Result : nullptr);
  IRBuilder<> B(BasicBlock::Create(M.getContext(), "entry", Gradient));
  AutodiffCall Call(B, Body);
  addParameters(Call, L, Plan, Waits, *Gradient);
  if (L.ReturnsValue) {
    Value *Value = B.CreateAlloca(L.Result, nullptr, "result");
    llvm::Value *Cotangent = B.CreateAlloca(L.Result, nullptr, "cotangent");
    B.CreateStore(Constant::getNullValue(L.Result), Value);
    B.CreateStore(Gradient->getArg(Gradient->arg_size() - 1), Cotangent);
    Call.duplicated(Value, Cotangent);
  }
  Call.emit();
  B.CreateRetVoid();
}

} // namespace

ADGEN_DECLARE_PASS_WITH_OPTION(MakeGradients);

PreservedAnalyses MakeGradients::run(Module &M, ModuleAnalysisManager &) {
  forEachPlanned(M, Option, "adgen-make-gradients", makeGradient);
  return PreservedAnalyses::none();
}

} // namespace adgen
