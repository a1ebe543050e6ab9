// Finds the shared arrays that are constants to the differentiation: those that hold nothing but what comes from
// parameters that are const, and to which nothing is written behind a read. Such an array (a small matrix, taps,
// weights) needs no shadow, and what was read from it can be read again in the reverse sweep without having been kept.
// Their numbers become an attribute of the body.
#include "Analysis/SharedConstants.h"
#include "Support/Pass.h"

#include "llvm/Analysis/CFG.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Dominators.h"

#define DEBUG_TYPE "adgen-find-shared-constants"

using namespace llvm;

STATISTIC(NumConstant, "Number of shared arrays that hold nothing but constants");

namespace adgen {
namespace {

struct Uses {
  SmallVector<const LoadInst *> Loads;
  SmallVector<const StoreInst *> Stores;
};

// All loads and stores of an array; false where it is used in another way.
bool collect(const Value *Pointer, Uses &Found) {
  for (const User *U : Pointer->users()) {
    if (auto *Load = dyn_cast<LoadInst>(U); Load && Load->isSimple())
      Found.Loads.push_back(Load);
    else if (auto *Store = dyn_cast<StoreInst>(U); Store && Store->isSimple() && Store->getPointerOperand() == Pointer)
      Found.Stores.push_back(Store);
    else if (!isa<GetElementPtrInst, AddrSpaceCastInst>(U) || !collect(U, Found))
      return false;
  }
  return true;
}

bool isSettled(const Uses &Of, const DominatorTree &DT) {
  return none_of(Of.Loads, [&](const LoadInst *Load) {
    return any_of(Of.Stores, [&](const StoreInst *Store) { return isPotentiallyReachable(Load, Store, nullptr, &DT); });
  });
}

bool isStatic(const Module &M, StringRef Name) {
  const GlobalVariable *Array = M.getNamedGlobal(Name);
  return Array && !Array->isDeclaration();
}

// Of what lanes do together the result depends on more than the arguments.
bool isMathematics(const CallBase &Call) {
  const Function *Callee = Call.getCalledFunction();
  bool IsAlone = Callee && (!Callee->getName().starts_with("adgen_") || Callee->hasFnAttribute(MathAttribute) ||
                            Callee->getName().starts_with(MathPrefix));
  return IsAlone && !Call.mayReadOrWriteMemory() &&
         none_of(Call.args(), [](const Value *V) { return V->getType()->isPointerTy(); });
}

const Argument *argumentBehind(const Value *Pointer) { return dyn_cast<Argument>(getUnderlyingObject(Pointer, 0)); }

} // namespace

Constants::Constants(const Function &Body, ArrayRef<Activity> Activities) : Activities(Activities) {
  SmallVector<StringRef> Numbers;
  Body.getFnAttribute(SharedConstantsAttribute).getValueAsString().split(Numbers, ':', -1, false);
  unsigned First = Body.arg_size() - sharedNames(Body).size();
  for (StringRef Number : Numbers)
    Arrays.insert(Body.getArg(First + std::stoul(Number.str())));
}

bool Constants::isLoadOfConstant(const LoadInst &Load) const {
  if (auto *Variable = dyn_cast<GlobalVariable>(getUnderlyingObject(Load.getPointerOperand(), 0)))
    return Variable->hasMetadata("enzyme_inactive");
  const Argument *A = argumentBehind(Load.getPointerOperand());
  if (!A)
    return false;
  return A->getArgNo() < Activities.size() ? Activities[A->getArgNo()] == Activity::Const : Arrays.contains(A);
}

bool isMadeOf(const Value *Number, function_ref<bool(const Value &)> IsConstant) {
  SmallVector<const Value *> Work{Number};
  SmallPtrSet<const Value *, 16> Seen;
  while (!Work.empty()) {
    const Value *V = Work.pop_back_val();
    if (!V->getType()->isFPOrFPVectorTy() || isa<Constant>(V) || !Seen.insert(V).second)
      continue;
    auto *Call = dyn_cast<CallBase>(V);
    bool Arithmetic =
        isa<BinaryOperator, UnaryOperator, PHINode, SelectInst, FPExtInst, FPTruncInst, SIToFPInst, UIToFPInst>(V);
    if (Arithmetic || (Call && isMathematics(*Call)))
      append_range(Work, cast<Instruction>(V)->operands());
    else if (!IsConstant(*V))
      return false;
  }
  return true;
}

bool Constants::isConstant(const Value *Number) const {
  return isMadeOf(Number, [&](const Value &V) {
    if (auto *A = dyn_cast<Argument>(&V))
      return A->getArgNo() < Activities.size() && Activities[A->getArgNo()] == Activity::Const;
    auto *Load = dyn_cast<LoadInst>(&V);
    return Load && isLoadOfConstant(*Load);
  });
}

static bool holdsConstants(const Argument *A, const Constants &Known) {
  Uses Found;
  return collect(A, Found) && all_of(Found.Stores, [&](const StoreInst *Store) {
           const Value *Held = Store->getValueOperand();
           return Held->getType()->isFPOrFPVectorTy() && Known.isConstant(Held);
         });
}

static void findConstants(Function &Body, ArrayRef<Activity> Activities) {
  DominatorTree DT(Body);
  auto Names = sharedNames(Body);
  SmallVector<const Argument *> Arrays;
  for (auto [Index, Name] : enumerate(Names)) {
    Uses Found;
    const Argument *A = Body.getArg(Activities.size() + Index);
    if (isStatic(*Body.getParent(), Name) && collect(A, Found) && isSettled(Found, DT))
      Arrays.push_back(A);
  }
  // What an array holds may come from another one: those that turn out to hold something else leave, and then their
  // readers.
  for (unsigned Before = ~0u; Before != Arrays.size();) {
    Before = Arrays.size();
    Constants Known(Arrays, Activities);
    erase_if(Arrays, [&](const Argument *A) { return !holdsConstants(A, Known); });
  }
  if (Arrays.size() ==
      Names.size()) // what threads do together needs one that is differentiated: see LowerCollectivesToRules
    return;
  std::string Numbers;
  for (const Argument *A : Arrays) {
    ADGEN_COUNT(NumConstant, *A);
    Numbers += (Numbers.empty() ? "" : ":") + std::to_string(A->getArgNo() - Activities.size());
  }
  if (!Numbers.empty())
    Body.addFnAttr(SharedConstantsAttribute, Numbers);
}

SmallVector<Activity> knownActivities(const Function &Body) {
  StringRef Symbol = Body.getName().drop_front(BodyPrefix.size());
  const Function *Gradient = Body.getParent()->getFunction((GradientPrefix + Symbol).str());
  return Gradient ? activitiesOf(*Gradient) : SmallVector<Activity>();
}

ADGEN_DECLARE_PASS_WITH_OPTION(FindSharedConstants);

PreservedAnalyses FindSharedConstants::run(Module &M, ModuleAnalysisManager &) {
  auto Plans = parsePlan(Option);
  if (!Plans)
    report_fatal_error(Plans.takeError());
  for (const EntryPlan &Plan : *Plans)
    if (Function *Body = M.getFunction((BodyPrefix + Plan.Symbol).str()))
      findConstants(*Body, Plan.Activities);
  return PreservedAnalyses::none();
}

} // namespace adgen
