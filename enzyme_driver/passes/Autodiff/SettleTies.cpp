// The largest number of a warp, by exchanges with the lane that one bit tells apart (`m = max(m, shfl_xor(m, d))`): of
// two that are equal each of the two lanes would take its own, and the derivative of what they all hold would be of one
// number in some lanes and of another in others. A softmax does not depend on the maximum that it takes away, but only
// as long as that is the same number everywhere: its gradient was wrong wherever two were the largest. Here both lanes
// take the number of the lower one, also where they exchange by shared memory, and of numbers that all read in the same
// order, each beginning with its own, the last one. Which it is shows in no value.
#include "Support/Adgen.h"
#include "Support/Pass.h"

#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/IR/PatternMatch.h"

#define DEBUG_TYPE "adgen-settle-ties"

using namespace llvm;
using namespace llvm::PatternMatch;

STATISTIC(NumTies, "Number of choices settled");

namespace adgen {
namespace {

constexpr unsigned OffsetOperand = 2, LastLane = 31;

// Of the whole warp, with a lane that is chosen by its bits.
bool isByIndex(const CallInst &Call) {
  Intrinsic::ID Id = Call.getIntrinsicID();
  return (Id == Intrinsic::nvvm_shfl_sync_idx_f32 || Id == Intrinsic::nvvm_shfl_sync_idx_i32) &&
         match(Call.getArgOperand(OffsetOperand), m_c_Xor(m_Value(), m_Value())) &&
         match(Call.getArgOperand(OffsetOperand + 1), m_SpecificInt(LastLane));
}

bool isExchange(const CallInst &Call) {
  const Function *Callee = Call.getCalledFunction();
  Intrinsic::ID Id = Call.getIntrinsicID();
  return Id == Intrinsic::nvvm_shfl_sync_bfly_f32 || Id == Intrinsic::nvvm_shfl_sync_bfly_i32 || isByIndex(Call) ||
         (Callee && Callee->getName() == "_Z15__shfl_xor_syncjdii");
}

// The last index of an address, as of shared[i].
const Value *indexOf(const Value *Pointer) {
  auto *Address = dyn_cast<GEPOperator>(Pointer);
  const Value *Index = Address ? Address->getOperand(Address->getNumOperands() - 1) : nullptr;
  while (Index && isa<SExtInst, ZExtInst>(Index))
    Index = cast<CastInst>(Index)->getOperand(0);
  return Index;
}

// Of what is the same for all threads of a block.
bool isSame(const Value *V) {
  if (auto *Call = dyn_cast<IntrinsicInst>(V))
    return Call->getCalledFunction()->getName().starts_with("llvm.nvvm.read.ptx.sreg.ntid.");
  auto *I = dyn_cast<Instruction>(V);
  return !I ||
         (isa<BinaryOperator, CastInst>(I) && all_of(I->operands(), [](const Value *Part) { return isSame(Part); }));
}

// The index of what another thread has left, which reads what this one has: shared[i ^ d], shared[n - i].
const BinaryOperator *indexOfOther(const LoadInst &Load) {
  auto *Index = dyn_cast_or_null<BinaryOperator>(indexOf(Load.getPointerOperand()));
  bool IsFromEnd = Index && Index->getOpcode() == Instruction::Sub && isSame(Index->getOperand(0));
  return IsFromEnd || (Index && Index->getOpcode() == Instruction::Xor) ? Index : nullptr;
}

// The exchange that a number comes from, or what reads it where another thread has left it: it, its
// absolute value, or one of the numbers whose bits were exchanged.
const Instruction *exchangeOf(const Value *V) {
  while (auto *I = dyn_cast<Instruction>(V)) {
    auto *Call = dyn_cast<CallInst>(I);
    auto *Load = dyn_cast<LoadInst>(I);
    if ((Call && isExchange(*Call)) || (Load && indexOfOther(*Load)))
      return I;
    bool IsPart = isa<CastInst, ExtractElementInst>(I) || match(I, m_LShr(m_Value(), m_ConstantInt()));
    if (!IsPart && !match(I, m_FAbs(m_Value())) && !match(I, m_FNeg(m_Value())))
      return nullptr;
    V = I->getOperand(0);
  }
  return nullptr;
}

// Where the thread's own number is in memory, as seen where it is read or stored.
Value *ownIndex(const BinaryOperator &Index, const Value *Own) {
  SmallVector<const Value *> Places;
  if (isa<Constant>(Own))
    return nullptr;
  if (auto *Load = dyn_cast<LoadInst>(Own))
    Places.push_back(indexOf(Load->getPointerOperand()));
  for (const User *U : Own->users())
    if (auto *Store = dyn_cast<StoreInst>(U))
      Places.push_back(indexOf(Store->getPointerOperand()));
  for (const Use &Part : Index.operands())
    if (is_contained(Places, Part.get()) && (Index.getOpcode() == Instruction::Xor || Part.getOperandNo() == 1))
      return Part;
  return nullptr;
}

// Numbers that all threads read one after the other, among them the own one that each begins with.
bool isReadAmongOthers(const Value *Own, const Value *Other) {
  auto *Phi = dyn_cast<PHINode>(Own);
  auto *Load = dyn_cast<LoadInst>(Other);
  auto IsStored = [&](const User *U, const Value *First) {
    auto *Store = dyn_cast<StoreInst>(U);
    return Store && Store->getValueOperand() == First &&
           getUnderlyingObject(Store->getPointerOperand()) == getUnderlyingObject(Load->getPointerOperand());
  };
  return Phi && Load && any_of(Phi->incoming_values(), [&](const Value *First) {
           return isa<Instruction>(First) && any_of(First->users(), [&](const User *U) { return IsStored(U, First); });
         });
}

// Whether this lane or thread is the lower one of the two; null where that is not seen.
Value *isLower(IRBuilder<> &B, const Instruction &Exchange, const Value *Own) {
  if (auto *Load = dyn_cast<LoadInst>(&Exchange)) {
    if (isReadAmongOthers(Own, Load))
      return B.getFalse(); // each takes the last one
    auto *Index = const_cast<BinaryOperator *>(indexOfOther(*Load));
    Value *OwnIndex = ownIndex(*Index, Own);
    return OwnIndex ? B.CreateICmpULT(OwnIndex, Index) : nullptr;
  }
  auto &Call = cast<CallInst>(Exchange);
  Value *Lane = B.CreateIntrinsic(B.getInt32Ty(), Intrinsic::nvvm_read_ptx_sreg_laneid, {});
  Value *Offset = Call.getArgOperand(OffsetOperand);
  return B.CreateICmpULT(Lane, isByIndex(Call) ? B.CreateAnd(Offset, LastLane) : B.CreateXor(Lane, Offset));
}

// A choice between the number that came from the other lane and the own one, by comparing them.
class Tie {
public:
  explicit Tie(SelectInst &Choice)
      : Choice(Choice), Exchange(exchanged(Choice.getFalseValue(), Choice.getTrueValue())), TakesOther(Exchange),
        Own(TakesOther ? Choice.getFalseValue() : Choice.getTrueValue()),
        Other(TakesOther ? Choice.getTrueValue() : Choice.getFalseValue()) {
    if (const Instruction *Second = exchanged(Choice.getTrueValue(), Choice.getFalseValue()))
      Exchange = Exchange ? nullptr : Second;
  }

