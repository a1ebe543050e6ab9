// To LLVM, nothing but accesses through a `__restrict__` parameter touches its array while the function runs. But other
// threads do, through their own parameter, and a barrier is where their stores become visible: without this pass a
// store in front of it that is overwritten behind it is left out, and what was stored is not loaded again. In functions
// that order threads, parameters that are read and written lose the attribute; that their arrays do not overlap is said
// of the accesses instead, which holds between any two of them and says nothing of a barrier.
#include "Analysis/Cooperates.h"
#include "Support/AliasScopes.h"
#include "Support/Pass.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/MDBuilder.h"

#define DEBUG_TYPE "adgen-expose-exchanges"

using namespace llvm;

STATISTIC(NumArrays, "Number of restricted arrays that barriers see");

namespace adgen {
namespace {

const Function *definedCallee(const Instruction &I) {
  auto *Call = dyn_cast<CallBase>(&I);
  const Function *Callee = Call ? Call->getCalledFunction() : nullptr;
  return Callee && !Callee->isDeclaration() ? Callee : nullptr;
}

bool ordersThreads(const Function &F) {
  SmallSetVector<const Function *, 4> Reached;
  Reached.insert(&F);
  for (unsigned K = 0; K < Reached.size(); ++K)
    for (const Instruction &I : instructions(*Reached[K])) {
      if (const Function *Callee = definedCallee(I))
        Reached.insert(Callee);
      else if (adgen::ordersThreads(I))
        return true;
    }
  return false;
}

// What is done with the memory that a parameter leads to.
struct Uses {
  explicit Uses(const Argument &A) {
    Pointers.insert(&A);
    for (unsigned K = 0; K < Pointers.size(); ++K)
      for (const Use &U : Pointers[K]->uses())
        meet(U);
  }
  bool Read = false, Written = false;

private:
  void meet(const Use &U) {
    const User *By = U.getUser();
    if (isa<LoadInst>(By))
      Read = true;
    else if (auto *Store = dyn_cast<StoreInst>(By); Store && U.getOperandNo() == Store->getPointerOperandIndex())
      Written = true;
    else if (isa<GetElementPtrInst, CastInst, PHINode, SelectInst>(By) && By->getType()->isPointerTy())
      Pointers.insert(By);
    else if (auto *Call = dyn_cast<CallBase>(By))
      call(*Call, U);
    else if (!isa<ICmpInst>(By))
      Read = Written = true;
  }

  void call(const CallBase &Call, const Use &U) {
    const Function *Callee = definedCallee(Call);
    if (Callee && Call.isArgOperand(&U) && Call.getArgOperandNo(&U) < Callee->arg_size())
      Pointers.insert(Callee->getArg(Call.getArgOperandNo(&U)));
    else
      Read = Written = true;
  }

  SmallSetVector<const Value *, 8> Pointers;
};

SmallVector<Argument *> exchanged(Function &F) {
  SmallVector<Argument *> Found;
  for (Argument &A : F.args())
    if (A.hasNoAliasAttr())
      if (Uses Here(A); Here.Read && Here.Written)
        Found.push_back(&A);
  return Found;
}

// Where all that an access may lead to is these arrays or none of them, it touches no others of them.
void tellApart(Function &F, ArrayRef<Argument *> Arrays) {
  MDBuilder B(F.getContext());
  MDNode *Domain = B.createAnonymousAliasScopeDomain("exchanged");
  SmallMapVector<const Value *, MDNode *, 4> Scopes;
  for (Argument *A : Arrays)
    Scopes[A] = B.createAnonymousAliasScope(Domain, A->getName());
  for (Instruction &I : instructions(F)) {
    const Value *Pointer = getLoadStorePointerOperand(&I);
    if (isa<AtomicRMWInst, AtomicCmpXchgInst>(I))
      Pointer = I.getOperand(0);
    SmallVector<const Value *> Objects;
    if (Pointer)
      getUnderlyingObjects(Pointer, Objects, nullptr, /*MaxLookup=*/0);
    if (!Pointer ||
        !all_of(Objects, [](const Value *Object) { return isa<Argument, GlobalVariable, AllocaInst>(Object); }))
      continue;
    SmallVector<Metadata *> Here, Elsewhere;
    for (auto &[A, Scope] : Scopes)
      (is_contained(Objects, A) ? Here : Elsewhere).push_back(Scope);
    addScopes(I, Here, Elsewhere);
  }
  declareScopes(F, to_vector(make_second_range(Scopes)));
}

bool isInlinedStill(const Instruction &I) {
  const Function *Callee = definedCallee(I);
  return Callee && Callee->hasFnAttribute(Attribute::AlwaysInline);
}

} // namespace

ADGEN_DECLARE_PASS(ExposeExchanges);

PreservedAnalyses ExposeExchanges::run(Module &M, ModuleAnalysisManager &) {
  for (Function &F : M) {
    bool IsKernel = F.getCallingConv() == CallingConv::PTX_Kernel;
    if (F.isDeclaration() || (IsKernel && any_of(instructions(F), isInlinedStill)) || !ordersThreads(F))
      continue;
    SmallVector<Argument *> Arrays = exchanged(F);
    if (Arrays.empty())
      continue;
    tellApart(F, Arrays);
    for (Argument *A : Arrays) {
      ADGEN_COUNT(NumArrays, *A);
      A->removeAttr(Attribute::NoAlias);
    }
  }
  return PreservedAnalyses::none();
}

} // namespace adgen
