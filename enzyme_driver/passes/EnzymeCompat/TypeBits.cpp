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
  Value *Whole = Taken.getOperand(0);
  uint64_t Shift = 0;
  if (Value *Inner = nullptr; match(Whole, m_LShr(m_Value(Inner), m_ConstantInt(Shift))))
    Whole = Inner;
  auto *Vector = dyn_cast<BitCastInst>(Whole);
  Value *Member = Vector ? elementAt(*Vector, Shift, Taken) : memberAt(*Whole, Shift, Taken.getType());
  if (!Member)
    return;
  Taken.replaceAllUsesWith(Member);
  RecursivelyDeleteTriviallyDeadInstructions(&Taken);
}

Value *CopyTyper::elementAt(BitCastInst &Bits, uint64_t Shift, TruncInst &Taken) {
  auto *Numbers = dyn_cast<FixedVectorType>(Bits.getSrcTy());
  unsigned Size = Taken.getType()->getScalarSizeInBits();
  if (!Numbers || !Bits.getType()->isIntegerTy() || !Numbers->isFPOrFPVectorTy() ||
      Numbers->getScalarSizeInBits() != Size || Shift % Size)
    return nullptr;
  IRBuilder<> B(&Taken);
  return B.CreateBitCast(B.CreateExtractElement(Bits.getOperand(0), Shift / Size), Taken.getType());
}

void CopyTyper::takeTogether(BitCastInst &Cast) {
  auto *Numbers = dyn_cast<FixedVectorType>(Cast.getType());
  if (!Numbers || !Numbers->isFPOrFPVectorTy() || !match(Cast.getOperand(0), m_Or(m_Value(), m_Value())))
    return;
  unsigned Size = Numbers->getScalarSizeInBits();
  IRBuilder<> B(&Cast);
  Value *All = PoisonValue::get(Numbers);
  for (unsigned I = 0; I < Numbers->getNumElements(); ++I) {
    Value *One = memberAt(*Cast.getOperand(0), I * Size, B.getIntNTy(Size));
    if (!One)
      return;
    All = B.CreateInsertElement(All, B.CreateBitCast(One, Numbers->getElementType()), I);
  }
  Cast.replaceAllUsesWith(All);
  RecursivelyDeleteTriviallyDeadInstructions(&Cast);
}

Value *CopyTyper::memberAt(Value &Whole, uint64_t Shift, Type *T) {
  SmallVector<std::pair<Value *, uint64_t>> Members;
  if (!membersOf(Whole, Members))
    return nullptr;
  sort(Members, less_second());
  for (unsigned I = 1; I < Members.size(); ++I)
    if (Members[I - 1].second + Members[I - 1].first->getType()->getScalarSizeInBits() > Members[I].second)
      return nullptr;
  auto *Found = find_if(Members, [&](const auto &M) { return M.second == Shift && M.first->getType() == T; });
  return Found == Members.end() ? nullptr : Found->first;
}

bool CopyTyper::membersOf(Value &Whole, SmallVectorImpl<std::pair<Value *, uint64_t>> &Members) {
  Value *One = nullptr, *Other = nullptr;
  uint64_t At = 0;
  if (match(&Whole, m_Or(m_Value(One), m_Value(Other))))
    return membersOf(*One, Members) && membersOf(*Other, Members);
  if (match(&Whole, m_Zero()))
    return true;
  if (!match(&Whole, m_Shl(m_ZExt(m_Value(One)), m_ConstantInt(At))) && !match(&Whole, m_ZExt(m_Value(One))))
    return false;
  Members.push_back({One, At});
  return true;
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
