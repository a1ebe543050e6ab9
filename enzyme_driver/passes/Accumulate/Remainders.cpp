#include "Accumulate/Remainders.h"
#include "Support/Reaches.h"

#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/IR/PatternMatch.h"

using namespace llvm;
using namespace llvm::PatternMatch;

namespace adgen {

static constexpr unsigned LentOperand = 2; // of adgen_lent

// By a lane to those that add nothing.
static bool isLent(const Instruction &I) {
  auto *Call = dyn_cast<CallInst>(&I);
  return Call && Call->getCalledFunction() && Call->getCalledFunction()->getName() == "adgen_lent";
}

// Those that an address or a number is computed from.
static void addOperands(const Instruction &I, SmallVectorImpl<const Value *> &Next) {
  if (isa<GetElementPtrInst, BinaryOperator, CastInst, PHINode, SelectInst>(I) || isLent(I))
    append_range(Next, I.operands());
}

static const Value *bare(const Value *Number) {
  while (auto *I = dyn_cast<Instruction>(Number)) {
    if (!isa<CastInst>(I) && !isLent(*I))
      break;
    Number = I->getOperand(isa<CastInst>(I) ? 0 : LentOperand);
  }
  return Number;
}

// Of a remainder, also where the quotient is there anyway, or lent: x - x / n * n.
static const Value *divisorOf(const Instruction &I) {
  const Value *Number, *Product, *Quotient, *Factor;
  if (match(&I, m_IRem(m_Value(), m_Value(Factor))))
    return bare(Factor);
  if (!match(&I, m_Sub(m_Value(Number), m_Value(Product))) ||
      !match(bare(Product), m_Mul(m_Value(Quotient), m_Value(Factor))))
    return nullptr;
  const auto IsOf = [&](const Value *Quotient, const Value *Factor) {
    const Value *Of, *By;
    return match(bare(Quotient), m_IDiv(m_Value(Of), m_Value(By))) && bare(Of) == bare(Number) &&
           bare(By) == bare(Factor);
  };
  return IsOf(Quotient, Factor) ? bare(Factor) : IsOf(Factor, Quotient) ? bare(Quotient) : nullptr;
}

static bool countsBlocks(const Value &Number) {
  return reaches(Number, [](const Value &V, SmallVectorImpl<const Value *> &Next) {
    auto *I = dyn_cast<Instruction>(&V);
    auto *Register = dyn_cast<IntrinsicInst>(&V);
    if (I)
      addOperands(*I, Next);
    return Register && is_contained({Intrinsic::nvvm_read_ptx_sreg_ctaid_x, Intrinsic::nvvm_read_ptx_sreg_ctaid_y,
                                     Intrinsic::nvvm_read_ptx_sreg_ctaid_z},
                                    Register->getIntrinsicID());
  });
}

// Of a number that counts the grid's threads, as in (i + 1) % n and (i + n - 1) % n.
static bool isNeighbour(const Value &Number, const Value &Count) {
  auto *Sum = dyn_cast<BinaryOperator>(&Number);
  if (!Sum || (Sum->getOpcode() != Instruction::Add && Sum->getOpcode() != Instruction::Sub))
    return false;
  return countsBlocks(Number) && any_of(Sum->operands(), [&](const Use &U) {
           auto *Others = dyn_cast<BinaryOperator>(U.get());
           return isa<ConstantInt>(U) || U.get() == &Count ||
                  (Others && Others->getOpcode() == Instruction::Add && is_contained(Others->operand_values(), &Count));
         });
}

// Whether there are as many as threads that do something: neighbours on a circle, to each of which few threads add.
static bool isForEachThread(const Value &Count) {
  return !isa<ConstantData>(Count) && any_of(Count.users(), [&](const User *U) {
    auto *I = dyn_cast<Instruction>(U);
    auto *Compared = dyn_cast<ICmpInst>(U);
    if (Compared && Compared->isRelational())
      return countsBlocks(*Compared->getOperand(Compared->getOperand(0) == &Count));
    return I && I->isIntDivRem() && I->getOperand(1) == &Count && isNeighbour(*bare(I->getOperand(0)), Count);
  });
}

bool isOfRemainder(const Value &Pointer) {
  return reaches(Pointer, [](const Value &V, SmallVectorImpl<const Value *> &Next) {
    auto *I = dyn_cast<Instruction>(&V);
    if (I)
      addOperands(*I, Next);
    const Value *Divisor = I ? divisorOf(*I) : nullptr;
    return Divisor && !isForEachThread(*Divisor);
  });
}

bool isDivided(const Value &Pointer) {
  bool Divides = false;
  bool Grows = reaches(Pointer, [&](const Value &V, SmallVectorImpl<const Value *> &Next) {
    auto *I = dyn_cast<Instruction>(&V);
    if (!I)
      return false;
    const bool Remains = divisorOf(*I) != nullptr, Divided = match(I, m_IDiv(m_Value(), m_Value()));
    Divides |= Remains || Divided;
    if (!Remains)
      addOperands(*I, Next);
    return !Remains && Divided && countsBlocks(*I->getOperand(0));
  });
  return Divides && !Grows;
}

} // namespace adgen