  bool settle() {
    const FCmpInst *Comparison = Exchange ? comparisonOf(Choice.getCondition()) : nullptr;
    if (!Comparison)
      return Exchange && settleWithin();
    TakesLarger = isOtherLarger(*Comparison) == TakesOther;
    if (!isAlone())
      return false;
    IRBuilder<> B(&Choice);
    Value *Lower = isLower(B, *Exchange, Own);
    if (!Lower)
      return false;
    ADGEN_COUNT(NumTies, Choice);
    Choice.setCondition(settled(B, Choice.getCondition(), Lower));
    return true;
  }

private:
  // Where the choice depends on something else as well, such as which of two threads is to have the smaller number, the
  // own one of equal numbers counts as the larger one in the lower thread alone: they keep both.
  bool settleWithin() {
    FCmpInst *Comparison = comparisonWithin(Choice.getCondition());
    IRBuilder<> B(&Choice);
    Value *Lower = Comparison ? isLower(B, *Exchange, Own) : nullptr;
    if (!Lower)
      return false;
    ADGEN_COUNT(NumTies, Choice);
    CmpInst::Predicate Strict = CmpInst::getStrictPredicate(Comparison->getPredicate());
    Value *With = compare(B, *Comparison, CmpInst::getNonStrictPredicate(Strict));
    Value *Without = compare(B, *Comparison, Strict);
    Value *Settled =
        isOtherLarger(*Comparison) ? B.CreateSelect(Lower, Without, With) : B.CreateSelect(Lower, With, Without);
    Choice.setCondition(replaced(B, Choice.getCondition(), *Comparison, *Settled));
    return true;
  }

