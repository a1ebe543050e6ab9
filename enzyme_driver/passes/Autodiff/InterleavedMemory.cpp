// Memory and calls of functions whose tangents lie beside each other.
#include "Autodiff/InterleavedFunction.h"
#include "Support/Allocations.h"
#include "Support/Guards.h"

#include "llvm/Analysis/Utils/Local.h"
#include "llvm/Analysis/VectorUtils.h"
#include "llvm/IR/IntrinsicInst.h"

using namespace llvm;

namespace adgen {

constexpr uint64_t LargestAccess = 1024;      // bytes of tangents that are read or written at once
constexpr uint64_t LargestVariable = 1 << 18; // bytes on a stack
constexpr Align LineOfCache = Align::Constant<64>();
constexpr StringLiteral ZerosName = "adgen_zero_tangents";

Value *InterleavedFunction::hasNone(IRBuilder<> &B, Value *Pointer) const {
  while (auto *Address = dyn_cast<GetElementPtrInst>(Pointer))
    Pointer = Address->getPointerOperand();
  const auto *Call = dyn_cast<CallBase>(Pointer);
  if (isa<AllocaInst>(Pointer) || (Call && Call->getCalledFunction() && isAllocation(*Call->getCalledFunction())))
    return B.getInt1(!isShadow(Pointer));
  return B.CreateICmpSLT(B.CreatePtrToInt(shadow(B, Pointer), B.getInt64Ty()), B.getInt64(0));
}

Value *InterleavedFunction::bytes(IRBuilder<> &B, Value *Bytes) const {
  return B.CreateMul(Bytes, ConstantInt::get(Bytes->getType(), Directions));
}

Value *InterleavedFunction::ofAddress(IRBuilder<> &B, GetElementPtrInst &I) {
  if (!I.getType()->isPointerTy())
    return nullptr;
  auto *Copy = cast<GetElementPtrInst>(Copies.lookup(&I));
  Value *Offset = emitGEPOffset(&B, To.getDataLayout(), Copy, /*NoAssumptions=*/true);
  return B.CreateGEP(B.getInt8Ty(), shadow(B, I.getPointerOperand()), bytes(B, Offset));
}

static Constant *zeros(Module &M) {
  if (GlobalVariable *Known = M.getGlobalVariable(ZerosName, /*AllowInternal=*/true))
    return Known;
  auto *T = ArrayType::get(Type::getInt8Ty(M.getContext()), LargestAccess);
  auto *Zeros = new GlobalVariable(M, T, true, GlobalValue::InternalLinkage, ConstantAggregateZero::get(T), ZerosName);
  Zeros->setAlignment(LineOfCache);
  return Zeros;
}

static void keepAliases(Instruction &New, const Instruction &Old) {
  New.copyMetadata(Old, {LLVMContext::MD_tbaa, LLVMContext::MD_alias_scope, LLVMContext::MD_noalias});
}

// Where there is no shadow, tangents are zero. In a shadow, zero where a pointer would be says that it has none.
Value *InterleavedFunction::ofLoad(IRBuilder<> &B, LoadInst &I) {
  Type *T = of(I.getType(), allMembers(I.getType()));
  if (!I.isSimple() || I.getType()->isAggregateType() || To.getDataLayout().getTypeAllocSize(T) > LargestAccess)
    return nullptr;
  Value *Pointer = I.getPointerOperand();
  Value *Address = B.CreateSelect(hasNone(B, Pointer), zeros(*To.getParent()), shadow(B, Pointer));
  LoadInst *New = B.CreateAlignedLoad(T, Address, I.getAlign());
  keepAliases(*New, I);
  return T->isPointerTy() ? B.CreateSelect(B.CreateIsNull(New), none(), New) : static_cast<Value *>(New);
}

Value *InterleavedFunction::writable(IRBuilder<> &B, Value *Pointer, Type *T) {
  if (To.getDataLayout().getTypeAllocSize(T) > LargestAccess)
    return nullptr;
  if (!Nowhere) {
    IRBuilder<> Start(&*To.getEntryBlock().getFirstInsertionPt());
    Nowhere = Start.CreateAlloca(ArrayType::get(Start.getInt8Ty(), LargestAccess), nullptr, "nowhere");
    Nowhere->setAlignment(LineOfCache);
  }
  return B.CreateSelect(hasNone(B, Pointer), Nowhere, shadow(B, Pointer));
}

void InterleavedFunction::fill(IRBuilder<> &B, Value *Pointer, Value *With, Value *Length, MaybeAlign Alignment) const {
  Value *Nothing = Constant::getNullValue(Length->getType());
  B.CreateMemSet(shadow(B, Pointer), With, B.CreateSelect(hasNone(B, Pointer), Nothing, bytes(B, Length)), Alignment);
}

// A number of the primal that is no constant is no tangent.
bool InterleavedFunction::ofStore(IRBuilder<> &B, StoreInst &I) {
  Value *V = I.getValueOperand(), *Pointer = I.getPointerOperand();
  if (auto *C = dyn_cast<Constant>(V); C && C->isNullValue() && V->getType()->isAggregateType() && isShadow(Pointer)) {
    fill(B, Pointer, B.getInt8(0), B.getInt64(To.getDataLayout().getTypeAllocSize(V->getType())), I.getAlign());
    return true;
  }
  Type *T = of(V->getType(), allMembers(V->getType()));
  bool IsNumber = V->getType()->isFPOrFPVectorTy();
  if (!T || !I.isSimple() || V->getType()->isAggregateType() || !isShadow(Pointer) ||
      (IsNumber && !isShadow(V) && !isa<Constant>(V)))
    return false;
  Value *Address = writable(B, Pointer, T);
  if (!Address)
    return false;
  keepAliases(*B.CreateAlignedStore(shadow(B, V), Address, I.getAlign()), I);
  return true;
}

Value *InterleavedFunction::ofAtomic(IRBuilder<> &B, AtomicRMWInst &I) {
  Type *Number = I.getType(), *T = of(Number, 1);
  bool Sums = I.getOperation() == AtomicRMWInst::FAdd || I.getOperation() == AtomicRMWInst::FSub;
  if (!Sums || !Number->isFloatingPointTy() || !isShadow(I.getPointerOperand()))
    return nullptr;
  Value *Address = writable(B, I.getPointerOperand(), T), *Added = shadow(B, I.getValOperand()),
        *Old = PoisonValue::get(T);
  for (unsigned D = 0; D < Directions; ++D) {
    AtomicRMWInst *New =
        B.CreateAtomicRMW(I.getOperation(), B.CreateConstInBoundsGEP1_64(Number, Address, D),
                          B.CreateExtractElement(Added, D), I.getAlign(), I.getOrdering(), I.getSyncScopeID());
    keepAliases(*New, I);
    Old = B.CreateInsertElement(Old, New, D);
  }
  return Old;
}

Value *InterleavedFunction::ofVariable(IRBuilder<> &B, AllocaInst &I) {
  std::optional<TypeSize> Bytes = I.getAllocationSize(To.getDataLayout());
  if (!Bytes || !I.isStaticAlloca() || Directions * Bytes->getFixedValue() > LargestVariable)
    return nullptr;
  AllocaInst *New = B.CreateAlloca(ArrayType::get(B.getInt8Ty(), Directions * Bytes->getFixedValue()));
  New->setAlignment(std::max(I.getAlign(), LineOfCache));
  return New;
}

bool InterleavedFunction::ofCopy(IRBuilder<> &B, MemTransferInst &I) {
  Value *Behind = I.getRawDest(), *Source = I.getRawSource();
  if (!isShadow(Behind) || I.isVolatile())
    return false;
  Value *Length = bytes(B, primal(I.getLength())), *Nothing = Constant::getNullValue(Length->getType());
  Value *Copied = Nothing, *HasNone = hasNone(B, Behind), *NoSource = B.getTrue();
  if (isShadow(Source)) {
    NoSource = hasNone(B, Source);
    Copied = B.CreateSelect(B.CreateOr(HasNone, NoSource), Nothing, Length);
    if (isa<MemMoveInst>(I))
      B.CreateMemMove(shadow(B, Behind), I.getDestAlign(), shadow(B, Source), I.getSourceAlign(), Copied);
    else
      B.CreateMemCpy(shadow(B, Behind), I.getDestAlign(), shadow(B, Source), I.getSourceAlign(), Copied);
  }
  Value *Cleared = B.CreateSelect(B.CreateAnd(NoSource, B.CreateNot(HasNone)), Length, Nothing);
  B.CreateMemSet(shadow(B, Behind), B.getInt8(0), Cleared, I.getDestAlign());
  return true;
}

bool InterleavedFunction::ofIntrinsic(IRBuilder<> &B, IntrinsicInst &I) {
  if (isa<LifetimeIntrinsic, AssumeInst, DbgInfoIntrinsic>(I))
    return true; // nothing is said of the shadows
  if (auto *Copy = dyn_cast<MemTransferInst>(&I))
    return ofCopy(B, *Copy);
  if (auto *Fill = dyn_cast<MemSetInst>(&I)) {
    fill(B, Fill->getRawDest(), primal(Fill->getValue()), primal(Fill->getLength()), Fill->getDestAlign());
    return true;
  }
  auto IsSame = [&I](Value *V) { return V->getType() == I.getType(); };
  if (!I.getType()->isFPOrFPVectorTy() || !isTriviallyVectorizable(I.getIntrinsicID()) || !all_of(I.args(), IsSame))
    return false;
  SmallVector<Value *> Arguments;
  for (Value *V : I.args())
    Arguments.push_back(shadow(B, V));
  CallInst *New = B.CreateIntrinsic(I.getIntrinsicID(), {of(I.getType(), 1)}, Arguments);
  New->copyFastMathFlags(&I);
  Shadows[&I] = New;
  return true;
}

// With the arguments and the callee exchanged; of shadows nothing is said any more, nor of the result.
static CallBase *called(IRBuilder<> &B, CallBase &Copy, FunctionCallee Callee, ArrayRef<Value *> Arguments,
                        Members Shadows) {
  CallBase *New;
  if (auto *Invoke = dyn_cast<InvokeInst>(&Copy)) {
    New = B.CreateInvoke(Callee, Invoke->getNormalDest(), Invoke->getUnwindDest(), Arguments);
  } else {
    New = B.CreateCall(Callee, Arguments);
    cast<CallInst>(New)->setTailCallKind(CallInst::TCK_None);
  }
  New->setCallingConv(Copy.getCallingConv());
  AttributeList Given = Copy.getAttributes();
  SmallVector<AttributeSet> OfArguments;
  for (unsigned I = 0; I < Arguments.size(); ++I)
    OfArguments.push_back(Shadows >> I & 1 ? AttributeSet() : Given.getParamAttrs(I));
  New->setAttributes(AttributeList::get(Copy.getContext(), Given.getFnAttrs(), {}, OfArguments));
  New->removeFnAttr(Attribute::Memory);
  New->setDebugLoc(Copy.getDebugLoc());
  return New;
}

bool InterleavedFunction::ofMemoryFunction(IRBuilder<> &B, CallBase &I, Function &Callee) {
  SmallVector<Value *> Arguments;
  for (Value *V : I.args())
    Arguments.push_back(primal(V));
  StringRef Name = Callee.getName();
  if (isRelease(Callee)) {
    Value *Pointer = I.getArgOperand(0);
    Arguments[0] = B.CreateSelect(hasNone(B, Pointer), ConstantPointerNull::get(B.getPtrTy()), shadow(B, Pointer));
    if (Name.starts_with("_ZdlPvm") || Name.starts_with("_ZdaPvm"))
      Arguments[1] = bytes(B, Arguments[1]);
  } else {
    Arguments[0] = bytes(B, Arguments[0]);
  }
  CallBase *New = called(B, *cast<CallBase>(Copies.lookup(&I)), &Callee, Arguments, /*Shadows=*/1);
  if (isShadow(&I)) {
    New->setName("tangents'mi"); // as Enzyme calls shadows
    Shadows[&I] = New;
  }
  return true;
}

bool InterleavedFunction::ofDefined(IRBuilder<> &B, CallBase &I, Function &Callee) {
  Members Given = Values.ofArguments(I);
  Function *With = Calls.copyOf(Callee, Given);
  if (!With)
    return false;
  SmallVector<Value *> Arguments;
  for (auto [Index, V] : enumerate(I.args())) {
    bool IsShadow = Given >> Index & 1;
    if (IsShadow && I.isPassPointeeByValueArgument(Index))
      return false; // a copy of another size
    Arguments.push_back(IsShadow ? shadow(B, V) : primal(V));
  }
  for (auto [V, A] : zip(Arguments, With->args()))
    if (V->getType() != A.getType())
      return false;
  auto *Copy = cast<CallBase>(Copies.lookup(&I));
  CallBase *New = called(B, *Copy, With, Arguments, Given);
  if (isShadow(&I))
    Shadows[&I] = New;
  else
    Copy->replaceAllUsesWith(New);
  return true;
}

bool InterleavedFunction::ofCall(IRBuilder<> &B, CallBase &I) {
  if (auto *Intrinsic = dyn_cast<IntrinsicInst>(&I))
    return ofIntrinsic(B, *Intrinsic);
  Function *Callee = I.getCalledFunction();
  if (isPin(I))
    return true;
  if (!Callee || I.arg_size() > LargestCall || I.hasOperandBundles())
    return false;
  if (isRelease(*Callee) || (isShadow(&I) && Callee->isDeclaration()))
    return ofMemoryFunction(B, I, *Callee);
  return !Callee->isDeclaration() && ofDefined(B, I, *Callee);
}

} // namespace adgen
