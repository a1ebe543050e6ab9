// The look at what Enzyme has made, before anything else is done with it. Nothing is changed; an entry is refused whose
// gradient
//   - still calls Enzyme: what was asked for is not there;
//   - adds to an array that is const: where a pointer to one goes through a variable that also holds pointers to active
//   ones, Enzyme takes the
//     array for its own shadow;
//   - gives back what a loop kept, of an outer loop's first iteration alone, in which it may not have run: Enzyme is
//   then asked to walk back every iteration of loops without a derivative (stages/differentiate.py);
//   - reads something that was kept where nothing can have been kept before, or computes with a value that is none;
//   - overwrites an array that its reverse sweep reads again, and does not put it back (UndoLog);
//   - adds to a shadow without an atomic, where other threads may add to the same element: who owns one is found out
//   later.
#include "Analysis/Accumulation.h"
#include "Analysis/EnzymeCaches.h"
#include "Analysis/Layout.h"
#include "Analysis/UnderlyingObjects.h"
#include "Support/Iterations.h"
#include "Support/OpenMP.h"
#include "Support/Pass.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/Analysis/CFG.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/PatternMatch.h"

using namespace llvm;

namespace adgen {
namespace {

constexpr StringLiteral Report = "report it with the source; until then, ";

bool asksEnzyme(const Instruction &I) {
  auto *Call = dyn_cast<CallBase>(&I);
  auto *Callee = Call ? dyn_cast<Function>(Call->getCalledOperand()) : nullptr;
  return Callee && (Callee->getName().starts_with(AutodiffPrefix) || Callee->getName().starts_with(ForwardPrefix));
}

// What stands for keeping what is overwritten has become two calls where Enzyme takes the array for active.
bool isNeverPutBack(const Instruction &I) {
  auto *Call = dyn_cast<CallInst>(&I);
  const Function *Callee = Call ? Call->getCalledFunction() : nullptr;
  return Callee && Callee->getName().starts_with(OverwriteRule) && Callee->hasMetadata("enzyme_gradient");
}

// Whether a number counts the iterations of a loop that is walked back once, whatever it ran.
bool isOfOneIteration(const Value *Index) {
  if (auto *Sum = dyn_cast<BinaryOperator>(Index))
    return any_of(Sum->operand_values(), isOfOneIteration);
  auto *Load = dyn_cast<LoadInst>(Index);
  auto *Counter = Load ? dyn_cast<AllocaInst>(Load->getPointerOperand()) : nullptr;
  if (!Counter || !Counter->getAllocatedType()->isIntegerTy())
    return false;
  bool Begins = false;
  for (const User *U : Counter->users()) {
    auto *Store = dyn_cast<StoreInst>(U);
    auto *Down = Store ? dyn_cast<BinaryOperator>(Store->getValueOperand()) : nullptr;
    bool Zero = Store && match(Store->getValueOperand(), PatternMatch::m_Zero());
    if (Store && !Zero &&
        !(Down && match(Down, PatternMatch::m_Add(PatternMatch::m_Load(PatternMatch::m_Specific(Counter)),
                                                  PatternMatch::m_AllOnes()))))
      return false;
    Begins |= Zero;
  }
  return Begins;
}

// What the iterations of a loop have kept each, of which only the first one's is given back.
bool freesOneIteration(const Instruction &I) {
  auto *Call = dyn_cast<CallInst>(&I);
  const Function *Callee = Call ? Call->getCalledFunction() : nullptr;
  if (!Callee || Callee->getName() != "free" || !isReverse(*I.getParent()))
    return false;
  auto *Load = dyn_cast<LoadInst>(Call->getArgOperand(0));
  while (auto *Address = Load ? dyn_cast<GetElementPtrInst>(Load->getPointerOperand()) : nullptr) {
    if (any_of(Address->indices(), [](const Use &Index) { return isOfOneIteration(Index); }))
      return true;
    Load = dyn_cast<LoadInst>(Address->getPointerOperand());
  }
  return false;
}

class Verifier {
public:
  explicit Verifier(Module &M) : Memory(M), Threads(teamsOf(M).All), IsDevice(Triple(M.getTargetTriple()).isNVPTX()) {
    for (const Function &F : M)
      for (const Instruction &I : instructions(F))
        if (const MDNode *Group = I.getMetadata(LLVMContext::MD_invariant_group); Group && isa<StoreInst>(I))
          Kept[Group].push_back(&I);
  }

  void verify(const Function &Gradient, const Function &Body) {
    if (addsToConstants(Gradient, Body))
      return;
    for (const Function *F : reachedFrom(Gradient))
      for (const Instruction &I : instructions(*F))
        if (refuses(Body, I))
          return;
  }

private:
  bool addsToConstants(const Function &Gradient, const Function &Body) const {
    for (auto [Index, A] : enumerate(activitiesOf(Gradient))) {
      const Argument *Primal = Body.getArg(Index);
      if (A != Activity::Const || Memory.written().contains(Primal) ||
          !Memory.written().contains(Gradient.getArg(Index)) || holdsIntegers(*Primal, Body))
        continue;
      std::string Name = Primal->getName().str();
      refuse(&Body,
             "the derivative with respect to '" + Name + "', which is const, would be added to '" + Name + "' itself",
             "leave activity[\"" + Name +
                 "\"] out, or hand the pointer on without a variable that other pointers are put in too");
      return true;
    }
    return false;
  }

