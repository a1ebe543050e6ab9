#include "Analysis/ThreadFacts.h"

#include "Analysis/Indices.h"

#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/PatternMatch.h"

using namespace llvm;
using namespace llvm::PatternMatch;

namespace adgen {

constexpr unsigned FewestSteps = 4; // of shuffles that add up a warp, or half of one

bool Facts::mixes(unsigned Who) const {
  return ((ByThread | FoundInGrid) && Who) || (ByWarp && (Who & (Warp | Block))) || (ByBlock && (Who & Block)) ||
         (FoundInBlock && (Who & (Lane | Warp)));
}

Facts Facts::inOrder() const {
  Facts F = *this;
  F.Identity = 0;
  return F;
}

Facts Facts::sameInWarp() const {
  Facts F = *this;
  F.Identity &= ~Lane;
  F.ByWarp |= F.ByThread;
  F.ByThread = 0;
  return F;
}

Facts Facts::sameInBlock() const {
  Facts F = *this;
  F.Identity &= Block;
  F.ByBlock |= F.ByThread | F.ByWarp;
  F.ByThread = F.ByWarp = 0;
  return F;
}

Facts Facts::operator|(const Facts &Other) const {
  return {Identity | Other.Identity, ByThread | Other.ByThread,         ByWarp | Other.ByWarp,
          ByBlock | Other.ByBlock,   FoundInBlock | Other.FoundInBlock, FoundInGrid | Other.FoundInGrid};
}

std::optional<StringRef> registerOf(const Value *V) {
  auto *Call = dyn_cast<CallBase>(V);
  const Function *Callee = Call ? Call->getCalledFunction() : nullptr;
  StringRef Name = Callee ? Callee->getName() : "";
  return Name.consume_front("llvm.nvvm.read.ptx.sreg.") ? std::optional(Name) : std::nullopt;
}

// Whether it is made of a thread's number in its block alone, by sums and products with the block's extents.
static bool isThreadNumber(const Value *V) {
  if (auto Register = registerOf(V))
    return Register->starts_with("tid.") || Register->starts_with("ntid.");
  if (isa<Constant>(V))
    return true;
  auto *I = dyn_cast<Instruction>(V);
  bool Plain = I && (isa<CastInst>(I) || I->getOpcode() == Instruction::Add || I->getOpcode() == Instruction::Mul ||
                     I->getOpcode() == Instruction::Shl);
  return Plain && all_of(I->operands(), isThreadNumber);
}

std::optional<unsigned> partOfThreadNumber(const Instruction &I) {
  Value *Number;
  uint64_t By;
  if (match(&I, m_And(m_Value(Number), m_ConstantInt(By))) && By < LanesOfWarp && isThreadNumber(Number))
    return Facts::Lane;
  bool Remains =
      match(&I, m_CombineOr(m_URem(m_Value(Number), m_ConstantInt(By)), m_SRem(m_Value(Number), m_ConstantInt(By))));
  if (Remains && By && LanesOfWarp % By == 0 && isThreadNumber(Number))
    return Facts::Lane;
  bool Shifted = match(&I, m_Shr(m_Value(Number), m_ConstantInt(By))) && By >= LaneBits;
  bool Divided =
      match(&I, m_CombineOr(m_UDiv(m_Value(Number), m_ConstantInt(By)), m_SDiv(m_Value(Number), m_ConstantInt(By)))) &&
      By && By % LanesOfWarp == 0;
  return (Shifted || Divided) && isThreadNumber(Number) ? std::optional<unsigned>(Facts::Warp) : std::nullopt;
}

bool addsUp(const Instruction &I) {
  auto *Call = dyn_cast<IntrinsicInst>(&I);
  return I.getOpcode() == Instruction::FAdd || I.getOpcode() == Instruction::FMul ||
         I.getOpcode() == Instruction::Add ||
         (Call && is_contained({Intrinsic::maxnum, Intrinsic::minnum, Intrinsic::fmuladd, Intrinsic::fma},
                               Call->getIntrinsicID()));
}

bool isShuffle(const Value *V) {
  auto *Call = dyn_cast<CallBase>(V);
  return Call && Call->getCalledFunction() && Call->getCalledFunction()->getName().starts_with("llvm.nvvm.shfl.");
}

// Whether it is a value with that of another lane, so many times.
static bool addsUpLanes(const Instruction &I, unsigned Steps) {
  if (!addsUp(I))
    return false;
  for (const Value *One : I.operands()) {
    auto *Before = dyn_cast<Instruction>(One);
    bool OfLane = any_of(I.operands(), [&](const Value *V) {
      return V != One && isShuffle(V) && cast<CallBase>(V)->getArgOperand(1) == One;
    });
    if (OfLane && (Steps <= 1 || isa<PHINode>(One) || (Before && addsUpLanes(*Before, Steps - 1))))
      return true;
  }
  return false;
}

bool addsUpLanes(const Instruction &I) { return addsUpLanes(I, FewestSteps); }

const Instruction *madeInLoop(const PHINode &Phi) {
  for (const Value *V : Phi.incoming_values())
    if (auto *I = dyn_cast<Instruction>(V); I && addsUp(*I) && is_contained(I->operands(), &Phi))
      return I;
  return nullptr;
}

} // namespace adgen
