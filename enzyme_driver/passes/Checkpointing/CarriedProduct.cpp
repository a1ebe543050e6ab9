#include "Checkpointing/CarriedProduct.h"

#include "Analysis/Poles.h"
#include "Support/Guards.h"

#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/IR/PatternMatch.h"

#include <optional>

using namespace llvm;
using namespace llvm::PatternMatch;

namespace adgen {
namespace {

// A sum hands its cotangent on without asking what it was.
bool isLinear(const Instruction &I, const Value *Used, const Constants &Known) {
  switch (I.getOpcode()) {
  case Instruction::FAdd:
  case Instruction::FSub:
  case Instruction::FNeg:
  case Instruction::PHI:
  case Instruction::Select:
  case Instruction::Freeze:
  case Instruction::FPExt:
  case Instruction::FPTrunc:
    return true;
  case Instruction::FMul:
    return I.getOperand(0) != I.getOperand(1) && Known.isConstant(I.getOperand(I.getOperand(0) == Used));
  default:
    return false;
  }
}

// Whether the derivative of anything needs the number, in a loop where one is given. What is used behind that is
// `Left`. What a phi hands on is not asked for where it is given.
bool isNeeded(Instruction &Number, const Constants &Known, const Loop *In = nullptr,
              SmallSetVector<Instruction *, 4> *Left = nullptr, const PHINode *ButBy = nullptr) {
  SmallVector<Instruction *> Work{&Number};
  SmallPtrSet<const Instruction *, 16> Seen{&Number};
  while (!Work.empty()) {
    Instruction *From = Work.pop_back_val();
    for (User *U : From->users()) {
      auto *I = cast<Instruction>(U);
      if (isa<StoreInst, CmpInst>(I) || I == ButBy)
        continue;
      if (In && !In->contains(I)) {
        if (!isLinear(*I, From, Known) || isNeeded(*I, Known))
          Left->insert(From);
        continue;
      }
      if (!isLinear(*I, From, Known))
        return true;
      if (Seen.insert(I).second)
        Work.push_back(I);
    }
  }
  return false;
}

// Whether it decides about no way and no cotangent, but only about what is kept behind the loop, such as which
// iteration has been chosen last.
bool isOnlyKept(const Instruction &First) {
  SmallSetVector<const Instruction *, 8> Same;
  Same.insert(&First);
  for (unsigned Next = 0; Next < Same.size(); ++Next)
    for (const User *U : Same[Next]->users()) {
      auto *I = cast<Instruction>(U);
      bool IsChosen = isa<PHINode, SelectInst>(I), IsWhole = I->getType()->isIntegerTy();
      if (isHeld(I) || (IsChosen && !IsWhole && I->hasMetadata(InactiveMark)))
        continue;
      if (!IsWhole || !(IsChosen || (isa<BinaryOperator>(I) && I->getType()->isIntegerTy(1))))
        return false;
      Same.insert(I);
    }
  return true;
}

// The rest of an iteration in which a condition is known.
class Rest {
public:
  Rest(const Instruction &Condition, bool Result, const Loop &L) : Condition(Condition), Result(Result), L(L) {}

  bool goesOn() {
    Reached.insert(Condition.getParent());
    for (const BasicBlock *Block : ReversePostOrderTraversal<const Function *>(Condition.getFunction())) {
      if (!Reached.contains(Block))
        continue;
      for (const BasicBlock *Next : successors(Block)) {
        if (!isPossible(*Block, *Next))
          continue;
        if (Next == L.getHeader())
          return true;
        if (L.contains(Next))
          Reached.insert(Next);
      }
    }
    return false;
  }

private:
  bool isPossible(const BasicBlock &From, const BasicBlock &To) const {
    auto *Branch = dyn_cast<BranchInst>(From.getTerminator());
    if (!Branch || Branch->isUnconditional())
      return true;
    auto Chosen = known(Branch->getCondition());
    return !Chosen || Branch->getSuccessor(*Chosen ? 0 : 1) == &To;
  }

  std::optional<bool> known(const Value *V) const {
    if (V == &Condition)
      return Result;
    if (auto *Constant = dyn_cast<ConstantInt>(V))
      return Constant->isOne();
    const Value *Of, *Yes, *No;
    if (match(V, m_Not(m_Value(Of)))) {
      auto Opposite = known(Of);
      return Opposite ? std::optional(!*Opposite) : std::nullopt;
    }
    if (match(V, m_LogicalOr(m_Value(Yes), m_Value(No))) && (known(Yes) == true || known(No) == true))
      return true;
    if (match(V, m_LogicalAnd(m_Value(Yes), m_Value(No))) && (known(Yes) == false || known(No) == false))
      return false;
    if (match(V, m_Select(m_Value(Of), m_Value(Yes), m_Value(No)))) {
      auto Which = known(Of);
      return Which ? known(*Which ? Yes : No) : agreed({known(Yes), known(No)});
    }
    auto *Phi = dyn_cast<PHINode>(V);
    return Phi ? known(*Phi) : std::nullopt;
  }

