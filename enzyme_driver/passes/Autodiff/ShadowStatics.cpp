// In C++ a variable of the file or a static one keeps what a call leaves in it, and Enzyme makes a shadow that does the
// same: the next gradient would begin with the cotangents that the last one has left there. What an earlier call has
// left is a constant to this one. So each such variable of floating point that is written gets a shadow here, which
// every gradient clears before it begins. Where a variable holds a pointer to numbers from an earlier call, their
// shadow may be gone, or was never made; that is refused. Constant expressions over these variables become
// instructions, because Enzyme stops at them.
#include "Analysis/Layout.h"
#include "Support/Pass.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/Demangle/Demangle.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/ReplaceConstant.h"

using namespace llvm;

namespace adgen {
namespace {

using Functions = SetVector<const Function *>;

bool isStatic(const GlobalVariable &Global) {
  return !Global.isConstant() && Global.hasInitializer() && !Global.isThreadLocal() &&
         !Global.hasMetadata(ShadowMetadata) && !Global.getName().starts_with("llvm.");
}

const GlobalVariable *variableBehind(const Value *Address) {
  return dyn_cast<GlobalVariable>(getUnderlyingObject(Address, /*MaxLookup=*/0));
}

bool isWrittenIn(const Functions &Reached, const GlobalVariable &Global) {
  return any_of(Reached, [&](const Function *F) {
    return any_of(instructions(*F), [&](const Instruction &I) {
      auto *Whole = dyn_cast<MemIntrinsic>(&I);
      auto *Atomic = dyn_cast<AtomicRMWInst>(&I);
      const Value *Into = isa<StoreInst>(I) ? getLoadStorePointerOperand(&I)
                          : Whole           ? Whole->getRawDest()
                          : Atomic          ? Atomic->getPointerOperand()
                                            : nullptr;
      return Into && variableBehind(Into) == &Global;
    });
  });
}

// Clears the shadow where a derivative begins that reaches the variable.
void clear(Function &Asks, CallInst &Derivative, GlobalVariable &Global, GlobalVariable *&Shadow) {
  Module &M = *Asks.getParent();
  if (!Shadow) {
    Shadow = new GlobalVariable(M, Global.getValueType(), /*isConstant=*/false, GlobalValue::InternalLinkage,
                                Constant::getNullValue(Global.getValueType()), ShadowPrefix + Global.getName());
    Shadow->setAlignment(Global.getAlign());
    Global.setMetadata(ShadowMetadata, MDTuple::get(M.getContext(), {ConstantAsMetadata::get(Shadow)}));
  }
  IRBuilder<> B(&Derivative);
  B.CreateMemSet(Shadow, B.getInt8(0), M.getDataLayout().getTypeAllocSize(Global.getValueType()), Global.getAlign());
}

// Where a number is read or written behind the pointer; null where none is seen.
const Instruction *numberBehind(const LoadInst &Pointer) {
  SmallSetVector<const Value *, 8> Work;
  Work.insert(&Pointer);
  for (unsigned I = 0; I < Work.size(); ++I)
    for (const User *U : Work[I]->users()) {
      auto *Step = cast<Instruction>(U);
      if (getLoadStorePointerOperand(Step) == Work[I] && getLoadStoreType(Step)->isFPOrFPVectorTy())
        return Step;
      if (isa<GetElementPtrInst, PHINode, SelectInst>(Step) || (isa<LoadInst>(Step) && Step->getType()->isPointerTy()))
        Work.insert(Step);
    }
  return nullptr;
}

// Where a number is used behind a pointer that the same call has not stored before: in the body that is seen by order,
// in what it calls only by whether it stores one at all.
const Instruction *useOfEarlier(Function &Body, const Functions &Reached, const GlobalVariable &Global) {
  SmallVector<const StoreInst *> Stores;
  for (const Function *F : Reached)
    for (const Instruction &I : instructions(*F))
      if (auto *Store = dyn_cast<StoreInst>(&I); Store && Store->getValueOperand()->getType()->isPointerTy() &&
                                                 variableBehind(Store->getPointerOperand()) == &Global)
        Stores.push_back(Store);
  const DominatorTree Order(Body);
  for (const Function *F : Reached)
    for (const Instruction &I : instructions(*F)) {
      auto *Load = dyn_cast<LoadInst>(&I);
      if (!Load || !Load->getType()->isPointerTy() || variableBehind(Load->getPointerOperand()) != &Global)
        continue;
      const bool Before = any_of(Stores, [&](const StoreInst *Store) {
        return F != &Body || (Store->getFunction() == F && Order.dominates(Store, Load));
      });
      if (const Instruction *Use = Before ? nullptr : numberBehind(*Load))
        return Use;
    }
  return nullptr;
}

void refuseEarlier(Function &Body, const Functions &Reached, const GlobalVariable &Global) {
  const Instruction *Use = useOfEarlier(Body, Reached, Global);
  if (!Use)
    return;
  const std::string Name = demangle(Global.getName());
  refuse(&Body, Use->getDebugLoc(),
         "cannot differentiate memory that the variable '" + Name + "' keeps from an earlier call",
         "allocate the memory in the function, or pass it as a parameter");
}

} // namespace

ADGEN_DECLARE_PASS(ShadowStatics);

PreservedAnalyses ShadowStatics::run(Module &M, ModuleAnalysisManager &) {
  SmallVector<GlobalVariable *> Numbers, Pointers;
  SmallVector<Constant *> All;
  for (GlobalVariable &Global : M.globals()) {
    if (!isStatic(Global))
      continue;
    if (holds(Global.getValueType(), [](Type *T) { return T->isFloatingPointTy(); }))
      Numbers.push_back(&Global), All.push_back(&Global);
    if (holds(Global.getValueType(), [](Type *T) { return T->isPointerTy(); }))
      Pointers.push_back(&Global);
  }
  convertUsersOfConstantsToInstructions(All);
  DenseMap<GlobalVariable *, GlobalVariable *> Shadows;
  for (Function &F : M)
    for (Instruction &I : instructions(F)) {
      auto *Call = dyn_cast<CallInst>(&I);
      Function *Asked = Call ? Call->getCalledFunction() : nullptr;
      if (!Asked || !(Asked->getName().starts_with(AutodiffPrefix) || Asked->getName().starts_with(ForwardPrefix)))
        continue;
      auto *Body = cast<Function>(Call->getArgOperand(0)->stripPointerCasts());
      const Functions Reached = reachedFrom(*Body);
      for (GlobalVariable *Global : Numbers)
        if (isWrittenIn(Reached, *Global))
          clear(F, *Call, *Global, Shadows[Global]);
      for (GlobalVariable *Global : Pointers)
        refuseEarlier(*Body, Reached, *Global);
    }
  return PreservedAnalyses::none();
}

} // namespace adgen
