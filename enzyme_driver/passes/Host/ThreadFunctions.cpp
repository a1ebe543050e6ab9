#include "Host/ThreadFunctions.h"
#include "Analysis/Accumulation.h"
#include "Host/HostArguments.h"
#include "Support/AliasScopes.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/MDBuilder.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "llvm/Transforms/Utils/Local.h"

using namespace llvm;

namespace adgen {

Function *ThreadFunctions::make(Function &F, bool Cooperates) {
  SmallVector<Type *> Types(F.getFunctionType()->params());
  Types.append(RegisterCount, Int32);
  if (Cooperates)
    Types.push_back(Pointer);
  auto *Thread = Function::Create(FunctionType::get(F.getReturnType(), Types, false), GlobalValue::ExternalLinkage,
                                  F.getName() + "_thread", &M);
  ValueToValueMapTy Map;
  for (Argument &A : F.args())
    Map[&A] = Thread->getArg(A.getArgNo());
  SmallVector<ReturnInst *> Returns;
  CloneFunctionInto(Thread, &F, Map, CloneFunctionChangeType::LocalChangesOnly, Returns);
  Thread->setLinkage(GlobalValue::InternalLinkage); // not before: cloning takes the original's visibility
  Thread->removeFnAttr(Attribute::NoInline);
  Thread->addFnAttr(Attribute::AlwaysInline);
  if (Cooperates)
    forgetAliasing(*Thread);
  tellArraysApart(*Thread, F);
  for (Function &Each : M) // also those that a thread calls, whose callers go on until the call ends by an error
    replaceTraps(Each);
  if (!replaceSpecials(*Thread, F)) {
    Thread->eraseFromParent();
    return nullptr;
  }
  return Thread;
}

void ThreadFunctions::forgetAliasing(Function &Thread) {
  for (Argument &A : Thread.args())
    A.removeAttr(Attribute::NoAlias);
  for (Instruction &I : instructions(Thread)) {
    I.setMetadata(LLVMContext::MD_noalias, nullptr);
    I.setMetadata(LLVMContext::MD_alias_scope, nullptr);
  }
}

void ThreadFunctions::tellArraysApart(Function &Thread, const Function &F) {
  SmallVector<StringRef> Names = sharedNames(F);
  unsigned Own = F.arg_size() - (namesOf(F).HasShadows ? 2 : 1) * Names.size();
  MDBuilder Builder(Context);
  MDNode *Domain = Builder.createAnonymousAliasScopeDomain("shared");
  DenseMap<const Value *, Metadata *> Scopes;
  Metadata *Dynamic[] = {nullptr, nullptr}; // the arrays, and their shadows
  for (unsigned I = Own; I < F.arg_size(); ++I) {
    bool IsShadow = I - Own >= Names.size();
    Metadata *&Known = Dynamic[IsShadow];
    bool IsDynamic = M.getNamedGlobal(Names[(I - Own) % Names.size()])->isDeclaration();
    Metadata *Scope = IsDynamic && Known ? Known : Builder.createAnonymousAliasScope(Domain);
    Scopes[Thread.getArg(I)] = Scope;
    if (IsDynamic)
      Known = Scope;
  }
  for (Instruction &I : instructions(Thread)) {
    const Value *At = isa<AtomicCmpXchgInst>(I) ? nullptr : accessedPointer(I);
    Metadata *Scope = At ? Scopes.lookup(getUnderlyingObject(At, 0)) : nullptr;
    if (!Scope)
      continue;
    SetVector<Metadata *> Others;
    for (unsigned J = Own; J < F.arg_size(); ++J)
      if (Metadata *Other = Scopes.lookup(Thread.getArg(J)); Other != Scope)
        Others.insert(Other);
    addScopes(I, Scope, Others.getArrayRef());
  }
}

void ThreadFunctions::replaceTraps(Function &F) {
  SmallVector<CallInst *> Traps;
  for (BasicBlock &Block : F)
    for (Instruction &I : Block)
      if (auto *Call = dyn_cast<CallInst>(&I); Call && Call->getCalledFunction() && isTrap(*Call->getCalledFunction()))
        Traps.push_back(Call);
  for (CallInst *Call : Traps) {
    IRBuilder<> B(Call);
    if (Call->getIntrinsicID() == Intrinsic::trap)
      B.CreateCall(M.getOrInsertFunction("adgen_trapped", B.getVoidTy()));
    else
      B.CreateCall(M.getOrInsertFunction("adgen_assertion_failed", B.getVoidTy(), Pointer, Pointer, Int32),
                   {Call->getArgOperand(0), Call->getArgOperand(1), Call->getArgOperand(2)});
    BasicBlock *Block = Call->getParent();
    changeToUnreachable(Call);
    Block->getTerminator()->eraseFromParent();
    Type *Returned = F.getReturnType();
    ReturnInst::Create(Context, Returned->isVoidTy() ? nullptr : Constant::getNullValue(Returned), Block);
    F.removeFnAttr(Attribute::NoReturn);
  }
}

bool ThreadFunctions::isTrap(const Function &F) {
  return F.getName() == "__assertfail" || F.getIntrinsicID() == Intrinsic::trap;
}

void ThreadFunctions::takeInTurn(Function &Thread) {
  for (BasicBlock &Block : Thread)
    for (Instruction &I : make_early_inc_range(Block))
      if (I.hasMetadata(BlocksOwnMark)) {
        IRBuilder<> B(&I);
        I.replaceAllUsesWith(takePlainly(B, cast<AtomicRMWInst>(I), I.getOperand(0)));
        I.eraseFromParent();
      }
}

bool ThreadFunctions::hasAtomics(const Function &F) {
  for (const BasicBlock &Block : F)
    for (const Instruction &I : Block)
      if (isa<AtomicRMWInst>(I))
        return true;
  return false;
}

Function *ThreadFunctions::withoutAtomics(Function &Thread) {
  ValueToValueMapTy Map;
  Function *Alone = CloneFunction(&Thread, Map);
  Alone->setLinkage(GlobalValue::InternalLinkage);
  Alone->setName(Thread.getName() + "_alone");
  for (BasicBlock &Block : *Alone)
    for (Instruction &I : make_early_inc_range(Block))
      if (auto *Atomic = dyn_cast<AtomicRMWInst>(&I))
        asAccumulation(I) ? void(addPlainly(*Atomic)) : lower(*Atomic);
  return Alone;
}

void ThreadFunctions::lower(AtomicRMWInst &Atomic) {
  AtomicRMWInst::BinOp Op = Atomic.getOperation();
  if (Op != AtomicRMWInst::FAdd && Op != AtomicRMWInst::Add)
    return;
  IRBuilder<> B(&Atomic);
  Value *Old = B.CreateAlignedLoad(Atomic.getType(), Atomic.getPointerOperand(), Atomic.getAlign());
  Value *New =
      Op == AtomicRMWInst::FAdd ? B.CreateFAdd(Old, Atomic.getValOperand()) : B.CreateAdd(Old, Atomic.getValOperand());
  B.CreateAlignedStore(New, Atomic.getPointerOperand(), Atomic.getAlign());
  Atomic.replaceAllUsesWith(Old);
  Atomic.eraseFromParent();
}

} // namespace adgen
