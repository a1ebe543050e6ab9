// For every entry of the option ("symbol=activity:activity;..."), makes
//   void adgen_tangent_SYMBOL(parameters..., tangents..., shared arrays..., their tangents..., [place of the result's
//   tangent])
// that has Enzyme carry tangents through the body. It runs the primal beside it. Tangents stand for the parameters that
// are not const, in order; that of a scalar or a struct by value that is active lies behind a pointer.
//
// For `directions;symbol=...`, MakeDirections makes
//   void adgen_directions_SYMBOL(parameters..., tangents..., [place of the tangents of the result])
// with so many tangents for each such parameter, one behind the other, which are carried together: Enzyme does each
// operation once, and its derivative for all directions beside each other.
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

// What the function returns is memory to Enzyme; its tangents, one behind the other, lie at the last argument.
void addResult(EnzymeCall &Call, IRBuilder<> &B, const BodyLayout &L, Function &Tangent, unsigned Directions) {
  Tangent.addFnAttr(ResultAttribute);
  AllocaInst *Value = B.CreateAlloca(L.Result, nullptr, "result");
  B.CreateStore(Constant::getNullValue(L.Result), Value);
  if (!L.Result->isFloatingPointTy())
    return Call.constant(Value);
  SmallVector<llvm::Value *> Places{Tangent.getArg(Tangent.arg_size() - 1)};
  for (unsigned I = 1; I < Directions; ++I)
    Places.push_back(B.CreateConstInBoundsGEP1_64(L.Result, Places.front(), I));
  for (llvm::Value *Place : Places)
    B.CreateStore(Constant::getNullValue(L.Result), Place);
  Call.duplicated(Value, Places);
}

void makeTangent(Function &Body, ArrayRef<Activity> Activities, unsigned Directions, StringRef Prefix) {
  BodyLayout L(Body, Activities);
  LLVMContext &Context = Body.getContext();
  Function *Tangent = createDerivative(L, Prefix, TangentActivityAttribute,
                                       L.ReturnsValue ? PointerType::getUnqual(Context) : nullptr, Directions);
  IRBuilder<> B(BasicBlock::Create(Context, "entry", Tangent));
  EnzymeCall Call(B, Body);
  if (Directions > 1) {
    Tangent->addFnAttr(DirectionsAttribute, std::to_string(Directions));
    Call.add("enzyme_width", {B.getInt64(Directions)});
  }
  Call.add("enzyme_runtime_activity", {});
  unsigned Next = L.parameters();
  for (auto [Index, A] : enumerate(Activities)) {
    Argument *Primal = Tangent->getArg(Index);
    if (A == Activity::Const) {
      Call.constant(Primal);
      continue;
    }
    SmallVector<Value *> Tangents;
    for (unsigned I = 0; I < Directions; ++I) {
      Argument *Given = Tangent->getArg(Next++);
      Given->setName("d_" + Primal->getName());
      Tangents.push_back(tangentOf(B, L, Index, Given));
    }
    Call.duplicated(Primal, Tangents);
  }
  for (unsigned I = 0; I < L.Shared; ++I) {
    SmallVector<Value *> Tangents;
    for (unsigned Direction = 0; Direction < Directions; ++Direction)
      Tangents.push_back(Tangent->getArg(Next + (1 + Direction) * L.Shared + I));
    Call.duplicated(Tangent->getArg(Next + I), Tangents);
  }
  if (L.ReturnsValue)
    addResult(Call, B, L, *Tangent, Directions);
  Call.emit(Directions > 1 ? ForwardTogetherPrefix : ForwardPrefix, B.getVoidTy());
  B.CreateRetVoid();
}

} // namespace

ADGEN_DECLARE_PASS_WITH_OPTION(MakeTangents);
ADGEN_DECLARE_PASS_WITH_OPTION(MakeDirections);

PreservedAnalyses MakeTangents::run(Module &M, ModuleAnalysisManager &) {
  forEachPlanned(M, Option, "adgen-make-tangents",
                 [](Function &Body, const EntryPlan &Plan) { makeTangent(Body, Plan.Activities, 1, TangentPrefix); });
  return PreservedAnalyses::none();
}

PreservedAnalyses MakeDirections::run(Module &M, ModuleAnalysisManager &) {
  auto [Count, Plans] = StringRef(Option).split(';');
  unsigned Directions = 0;
  if (Count.getAsInteger(10, Directions) || Directions < 2)
    report_fatal_error("adgen-make-directions: the option is how many directions, 2 or more, and a plan");
  forEachPlanned(M, Plans, "adgen-make-directions", [Directions = Directions](Function &Body, const EntryPlan &Plan) {
    makeTangent(Body, Plan.Activities, Directions, DirectionsPrefix);
  });
  return PreservedAnalyses::none();
}

} // namespace adgen
