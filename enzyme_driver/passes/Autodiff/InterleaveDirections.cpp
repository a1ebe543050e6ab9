// Of each function that carries tangents along one direction (adgen_tangent_SYMBOL), as Enzyme has made it, makes
//   void adgen_directions_SYMBOL(parameters..., tangents..., [place of the tangents of the result])
// which carries them along as many directions as the option says, beside each other (InterleavedFunction.h): behind
// each pointer to tangents, those of a number along all directions follow each other. Where a function does something
// that has no such form, the entry is refused along several directions, and nothing else is.
#include "Autodiff/InterleavedFunction.h"
#include "Support/Adgen.h"
#include "Support/Pass.h"

#include "llvm/IR/DebugInfoMetadata.h"

#include <map>
#include <set>

using namespace llvm;

namespace adgen {
namespace {

class Interleaving : public InterleavedCalls, InterleavedTypes {
public:
  explicit Interleaving(unsigned Directions) : InterleavedTypes(Directions) {}

  Function *copyOf(Function &F, Members Shadows) override {
    auto [Known, IsNew] = Made.try_emplace({&F, Shadows}, nullptr);
    if (!IsNew)
      return Known->second;
    if (F.arg_size() > LargestCall || F.isVarArg())
      return nullptr;
    const ShadowValues &Values = valuesOf(F, Shadows);
    SmallVector<Type *> Types;
    for (Argument &A : F.args())
      Types.push_back(of(A.getType(), Shadows >> A.getArgNo() & 1));
    Type *Result = of(F.getReturnType(), Values.ofResult());
    if (!Result || is_contained(Types, nullptr))
      return nullptr;
    Function *Copy = Function::Create(FunctionType::get(Result, Types, false), GlobalValue::InternalLinkage,
                                      F.getName() + ".beside", F.getParent());
    Known->second = Copy;
    if (const Instruction *Stop = InterleavedFunction(Directions, *this, Values, F, *Copy).write(); Stop && !Failed)
      Failed = Stop;
    Copy->setLinkage(GlobalValue::InternalLinkage);
    Copy->setComdat(nullptr);
    return Copy;
  }

  const ShadowValues &valuesOf(Function &F, Members Shadows) override {
    Key Of{&F, Shadows};
    for (size_t Before = Order.size(); !Analysed[Of]; forgetSince(Before, Of)) {
      Members Assumed = Results[Of];
      auto OfResult = [this](CallBase &Call, Members Arguments) { return ofResult(Call, Arguments); };
      auto Values = std::make_unique<ShadowValues>(F, Shadows, OfResult);
      Results[Of] = Assumed | Values->ofResult();
      if (Results[Of] != Assumed && Recursive.count(Of))
        continue;
      Analysed[Of] = std::move(Values);
      Order.push_back(Of);
      break;
    }
    return *Analysed[Of];
  }

  // What has no form along several directions, if anything.
  const Instruction *failed() const { return Failed; }

  void forget() {
    for (auto &[Key, Copy] : Made)
      if (Copy)
        Copy->dropAllReferences();
    for (auto &[Key, Copy] : Made)
      if (Copy) {
        Copy->replaceAllUsesWith(PoisonValue::get(Copy->getType()));
        Copy->eraseFromParent();
      }
  }

private:
  using Key = std::pair<Function *, Members>;

  Members ofResult(CallBase &Call, Members Arguments) {
    Function *Callee = Call.getCalledFunction();
    if (Callee->getReturnType()->isVoidTy() || Callee->arg_size() > LargestCall)
      return 0;
    Key Of{Callee, Arguments};
    auto Known = Analysed.find(Of);
    if (Known == Analysed.end() || Known->second)
      return valuesOf(*Callee, Arguments).ofResult();
    Recursive.insert(Of); // it is asked for while it is being found out, and once more where it turns out otherwise
    return Results[Of];
  }