  // What orders the two, in a condition that compares its answer with another one; null where there is none.
  FCmpInst *comparisonWithin(Value *Condition, unsigned Depth = 0) const {
    constexpr unsigned Deepest = 4;
    if (auto *Comparison = dyn_cast<FCmpInst>(Condition))
      return compares(*Comparison) && hasOrder(*Comparison) ? Comparison : nullptr;
    auto *I = dyn_cast<Instruction>(Condition);
    FCmpInst *Found = nullptr;
    if (I && Depth < Deepest && (isa<ICmpInst, ZExtInst>(I) || match(I, m_Xor(m_Value(), m_Value()))))
      for (Value *Part : I->operands())
        if (FCmpInst *Each = comparisonWithin(Part, Depth + 1))
          Found = Each;
    return Found;
  }

  // The condition, with something else in place of the comparison.
  static Value *replaced(IRBuilder<> &B, Value *Condition, FCmpInst &Comparison, Value &By) {
    if (Condition == &Comparison)
      return &By;
    auto *I = dyn_cast<Instruction>(Condition);
    if (!I || !isa<ICmpInst, ZExtInst, BinaryOperator>(I))
      return Condition;
    SmallVector<Value *> Parts;
    for (Value *Part : I->operands())
      Parts.push_back(replaced(B, Part, Comparison, By));
    if (equal(Parts, I->operand_values()))
      return Condition;
    Instruction *Copy = B.Insert(I->clone());
    for (auto [Number, Part] : enumerate(Parts))
      Copy->setOperand(Number, Part);
    return Copy;
  }

  static const Instruction *exchanged(const Value *Own, const Value *Other) {
    return isReadAmongOthers(Own, Other) ? cast<Instruction>(Other) : exchangeOf(Other);
  }

  // What orders the two; null where the condition asks something else.
  const FCmpInst *comparisonOf(Value *Condition) const {
    Value *Left, *Right;
    if (match(Condition, m_LogicalOr(m_Value(Left), m_Value(Right)))) // as fmaxf asks for NaN
      return comparisonOf(Left);
    auto *Comparison = dyn_cast<FCmpInst>(Condition);
    return Comparison && compares(*Comparison) && hasOrder(*Comparison) ? Comparison : nullptr;
  }

  // The condition, true for equal numbers in one of the two lanes alone.
  Value *settled(IRBuilder<> &B, Value *Condition, Value *Lower) {
    Value *Left, *Right;
    if (match(Condition, m_LogicalOr(m_Value(Left), m_Value(Right))))
      return B.CreateLogicalOr(settled(B, Left, Lower), Right);
    auto &Comparison = cast<FCmpInst>(*Condition);
    CmpInst::Predicate Strict = CmpInst::getStrictPredicate(Comparison.getPredicate());
    CmpInst::Predicate NonStrict = CmpInst::getNonStrictPredicate(Strict);
    Value *With = compare(B, Comparison, NonStrict), *Without = compare(B, Comparison, Strict);
    return TakesOther ? B.CreateSelect(Lower, Without, With) : B.CreateSelect(Lower, With, Without);
  }

  // Whether nothing else is chosen by comparing the two that would not fit another choice, as a sum of exp(x - m) that
  // is merged with its largest number m, or the smaller of the two: what a lane has then fits together as it is.
  bool isAlone() const {
    SmallVector<const User *> Users(bitsOf(Other)->users());
    for (const User *U : bitsOf(Other)->users())
      if (isa<BitCastInst>(U))
        append_range(Users, U->users());
    return all_of(Users, [&](const User *U) {
      auto *Comparison = dyn_cast<FCmpInst>(U);
      return !Comparison || !compares(*Comparison) || !hasOrder(*Comparison) ||
             fits(*Comparison, isOtherLarger(*Comparison));
    });
  }

  bool fits(const User &Condition, bool OtherLarger) const {
    return all_of(Condition.users(), [&](const User *U) {
      auto *Select = dyn_cast<SelectInst>(U);
      if (U->getType()->isIntegerTy(1))
        return isa<PHINode>(U) || fits(*U, OtherLarger);
      return !isa<BranchInst>(U) &&
             (!Select || !Select->getType()->isFloatingPointTy() || goesWithNumber(*Select, OtherLarger));
    });
  }

  // The number, or what comes with it from the lane whose number is taken.
  bool goesWithNumber(const SelectInst &Select, bool OtherLarger) const {
    const Value *FromOther = Select.getTrueValue(), *FromOwn = Select.getFalseValue();
    if (OtherLarger != TakesLarger)
      std::swap(FromOther, FromOwn);
    return (FromOther == Other || exchangeOf(FromOther)) && !exchangeOf(FromOwn);
  }

