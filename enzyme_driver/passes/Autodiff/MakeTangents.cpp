// For every entry of the option ("symbol=activity:activity;..."), makes
//   void adgen_tangent_SYMBOL(parameters..., tangents..., shared arrays..., their tangents..., [place of the result's
//   tangent])
// that has Enzyme carry tangents through the body. It runs the primal beside it. Tangents stand for the parameters that
// are not const, in order; that of a scalar or a struct by value that is active lies behind a pointer.
//
// A pointer to constant memory is its own shadow to Enzyme, which looks when the code runs whether a tangent is read
// behind it: a pointer may lead to either kind of memory.
#include "Support/Derivative.h"
#include "Support/Pass.h"

using namespace llvm;

namespace adgen {
namespace {

// A kernel may change its copy of a struct, and then the tangent with it.
Value *ownCopy(IRBuilder<> &B, Value *Struct, uint64_t Bytes) {
  AllocaInst *Own = B.CreateAlloca(ArrayType::get(B.getInt8Ty(), Bytes), nullptr, "own");
  Own->setAlignment(Align(16));
  B.CreateMemCpy(Own, Align(16), Struct, Align(1), Bytes);
  return Own;
}

// The tangent as Enzyme takes it.
Value *tangentOf(IRBuilder<> &B, const BodyLayout &L, unsigned Index, Argument *Given) {
  if (L.Activities[Index] == Activity::Duplicated)
    return Given;
  if (uint64_t Bytes = structBytes(L.Body, Index))
    return ownCopy(B, Given, Bytes);
  return B.CreateLoad(L.Body.getArg(Index)->getType(), Given);
}

void makeTangent(Function &Body, ArrayRef<Activity> Activities) {
  BodyLayout L(Body, Activities);
  LLVMContext &Context = Body.getContext();
  Function *Tangent = createDerivative(L, TangentPrefix, TangentActivityAttribute,
                                       L.ReturnsValue ? PointerType::getUnqual(Context) : nullptr);
  IRBuilder<> B(BasicBlock::Create(Context, "entry", Tangent));
  EnzymeCall Call(B, Body);
  Call.add("enzyme_runtime_activity", {});
  unsigned Next = L.parameters();
  for (auto [Index, A] : enumerate(Activities)) {
    Argument *Primal = Tangent->getArg(Index);
    if (A == Activity::Const) {
      Call.constant(Primal);
      continue;
    }
    Argument *Given = Tangent->getArg(Next++);
    Given->setName("d_" + Primal->getName());
    Call.duplicated(Primal, tangentOf(B, L, Index, Given));
  }
  for (unsigned I = 0; I < L.Shared; ++I)
    Call.duplicated(Tangent->getArg(Next + I), Tangent->getArg(Next + L.Shared + I));
  if (L.ReturnsValue) {
    Tangent->addFnAttr(ResultAttribute);
    Argument *Place = Tangent->getArg(Tangent->arg_size() - 1);
    AllocaInst *Value = B.CreateAlloca(L.Result, nullptr, "result");
    B.CreateStore(Constant::getNullValue(L.Result), Value);
    if (L.Result->isFloatingPointTy()) {
      B.CreateStore(Constant::getNullValue(L.Result), Place);
      Call.duplicated(Value, Place);
    } else {
      Call.constant(Value);
    }
  }
  Call.emit(ForwardPrefix, B.getVoidTy());
  B.CreateRetVoid();
}

} // namespace

ADGEN_DECLARE_PASS_WITH_OPTION(MakeTangents);

PreservedAnalyses MakeTangents::run(Module &M, ModuleAnalysisManager &) {
  forEachPlanned(M, Option, "adgen-make-tangents",
                 [](Function &Body, const EntryPlan &Plan) { makeTangent(Body, Plan.Activities); });
  return PreservedAnalyses::none();
}

} // namespace adgen
