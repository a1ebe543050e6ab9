// In C++: what is called through a pointer, a virtual function too, and returns a struct by value stores it through one
// more argument, the last. Enzyme makes derivatives of a function that is called so without knowing a call, and takes
// another interface for struct results there than in the call. All functions whose address is taken and all calls
// through pointers change alike; functions of other files too, which are called by one of ours.
#include "Support/Pass.h"

#include "llvm/IR/InstIterator.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/Cloning.h"

using namespace llvm;

namespace adgen {
namespace {

bool isAddressed(Function &F) {
  F.removeDeadConstantUsers();
  return F.hasAddressTaken(nullptr, /*IgnoreCallbackUses=*/false, /*IgnoreAssumeLikeCalls=*/true,
                           /*IgnoreLLVMUsed=*/true);
}

bool returnsStruct(const FunctionType &Type) { return Type.getReturnType()->isAggregateType() && !Type.isVarArg(); }

FunctionType *storing(const FunctionType &Old) {
  SmallVector<Type *> Parameters(Old.params());
  Parameters.push_back(PointerType::getUnqual(Old.getContext()));
  return FunctionType::get(Type::getVoidTy(Old.getContext()), Parameters, false);
}

AttributeList storingAttributes(LLVMContext &Context, const AttributeList &Old, unsigned Parameters) {
  SmallVector<AttributeSet> Each;
  for (unsigned I = 0; I < Parameters; ++I)
    Each.push_back(Old.getParamAttrs(I));
  Each.push_back(AttributeSet::get(Context, {Attribute::get(Context, Attribute::NoAlias)}));
  AttrBuilder Whole(Context, Old.getFnAttrs());
  Whole.removeAttribute(Attribute::Memory); // the result is written
  return AttributeList::get(Context, AttributeSet::get(Context, Whole), AttributeSet(), Each);
}

// Member by member, so that each shows its type.
void store(IRBuilder<> &B, Value *Result, Value *Place) {
  Type *T = Result->getType();
  for (unsigned I = 0, Count = isa<StructType>(T) ? T->getStructNumElements() : T->getArrayNumElements(); I < Count;
       ++I) {
    Value *Member = B.CreateConstInBoundsGEP2_32(T, Place, 0, I), *Part = B.CreateExtractValue(Result, I);
    if (Part->getType()->isAggregateType())
      store(B, Part, Member);
    else
      B.CreateStore(Part, Member);
  }
}

Value *load(IRBuilder<> &B, Type *T, Value *Place) {
  Value *Result = PoisonValue::get(T);
  for (unsigned I = 0, Count = isa<StructType>(T) ? T->getStructNumElements() : T->getArrayNumElements(); I < Count;
       ++I) {
    Value *Member = B.CreateConstInBoundsGEP2_32(T, Place, 0, I);
    Type *Part = ExtractValueInst::getIndexedType(T, I);
    Result =
        B.CreateInsertValue(Result, Part->isAggregateType() ? load(B, Part, Member) : B.CreateLoad(Part, Member), I);
  }
  return Result;
}

// Calls the old function, which is inlined; it stays for those who call it by its name.
void makeStoring(Function &Old) {
  Function *New = Function::Create(storing(*Old.getFunctionType()), GlobalValue::InternalLinkage,
                                   Old.getName() + ".stored", Old.getParent());
  New->setAttributes(storingAttributes(Old.getContext(), Old.getAttributes(), Old.arg_size()));
  Old.replaceUsesWithIf(New, [&](Use &U) {
    auto *Call = dyn_cast<CallBase>(U.getUser());
    return !Call || !Call->isCallee(&U);
  });
  IRBuilder<> B(BasicBlock::Create(Old.getContext(), "entry", New));
  SmallVector<Value *> Arguments(make_pointer_range(New->args()));
  Value *Place = Arguments.pop_back_val();
  CallInst *Call = B.CreateCall(&Old, Arguments);
  Call->setCallingConv(Old.getCallingConv());
  New->setCallingConv(Old.getCallingConv());
  if (DISubprogram *Program = Old.getSubprogram())
    Call->setDebugLoc(DILocation::get(Old.getContext(), Program->getLine(), 0, Program));
  store(B, Call, Place);
  B.CreateRetVoid();
  InlineFunctionInfo Info;
  if (!Old.isDeclaration())
    InlineFunction(*Call, Info);
}

void makeStoring(CallBase &Old) {
  Type *T = Old.getType();
  auto *Place = new AllocaInst(T, 0, "stored", Old.getFunction()->getEntryBlock().begin());
  SmallVector<Value *> Arguments(Old.args());
  Arguments.push_back(Place);
  IRBuilder<> B(&Old);
  FunctionType *Signature = storing(*Old.getFunctionType());
  auto *Invoke = dyn_cast<InvokeInst>(&Old);
  BasicBlock *Next = Invoke ? SplitEdge(Invoke->getParent(), Invoke->getNormalDest()) : nullptr;
  CallBase *New =
      Invoke
          ? cast<CallBase>(B.CreateInvoke(Signature, Old.getCalledOperand(), Next, Invoke->getUnwindDest(), Arguments))
          : B.CreateCall(Signature, Old.getCalledOperand(), Arguments);
  New->setAttributes(storingAttributes(Old.getContext(), Old.getAttributes(), Old.arg_size()));
  New->setCallingConv(Old.getCallingConv());
  if (Next)
    B.SetInsertPoint(Next, Next->getFirstInsertionPt());
  Old.replaceAllUsesWith(load(B, T, Place));
  Old.eraseFromParent();
}

} // namespace

ADGEN_DECLARE_PASS(DemoteToSRet);

PreservedAnalyses DemoteToSRet::run(Module &M, ModuleAnalysisManager &) {
  SmallVector<Function *> Addressed;
  SmallVector<CallBase *> Calls;
  for (Function &F : M) {
    if (returnsStruct(*F.getFunctionType()) && isAddressed(F))
      Addressed.push_back(&F);
    for (Instruction &I : instructions(F))
      if (auto *Call = dyn_cast<CallBase>(&I);
          Call && Call->isIndirectCall() && returnsStruct(*Call->getFunctionType()))
        Calls.push_back(Call);
  }
  for (Function *F : Addressed)
    makeStoring(*F);
  for (CallBase *Call : Calls)
    makeStoring(*Call);
  return PreservedAnalyses::none();
}

} // namespace adgen
