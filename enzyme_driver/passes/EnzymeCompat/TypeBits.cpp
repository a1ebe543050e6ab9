// Where numbers are put together from their bits, chosen by them, or get a sign: the same is said of the numbers.
#include "EnzymeCompat/CopyTyper.h"

#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/PatternMatch.h"
#include "llvm/Support/KnownFPClass.h"
#include "llvm/Transforms/Utils/Local.h"

using namespace llvm;
using namespace llvm::PatternMatch;

namespace adgen {

void CopyTyper::takeMember(TruncInst &Taken) {
  IRBuilder<> B(&Taken);
  Value *Member = partOf(B, *Taken.getOperand(0), 0, Taken.getType());
  if (!Member)
    return;
  Taken.replaceAllUsesWith(Member);
  RecursivelyDeleteTriviallyDeadInstructions(&Taken);
}

void CopyTyper::takeTogether(BitCastInst &Cast) {
  auto *Numbers = dyn_cast<FixedVectorType>(Cast.getType());
  if (!Numbers || !Numbers->isFPOrFPVectorTy() || !isa<BinaryOperator, IntrinsicInst>(Cast.getOperand(0)))
    return;
  unsigned Size = Numbers->getScalarSizeInBits();
  IRBuilder<> B(&Cast);
  Value *All = PoisonValue::get(Numbers);
  for (unsigned I = 0; I < Numbers->getNumElements(); ++I) {
    Value *One = partOf(B, *Cast.getOperand(0), I * Size, B.getIntNTy(Size));
    if (!One)
      return;
    All = B.CreateInsertElement(All, B.CreateBitCast(One, Numbers->getElementType()), I);
  }
  Cast.replaceAllUsesWith(All);
  RecursivelyDeleteTriviallyDeadInstructions(&Cast);
}

static bool areZero(const Value &Whole, unsigned From, unsigned Size) {
  const DataLayout *DL = nullptr;
  if (auto *I = dyn_cast<Instruction>(&Whole))
    DL = &I->getDataLayout();
  return DL && MaskedValueIsZero(&Whole, APInt::getBitsSet(Whole.getType()->getIntegerBitWidth(), From, From + Size),
                                 SimplifyQuery(*DL));
}

Value *CopyTyper::partOf(IRBuilder<> &B, Value &Whole, unsigned From, Type *T) {
  unsigned Size = T->getScalarSizeInBits(), Width = Whole.getType()->getScalarSizeInBits();
  if (!Whole.getType()->isIntegerTy() || !T->isIntegerTy() || From + Size > Width)
    return nullptr;
  if (Size == Width)
    return &Whole;
  Value *One = nullptr, *Other = nullptr;
  const APInt *By = nullptr;
  if (match(&Whole, m_APInt(By)))
    return ConstantInt::get(T, By->extractBits(Size, From));
  if (match(&Whole, m_Or(m_Value(One), m_Value(Other)))) {
    if (areZero(*One, From, Size))
      std::swap(One, Other);
    Value *Left = partOf(B, *One, From, T);
    if (areZero(*Other, From, Size))
      return Left ? Left : B.CreateTrunc(B.CreateLShr(One, From), T);
    Value *Right = partOf(B, *Other, From, T);
    if (!Left || !Right)
      return nullptr;
    return match(Left, m_Zero()) ? Right : match(Right, m_Zero()) ? Left : nullptr;
  }
  if (match(&Whole, m_And(m_Value(One), m_APInt(By)))) {
    APInt Mask = By->extractBits(Size, From);
    return Mask.isZero() ? ConstantInt::get(T, 0) : Mask.isAllOnes() ? partOf(B, *One, From, T) : nullptr;
  }
  if (match(&Whole, m_Trunc(m_Value(One))))
    return partOf(B, *One, From, T);
  if (match(&Whole, m_ZExt(m_Value(One))))
    return From >= One->getType()->getScalarSizeInBits() ? ConstantInt::get(T, 0) : partOf(B, *One, From, T);
  if (match(&Whole, m_BitCast(m_Value(One))))
    return elementAt(B, *One, From, T);
  if (auto *Choice = dyn_cast<SelectInst>(&Whole)) {
    Value *Left = partOf(B, *Choice->getTrueValue(), From, T), *Right = partOf(B, *Choice->getFalseValue(), From, T);
    return Left && Right ? B.CreateSelect(Choice->getCondition(), Left, Right) : nullptr;
  }
  // What is shifted in: zeros, or the bits of another one.
  unsigned Up = 0;
  if (match(&Whole, m_Shl(m_Value(One), m_APInt(By))))
    Up = By->getLimitedValue(Width);
  else if (match(&Whole, m_LShr(m_Value(Other), m_APInt(By))))
    Up = Width - By->getLimitedValue(Width);
  else if (match(&Whole, m_FShl(m_Value(One), m_Value(Other), m_APInt(By))))
    Up = By->urem(Width);
  else if (match(&Whole, m_FShr(m_Value(One), m_Value(Other), m_APInt(By))))
    Up = Width - By->urem(Width);
  else
    return nullptr;
  if (From < Up && Up < From + Size)
    return nullptr;
  Value *Source = From < Up ? Other : One;
  return Source ? partOf(B, *Source, From < Up ? From + Width - Up : From - Up, T) : ConstantInt::get(T, 0);
}

Value *CopyTyper::elementAt(IRBuilder<> &B, Value &Numbers, unsigned From, Type *T) {
  auto *Vector = dyn_cast<FixedVectorType>(Numbers.getType());
  unsigned Size = T->getScalarSizeInBits();
  if (!Vector || Vector->getScalarSizeInBits() != Size || From % Size || Vector->getElementType()->isPointerTy())
    return nullptr;
  return B.CreateBitCast(B.CreateExtractElement(&Numbers, From / Size), T);
}

Type *CopyTyper::numberBehind(ArrayRef<Value *> Bits, const Value *Self) {
  Type *Found = nullptr;
  for (Value *V : Bits) {
    if (V == Self || isa<Constant>(V))
      continue;
    auto *Cast = dyn_cast<BitCastInst>(V);
    Type *T = Cast ? Cast->getSrcTy() : nullptr;
    if (!T || !T->isFPOrFPVectorTy() || (Found && Found != T))
      return nullptr;
    Found = T;
  }
  return Found;
}

Value *CopyTyper::asNumber(Value *Bits, Type *T) {
  if (auto *C = dyn_cast<Constant>(Bits))
    return ConstantExpr::getBitCast(C, T);
  return cast<BitCastInst>(Bits)->getOperand(0);
}

bool CopyTyper::retype(PHINode &Phi) {
  SmallVector<Value *> Incoming(Phi.incoming_values());
  Type *T = isInteger(Phi.getType()) ? numberBehind(Incoming, &Phi) : nullptr;
  if (!T)
    return false;
  PHINode *New = PHINode::Create(T, Incoming.size(), "", Phi.getIterator());
  for (auto [V, Block] : zip(Incoming, Phi.blocks()))
    New->addIncoming(V == &Phi ? static_cast<Value *>(New) : asNumber(V, T), Block);
  IRBuilder<> B(&*Phi.getParent()->getFirstInsertionPt());
  Phi.replaceAllUsesWith(B.CreateBitCast(New, Phi.getType()));
  Phi.eraseFromParent();
  return true;
}

bool CopyTyper::retype(SelectInst &Select) {
  Value *Choices[] = {Select.getTrueValue(), Select.getFalseValue()};
  Type *T = isInteger(Select.getType()) ? numberBehind(Choices, &Select) : nullptr;
  if (!T)
    return false;
  IRBuilder<> B(&Select);
  Value *New = B.CreateSelect(Select.getCondition(), asNumber(Choices[0], T), asNumber(Choices[1], T));
  Select.replaceAllUsesWith(B.CreateBitCast(New, Select.getType()));
  Select.eraseFromParent();
  return true;
}

void CopyTyper::showHalf(Instruction &Choice) {
  Type *T = Choice.getType();
  auto IsMoved = [](const Value *V) { return isa<LoadInst, StoreInst, Constant, PHINode, SelectInst>(V); };
  bool Unseen = (T->isHalfTy() || T->isBFloatTy()) && all_of(Choice.users(), IsMoved) &&
                all_of(Choice.operands(), [&](const Use &U) { return U->getType() != T || IsMoved(U); });
  if (!Unseen)
    return;
  IRBuilder<> B(Choice.getParent(), *Choice.getInsertionPointAfterDef());
  Value *Wide = B.CreateFPExt(&Choice, B.getFloatTy());
  Choice.replaceUsesWithIf(B.CreateFPTrunc(Wide, T), [&](const Use &U) { return U.getUser() != Wide; });
}

// Turned where an integer, of which no bit but the one of the sign can be set, says so.
void CopyTyper::turnSign(BinaryOperator &Turned) {
  Value *Number = nullptr, *Sign = nullptr;
  if (!match(&Turned, m_c_Xor(m_BitCast(m_Value(Number)), m_Value(Sign))) || isa<Constant>(Sign) ||
      !Number->getType()->isFloatingPointTy() ||
      !MaskedValueIsZero(Sign, ~APInt::getSignMask(Sign->getType()->getIntegerBitWidth()), SimplifyQuery(DL)))
    return;
  IRBuilder<> B(&Turned);
  Value *Turns = B.CreateIsNotNull(Sign);
  replaceBits(Turned, B.CreateSelect(Turns, B.CreateFNeg(Number), Number));
}

void CopyTyper::changeSign(BinaryOperator &Masked) {
  auto *Cast = dyn_cast<BitCastInst>(Masked.getOperand(0));
  auto *Mask = dyn_cast<ConstantInt>(Masked.getOperand(1));
  if (!Cast || !Mask || !Cast->getSrcTy()->isFloatingPointTy())
    return;
  IRBuilder<> B(&Masked);
  Value *Number = Cast->getOperand(0), *New = nullptr;
  unsigned Code = Masked.getOpcode();
  if (Code == Instruction::And && Mask->getValue().isMaxSignedValue())
    New = B.CreateUnaryIntrinsic(Intrinsic::fabs, Number);
  if (Code == Instruction::Xor && Mask->getValue().isSignMask())
    New = B.CreateFNeg(Number);
  if (Code == Instruction::Or && Mask->getValue().isSignMask())
    New = B.CreateFNeg(B.CreateUnaryIntrinsic(Intrinsic::fabs, Number));
  if (New)
    replaceBits(Masked, New);
}

void CopyTyper::takeSign(BinaryOperator &Joined) {
  Value *Size = nullptr, *Sign = nullptr;
  const APInt *Mask = nullptr;
  if (!match(&Joined, m_c_Or(m_BitCast(m_Value(Size)), m_c_And(m_BitCast(m_Value(Sign)), m_APInt(Mask)))))
    return;
  Type *T = Size->getType();
  if (T != Sign->getType() || !T->isFPOrFPVectorTy() ||
      *Mask != APInt::getSplat(Mask->getBitWidth(), APInt::getSignMask(T->getScalarSizeInBits())))
    return;
  IRBuilder<> B(&Joined);
  if (computeKnownFPClass(Size, fcNegative, SimplifyQuery(DL)).isKnownNever(fcNegative))
    return replaceBits(Joined, B.CreateBinaryIntrinsic(Intrinsic::copysign, Size, Sign));
  Type *Bits = T->getWithNewType(B.getIntNTy(T->getScalarSizeInBits()));
  Value *Negative = B.CreateICmpSLT(B.CreateBitCast(Sign, Bits), Constant::getNullValue(Bits));
  replaceBits(Joined, B.CreateSelect(Negative, B.CreateFNeg(B.CreateUnaryIntrinsic(Intrinsic::fabs, Size)), Size));
}

void CopyTyper::replaceBits(BinaryOperator &Bits, Value *Number) {
  for (User *U : make_early_inc_range(Bits.users()))
    if (auto *Back = dyn_cast<BitCastInst>(U); Back && Back->getDestTy() == Number->getType()) {
      Back->replaceAllUsesWith(Number);
      Back->eraseFromParent();
    }
  Bits.replaceAllUsesWith(IRBuilder<>(&Bits).CreateBitCast(Number, Bits.getType()));
  Bits.eraseFromParent();
}

} // namespace adgen
