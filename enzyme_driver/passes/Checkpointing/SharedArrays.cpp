#include "Checkpointing/SharedArrays.h"

#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/IntrinsicInst.h"

using namespace llvm;

namespace adgen {

static constexpr StringLiteral BarrierRule = "adgen_rule_barrier";
static constexpr uint64_t Word = 8; // bytes, in which a thread keeps its share

bool isBlockBarrier(const Instruction &I) {
  auto *Call = dyn_cast<CallInst>(&I);
  return Call && Call->getCalledFunction() && Call->getCalledFunction()->getName() == BarrierRule;
}

static bool isMathematics(const CallBase &Call) {
  const Function *Callee = Call.getCalledFunction();
  bool Named = Callee && (Callee->hasFnAttribute(MathAttribute) || Callee->getName().starts_with(MathPrefix));
  return Named && none_of(Call.args(), [](Value *V) { return V->getType()->isPointerTy(); });
}

// It hands values on from lane to lane, by variables of theirs.
static bool isShuffle(const CallBase &Call) {
  StringRef Name = Call.getCalledFunction() ? Call.getCalledFunction()->getName() : "";
  return Name.consume_front(RulePrefix) && Name.starts_with("shfl_");
}

bool isOtherMeeting(const Instruction &I) {
  if (isa<FenceInst>(I))
    return true;
  auto *Call = dyn_cast<CallBase>(&I);
  return Call && !isBlockBarrier(I) && !isMathematics(*Call) && (Call->isConvergent() || Call->isInlineAsm());
}

SharedArrays::SharedArrays(Function &Body) {
  auto Names = sharedNames(Body);
  unsigned First = Body.arg_size() - Names.size();
  for (auto [Index, Name] : enumerate(Names)) {
    Argument *A = Body.getArg(First + Index);
    GlobalVariable *Global = Body.getParent()->getNamedGlobal(Name);
    bool Dynamic = !Global || Global->isDeclaration();
    uint64_t Bytes = Dynamic ? 0 : Body.getDataLayout().getTypeAllocSize(Global->getValueType()).getFixedValue();
    Arrays.push_back({A, Global, Bytes});
    if (Dynamic && !Region)
      Region = A;
    Objects[A] = Dynamic ? Region : A;
  }
}

Argument *SharedArrays::find(const Value *Pointer) const {
  return Objects.lookup(dyn_cast<Argument>(getUnderlyingObject(Pointer, 0)));
}

bool SharedArrays::inWords(const Argument *A) const {
  const SharedArray &Known = array(A);
  bool Is = Known.Bytes && Known.Bytes % Word == 0;
  if (Is)
    Known.Memory->setAlignment(std::max(Known.Memory->getAlign().valueOrOne(), Align(Word)));
  return Is;
}

bool SharedArrays::mayWrite(const Instruction &I, const Argument *A) const {
  if (!I.mayWriteToMemory() || isBlockBarrier(I))
    return false;
  if (auto *Store = dyn_cast<StoreInst>(&I))
    return mayBe(Store->getPointerOperand(), A);
  if (auto *Atomic = dyn_cast<AtomicRMWInst>(&I))
    return mayBe(Atomic->getPointerOperand(), A);
  if (auto *Exchange = dyn_cast<AtomicCmpXchgInst>(&I))
    return mayBe(Exchange->getPointerOperand(), A);
  if (auto *Block = dyn_cast<MemIntrinsic>(&I))
    return mayBe(Block->getRawDest(), A);
  auto *Call = dyn_cast<CallBase>(&I);
  if (!Call)
    return true;
  if (isMathematics(*Call) || Call->onlyAccessesInaccessibleMemory())
    return false;
  return any_of(Call->args(), [&](Value *V) { return V->getType()->isPointerTy() && mayBe(V, A); }) ||
         !(isShuffle(*Call) || Call->onlyAccessesInaccessibleMemOrArgMem());
}

bool SharedArrays::mayBe(const Value *Pointer, const Argument *A) const {
  const Value *Object = getUnderlyingObject(Pointer, 0);
  if (isa<AllocaInst, GlobalVariable>(Object))
    return false;
  if (auto *Other = dyn_cast<Argument>(Object)) // a parameter does not point to shared memory
    return Objects.lookup(Other) == A;
  auto *Load = dyn_cast<LoadInst>(Object); // nor does what lies in the memory behind one
  return !Load || !isa<Argument>(getUnderlyingObject(Load->getPointerOperand(), 0));
}

const SharedArray &SharedArrays::array(const Argument *A) const {
  return *find_if(Arrays, [&](const SharedArray &Known) { return Known.Pointer == A; });
}

} // namespace adgen
