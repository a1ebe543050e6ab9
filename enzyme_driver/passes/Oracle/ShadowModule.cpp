#include "Oracle/ShadowModule.h"

#include "llvm/IR/InstIterator.h"
#include "llvm/IR/ReplaceConstant.h"
#include "llvm/Transforms/Utils/Cloning.h"

using namespace llvm;

namespace adgen {

bool hasShadow(const Type *T) {
  return T->isFirstClassType() && !T->isTokenTy() && !T->isMetadataTy() && !T->isLabelTy();
}

bool isZeroShadow(const Value *Shadow) {
  auto *C = dyn_cast<Constant>(Shadow);
  return C && (C->isNullValue() || isa<UndefValue>(C));
}

static bool holdsPointers(Type *T) {
  return holds(T, [](Type *Part) { return Part->isPointerTy(); });
}

Value *inactive(IRBuilder<> &B, Value *V) {
  Type *T = V->getType();
  if (T->isPtrOrPtrVectorTy())
    return V;
  if (!T->isAggregateType() || !holdsPointers(T))
    return Constant::getNullValue(T);
  Value *Shadow = Constant::getNullValue(T);
  unsigned Count = T->isStructTy() ? T->getStructNumElements() : T->getArrayNumElements();
  for (unsigned I = 0; I < Count; ++I)
    Shadow = B.CreateInsertValue(Shadow, inactive(B, B.CreateExtractValue(V, I)), I);
  return Shadow;
}

Function *ShadowModule::carrying(Function &F) {
  Function *&Made = Carrying[&F];
  if (Made)
    return Made;
  SmallVector<Type *> Types(F.getFunctionType()->params());
  append_range(Types, F.getFunctionType()->params());
  Type *Result = F.getReturnType();
  if (!Result->isVoidTy())
    Result = StructType::get(Result, Result);
  Made = Function::Create(FunctionType::get(Result, Types, false), GlobalValue::ExternalLinkage,
                          "adgen_" + Numbers.name() + "_of_" + F.getName(), &M);
  Unwritten.push_back({&F, Made});
  return Made;
}

void ShadowModule::finish() {
  while (!Unwritten.empty()) {
    auto [From, To] = Unwritten.pop_back_val();
    carryThrough(*this, *From, *To);
  }
}

void ShadowModule::refuse(Function &In, const DebugLoc &Where, const Twine &Reason) {
  Refused.try_emplace(&In, Refusal{Where, Reason.str()});
}

const ShadowModule::Refusal *ShadowModule::refusalOf(Function &From) const {
  SmallVector<const Function *> Waiting{&From};
  SmallPtrSet<const Function *, 16> Seen{&From};
  while (!Waiting.empty()) {
    const Function *F = Waiting.pop_back_val();
    if (auto Found = Refused.find(F); Found != Refused.end())
      return &Found->second;
    for (const Instruction &I : instructions(*F))
      for (const Use &U : I.operands())
        if (auto *Reached = dyn_cast<Function>(U.get()); Reached && Seen.insert(Reached).second)
          Waiting.push_back(Reached);
  }
  return nullptr;
}

// Functions have the functions that carry shadows, through which a call by pointer comes to them; a table of functions
// leads to those.
bool ShadowModule::leadsAnywhere(const Constant *C) const {
  if (auto *F = dyn_cast<Function>(C))
    return !F->isDeclaration();
  if (auto *Global = dyn_cast<GlobalVariable>(C))
    return !Global->isConstant() || (Global->hasInitializer() && leadsAnywhere(Global->getInitializer()));
  return any_of(C->operands(),
                [&](const Use &U) { return isa<Constant>(U.get()) && leadsAnywhere(cast<Constant>(U.get())); });
}

Constant *ShadowModule::shadowOfGlobal(GlobalVariable &Global) {
  if (auto Known = Globals.find(&Global); Known != Globals.end())
    return Known->second;
  Globals[&Global] = &Global; // a table may lead to itself
  if (MDNode *Given = Global.getMetadata(ShadowMetadata))
    return Globals[&Global] = cast<ConstantAsMetadata>(Given->getOperand(0))->getValue();
  bool OfHost = !M.getTargetTriple().isNVPTX();
  bool HasOwn =
      Global.isConstant() ? leadsAnywhere(&Global) : OfHost && !Global.isDeclaration() && !Global.isThreadLocal();
  if (!HasOwn)
    return &Global;
  auto *Shadow = new GlobalVariable(M, Global.getValueType(), Global.isConstant(), GlobalValue::InternalLinkage,
                                    Constant::getNullValue(Global.getValueType()),
                                    "adgen_" + Numbers.name() + "_of_" + Global.getName(), nullptr,
                                    GlobalValue::NotThreadLocal, Global.getAddressSpace());
  Shadow->setAlignment(Global.getAlign());
  Globals[&Global] = Shadow;
  if (Global.hasInitializer())
    Shadow->setInitializer(shadowOf(Global.getInitializer()));
  if (!Global.isConstant())
    Own.push_back(Shadow);
  return Shadow;
}

Constant *ShadowModule::shadowOf(Constant *C) {
  Type *T = C->getType();
  if (auto *F = dyn_cast<Function>(C))
    return F->isDeclaration() || F->isVarArg() ? cast<Constant>(F) : carrying(*F);
  if (auto *Global = dyn_cast<GlobalVariable>(C))
    return shadowOfGlobal(*Global);
  if (isa<ConstantPointerNull>(C) || isa<GlobalValue>(C))
    return C;
  if (auto *Expression = dyn_cast<ConstantExpr>(C)) {
    if (!T->isPtrOrPtrVectorTy() && Expression->getOpcode() != Instruction::PtrToInt)
      return Constant::getNullValue(T);
    if (Expression->getOpcode() == Instruction::PtrToInt)
      return Constant::getNullValue(T);
    SmallVector<Constant *> Operands;
    for (Use &U : Expression->operands()) {
      auto *Operand = cast<Constant>(U.get());
      Operands.push_back(Operand->getType()->isPtrOrPtrVectorTy() ? shadowOf(Operand) : Operand);
    }
    return Expression->getWithOperands(Operands);
  }
  if (T->isPtrOrPtrVectorTy() && isa<UndefValue>(C))
    return C;
  if (auto *Aggregate = dyn_cast<ConstantAggregate>(C); Aggregate && holdsPointers(T)) {
    SmallVector<Constant *> Parts;
    for (Use &U : Aggregate->operands())
      Parts.push_back(shadowOf(cast<Constant>(U.get())));
    if (auto *Struct = dyn_cast<StructType>(T))
      return ConstantStruct::get(Struct, Parts);
    if (auto *Array = dyn_cast<ArrayType>(T))
      return ConstantArray::get(Array, Parts);
    return ConstantVector::get(Parts);
  }
  return Constant::getNullValue(T);
}

Constant *ShadowModule::notes() {
  if (GlobalVariable *Known = M.getNamedGlobal(NotesName))
    return ConstantExpr::getPointerBitCastOrAddrSpaceCast(Known, PointerType::getUnqual(M.getContext()));
  auto *T = ArrayType::get(Type::getInt32Ty(M.getContext()), NoteCount);
  unsigned Space = M.getTargetTriple().isNVPTX() ? 1 : 0;
  auto *Notes = new GlobalVariable(M, T, false, GlobalValue::ExternalLinkage, Constant::getNullValue(T), NotesName,
                                   nullptr, GlobalValue::NotThreadLocal, Space, /*isExternallyInitialized=*/true);
  Notes->setAlignment(Align(4));
  return notes();
}

GlobalVariable *ShadowModule::lock() {
  constexpr StringLiteral Name = "adgen_shadow_lock";
  if (GlobalVariable *Known = M.getNamedGlobal(Name))
    return Known;
  Type *T = Type::getInt32Ty(M.getContext());
  return new GlobalVariable(M, T, false, GlobalValue::InternalLinkage, Constant::getNullValue(T), Name, nullptr,
                            GlobalValue::NotThreadLocal, M.getTargetTriple().isNVPTX() ? 1 : 0);
}

// for (done = false; !done;) if (exchange(lock, 1) == 0) { inside; lock = 0; done = true; }: lanes of a warp that wait
// for each other get on.
Function *ShadowModule::beginLocked(StringRef Name, Type *T, ArrayRef<Type *> Types,
                                    function_ref<Value *(IRBuilder<> &, Function &)> Inside) {
  if (Function *Known = M.getFunction(Name))
    return Known;
  LLVMContext &Context = M.getContext();
  auto *F =
      Function::Create(FunctionType::get(StructType::get(T, T), Types, false), GlobalValue::InternalLinkage, Name, &M);
  auto *Entry = BasicBlock::Create(Context, "entry", F), *Try = BasicBlock::Create(Context, "try", F);
  auto *Locked = BasicBlock::Create(Context, "locked", F), *Next = BasicBlock::Create(Context, "next", F);
  auto *Done = BasicBlock::Create(Context, "done", F);
  IRBuilder<> B(Entry);
  AllocaInst *Result = B.CreateAlloca(F->getReturnType());
  B.CreateBr(Try);
  B.SetInsertPoint(Try);
  Type *Int32 = B.getInt32Ty();
  Value *Was = B.CreateAtomicRMW(AtomicRMWInst::Xchg, lock(), ConstantInt::get(Int32, 1), MaybeAlign(),
                                 AtomicOrdering::SequentiallyConsistent);
  B.CreateCondBr(B.CreateICmpEQ(Was, ConstantInt::get(Int32, 0)), Locked, Next);
  B.SetInsertPoint(Locked);
  B.CreateStore(Inside(B, *F), Result);
  B.CreateFence(AtomicOrdering::SequentiallyConsistent);
  B.CreateAtomicRMW(AtomicRMWInst::Xchg, lock(), ConstantInt::get(Int32, 0), MaybeAlign(),
                    AtomicOrdering::SequentiallyConsistent);
  B.CreateBr(Next);
  B.SetInsertPoint(Next);
  PHINode *IsDone = B.CreatePHI(B.getInt1Ty(), 2);
  IsDone->addIncoming(B.getFalse(), Try);
  IsDone->addIncoming(B.getTrue(), Locked);
  B.CreateCondBr(IsDone, Done, Try);
  B.SetInsertPoint(Done);
  B.CreateRet(B.CreateLoad(F->getReturnType(), Result));
  return F;
}

static std::string spelled(Type *T) {
  std::string Text;
  raw_string_ostream(Text) << *T;
  return Text;
}

static Value *both(IRBuilder<> &B, Value *First, Value *Second) {
  Value *Pair = PoisonValue::get(StructType::get(First->getType(), Second->getType()));
  return B.CreateInsertValue(B.CreateInsertValue(Pair, First, 0), Second, 1);
}

// What is there and what is given: whether what is given takes its place, or null where that is no choice.
static Value *takesPlace(IRBuilder<> &B, AtomicRMWInst::BinOp Op, Value *Old, Value *Given) {
  switch (Op) {
  case AtomicRMWInst::Xchg:
    return B.getTrue();
  case AtomicRMWInst::Max:
    return B.CreateICmpSGT(Given, Old);
  case AtomicRMWInst::Min:
    return B.CreateICmpSLT(Given, Old);
  case AtomicRMWInst::UMax:
    return B.CreateICmpUGT(Given, Old);
  case AtomicRMWInst::UMin:
    return B.CreateICmpULT(Given, Old);
  case AtomicRMWInst::FMax:
    return B.CreateFCmpOGT(Given, Old);
  case AtomicRMWInst::FMin:
    return B.CreateFCmpOLT(Given, Old);
  default:
    return nullptr;
  }
}

// {T, T}(pointer, its shadow, given, its shadow): what was there, and its shadow. Null for an operation that is no
// choice.
Function *ShadowModule::lockedOperation(AtomicRMWInst::BinOp Op, Type *T) {
  if (Op != AtomicRMWInst::Xchg && !is_contained({AtomicRMWInst::Max, AtomicRMWInst::Min, AtomicRMWInst::UMax,
                                                  AtomicRMWInst::UMin, AtomicRMWInst::FMax, AtomicRMWInst::FMin},
                                                 Op))
    return nullptr;
  auto *Plain = PointerType::getUnqual(M.getContext());
  std::string Name = ("adgen_shadow_" + AtomicRMWInst::getOperationName(Op) + "_" + spelled(T)).str();
  return beginLocked(Name, T, {Plain, Plain, T, T}, [&](IRBuilder<> &B, Function &F) {
    Value *Old = B.CreateLoad(T, F.getArg(0), /*isVolatile=*/true), *OldShadow = B.CreateLoad(T, F.getArg(1), true);
    Value *Takes = takesPlace(B, Op, Old, F.getArg(2));
    B.CreateStore(B.CreateSelect(Takes, F.getArg(2), Old), F.getArg(0), true);
    B.CreateStore(B.CreateSelect(Takes, F.getArg(3), OldShadow), F.getArg(1), true);
    return both(B, Old, OldShadow);
  });
}

// {T, T}(pointer, its shadow, compared, new, shadow of new): what was there, and its shadow.
Function *ShadowModule::lockedSwap(Type *T) {
  auto *Plain = PointerType::getUnqual(M.getContext());
  return beginLocked("adgen_shadow_swap_" + spelled(T), T, {Plain, Plain, T, T, T}, [&](IRBuilder<> &B, Function &F) {
    Value *Old = B.CreateLoad(T, F.getArg(0), true), *OldShadow = B.CreateLoad(T, F.getArg(1), true);
    Value *Takes = B.CreateICmpEQ(Old, F.getArg(2));
    Value *New = Numbers.areSets() ? B.CreateOr(F.getArg(4), OldShadow) : F.getArg(4);
    B.CreateStore(B.CreateSelect(Takes, F.getArg(3), Old), F.getArg(0), true);
    B.CreateStore(B.CreateSelect(Takes, New, OldShadow), F.getArg(1), true);
    return both(B, Old, OldShadow);
  });
}

} // namespace adgen
