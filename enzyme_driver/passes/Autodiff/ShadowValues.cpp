#include "Autodiff/ShadowValues.h"
#include "Support/Adgen.h"
#include "Support/Allocations.h"
#include "Support/Guards.h"

#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"

using namespace llvm;

namespace adgen {

constexpr StringLiteral ForwardSuffix = "_forward"; // of derivatives of ours, which take each argument with its shadow

ShadowValues::ShadowValues(Function &F, Members Arguments, Results OfResult) : F(F) {
  for (Argument &A : F.args())
    if (Arguments >> A.getArgNo() & 1)
      Known[&A] = 1;
  do
    sweep(OfResult);
  while (decideMemory(/*Unsure=*/false) || decideMemory(/*Unsure=*/true));
  for (Instruction &I : instructions(F))
    if (auto *Return = dyn_cast<ReturnInst>(&I); Return && Return->getReturnValue())
      Result |= of(Return->getReturnValue());
}

Members ShadowValues::ofArguments(const CallBase &Call) const {
  const Function *Callee = Call.getCalledFunction();
  unsigned Named = Callee && !Callee->isDeclaration() ? Callee->arg_size() : 0; // of any number that are handed over
  Members Found = 0;
  for (unsigned I = 0; I < std::min(Call.arg_size(), LargestCall); ++I)
    if (isShadow(Call.getArgOperand(I)) || (I < Named && (Callee->getArg(I)->getName().contains('\'') ||
                                                          (I % 2 && Callee->getName().ends_with(ForwardSuffix)))))
      Found |= Members(1) << I;
  return Found;
}

Members allMembers(Type *T) {
  unsigned Count = T->isStructTy() ? T->getStructNumElements() : T->isArrayTy() ? T->getArrayNumElements() : 1;
  return Count >= 64 ? ~Members(0) : (Members(1) << Count) - 1;
}

Members ShadowValues::derived(Instruction &I, Results OfResult) const {
  if (auto *Call = dyn_cast<CallBase>(&I); Call && !isa<IntrinsicInst>(Call)) {
    Members Arguments = ofArguments(*Call);
    return Arguments && Call->getCalledFunction() && !Call->getCalledFunction()->isDeclaration()
               ? OfResult(*Call, Arguments)
               : 0;
  }
  if (auto *Load = dyn_cast<LoadInst>(&I))
    return isShadow(Load->getPointerOperand()) ? allMembers(I.getType()) : 0;
  if (auto *Part = dyn_cast<ExtractValueInst>(&I))
    return of(Part->getAggregateOperand()) >> Part->getIndices().front() & 1 ? allMembers(I.getType()) : 0;
  if (auto *Part = dyn_cast<InsertValueInst>(&I)) {
    Members Rest = of(Part->getAggregateOperand()), Own = Members(1) << Part->getIndices().front();
    return isShadow(Part->getInsertedValueOperand()) ? Rest | Own : Rest;
  }
  if (isa<ICmpInst>(I) || isa<StoreInst>(I) || I.getType()->isVoidTy() || isa<AllocaInst>(I))
    return 0;
  if (auto *Address = dyn_cast<GetElementPtrInst>(&I))
    return of(Address->getPointerOperand());
  Members Found = 0;
  for (Value *Operand : I.operands())
    Found |= of(Operand);
  return Found;
}

void ShadowValues::sweep(Results OfResult) {
  bool Changed = true;
  while (std::exchange(Changed, false))
    for (Instruction &I : instructions(F))
      if (Members Found = derived(I, OfResult); Found & ~of(&I)) {
        Known[&I] |= Found;
        Changed = true;
      }
}

// What is done with the address of memory of the function's own.
struct ShadowValues::Uses {
  bool AsShadow = false, HoldsTangents = false, AsPrimal = false;
  bool Outside = false; // handed to a function that is not known, which may be called with shadows too
  bool Unsure = false;  // beside memory of which nothing is known yet
};

static bool isOwn(const Value *V) {
  const auto *Call = dyn_cast<CallBase>(V);
  const Function *Callee = Call ? Call->getCalledFunction() : nullptr;
  return isa<AllocaInst>(V) || (Callee && (isAllocation(*Callee) || Callee->getName() == "calloc"));
}

bool ShadowValues::isUndecided(const Value *V) const { return isOwn(V) && !isShadow(V) && !Primals.contains(V); }

// The other end of a copy, or where the address is stored.
void ShadowValues::noteOther(Uses &Found, const Value *Other) const {
  const Value *Root = getUnderlyingObject(Other, 0);
  bool Primal = isa<Argument, GlobalVariable>(Root) || Primals.contains(Root);
  (isShadow(Other) ? Found.AsShadow : Primal ? Found.AsPrimal : Found.Unsure) = true;
}

void ShadowValues::noteUse(Uses &Found, const Use &U) const {
  const User *User = U.getUser();
  if (auto *Store = dyn_cast<StoreInst>(User)) {
    if (U.getOperandNo() == 0)
      noteOther(Found, Store->getPointerOperand());
    else
      Found.HoldsTangents |= isShadow(Store->getValueOperand());
  } else if (auto *Copy = dyn_cast<MemTransferInst>(User)) {
    noteOther(Found, U.getOperandNo() == 0 ? Copy->getRawSource() : Copy->getRawDest());
  } else if (auto *Call = dyn_cast<CallBase>(User)) {
    if (isa<IntrinsicInst>(Call) || isRelease(*Call) || isPin(*Call))
      return;
    const Function *Callee = Call->getCalledFunction();
    bool Shadow = Call->isArgOperand(&U) && ofArguments(*Call) >> Call->getArgOperandNo(&U) & 1;
    (Shadow ? Found.AsShadow : !Callee || Callee->isDeclaration() ? Found.Outside : Found.AsPrimal) = true;
  } else if (auto *Part = dyn_cast<InsertValueInst>(User)) { // what is returned, and its shadow
    (Part->getIndices().front() == 1 ? Found.AsShadow : Found.Unsure) = true;
  } else if (auto *Atomic = dyn_cast<AtomicRMWInst>(User)) {
    Found.HoldsTangents |= isShadow(Atomic->getValOperand());
  } else if (isa<PtrToIntInst, AtomicCmpXchgInst>(User)) {
    Found.Unsure = true;
  }
}

ShadowValues::Uses ShadowValues::usesOf(Instruction &Own) const {
  Uses Found;
  SmallVector<Instruction *> Ways{&Own};
  DenseSet<Instruction *> Seen{&Own};
  while (!Ways.empty())
    for (Use &U : Ways.pop_back_val()->uses()) {
      auto *User = cast<Instruction>(U.getUser());
      if (!isa<GetElementPtrInst, PHINode, SelectInst, FreezeInst>(User))
        noteUse(Found, U);
      else if (isShadow(User))
        Found.AsShadow = true;
      else if (Seen.insert(User).second)
        Ways.push_back(User);
    }
  return Found;
}

// Of memory it is said what it is where one of its uses shows it; with `Unsure`, also where other uses depend on memory
// of which nothing is known, and then of one alone, by which others may show what they are.
// Where it is in doubt, it is a shadow: what does not fit then is seen, while the tangents of memory that wrongly has
// no shadow would be lost.
bool ShadowValues::decideMemory(bool Unsure) {
  bool Changed = false;
  for (Instruction &Own : instructions(F)) {
    if (!isUndecided(&Own))
      continue;
    Uses Found = usesOf(Own);
    bool Shadow = Found.HoldsTangents || (Found.AsShadow && (Found.Outside || !Found.AsPrimal));
    if ((Found.Unsure && !Unsure) || (!Shadow && !Found.AsPrimal && !Found.Outside))
      continue;
    if (Shadow)
      Known[&Own] = 1;
    else
      Primals.insert(&Own);
    Changed = true;
    if (Unsure)
      return true;
  }
  return Changed;
}

} // namespace adgen
