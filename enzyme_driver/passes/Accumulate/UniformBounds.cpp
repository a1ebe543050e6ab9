#include "Accumulate/UniformBounds.h"
#include "Accumulate/LaneOrigins.h"

#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/PatternMatch.h"

using namespace llvm;
using namespace llvm::PatternMatch;

namespace adgen {

static constexpr unsigned MostSteps = 8; // of an index, or of conditions on the way

using Bound = std::unique_ptr<UniformBound>;

// Whether every block may compute it when it begins.
static bool isUniform(const Value &V, unsigned Depth = 0) {
  if (isa<ConstantInt>(V))
    return true;
  if (auto *A = dyn_cast<Argument>(&V))
    return A->getType()->isIntegerTy() && !isOfTheTape(*A);
  auto *I = dyn_cast<Instruction>(&V);
  if (!I || !I->getType()->isIntegerTy() || Depth == MostSteps)
    return false;
  auto *Binary = dyn_cast<BinaryOperator>(I);
  // What nobody divides by may be zero.
  auto *By = Binary ? dyn_cast<ConstantInt>(Binary->getOperand(1)) : nullptr;
  const bool Divides = Binary && Binary->isIntDivRem() && !(By && !By->isZero() && !By->isMinusOne());
  const bool IsPlain = (Binary && !Divides) || isa<SExtInst, ZExtInst, TruncInst, MinMaxIntrinsic>(I);
  return IsPlain &&
         all_of(I->operands(), [&](const Use &U) { return isa<Function>(U.get()) || isUniform(*U.get(), Depth + 1); });
}

Bound UniformBound::itself(const Value &V) {
  if (!isUniform(V))
    return nullptr;
  auto Found = std::make_unique<UniformBound>();
  Found->Number = const_cast<Value *>(&V);
  return Found;
}

Bound UniformBound::constant(int64_t Number) {
  auto Found = std::make_unique<UniformBound>();
  Found->Fixed = Number;
  return Found;
}

Bound UniformBound::combined(unsigned Opcode, Bound A, Bound B) {
  if (!A || !B)
    return nullptr;
  auto Found = std::make_unique<UniformBound>();
  Found->Opcode = Opcode;
  Found->Guessed = A->Guessed || B->Guessed;
  Found->Left = std::move(A);
  Found->Right = std::move(B);
  return Found;
}

Bound UniformBound::sum(Bound A, Bound B) { return combined(Instruction::Add, std::move(A), std::move(B)); }

Bound UniformBound::product(Bound A, int64_t Factor) {
  return combined(Instruction::Mul, std::move(A), constant(Factor));
}

Bound UniformBound::largest(Bound A, Bound B) { return combined(Most, std::move(A), std::move(B)); }

Bound UniformBound::oneLess(Bound Of) { return combined(Instruction::Sub, std::move(Of), constant(1)); }

static bool isRead(const Value &V) {
  auto *Cast = dyn_cast<CastInst>(&V);
  return Cast ? isRead(*Cast->getOperand(0)) : isa<LoadInst>(V);
}

Bound UniformBound::ofPair(const Instruction &Index) {
  const Value *First, *Count, *Second;
  if (!match(&Index, m_c_Add(m_Mul(m_Value(First), m_Value(Count)), m_Value(Second))))
    return nullptr;
  if (!isRead(*First))
    std::swap(First, Count);
  if (!isRead(*First) || !isRead(*Second) || isa<Constant>(Count))
    return nullptr;
  Bound Found = oneLess(combined(Instruction::Mul, itself(*Count), itself(*Count)));
  if (Found)
    Found->Guessed = true;
  return Found;
}

Bound UniformBound::of(const Value &V, const Instruction &At, unsigned Depth) {
  if (Bound Found = itself(V))
    return Found;
  auto *I = dyn_cast<Instruction>(&V);
  if (!I || Depth == MostSteps)
    return nullptr;
  auto Of = [&](unsigned Operand) { return of(*I->getOperand(Operand), At, Depth + 1); };
  if (isa<SExtInst, ZExtInst, TruncInst, FreezeInst>(I))
    return Of(0);
  if (auto *Bounded = dyn_cast<MinMaxIntrinsic>(I)) {
    Bound Left = Of(0), Right = Of(1);
    const bool IsLeast = match(I, m_CombineOr(m_SMin(m_Value(), m_Value()), m_UMin(m_Value(), m_Value())));
    if (IsLeast && (!Left || !Right))
      return Left ? std::move(Left) : std::move(Right);
    return combined(IsLeast ? Least : Most, std::move(Left), std::move(Right));
  }
  if (isa<SelectInst>(I))
    return combined(Most, Of(1), Of(2));
  switch (I->getOpcode()) {
  case Instruction::URem:
  case Instruction::SRem:
    return oneLess(itself(*I->getOperand(1)));
  case Instruction::And:
    return itself(*I->getOperand(1));
  case Instruction::Add:
  case Instruction::Or: // without common bits
    if (Bound Found = combined(Instruction::Add, Of(0), Of(1)))
      return Found;
    if (Bound Found = ofPair(*I))
      return Found;
    break;
  case Instruction::Shl:
    if (!isa<ConstantInt>(I->getOperand(1)))
      break;
    [[fallthrough]];
  case Instruction::Mul:
    if (Bound Found = combined(I->getOpcode(), Of(0), itself(*I->getOperand(1))))
      return Found;
    break;
  case Instruction::Sub: {
    const Value *Of = nullptr, *By = nullptr;
    if (match(I, m_Sub(m_Value(Of), m_c_Mul(m_IDiv(m_Deferred(Of), m_Value(By)), m_Deferred(By)))))
      return oneLess(itself(*By)); // x - x / n * n
    if (Bound Found =
            combined(Instruction::Sub, UniformBound::of(*I->getOperand(0), At, Depth + 1), itself(*I->getOperand(1))))
      return Found;
    break;
  }
  default:
    break;
  }
  return byConditions(V, At);
}

Bound UniformBound::byComparison(const Value &Condition, bool Holds, const Value &V) {
  const Value *A = nullptr, *B = nullptr;
  if (Holds ? match(&Condition, m_LogicalAnd(m_Value(A), m_Value(B)))
            : match(&Condition, m_LogicalOr(m_Value(A), m_Value(B)))) {
    Bound Found = byComparison(*A, Holds, V);
    return Found ? std::move(Found) : byComparison(*B, Holds, V);
  }
  auto *Compared = dyn_cast<ICmpInst>(&Condition);
  if (!Compared)
    return nullptr;
  CmpInst::Predicate Is = Holds ? Compared->getPredicate() : Compared->getInversePredicate();
  const Value *Other = Compared->getOperand(1);
  if (Compared->getOperand(0) != &V) {
    Is = CmpInst::getSwappedPredicate(Is);
    Other = Compared->getOperand(0);
    if (Compared->getOperand(1) != &V)
      return nullptr;
  }
  if (Is == CmpInst::ICMP_SLT || Is == CmpInst::ICMP_ULT)
    return oneLess(itself(*Other));
  return Is == CmpInst::ICMP_SLE || Is == CmpInst::ICMP_ULE ? itself(*Other) : nullptr;
}

Bound UniformBound::byConditions(const Value &V, const Instruction &At) {
  const BasicBlock *Block = At.getParent();
  for (unsigned Step = 0; Step < MostSteps; ++Step) {
    const BasicBlock *Before = Block->getSinglePredecessor();
    auto *Branch = Before ? dyn_cast<BranchInst>(Before->getTerminator()) : nullptr;
    if (!Branch)
      return nullptr;
    if (Branch->isConditional())
      if (Bound Found = byComparison(*Branch->getCondition(), Branch->getSuccessor(0) == Block, V))
        return Found;
    Block = Before;
  }
  return nullptr;
}

// Without what the kernel says of overflow where it computes the same.
static Value *copied(IRBuilder<> &B, const Value &V) {
  if (auto *A = dyn_cast<Argument>(&V))
    return B.GetInsertBlock()->getParent()->getArg(A->getArgNo());
  auto *I = dyn_cast<Instruction>(&V);
  if (!I)
    return const_cast<Value *>(&V);
  Instruction *Copy = I->clone();
  for (Use &U : Copy->operands())
    if (!isa<Function>(U.get()))
      U.set(copied(B, *U.get()));
  Copy->dropPoisonGeneratingFlags();
  Copy->setDebugLoc(DebugLoc());
  return B.Insert(Copy);
}

Value *UniformBound::make(IRBuilder<> &B) const {
  if (Number)
    return B.CreateSExt(copied(B, *Number), B.getInt64Ty());
  if (!Left)
    return B.getInt64(Fixed);
  Value *A = Left->make(B), *C = Right->make(B);
  if (Opcode == Least || Opcode == Most)
    return B.CreateBinaryIntrinsic(Opcode == Least ? Intrinsic::smin : Intrinsic::smax, A, C);
  return B.CreateBinOp(Instruction::BinaryOps(Opcode), A, C);
}

} // namespace adgen