  static bool hasOrder(const FCmpInst &Comparison) {
    return CmpInst::getStrictPredicate(Comparison.getPredicate()) !=
           CmpInst::getNonStrictPredicate(Comparison.getPredicate());
  }

  // Where the comparison, which has an order, is true.
  bool isOtherLarger(const FCmpInst &Comparison) const {
    CmpInst::Predicate Strict = CmpInst::getStrictPredicate(Comparison.getPredicate());
    bool Less = Strict == CmpInst::FCMP_OLT || Strict == CmpInst::FCMP_ULT;
    return Less == (bitsOf(Comparison.getOperand(1)) == bitsOf(Other));
  }

  bool compares(const FCmpInst &Comparison) const {
    const Value *One = bitsOf(Comparison.getOperand(0)), *Two = bitsOf(Comparison.getOperand(1));
    return (One == bitsOf(Other) && Two == bitsOf(Own)) || (One == bitsOf(Own) && Two == bitsOf(Other));
  }

  // A number that was chosen by its bits, as a struct of a half is, is compared as what it is.
  static const Value *bitsOf(const Value *V) {
    auto *Cast = dyn_cast<BitCastInst>(V);
    return Cast ? Cast->getOperand(0) : V;
  }

  static Value *compare(IRBuilder<> &B, FCmpInst &Comparison, CmpInst::Predicate Kind) {
    Value *New = B.CreateFCmp(Kind, Comparison.getOperand(0), Comparison.getOperand(1));
    cast<Instruction>(New)->copyFastMathFlags(&Comparison);
    return New;
  }

  SelectInst &Choice;
  const Instruction *Exchange; // null where neither or both came from another lane
  bool TakesOther, TakesLarger = false;
  Value *Own, *Other;
};

bool isExtreme(const Instruction &I) {
  auto *Intrinsic = dyn_cast<IntrinsicInst>(&I);
  return Intrinsic && is_contained({Intrinsic::maxnum, Intrinsic::minnum, Intrinsic::maximum, Intrinsic::minimum},
                                   Intrinsic->getIntrinsicID());
}

// Whether the other one of the two is taken, too, as by a sort: then each thread keeps its own.
bool isSorted(const IntrinsicInst &Extreme, const Instruction &Exchange) {
  return any_of(instructions(*Extreme.getFunction()), [&](const Instruction &I) {
    return isExtreme(I) && cast<IntrinsicInst>(I).getIntrinsicID() != Extreme.getIntrinsicID() &&
           any_of(I.operand_values(), [&](const Value *V) { return exchangeOf(V) == &Exchange; });
  });
}

// Whether a comparison orders the two.
bool isOrdered(const Value &Own, const Value &Other) {
  return any_of(Other.users(), [&](const User *U) {
    auto *Comparison = dyn_cast<FCmpInst>(U);
    return Comparison && !Comparison->isEquality() && is_contained(U->operands(), &Own);
  });
}

// As halves have it, also two at once.
bool settle(IntrinsicInst &Extreme) {
  Value *Own = Extreme.getArgOperand(0), *Other = Extreme.getArgOperand(1);
  if (exchangeOf(Own))
    std::swap(Own, Other);
  const Instruction *Exchange = exchangeOf(Other);
  if (!Exchange || exchangeOf(Own) || isOrdered(*Own, *Other))
    return false;
  IRBuilder<> B(Extreme.getNextNode());
  Value *Taken = Own;
  if (!isSorted(Extreme, *Exchange)) {
    Value *Lower = isLower(B, *Exchange, Own);
    if (!Lower)
      return false;
    Taken = B.CreateSelect(Lower, Own, Other);
  }
  ADGEN_COUNT(NumTies, Extreme);
  Value *Settled = B.CreateSelect(B.CreateFCmpOEQ(Own, Other), Taken, &Extreme);
  Extreme.replaceUsesWithIf(Settled, [&](Use &U) { return U.getUser() != Settled; });
  return true;
}

bool settle(Instruction &I) {
  if (auto *Choice = dyn_cast<SelectInst>(&I))
    return Tie(*Choice).settle();
  return isExtreme(I) && settle(cast<IntrinsicInst>(I));
}

} // namespace

ADGEN_DECLARE_PASS(SettleTies);

PreservedAnalyses SettleTies::run(Module &M, ModuleAnalysisManager &) {
  bool Changed = false;
  for (Function &F : M)
    if (F.getName().starts_with(BodyPrefix))
      for (Instruction &I : make_early_inc_range(instructions(F)))
        Changed |= settle(I);
  return Changed ? PreservedAnalyses::none() : PreservedAnalyses::all();
}

} // namespace adgen
