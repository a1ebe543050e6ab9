#include "Autodiff/InterleavedFunction.h"

#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/Analysis/Utils/Local.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/Transforms/Utils/Cloning.h"

using namespace llvm;

namespace adgen {

Type *InterleavedTypes::of(Type *T, Members Shadows) const {
  if (!Shadows || T->isPointerTy())
    return T;
  if (T->isStructTy() || T->isArrayTy()) {
    unsigned Count = T->isStructTy() ? T->getStructNumElements() : T->getArrayNumElements();
    SmallVector<Type *> Types;
    for (unsigned I = 0; I < Count && Count <= 64; ++I) {
      Type *Member = T->isStructTy() ? T->getStructElementType(I) : T->getArrayElementType();
      Types.push_back(of(Member, Shadows >> I & 1 ? allMembers(Member) : 0));
    }
    return Count > 64 || is_contained(Types, nullptr) ? nullptr : StructType::get(T->getContext(), Types);
  }
  auto *Vector = dyn_cast<FixedVectorType>(T);
  Type *Element = Vector ? Vector->getElementType() : T;
  if (!Element->isFloatingPointTy() && !Element->isIntegerTy())
    return nullptr;
  return FixedVectorType::get(Element, Directions * (Vector ? Vector->getNumElements() : 1));
}

const Instruction *InterleavedFunction::write() {
  for (Argument &A : From.args()) {
    Argument *New = To.getArg(A.getArgNo());
    Copies[&A] = isShadow(&A) ? static_cast<Value *>(PoisonValue::get(A.getType())) : New;
    if (isShadow(&A))
      Shadows[&A] = New;
  }
  SmallVector<ReturnInst *> Returns;
  CloneFunctionInto(&To, &From, Copies, CloneFunctionChangeType::LocalChangesOnly, Returns);
  for (Argument &A : From.args()) {
    To.getArg(A.getArgNo())->setName(A.getName());
    if (isShadow(&A) && A.hasNoAliasAttr())
      To.addParamAttr(A.getArgNo(), Attribute::NoAlias);
  }
  if (Values.ofResult())
    To.removeRetAttrs(AttributeFuncs::typeIncompatible(To.getReturnType(), AttributeSet()));
  SmallVector<Instruction *> Replaced;
  for (BasicBlock *Block : ReversePostOrderTraversal<Function *>(&From))
    for (Instruction &I : *Block)
      if (touchesShadows(I)) {
        Replaced.push_back(cast<Instruction>(Copies.lookup(&I)));
        if (!write(I))
          return &I;
      }
  if (!finishPhis())
    return &From.getEntryBlock().front();
  for (Instruction *Old : reverse(Replaced)) {
    Old->replaceAllUsesWith(PoisonValue::get(Old->getType()));
    Old->eraseFromParent();
  }
  return nullptr;
}

bool InterleavedFunction::touchesShadows(const Instruction &I) const {
  auto IsShadow = [this](const Value *V) { return isShadow(V); };
  const auto *Call = dyn_cast<CallBase>(&I);
  if (isa<ReturnInst>(I) && I.getNumOperands())
    return Values.ofResult();
  return isShadow(&I) || any_of(I.operand_values(), IsShadow) || (Call && Values.ofArguments(*Call));
}

Value *InterleavedFunction::primal(Value *V) const {
  Value *Copy = Copies.lookup(V);
  return Copy ? Copy : V;
}

Constant *InterleavedFunction::none() const {
  LLVMContext &Context = To.getContext();
  return ConstantExpr::getIntToPtr(ConstantInt::get(Type::getInt64Ty(Context), std::numeric_limits<int64_t>::min()),
                                   PointerType::getUnqual(Context));
}

Value *InterleavedFunction::repeated(IRBuilder<> &B, Value *V) const {
  auto *Vector = dyn_cast<FixedVectorType>(V->getType());
  if (!Vector)
    return B.CreateVectorSplat(Directions, V);
  SmallVector<int> Mask;
  for (unsigned I = 0; I < Vector->getNumElements(); ++I)
    Mask.append(Directions, I);
  return B.CreateShuffleVector(V, Mask);
}

Value *InterleavedFunction::shadow(IRBuilder<> &B, Value *V) const {
  if (Value *Known = Shadows.lookup(V))
    return Known;
  Type *T = V->getType();
  if (T->isPointerTy())
    return none();
  if (T->isFPOrFPVectorTy() || T->isIntOrIntVectorTy(1))
    return repeated(B, primal(V));
  return Constant::getNullValue(of(T, allMembers(T)));
}

Value *InterleavedFunction::withMembers(IRBuilder<> &B, Value *V, Members Wanted) const {
  Type *T = V->getType();
  Members Given = Values.of(V);
  if (!Wanted || Given == Wanted)
    return either(B, V);
  if (!T->isStructTy() && !T->isArrayTy())
    return shadow(B, V);
  Value *Result = PoisonValue::get(of(T, Wanted)), *Whole = either(B, V);
  unsigned Count = T->isStructTy() ? T->getStructNumElements() : T->getArrayNumElements();
  for (unsigned I = 0; I < Count; ++I) {
    Value *Member = B.CreateExtractValue(Whole, I);
    Type *Of = T->isStructTy() ? T->getStructElementType(I) : T->getArrayElementType();
    if (Wanted >> I & 1 & ~(Given >> I))
      Member = Of->isFPOrFPVectorTy() ? repeated(B, Member)
               : Of->isPointerTy()    ? none()
                                      : Constant::getNullValue(of(Of, allMembers(Of)));
    Result = B.CreateInsertValue(Result, Member, I);
  }
  return Result;
}

bool InterleavedFunction::write(Instruction &I) {
  auto *Copy = cast<Instruction>(Copies.lookup(&I));
  IRBuilder<> B(Copy);
  if (isShadow(&I) && !of(I.getType(), Values.of(&I)))
    return false;
  if (auto *Store = dyn_cast<StoreInst>(&I))
    return ofStore(B, *Store);
  if (auto *Call = dyn_cast<CallBase>(&I))
    return ofCall(B, *Call);
  if (auto *Return = dyn_cast<ReturnInst>(&I)) {
    B.CreateRet(withMembers(B, Return->getReturnValue(), Values.ofResult()));
    return true;
  }
  if (I.isTerminator())
    return false;
  Value *New = ofValue(B, I);
  if (!New)
    return false;
  if (isShadow(&I))
    Shadows[&I] = New;
  else
    Copy->replaceAllUsesWith(New);
  return true;
}

// Of numbers, each by itself; integers of one bit come from comparisons.
static bool isElementwise(const Instruction &I) {
  Type *T = I.getType();
  return isa<UnaryOperator, BinaryOperator>(I) && (T->isFPOrFPVectorTy() || T->isIntOrIntVectorTy(1));
}

Value *InterleavedFunction::ofValue(IRBuilder<> &B, Instruction &I) {
  Type *T = of(I.getType(), Values.of(&I));
  if (auto *Phi = dyn_cast<PHINode>(&I))
    return B.CreatePHI(T, Phi->getNumIncomingValues());
  if (auto *Address = dyn_cast<GetElementPtrInst>(&I))
    return ofAddress(B, *Address);
  if (auto *Load = dyn_cast<LoadInst>(&I))
    return ofLoad(B, *Load);
  if (auto *Variable = dyn_cast<AllocaInst>(&I))
    return ofVariable(B, *Variable);
  if (auto *Atomic = dyn_cast<AtomicRMWInst>(&I))
    return ofAtomic(B, *Atomic);
  if (auto *Select = dyn_cast<SelectInst>(&I))
    return ofSelect(B, *Select);
  if (auto *Compare = dyn_cast<CmpInst>(&I))
    return ofComparison(B, *Compare);
  if (auto *Part = dyn_cast<ExtractValueInst>(&I))
    return B.CreateExtractValue(shadow(B, Part->getAggregateOperand()), Part->getIndices());
  if (auto *Part = dyn_cast<InsertValueInst>(&I)) {
    Value *Whole = withMembers(B, Part->getAggregateOperand(), Values.of(&I)),
          *Member = Part->getInsertedValueOperand();
    Members Own = Values.of(&I) >> Part->getIndices().front() & 1 ? allMembers(Member->getType()) : 0;
    return B.CreateInsertValue(Whole, withMembers(B, Member, Own), Part->getIndices());
  }
  if (auto *Part = dyn_cast<ExtractElementInst>(&I))
    return ofMember(B, shadow(B, Part->getVectorOperand()), Part->getIndexOperand());
  if (auto *Part = dyn_cast<InsertElementInst>(&I))
    return withMember(B, *Part);
  if (auto *Shuffle = dyn_cast<ShuffleVectorInst>(&I))
    return ofShuffle(B, *Shuffle);
  if (isa<FreezeInst>(I) && !I.getType()->isAggregateType())
    return B.CreateFreeze(shadow(B, I.getOperand(0)));
  if (auto *Cast = dyn_cast<CastInst>(&I))
    return ofCast(B, *Cast);
  if (!isElementwise(I))
    return nullptr;
  Instruction *New = isa<UnaryOperator>(I)
                         ? static_cast<Instruction *>(
                               UnaryOperator::Create(cast<UnaryOperator>(I).getOpcode(), shadow(B, I.getOperand(0))))
                         : BinaryOperator::Create(cast<BinaryOperator>(I).getOpcode(), shadow(B, I.getOperand(0)),
                                                  shadow(B, I.getOperand(1)));
  New->copyIRFlags(&I);
  return B.Insert(New);
}

// Numbers stay numbers, and their bits bits.
Value *InterleavedFunction::ofCast(IRBuilder<> &B, CastInst &I) {
  auto *From = dyn_cast_or_null<FixedVectorType>(of(I.getSrcTy(), 1)),
       *Into = dyn_cast_or_null<FixedVectorType>(of(I.getType(), 1));
  bool Keeps = isa<FPExtInst, FPTruncInst>(I) || isa<BitCastInst>(I);
  if (!Keeps || !From || !Into || From->getNumElements() != Into->getNumElements())
    return nullptr;
  return B.CreateCast(I.getOpcode(), shadow(B, I.getOperand(0)), Into);
}

Value *InterleavedFunction::ofSelect(IRBuilder<> &B, SelectInst &I) {
  Value *Condition = I.getCondition();
  if (I.getType()->isAggregateType() || (isShadow(Condition) && I.getType()->isPointerTy()))
    return nullptr;
  Value *Which = isShadow(Condition)                  ? shadow(B, Condition)
                 : Condition->getType()->isVectorTy() ? repeated(B, primal(Condition))
                                                      : primal(Condition);
  if (isShadow(Condition) && !Condition->getType()->isVectorTy() && I.getType()->isVectorTy())
    return nullptr;
  return B.CreateSelect(Which, shadow(B, I.getTrueValue()), shadow(B, I.getFalseValue()));
}

Value *InterleavedFunction::ofShuffle(IRBuilder<> &B, ShuffleVectorInst &I) {
  SmallVector<int> Mask;
  for (int Place : I.getShuffleMask())
    for (unsigned D = 0; D < Directions; ++D)
      Mask.push_back(Place < 0 ? Place : Place * int(Directions) + int(D));
  return B.CreateShuffleVector(shadow(B, I.getOperand(0)), shadow(B, I.getOperand(1)), Mask);
}

Value *InterleavedFunction::ofMember(IRBuilder<> &B, Value *Vector, Value *Place) {
  auto *Known = dyn_cast<ConstantInt>(Place);
  if (!Known)
    return nullptr;
  SmallVector<int> Mask;
  for (unsigned D = 0; D < Directions; ++D)
    Mask.push_back(Known->getZExtValue() * Directions + D);
  return B.CreateShuffleVector(Vector, Mask);
}

Value *InterleavedFunction::withMember(IRBuilder<> &B, InsertElementInst &I) {
  auto *Place = dyn_cast<ConstantInt>(I.getOperand(2));
  if (!Place)
    return nullptr;
  Value *Vector = shadow(B, I.getOperand(0)), *Member = shadow(B, I.getOperand(1));
  for (unsigned D = 0; D < Directions; ++D)
    Vector = B.CreateInsertElement(Vector, B.CreateExtractElement(Member, D), Place->getZExtValue() * Directions + D);
  return Vector;
}

// A pointer is compared with its shadow to learn whether it has one.
Value *InterleavedFunction::ofComparison(IRBuilder<> &B, CmpInst &I) {
  Value *Left = I.getOperand(0), *Right = I.getOperand(1);
  if (isa<FCmpInst>(I)) {
    B.setFastMathFlags(I.getFastMathFlags());
    return B.CreateFCmp(I.getPredicate(), shadow(B, Left), shadow(B, Right));
  }
  if (!Left->getType()->isPointerTy() || !I.isEquality() || isShadow(Left) == isShadow(Right))
    return nullptr;
  Value *None = hasNone(B, isShadow(Left) ? Left : Right);
  return I.getPredicate() == CmpInst::ICMP_EQ ? None : B.CreateNot(None);
}

// Behind it there may be the instruction that it stands for.
static Instruction *firstTerminator(BasicBlock &Block) {
  return &*find_if(Block, [](const Instruction &I) { return I.isTerminator(); });
}

bool InterleavedFunction::finishPhis() {
  for (auto [Of, Shadow] : Shadows) {
    auto *Phi = dyn_cast<PHINode>(Of);
    if (!Phi)
      continue;
    DenseMap<BasicBlock *, Value *> Incoming; // a block that comes twice brings the same
    for (auto [V, Block] : zip(Phi->incoming_values(), Phi->blocks())) {
      auto *From = cast<BasicBlock>(primal(Block));
      IRBuilder<> B(firstTerminator(*From));
      Value *&Brought = Incoming[From];
      if (!Brought)
        Brought = withMembers(B, V, Values.of(Phi));
      if (Brought->getType() != Shadow->getType())
        return false;
      cast<PHINode>(Shadow)->addIncoming(Brought, From);
    }
  }
  return true;
}

} // namespace adgen
