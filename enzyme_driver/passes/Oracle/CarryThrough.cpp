#include "Oracle/CarryThrough.h"

#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Analysis/SimplifyQuery.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "llvm/Transforms/Utils/Local.h"

using namespace llvm;

namespace adgen {

void carryThrough(ShadowModule &Module, Function &From, Function &To) { Carrying(Module, From, To).write(); }

static BasicBlock::iterator placeBehind(Instruction &I) {
  if (auto *Invoke = dyn_cast<InvokeInst>(&I))
    return Invoke->getNormalDest()->getFirstInsertionPt();
  if (isa<PHINode>(I) || isa<LandingPadInst>(I))
    return I.getParent()->getFirstInsertionPt();
  return std::next(I.getIterator());
}

IRBuilder<> builderBehind(Instruction &I) {
  BasicBlock::iterator Place = placeBehind(I);
  return IRBuilder<>(Place->getParent(), Place);
}

// What follows the result of an invoke belongs to that way alone.
static void splitNormalEdges(Function &F) {
  for (BasicBlock &Block : make_early_inc_range(F))
    if (auto *Invoke = dyn_cast<InvokeInst>(Block.getTerminator()))
      if (!Invoke->getNormalDest()->getSinglePredecessor() || isa<PHINode>(Invoke->getNormalDest()->front()))
        SplitEdge(&Block, Invoke->getNormalDest());
}

void Carrying::write() {
  ValueToValueMapTy Map;
  for (Argument &A : From.args()) {
    Argument *Primal = To.getArg(A.getArgNo()), *Shadow = To.getArg(From.arg_size() + A.getArgNo());
    Primal->setName(A.getName());
    Shadow->setName("d_" + A.getName());
    Map[&A] = Primal;
    Shadows[Primal] = Shadow;
  }
  SmallVector<ReturnInst *> Returns;
  CloneFunctionInto(&To, &From, Map, CloneFunctionChangeType::LocalChangesOnly, Returns);
  To.setLinkage(GlobalValue::InternalLinkage);
  To.setComdat(nullptr);
  To.setAttributes(AttributeList::get(To.getContext(), From.getAttributes().getFnAttrs(), {}, {}));
  for (Attribute::AttrKind Kind :
       {Attribute::Memory, Attribute::NoInline, Attribute::OptimizeNone, Attribute::AlwaysInline})
    To.removeFnAttr(Kind);
  removeUnreachableBlocks(To);
  splitNormalEdges(To);
  SmallVector<Instruction *> Given;
  for (BasicBlock *Block : ReversePostOrderTraversal<Function *>(&To))
    for (Instruction &I : *Block)
      Given.push_back(&I);
  for (Instruction *I : Given)
    visit(*I);
  for (auto [Phi, Shadow] : Phis)
    for (auto [Value, Block] : zip(Phi->incoming_values(), Phi->blocks()))
      Shadow->addIncoming(this->shadow(Value), Block);
  finishDecisions();
}

Value *Carrying::shadow(Value *V) {
  if (auto *C = dyn_cast<Constant>(V))
    return Module.shadowOf(C);
  if (Value *Known = Shadows.lookup(V))
    return Known;
  if (isa<InlineAsm>(V) || isa<MetadataAsValue>(V))
    return V;
  report_fatal_error("adgen: a value without a shadow in " + To.getName());
}

void Carrying::stop(Instruction &I, const Twine &Reason) {
  Module.refuse(To, I.getDebugLoc(), Reason);
  if (!hasShadow(I.getType()) || Shadows.lookup(&I))
    return;
  IRBuilder<> B = builderBehind(I);
  set(I, inactive(B, &I));
}

static Value *anyOf(IRBuilder<> &B, Value *Condition) {
  return Condition->getType()->isVectorTy() ? B.CreateOrReduce(Condition) : Condition;
}

void Carrying::note(IRBuilder<> &B, Value *Condition, Note Kind, const DebugLoc &Where) {
  if (auto *C = dyn_cast<Constant>(Condition); C && C->isNullValue())
    return;
  Value *Place = B.CreateConstInBoundsGEP1_64(B.getInt32Ty(), Module.notes(), unsigned(Kind));
  Value *At = B.CreateSelect(anyOf(B, Condition), Place, writable(B, nullptr, nullptr, 4));
  B.CreateStore(B.getInt32(Where && Where.getLine() ? Where.getLine() : 1), At, /*isVolatile=*/true);
}

void Carrying::visit(Instruction &I) {
  if (countsDecisions())
    carrySteering(I);
  if (auto *Phi = dyn_cast<PHINode>(&I)) {
    PHINode *Shadow =
        PHINode::Create(Phi->getType(), Phi->getNumIncomingValues(), "d_" + Phi->getName(), Phi->getIterator());
    Phis.push_back({Phi, Shadow});
    if (countsDecisions() && Phi->getType()->isIntOrIntVectorTy(1))
      DecidingPhis.push_back({Phi, ofDecidingPhi(*Phi)});
    return set(I, Shadow);
  }
  if (auto *Call = dyn_cast<CallBase>(&I))
    return carryCall(*Call);
  if (auto *Store = dyn_cast<StoreInst>(&I)) {
    IRBuilder<> B(Store);
    return carryStore(B, *Store);
  }
  if (auto *Return = dyn_cast<ReturnInst>(&I)) {
    if (Value *Result = Return->getReturnValue()) {
      IRBuilder<> B(Return);
      Value *Both = B.CreateInsertValue(PoisonValue::get(To.getReturnType()), Result, 0);
      Return->setOperand(0, B.CreateInsertValue(Both, shadow(Result), 1));
    }
    return;
  }
  if (I.isTerminator() || isa<FenceInst>(I))
    return;
  IRBuilder<> B = builderBehind(I);
  B.SetCurrentDebugLocation(I.getDebugLoc());
  if (Value *Shadow = ofValue(B, I))
    set(I, Shadow);
}

// The same instruction on shadows, of those operands that have some.
static Value *onShadows(IRBuilder<> &B, Instruction &I, function_ref<Value *(Value *)> ShadowOf,
                        ArrayRef<unsigned> Operands) {
  Instruction *Same = I.clone();
  for (unsigned At : Operands)
    Same->setOperand(At, ShadowOf(I.getOperand(At)));
  Same->dropUnknownNonDebugMetadata();
  if (!isa<GetElementPtrInst>(Same)) // what holds for a number need not hold for its shadow
    Same->dropPoisonGeneratingFlags();
  return B.Insert(Same, "d_" + I.getName());
}

Value *Carrying::ofValue(IRBuilder<> &B, Instruction &I) {
  auto Of = [&](Value *V) { return shadow(V); };
  Type *T = I.getType();
  if (T->isIntOrIntVectorTy(1) && countsDecisions() && !isa<LoadInst>(I))
    return ofDecision(B, I);
  if (T->isIntOrIntVectorTy(1) && !isa<FCmpInst>(I))
    return Constant::getNullValue(T);
  if (countsDecisions() && isa<CastInst>(I) && I.getOperand(0)->getType()->isIntOrIntVectorTy(1))
    return Module.Numbers.join(B, {decision(B, I.getOperand(0))}, T);
  switch (I.getOpcode()) {
  case Instruction::Load:
    return ofLoad(B, cast<LoadInst>(I));
  case Instruction::Alloca:
    return ofAlloca(B, cast<AllocaInst>(I));
  case Instruction::AtomicRMW:
    return ofAtomic(B, cast<AtomicRMWInst>(I));
  case Instruction::AtomicCmpXchg:
    return ofSwap(B, cast<AtomicCmpXchgInst>(I));
  case Instruction::GetElementPtr:
    if (!I.getOperand(0)->getType()->isPointerTy() && T->isVectorTy())
      return onShadows(B, I, Of, {0});
    return onShadows(B, I, Of, {0});
  case Instruction::BitCast:
  case Instruction::AddrSpaceCast:
  case Instruction::Freeze:
  case Instruction::ExtractValue:
  case Instruction::ExtractElement:
    return onShadows(B, I, Of, {0});
  case Instruction::InsertValue:
  case Instruction::InsertElement:
  case Instruction::ShuffleVector:
    return onShadows(B, I, Of, {0, 1});
  case Instruction::Select: {
    Value *Chosen = B.CreateSelect(I.getOperand(0), shadow(I.getOperand(1)), shadow(I.getOperand(2)));
    return countsDecisions() ? ofChoice(B, cast<SelectInst>(I), Chosen) : Chosen;
  }
  case Instruction::Trunc:
  case Instruction::ZExt:
  case Instruction::SExt:
    if (Value *Found = Module.Numbers.ofBits(B, I, {shadow(I.getOperand(0))}, *this))
      return Found;
    return isZeroShadow(shadow(I.getOperand(0))) ? Constant::getNullValue(T) : onShadows(B, I, Of, {0});
  case Instruction::PtrToInt:
  case Instruction::PtrToAddr:
    return Constant::getNullValue(T);
  case Instruction::IntToPtr:
    return fromInteger(B, cast<IntToPtrInst>(I));
  case Instruction::LandingPad:
    return inactive(B, &I);
  case Instruction::SIToFP:
  case Instruction::UIToFP:
    return lost(B, I, {shadow(I.getOperand(0))});
  default:
    break;
  }
  if (auto *Binary = dyn_cast<BinaryOperator>(&I); Binary && T->isIntOrIntVectorTy())
    return ofInteger(B, *Binary);
  SmallVector<Value *> D(map_range(I.operands(), [&](Use &U) { return shadow(U.get()); }));
  if (Value *Found = Module.Numbers.ofArithmetic(B, I, D, *this))
    return Found;
  stop(I, Twine("an instruction without a rule: ") + I.getOpcodeName());
  return nullptr;
}

// Whether a value only decides which way is taken, or what is taken of others.
static bool onlyDecides(const Value &V, unsigned Depth = 6) {
  return Depth && all_of(V.users(), [&](const User *U) {
           auto *I = dyn_cast<Instruction>(U);
           if (!I)
             return false;
           bool IsBits = (isa<BinaryOperator>(I) || isa<TruncInst>(I) || isa<ZExtInst>(I) || isa<SExtInst>(I)) &&
                         I->getType()->isIntOrIntVectorTy();
           return isa<ICmpInst>(I) || isa<SwitchInst>(I) || (IsBits && onlyDecides(*I, Depth - 1));
         });
}

Value *Carrying::lost(IRBuilder<> &B, Instruction &I, ArrayRef<Value *> Of) {
  if (Value *Found = Module.Numbers.ofBits(B, I, Of, *this))
    return Found;
  for (Value *Shadow : Of)
    if (!isZeroShadow(Shadow) && !onlyDecides(I))
      note(B, B.CreateICmpNE(Shadow, Constant::getNullValue(Shadow->getType())), Note::LostBits, I.getDebugLoc());
  return Constant::getNullValue(I.getType());
}

constexpr unsigned HalfWord = 16; // bits: the smallest number of floating point

// All bits of the half words in which one is set.
static Value *lanes(IRBuilder<> &B, Value *Bits) {
  Type *T = Bits->getType();
  if (unsigned Width = T->getScalarSizeInBits(); T->isVectorTy() || Width % HalfWord)
    return B.CreateSExt(B.CreateICmpNE(Bits, Constant::getNullValue(T)), T);
  auto *Words = FixedVectorType::get(B.getInt16Ty(), T->getIntegerBitWidth() / HalfWord);
  Value *Set = B.CreateICmpNE(B.CreateBitCast(Bits, Words), Constant::getNullValue(Words));
  return B.CreateBitCast(B.CreateSExt(Set, Words), T);
}

// The last bit of each half word: where a sign may be.
static APInt signs(unsigned Width) {
  return Width < HalfWord ? APInt(Width, 0) : APInt::getSplat(Width, APInt::getSignMask(HalfWord));
}

// bits & mask: whole half words stay or go; without its sign a number is its absolute value; the sign alone has no
// derivative.
Value *Carrying::ofMask(IRBuilder<> &B, BinaryOperator &I, Value *Bits, Value *Mask, Value *Shadow) {
  Type *T = I.getType();
  if (auto *C = dyn_cast<ConstantInt>(Mask); C && T->getIntegerBitWidth() % HalfWord == 0) {
    APInt Off = ~C->getValue(), Signs = signs(T->getIntegerBitWidth());
    if ((C->getValue() & ~Signs).isZero())
      return Constant::getNullValue(T);
    if ((Off & ~Signs).isZero()) {
      Value *Turned = B.CreateXor(Shadow, B.CreateAnd(Bits, ConstantInt::get(T, Off)));
      return B.CreateSelect(B.CreateICmpEQ(Shadow, Constant::getNullValue(T)), Shadow, Turned);
    }
  }
  Value *IsPartial = B.CreateICmpNE(lanes(B, Mask), Mask);
  Value *Matters = B.CreateICmpNE(Shadow, Constant::getNullValue(T));
  if (!onlyDecides(I))
    note(B, B.CreateAnd(IsPartial, Matters), Note::LostBits, I.getDebugLoc());
  return B.CreateAnd(Shadow, Mask);
}

Value *Carrying::ofShift(IRBuilder<> &B, BinaryOperator &I, Value *Shadow) {
  auto *By = dyn_cast<ConstantInt>(I.getOperand(1));
  if (!By || By->getZExtValue() % 8 || By->getValue().uge(I.getType()->getScalarSizeInBits()))
    return lost(B, I, {Shadow});
  return I.getOpcode() == Instruction::Shl ? B.CreateShl(Shadow, By) : B.CreateLShr(Shadow, By);
}

// Whether no bit but the one of the sign can be set.
static bool isSign(Value *V, const DataLayout &Layout) {
  Type *T = V->getType();
  return T->isIntegerTy() && T->getIntegerBitWidth() >= HalfWord &&
         MaskedValueIsZero(V, ~APInt::getSignMask(T->getIntegerBitWidth()), SimplifyQuery(Layout));
}

// What the sign of another number is put to, or turned by; null where it is something else.
static Value *withSign(IRBuilder<> &B, BinaryOperator &I, Value *Number, Value *Sign, Value *Shadow) {
  if (!is_contained({Instruction::Or, Instruction::Xor, Instruction::Add}, I.getOpcode()) ||
      !isSign(Sign, I.getDataLayout()))
    return nullptr;
  Value *Turned = I.getOpcode() == Instruction::Or ? B.CreateAnd(Sign, B.CreateNot(Number)) : Sign;
  return B.CreateSelect(B.CreateICmpEQ(Shadow, Constant::getNullValue(I.getType())), Shadow,
                        B.CreateXor(Shadow, Turned));
}

Value *Carrying::ofInteger(IRBuilder<> &B, BinaryOperator &I) {
  Value *X = I.getOperand(0), *Y = I.getOperand(1), *Dx = shadow(X), *Dy = shadow(Y);
  Type *T = I.getType();
  bool NoX = isZeroShadow(Dx), NoY = isZeroShadow(Dy);
  if (NoX && NoY)
    return Constant::getNullValue(T);
  if (Value *Found = Module.Numbers.ofBits(B, I, {Dx, Dy}, *this))
    return Found;
  if (Value *Found = NoY ? withSign(B, I, X, Y, Dx) : NoX ? withSign(B, I, Y, X, Dy) : nullptr)
    return Found;
  switch (I.getOpcode()) {
  case Instruction::Shl:
  case Instruction::LShr:
  case Instruction::AShr:
    if (NoY)
      return ofShift(B, I, Dx);
    return lost(B, I, {Dx, Dy});
  case Instruction::And:
    if (NoY)
      return ofMask(B, I, X, Y, Dx);
    if (NoX)
      return ofMask(B, I, Y, X, Dy);
    return lost(B, I, {Dx, Dy});
  case Instruction::Add:
  case Instruction::Or: { // parts that are put together
    Value *OfX = lanes(B, B.CreateOr(X, Dx)), *OfY = lanes(B, B.CreateOr(Y, Dy));
    Value *Overlap = B.CreateICmpNE(B.CreateAnd(OfX, OfY), Constant::getNullValue(T));
    Value *Matters = B.CreateICmpNE(B.CreateOr(Dx, Dy), Constant::getNullValue(T));
    if (!onlyDecides(I))
      note(B, B.CreateAnd(Overlap, Matters), Note::LostBits, I.getDebugLoc());
    return B.CreateOr(Dx, Dy);
  }
  case Instruction::Xor: // of the sign alone
    if (auto *C = dyn_cast<ConstantInt>(Y); C && NoY && (C->getValue() & ~signs(T->getScalarSizeInBits())).isZero())
      return B.CreateSelect(B.CreateICmpEQ(Dx, Constant::getNullValue(T)), Dx, B.CreateXor(Dx, C));
    return lost(B, I, {Dx, Dy});
  default:
    return lost(B, I, {Dx, Dy});
  }
}

// The only pointer that an integer was made from; null where that is not known.
static Value *pointerBehind(Value *Integer, unsigned Depth = 8) {
  if (auto *Cast = dyn_cast<PtrToIntOperator>(Integer))
    return Cast->getPointerOperand();
  auto *I = dyn_cast<Instruction>(Integer);
  if (!Depth || !I || !(isa<BinaryOperator>(I) || isa<CastInst>(I)))
    return nullptr;
  Value *Found = nullptr;
  for (Value *Operand : I->operands())
    if (Value *Here = pointerBehind(Operand, Depth - 1)) {
      if (Found)
        return nullptr;
      Found = Here;
    }
  return Found;
}

// Of a union with a pointer in it, as cooperative groups are, whole numbers are copied as one.
static bool isNoAddress(Value &Pointer) {
  SmallSetVector<Value *, 8> Copies;
  Copies.insert(&Pointer);
  for (unsigned Next = 0; Next < Copies.size(); ++Next)
    for (User *U : Copies[Next]->users()) {
      bool IsCopy = isa<InsertValueInst, ExtractValueInst, PHINode, SelectInst>(U);
      if (!IsCopy && !isa<PtrToIntInst, CmpInst>(U))
        return false;
      if (IsCopy && !U->getType()->isIntegerTy())
        Copies.insert(U);
    }
  return true;
}

// Of one of two pointers as an integer, or as the first member of a pair, as pointers to methods are; null of any
// other.
Value *Carrying::shadowOfChosen(IRBuilder<> &B, Value &Integer) {
  auto *Member = dyn_cast<ExtractValueInst>(&Integer);
  auto *Choice = dyn_cast<SelectInst>(Member ? Member->getAggregateOperand() : &Integer);
  if (!Choice || Choice->getCondition()->getType()->isVectorTy() || (Member && Member->getNumIndices() != 1))
    return nullptr;
  SmallVector<Value *, 2> Shadows;
  for (Value *Either : {Choice->getTrueValue(), Choice->getFalseValue()}) {
    auto *Pair = dyn_cast<Constant>(Either);
    Value *Word = !Member ? Either : Pair ? Pair->getAggregateElement(Member->getIndices()[0]) : nullptr;
    auto *Cast = dyn_cast_or_null<PtrToIntOperator>(Word);
    if (!Cast)
      return nullptr;
    Shadows.push_back(shadow(Cast->getPointerOperand()));
  }
  return B.CreateSelect(Choice->getCondition(), Shadows[0], Shadows[1]);
}

Value *Carrying::fromInteger(IRBuilder<> &B, IntToPtrInst &Cast) {
  if (Value *Chosen = shadowOfChosen(B, *Cast.getOperand(0)))
    return Chosen;
  Value *Pointer = pointerBehind(Cast.getOperand(0));
  if (!Pointer && isNoAddress(Cast))
    return Constant::getNullValue(Cast.getType());
  if (!Pointer) {
    Module.refuse(To, Cast.getDebugLoc(), "a pointer that is made from an integer");
    return &Cast;
  }
  Type *Int64 = B.getInt64Ty();
  Value *Apart = B.CreateSub(B.CreatePtrToInt(shadow(Pointer), Int64), B.CreatePtrToInt(Pointer, Int64));
  return B.CreateIntToPtr(B.CreateAdd(B.CreatePtrToInt(&Cast, Int64), Apart), Cast.getType());
}

} // namespace adgen