  // Whether the parameter leads to integers, and the primal takes nothing there for a number of floating point.
  bool holdsIntegers(const Argument &Primal, const Function &Body) const {
    std::shared_ptr<const Layout> L =
        parseLayout(Body.getAttributes().getParamAttr(Primal.getArgNo(), LayoutAttribute).getValueAsString());
    if (!L || !all_of(L->Leaves, [](const Leaf &Each) { return Each.Kind == 'i'; }))
      return false;
    return none_of(reachedFrom(Body), [&](const Function *F) {
      return any_of(instructions(*F), [&](const Instruction &I) {
        const Value *Address = isa<AtomicRMWInst>(I) ? I.getOperand(0) : getLoadStorePointerOperand(&I);
        const Type *Accessed = Address ? (isa<StoreInst>(I) ? I.getOperand(0)->getType() : I.getType()) : nullptr;
        bool Number = Accessed && (Accessed->isFPOrFPVectorTy() || Accessed->isAggregateType());
        return Number && (Memory.of(Address).contains(&Primal) ||
                          (Memory.of(Address).contains(nullptr) && Memory.escapes(&Primal)));
      });
    });
  }

  bool refuses(const Function &Body, const Instruction &I) const {
    if (asksEnzyme(I))
      refuse(&Body, I.getDebugLoc(), "Enzyme has left a derivative out",
             (Report + "write this part in another way").str());
    else if (isReadBeforeWritten(I) || usesNoValue(I))
      refuse(&Body, I.getDebugLoc(), "the gradient would read a value that was not kept before it",
             (Report + "write the loops around this line without break, continue and return").str());
    else if (!IsDevice && freesOneIteration(I))
      refuse(&Body, I.getDebugLoc(), "the gradient would give back what a loop kept in one iteration alone",
             (Report + "write the loops around this line without break, continue and return").str());
    else if (isNeverPutBack(I))
      refuse(&Body, I.getDebugLoc(), "the gradient would read an array that is overwritten here and not put back",
             (Report + "compile with --disable restore-overwritten").str());
    else if (addsPlainly(I))
      refuse(&Body, I.getDebugLoc(),
             "the gradient would add to a derivative that other threads may add to at the same time",
             (Report + "write to this array from one loop or function only").str());
    else
      return false;
    return true;
  }

  // What Enzyme keeps lies in memory of its own, and accesses that are the same carry one group.
  bool isReadBeforeWritten(const Instruction &I) const {
    auto *Load = dyn_cast<LoadInst>(&I);
    if (!Load)
      return false;
    const UnderlyingObjects::Set &From = Memory.of(Load->getPointerOperand());
    if (!From.empty() && none_of(From, [&](const Value *Of) { return !isKept(Of) || Memory.written().contains(Of); }))
      return true;
    auto Filled = Kept.find(I.getMetadata(LLVMContext::MD_invariant_group));
    return Filled != Kept.end() && none_of(Filled->second, [&](const Instruction *Store) {
             return Store->getFunction() != I.getFunction() || isPotentiallyReachable(Store, &I);
           });
  }

  static bool isKept(const Value *Of) { return isCacheAllocation(Of); }

  // Also a place in what was kept of which the number is none.
  static bool isNone(const Value *Pointer) {
    auto *Address = dyn_cast<GetElementPtrInst>(Pointer);
    return isa<UndefValue>(Pointer) || (Address && any_of(Address->operand_values(), isNone));
  }

  // What was never kept on any way.
  static bool usesNoValue(const Instruction &I) {
    if (!isReverse(*I.getParent()))
      return false;
    if (auto *Atomic = dyn_cast<AtomicRMWInst>(&I))
      return isa<UndefValue>(Atomic->getValOperand()) || isNone(Atomic->getPointerOperand());
    if (auto *Branch = dyn_cast<BranchInst>(&I))
      return Branch->isConditional() && isa<UndefValue>(Branch->getCondition());
    auto *Load = dyn_cast<LoadInst>(&I);
    return Load && isNone(Load->getPointerOperand());
  }

  bool addsPlainly(const Instruction &I) const {
    auto *Store = dyn_cast<StoreInst>(&I);
    if (!Store || !isReverse(*I.getParent()) || !(IsDevice || Threads.contains(I.getFunction())))
      return false;
    return addedBy(*Store) &&
           any_of(Memory.of(Store->getPointerOperand()), [&](const Value *Of) { return isCommon(Of); });
  }

  // Whether several threads may have the memory.
  bool isCommon(const Value *Of) const {
    if (!Of)
      return true;
    if (auto *A = dyn_cast<Argument>(Of))
      return !A->getParent()->hasParamAttribute(A->getArgNo(), OwnedAttribute);
    auto *I = dyn_cast<Instruction>(Of);
    return !I || !(IsDevice || Threads.contains(I->getFunction()));
  }

  const UnderlyingObjects Memory;
  const SmallSetVector<Function *, 16> Threads;
  const bool IsDevice;
  DenseMap<const MDNode *, SmallVector<const Instruction *, 2>> Kept; // what fills each cache
};

} // namespace

ADGEN_DECLARE_PASS(VerifyGradients);

PreservedAnalyses VerifyGradients::run(Module &M, ModuleAnalysisManager &) {
  Verifier V(M);
  for (const Function &Gradient : M) {
    StringRef Symbol = Gradient.getName();
    if (!Symbol.consume_front(GradientPrefix) || Gradient.isDeclaration())
      continue;
    if (const Function *Body = M.getFunction((BodyPrefix + Symbol).str()))
      V.verify(Gradient, *Body);
  }
  return PreservedAnalyses::all();
}

} // namespace adgen