  void forgetSince(size_t Before, const Key &But) {
    for (; Order.size() > Before; Order.pop_back())
      if (Order.back() != But)
        Analysed.erase(Order.back());
  }

  std::map<Key, Function *> Made;
  std::map<Key, std::unique_ptr<ShadowValues>> Analysed;
  std::map<Key, Members> Results;
  std::set<Key> Recursive;
  SmallVector<Key> Order; // in which functions were analysed
  const Instruction *Failed = nullptr;
};

using Instructions = DenseSet<const Instruction *>;

// Of a lock, which has a shadow as Enzyme wants one, nothing is carried.
bool ordersThreads(const Instruction &I) {
  auto *Call = dyn_cast<CallBase>(&I);
  return Call && Call->getCalledFunction() && Call->getCalledFunction()->getName().contains("adgen_rule_omp_");
}

// What uses the shadow of a variable, which is one for all directions.
Instructions usesOfVariables(const Module &M) {
  SmallVector<const Value *> Ways;
  for (const GlobalVariable &Variable : M.globals())
    if (const MDNode *Said = Variable.getMetadata(ShadowMetadata))
      Ways.push_back(cast<ValueAsMetadata>(Said->getOperand(0))->getValue());
  Instructions Found;
  while (!Ways.empty())
    for (const User *U : Ways.pop_back_val()->users())
      if (auto *I = dyn_cast<Instruction>(U); !I)
        Ways.push_back(U);
      else if (!ordersThreads(*I))
        Found.insert(I);
  return Found;
}

void refuseSeveral(Function &Tangent, const Instruction *Stop, StringRef What) {
  Function *Entry = Function::Create(Tangent.getFunctionType(), GlobalValue::ExternalLinkage,
                                     DirectionsPrefix + symbolOf(Tangent), Tangent.getParent());
  refuse(Entry, Stop ? Stop->getDebugLoc() : DebugLoc(), ("several directions are not carried at once" + What).str(),
         "the directions are taken one after another");
  Entry->eraseFromParent();
}

void interleave(Function &Tangent, unsigned Directions, const Instructions &OfVariables) {
  unsigned Parameters = activitiesOf(Tangent).size();
  if (const Instruction *Use = firstReached(Tangent, [&](const Instruction &I) { return OfVariables.contains(&I); }))
    return refuseSeveral(Tangent, Use, ": a variable has one shadow");
  if (Tangent.arg_size() >= LargestCall)
    return refuseSeveral(Tangent, nullptr, ": too many parameters");
  Interleaving Made(Directions);
  Function *Copy = Made.copyOf(Tangent, (Members(1) << Tangent.arg_size()) - (Members(1) << Parameters));
  if (const Instruction *Stop = Made.failed(); Stop || !Copy) {
    refuseSeveral(Tangent, Stop, Stop ? (Twine(" through this ") + Stop->getOpcodeName()).str() : "");
    return Made.forget();
  }
  Copy->setName(DirectionsPrefix + symbolOf(Tangent));
  Copy->setLinkage(GlobalValue::ExternalLinkage);
  Copy->addFnAttr(DirectionsAttribute, std::to_string(Directions));
}

} // namespace

ADGEN_DECLARE_PASS_WITH_OPTION(InterleaveDirections);

PreservedAnalyses InterleaveDirections::run(Module &M, ModuleAnalysisManager &) {
  unsigned Directions = 0;
  if (StringRef(Option).getAsInteger(10, Directions) || Directions < 2)
    report_fatal_error("adgen-interleave-directions: the option is how many directions, 2 or more");
  SmallVector<Function *> Tangents;
  for (Function &F : M)
    if (F.getName().starts_with(TangentPrefix) && !F.isDeclaration())
      Tangents.push_back(&F);
  Instructions OfVariables = usesOfVariables(M);
  for (Function *Tangent : Tangents)
    interleave(*Tangent, Directions, OfVariables);
  return PreservedAnalyses::none();
}

} // namespace adgen