  std::optional<bool> known(const PHINode &Phi) const {
    if (!L.contains(&Phi) ||
        any_of(L.getLoopsInPreorder(), [&](const Loop *Each) { return Each->getHeader() == Phi.getParent(); }))
      return std::nullopt;
    SmallVector<std::optional<bool>, 4> Values;
    for (const auto &[Value, From] : zip(Phi.incoming_values(), Phi.blocks()))
      if (Reached.contains(From) && isPossible(*From, *Phi.getParent()))
        Values.push_back(known(Value));
    return Values.empty() ? std::nullopt : agreed(Values);
  }

  static std::optional<bool> agreed(ArrayRef<std::optional<bool>> Values) {
    return all_equal(Values) ? Values.front() : std::nullopt;
  }

  const Instruction &Condition;
  bool Result;
  const Loop &L;
  SmallPtrSet<const BasicBlock *, 16> Reached;
};

// The number itself, where a literal in C++ (`1. - alpha`) has it computed with in a wider type.
const Value *narrow(const Value *V) {
  auto *Wide = dyn_cast<FPExtInst>(V);
  return Wide ? Wide->getOperand(0) : V;
}

bool isNormal(const ConstantFP &Bound, const Type &In) {
  APFloat Rounded = Bound.getValueAPF();
  bool LosesDigits;
  Rounded.convert(In.getFltSemantics(), APFloat::rmTowardZero, &LosesDigits);
  return Rounded.isNormal();
}

// Whether it is a comparison that comes out so only where the number is at least a normal one above zero, or is none.
bool keepsFromZero(const CmpInst &Comparison, const Value &Number, bool Result) {
  CmpInst::Predicate Kind = Comparison.getPredicate();
  const Value *Bound = Comparison.getOperand(1);
  if (narrow(Bound) == &Number) {
    Bound = Comparison.getOperand(0);
    Kind = CmpInst::getSwappedPredicate(Kind);
  } else if (narrow(Comparison.getOperand(0)) != &Number) {
    return false;
  }
  auto *Least = dyn_cast<ConstantFP>(Bound);
  if (!Least || !isa<FCmpInst>(Comparison) || Least->isNegative() || !isNormal(*Least, *Number.getType()))
    return false;
  if (!Result)
    Kind = CmpInst::getInversePredicate(Kind);
  return Kind == CmpInst::FCMP_OGT || Kind == CmpInst::FCMP_OGE || Kind == CmpInst::FCMP_UGT ||
         Kind == CmpInst::FCMP_UGE;
}

} // namespace

bool CarriedProduct::isItself(const Value *V) const {
  V = narrow(V);
  auto *Frozen = dyn_cast<FreezeInst>(V);
  return V == &Carried || (Frozen && Frozen->getOperand(0) == &Carried);
}

bool CarriedProduct::isInvertible() {
  Type *T = Carried.getType();
  SmallSetVector<Instruction *, 4> Behind; // which needs no more than what the loop leaves
  if (!(T->isFloatTy() || T->isDoubleTy()) || !isNeeded(Carried, Known, &L, &Behind) || !collect())
    return false;
  if (!canDivide(next(), *L.getLoopLatch(), false, false)) {
    AnyRange = true; // which one more variable keeps, and several more would have to be kept for a loop around
    if (L.getParentLoop() || !L.isInnermost())
      return false;
    Sums = !canDivide(next(), *L.getLoopLatch(), true, false);
    if (Sums && !(canDivide(next(), *L.getLoopLatch(), true, false) && isOnlyExponent()))
      return false;
  }
  findSteps(next(), L.getLoopLatch(), nullptr);
  if (any_of(Steps, [&](const Step &Each) { return isUsedBehind(Each); }))
    Steps.assign({Step{L.getLoopLatch(), nullptr, next()}});
  return !Steps.empty() && all_of(Steps, [&](const Step &Each) { return isFactorRepeatable(Each.Product); });
}

bool CarriedProduct::isNeededIn(const Loop &Around, PHINode &Left) const {
  SmallSetVector<Instruction *, 4> Behind;
  return isNeeded(Left, Known, &Around, &Behind, &Carried);
}

// Whether what an iteration makes of a sum, apart from the next one, are exponentials: these ask how far it is from the
// true one, which taking away summands tells for any sum, and not by which part of it, as logarithms and products do.
bool CarriedProduct::isOnlyExponent() const {
  SmallSetVector<const Instruction *, 8> Same;
  Same.insert(&Carried);
  auto IsFixed = [&](const Use &U) { return L.isLoopInvariant(U); };
  for (unsigned Next = 0; Next < Same.size(); ++Next)
    for (const User *U : Same[Next]->users()) {
      auto *I = cast<Instruction>(U);
      auto *Call = dyn_cast<CallInst>(I);
      if (!L.contains(I) || I == &Carried || isa<StoreInst, CmpInst>(I) || (Call && isExponential(*Call)))
        continue;
      bool IsScaled = I->getOpcode() == Instruction::FMul && any_of(I->operands(), IsFixed);
      bool IsMoved = I->getOpcode() == Instruction::FAdd || I->getOpcode() == Instruction::FSub ||
                     I->getOpcode() == Instruction::FNeg;
      bool IsOfNext = isa<PHINode>(I) && I->getParent() == L.getHeader();
      bool IsHandedOn = isa<PHINode, SelectInst, FreezeInst>(I) && !IsOfNext;
      if (!IsScaled && !IsMoved && !IsHandedOn)
        return false;
      Same.insert(I);
    }
  return true;
}

// What follows from the number in an iteration. The reverse sweep knows it there, and nowhere else: nothing that the
// loop carries on may be found out again from it.
bool CarriedProduct::collect() {
  Computed.insert(&Carried);
  for (unsigned Next = 0; Next < Computed.size(); ++Next)
    for (User *U : Computed[Next]->users()) {
      auto *I = cast<Instruction>(U);
      if (!L.contains(I) || I == &Carried || isa<StoreInst>(I))
        continue;
      bool IsOfNext = isa<PHINode>(I) && I->getParent() == L.getHeader();
      bool IsCondition = I->getType()->isIntegerTy(1);
      if (I->getType()->isIntegerTy() && (IsOfNext || !IsCondition) && isOnlyKept(*I))
        continue;
      if (IsOfNext) {
        if (!I->getType()->isFloatingPointTy() || isNeeded(*I, Known, L.getOutermostLoop(), &Left))
          return false;
        continue;
      }
      if (auto *Choice = dyn_cast<SelectInst>(I);
          Choice && Choice->hasMetadata(OutcomeMetadata) && isOutcome(*Computed[Next]))
        continue;
      bool IsNumber = I->getType()->isFPOrFPVectorTy();
      if (I->mayHaveSideEffects() || (!IsNumber && !IsCondition && !I->isTerminator()))
        return false;
      Computed.insert(I);
    }
  for (Instruction *I : Computed) {
    auto *Comparison = dyn_cast<CmpInst>(I);
    if (!Comparison || isOutcome(*Comparison) || isOnlyKept(*Comparison))
      continue;
    bool IfTrue = !Rest(*Comparison, true, L).goesOn();
    if (!IfTrue && Rest(*Comparison, false, L).goesOn())
      return false;
    Leaving.insert({Comparison, IfTrue});
  }
  return true;
}

// Whether the branch behind a comparison reads again how it has come out.
bool CarriedProduct::isOutcome(const Instruction &Condition) const {
  return isa<CmpInst>(Condition) && Condition.getParent()->getTerminator()->hasMetadata(OutcomeMetadata) &&
         all_of(Condition.users(), [](const User *U) { return cast<Instruction>(U)->hasMetadata(OutcomeMetadata); });
}

// On the way from there on: to the next iteration, or wherever it leads.
bool CarriedProduct::isKeptFromZero(const Value &Product, const BasicBlock &From, bool Always) const {
  auto Leads = [&](const CmpInst &Comparison, bool Result) {
    const BasicBlock *Block = Comparison.getParent();
    auto *Branch = dyn_cast<BranchInst>(Block->getTerminator());
    return Branch && Branch->isConditional() &&
           DT.dominates(BasicBlockEdge(Block, Branch->getSuccessor(Result ? 0 : 1)), &From);
  };
  for (const Instruction *I : Computed)
    if (auto *Comparison = dyn_cast<CmpInst>(I); Comparison && isOutcome(*Comparison))
      for (bool Result : {false, true})
        if (keepsFromZero(*Comparison, Product, Result) && Leads(*Comparison, Result))
          return true;
  return !Always && any_of(Leaving, [&](const auto &Each) {
    const auto &[Comparison, Result] = Each;
    return keepsFromZero(*Comparison, Product, !Result) && DT.dominates(Comparison->getParent(), &From);
  });
}

// The factor, where the other one is the number itself; null for what is no such product. `through -= through * alpha`
// is one, too. A factor may be of a wider type, in which they are multiplied.
Value *CarriedProduct::factorOf(const Instruction &Product) const {
  if (auto *Wide = dyn_cast<Instruction>(Product.getOperand(0)); Wide && isa<FPTruncInst>(Product) && !Sums)
    return factorOf(*Wide);
  if (Sums && Product.getOpcode() == Instruction::FSub)
    return isItself(Product.getOperand(0)) ? Product.getOperand(1) : nullptr;
  for (unsigned Index : {0u, 1u})
    if (Product.getOpcode() == (Sums ? Instruction::FAdd : Instruction::FMul) && isItself(Product.getOperand(Index)))
      return Product.getOperand(1 - Index);
  auto *Part = dyn_cast<Instruction>(Product.getOperand(Product.getNumOperands() > 1));
  if (Product.getOpcode() == Instruction::FSub && isItself(Product.getOperand(0)) && Part &&
      Part->getOpcode() == Instruction::FMul)
    return factorOf(*Part);
  return nullptr;
}

bool CarriedProduct::canDivide(Value *V, const BasicBlock &From, bool Guarded, bool Always) const {
  if (isItself(V))
    return true;
  Guarded |= isKeptFromZero(*V, From, Always);
  auto *I = dyn_cast<Instruction>(V);
  if (!I || !L.contains(I) || any_of(L.getSubLoops(), [&](const Loop *Inner) { return Inner->contains(I); }))
    return false;
  if (auto *Phi = dyn_cast<PHINode>(I))
    return I->getParent() != L.getHeader() && all_of(Phi->incoming_values(), [&](Use &U) {
             return canDivide(U.get(), *Phi->getIncomingBlock(U), Guarded, Always);
           });
  if (auto *Choice = dyn_cast<SelectInst>(I))
    return canDivide(Choice->getTrueValue(), From, Guarded, Always) &&
           canDivide(Choice->getFalseValue(), From, Guarded, Always);
  return Guarded && factorOf(*I);
}

// Whether all that comes from there goes that way.
static bool leadsOnlyTo(const BasicBlock *Block, const BasicBlock *From, const BasicBlock *To) {
  for (; Block != From; Block = Block->getSingleSuccessor())
    if (!Block->getSingleSuccessor())
      return false;
  return !To || From->getSingleSuccessor();
}

// One for each way where ways meet, as the reverse sweep takes the same.
void CarriedProduct::findSteps(Value *V, BasicBlock *From, BasicBlock *To) {
  auto *Phi = dyn_cast<PHINode>(V);
  if (isItself(V))
    return;
  if (!Phi || !leadsOnlyTo(Phi->getParent(), From, To)) {
    Steps.push_back({From, To, V});
    return;
  }
  for (const auto &[Value, Before] : zip(Phi->incoming_values(), Phi->blocks()))
    findSteps(Value, Before, Phi->getParent());
}

// Whether the iteration uses the number that it began with once more: the reverse sweep comes there before it divides.
bool CarriedProduct::isUsedBehind(const Step &Each) const {
  SmallVector<const BasicBlock *> Work;
  Blocks Seen;
  if (Each.To)
    Work.push_back(Each.To);
  while (!Work.empty()) {
    const BasicBlock *Block = Work.pop_back_val();
    if (Block == L.getHeader() || !L.contains(Block) || !Seen.insert(Block).second)
      continue;
    for (const Instruction &I : *Block)
      if (!isa<PHINode>(I) && !I.isTerminator() && !I.getType()->isIntegerTy() &&
          any_of(I.operands(), [&](const Use &U) {
            auto *Operand = dyn_cast<Instruction>(U.get());
            return Operand && Computed.contains(Operand);
          }))
        return true;
    append_range(Work, successors(Block));
  }
  return false;
}

bool CarriedProduct::isFactorRepeatable(Value *V) {
  if (isItself(V))
    return true;
  if (auto *Phi = dyn_cast<PHINode>(V))
    return isDecidedAgain(*Phi) && all_of(Phi->incoming_values(), [&](Use &U) { return isFactorRepeatable(U.get()); });
  if (auto *Choice = dyn_cast<SelectInst>(V))
    return isRepeatable(Choice->getCondition()) && isFactorRepeatable(Choice->getTrueValue()) &&
           isFactorRepeatable(Choice->getFalseValue());
  return isRepeatable(factorOf(*cast<Instruction>(V)));
}

Value *CarriedProduct::make(Value *V) {
  Constant *One = ConstantFP::get(Carried.getType(), Sums ? 0.0 : 1.0);
  if (isItself(V))
    return One;
  if (Value *Known = Made.lookup(V))
    return Known;
  auto *I = cast<Instruction>(V);
  Value *New = nullptr;
  if (auto *Phi = dyn_cast<PHINode>(I)) {
    auto *Factors = PHINode::Create(Carried.getType(), Phi->getNumIncomingValues(), "factor", Phi->getIterator());
    for (const auto &[Value, From] : zip(Phi->incoming_values(), Phi->blocks()))
      Factors->addIncoming(make(Value), From);
    New = Factors;
  } else {
    IRBuilder<> B(I);
    if (auto *Choice = dyn_cast<SelectInst>(I))
      New = B.CreateSelect(Choice->getCondition(), make(Choice->getTrueValue()), make(Choice->getFalseValue()));
    else
      New = newFactor(B, *I);
  }
  return Made[V] = New;
}

// Of one step; it is rounded to the number's type, as the product is.
Value *CarriedProduct::newFactor(IRBuilderBase &B, const Instruction &Product) const {
  const Instruction *In = isa<FPTruncInst>(Product) ? cast<Instruction>(Product.getOperand(0)) : &Product;
  Value *Factor = factorOf(*In);
  if (In->getOpcode() == Instruction::FSub) // or its negative, of a sum
    Factor = B.CreateFSub(ConstantFP::get(In->getType(), Sums ? 0.0 : 1.0), Factor);
  return B.CreateFPTrunc(Factor, Carried.getType());
}

bool CarriedProduct::isRepeatable(const Value *V) {
  auto *I = dyn_cast<Instruction>(V);
  if (!I || !L.contains(I))
    return true;
  auto [It, IsNew] = Repeatable.insert({I, false});
  if (!IsNew)
    return It->second;
  bool Is = isRepeatable(*I);
  return Repeatable[I] = Is;
}

// Whether the reverse sweep finds it out again, not keeping anything of the iteration.
bool CarriedProduct::isRepeatable(const Instruction &I) {
  auto *Comparison = dyn_cast<CmpInst>(&I);
  if (Comparison && Leaving.contains(const_cast<CmpInst *>(Comparison)))
    return true;
  if (Computed.contains(const_cast<Instruction *>(&I)))
    return all_of(I.operands(), [&](const Use &U) { return isRepeatable(U.get()); }) && I.getType()->isIntegerTy(1);
  if (auto *Phi = dyn_cast<PHINode>(&I)) {
    if (I.getParent() == L.getHeader())
      return Phi->getType()->isIntegerTy() && isa<SCEVAddRecExpr>(SE.getSCEV(const_cast<PHINode *>(Phi)));
    return isDecidedAgain(*Phi) && all_of(Phi->incoming_values(), [&](const Use &U) { return isRepeatable(U.get()); });
  }
  if (auto *Load = dyn_cast<LoadInst>(&I))
    return Unchanged.isReadBy(*Load) && isRepeatable(Load->getPointerOperand());
  auto *Intrinsic = dyn_cast<IntrinsicInst>(&I);
  if (Intrinsic && Intrinsic->getIntrinsicID() == Intrinsic::nvvm_ldu_global_f)
    return isRepeatable(Intrinsic->getArgOperand(0));
  auto *Call = dyn_cast<CallBase>(&I);
  if (I.mayHaveSideEffects() || I.mayReadFromMemory() || isa<AllocaInst>(I) || (Call && Call->isConvergent()))
    return false;
  return all_of(I.operands(), [&](const Use &U) { return isa<Function>(U) || isRepeatable(U.get()); });
}

// Whether the reverse sweep finds out which way was taken.
bool CarriedProduct::isDecidedAgain(const PHINode &Phi) {
  const BasicBlock *First = DT.getNode(Phi.getParent())->getIDom()->getBlock();
  SmallVector<const BasicBlock *> Work(predecessors(Phi.getParent()));
  Blocks Seen;
  while (!Work.empty()) {
    const BasicBlock *Block = Work.pop_back_val();
    if (!Seen.insert(Block).second)
      continue;
    auto *Branch = dyn_cast<BranchInst>(Block->getTerminator());
    if (!Branch || (Branch->isConditional() && !isRepeatable(Branch->getCondition())))
      return false;
    if (Block != First)
      append_range(Work, predecessors(Block));
  }
  return true;
}

} // namespace adgen
