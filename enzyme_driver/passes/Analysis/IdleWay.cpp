#include "Analysis/IdleWay.h"
#include "Support/Adgen.h"

#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/PatternMatch.h"

using namespace llvm;
using namespace llvm::PatternMatch;

namespace adgen {

// One bit, also as the byte that the language makes of it.
static bool isBit(const Value &V, SmallPtrSetImpl<const Value *> &Seen) {
  if (V.getType()->isIntegerTy(1) || !Seen.insert(&V).second)
    return true;
  if (auto *Constant = dyn_cast<ConstantInt>(&V))
    return Constant->getValue().ule(1);
  if (auto *Phi = dyn_cast<PHINode>(&V))
    return all_of(Phi->incoming_values(), [&](const Use &U) { return isBit(*U.get(), Seen); });
  if (auto *Choice = dyn_cast<SelectInst>(&V))
    return isBit(*Choice->getTrueValue(), Seen) && isBit(*Choice->getFalseValue(), Seen);
  auto *Widened = dyn_cast<ZExtInst>(&V);
  return Widened && isBit(*Widened->getOperand(0), Seen);
}

static bool isBit(const Value &V) {
  SmallPtrSet<const Value *, 8> Seen;
  return V.getType()->isIntegerTy() && isBit(V, Seen);
}

// Of conditions and their last bits.
template <class Ask> std::optional<bool> IdleWay::combine(const Instruction &I, Ask Known) {
  const APInt *C;
  const Value *One, *Other;
  if (isa<TruncInst, ZExtInst, FreezeInst>(I))
    return Known(*I.getOperand(0));
  if (match(&I, m_Xor(m_Value(One), m_APInt(C)))) {
    std::optional<bool> Is = Known(*One);
    return Is ? std::optional(*Is != (*C)[0]) : std::nullopt;
  }
  bool IsAnd = match(&I, m_LogicalAnd(m_Value(One), m_Value(Other)));
  if (IsAnd || match(&I, m_LogicalOr(m_Value(One), m_Value(Other)))) {
    std::optional<bool> First = Known(*One), Second = Known(*Other);
    if (First && *First != IsAnd)
      return First;
    if ((Second && *Second != IsAnd) || First)
      return Second;
    return {};
  }
  if (auto *Choice = dyn_cast<SelectInst>(&I))
    if (std::optional<bool> Is = Known(*Choice->getCondition()))
      return Known(*(*Is ? Choice->getTrueValue() : Choice->getFalseValue()));
  CmpPredicate Kind;
  if (match(&I, m_ICmp(Kind, m_Value(One), m_APInt(C))) && ICmpInst::isEquality(Kind) && C->ule(1) && isBit(*One))
    if (std::optional<bool> Is = Known(*One))
      return (*Is == C->isOne()) == (Kind == ICmpInst::ICMP_EQ);
  return {};
}

void IdleWay::assume(Value &Condition, bool Holds) {
  Assumed[&Condition] = Holds;
  Value *One, *Other;
  if (isa<ZExtInst>(Condition) || (isa<TruncInst>(Condition) && Condition.getType()->isIntegerTy(1)))
    assume(*cast<CastInst>(Condition).getOperand(0), Holds);
  else if (match(&Condition, m_Not(m_Value(One))) && Condition.getType()->isIntegerTy(1))
    assume(*One, !Holds);
  else if (Holds ? match(&Condition, m_LogicalAnd(m_Value(One), m_Value(Other)))
                 : match(&Condition, m_LogicalOr(m_Value(One), m_Value(Other)))) {
    assume(*One, Holds);
    assume(*Other, Holds);
  }
}

std::optional<bool> IdleWay::known(const Value &V) const {
  if (auto *Constant = dyn_cast<ConstantInt>(&V))
    return isBit(V) ? std::optional(Constant->getValue()[0]) : std::nullopt;
  if (auto Found = Assumed.find(&V); Found != Assumed.end())
    return Found->second;
  auto *I = dyn_cast<Instruction>(&V);
  return I && !isa<PHINode>(I) ? combine(*I, [&](const Value &Of) { return known(Of); }) : std::nullopt;
}

std::optional<bool> IdleWay::holds(const Value &V) const {
  auto *I = dyn_cast<Instruction>(&V);
  if (!I || !Visited.contains(const_cast<BasicBlock *>(I->getParent())))
    return known(V);
  if (auto *Phi = dyn_cast<PHINode>(I)) {
    const Value *Is = Now.lookup(Phi);
    return Is ? known(*Is) : std::nullopt;
  }
  return combine(*I, [&](const Value &Of) { return holds(Of); });
}

bool IdleWay::isSame(Value &One, Value &Other) const {
  if (&One == &Other)
    return true;
  std::optional<bool> First = known(One), Second = known(Other);
  return First && First == Second && isBit(One) && isBit(Other);
}

// Nothing while nobody knows yet.
std::optional<Value *> IdleWay::now(Value &V) const {
  auto *I = dyn_cast<Instruction>(&V);
  if (!I || !Visited.contains(I->getParent()))
    return &V;
  if (auto *Phi = dyn_cast<PHINode>(I)) {
    auto Found = Now.find(Phi);
    return Found == Now.end() ? std::nullopt : std::optional(Found->second);
  }
  if (std::optional<bool> Is = isBit(V) ? holds(V) : std::nullopt)
    return ConstantInt::get(V.getType(), *Is);
  if (auto *Choice = dyn_cast<SelectInst>(I))
    if (std::optional<bool> Is = holds(*Choice->getCondition()))
      return now(*(*Is ? Choice->getTrueValue() : Choice->getFalseValue()));
  return nullptr;
}

std::optional<Value *> IdleWay::met(const PHINode &Phi) const {
  std::optional<Value *> Met;
  if (isAgain(*Phi.getParent()))
    Met = const_cast<PHINode *>(&Phi);
  for (const auto &[V, From] : zip(Phi.incoming_values(), Phi.blocks())) {
    std::optional<Value *> Each = Taken.contains({From, Phi.getParent()}) ? now(*V) : std::nullopt;
    if (Each && Met && (!*Each || !*Met || !isSame(**Each, **Met)))
      return nullptr;
    if (Each && !Met)
      Met = Each;
  }
  return Met;
}

bool IdleWay::isAgain(const BasicBlock &Block) const { return DT.dominates(&Block, Begin); }

bool IdleWay::settlePhis() {
  bool Changed = false;
  for (const BasicBlock *Block : Visited)
    for (const PHINode &Phi : Block->phis()) {
      std::optional<Value *> Is = met(Phi);
      auto Found = Now.find(&Phi);
      if (!Is || (Found != Now.end() && (!Found->second || Found->second == *Is)))
        continue;
      if (Found != Now.end())
        Is = nullptr; // has been something else
      Now[&Phi] = *Is;
      Changed = true;
    }
  return Changed;
}

bool IdleWay::visit(BasicBlock &Block, const Instruction *Ignored) {
  for (const PHINode &Phi : Block.phis())
    if (std::optional<Value *> Is = met(Phi))
      Now[&Phi] = *Is;
  for (const Instruction &I : Block) {
    auto *Call = dyn_cast<CallBase>(&I);
    const Function *Callee = Call ? Call->getCalledFunction() : nullptr;
    bool IsMath = Callee && (Callee->hasFnAttribute(MathAttribute) || Callee->getName().starts_with(MathPrefix));
    bool IsNothing = isa<IntrinsicInst>(I) && cast<IntrinsicInst>(I).isAssumeLikeIntrinsic();
    if (&I != Ignored && !IsMath && !IsNothing && (I.mayHaveSideEffects() || (Call && Call->isConvergent())))
      return false;
  }
  return isa<BranchInst, SwitchInst>(Block.getTerminator());
}

bool IdleWay::visitAll(BasicBlock &To, const Instruction *Ignored) {
  SmallVector<BasicBlock *> Work{&To};
  while (!Work.empty()) {
    BasicBlock *Block = Work.pop_back_val();
    if (Block == End)
      continue;
    if (Visited.insert(Block) && !visit(*Block, Ignored))
      return false;
    auto *Branch = dyn_cast<BranchInst>(Block->getTerminator());
    std::optional<bool> Is = Branch && Branch->isConditional() ? holds(*Branch->getCondition()) : std::nullopt;
    for (BasicBlock *Next : successors(Block))
      if ((!Is || Next == Branch->getSuccessor(*Is ? 0 : 1)) && Taken.insert({Block, Next}).second)
        Work.push_back(Next);
  }
  return true;
}

bool IdleWay::walk(const BasicBlock *From, BasicBlock &To, BasicBlock &End, const Instruction *Ignored) {
  Begin = From ? From : &To;
  this->End = &End;
  if (From)
    Taken.insert({From, &To});
  if (!visitAll(To, Ignored))
    return false;
  for (size_t Known = 0; settlePhis() || Known != Taken.size();) { // a block that is come to again changes what it has
    Known = Taken.size();
    for (BasicBlock *Block : SmallVector<BasicBlock *>(Visited.begin(), Visited.end()))
      if (!visitAll(*Block, Ignored))
        return false;
  }
  return isKeptBehind();
}

// What lies where the way began, or before, and has been come to again, is asked for behind the end by phis there
// alone.
bool IdleWay::isKeptBehind() const {
  for (const BasicBlock *Block : Visited) {
    if (!isAgain(*Block))
      continue;
    const Loop *L = LI.getLoopFor(Block);
    if (!L || L->contains(End))
      return false;
    for (const Instruction &I : *Block)
      for (const User *U : I.users()) {
        auto *Outside = cast<Instruction>(U);
        bool IsMet = isa<PHINode>(Outside) && Outside->getParent() == End;
        if (!L->contains(Outside) && !IsMet && !(isa<PHINode>(I) && stays(cast<PHINode>(I))))
          return false;
      }
  }
  return true;
}

Value *IdleWay::brought(const PHINode &AtEnd) const { return met(AtEnd).value_or(nullptr); }

} // namespace adgen
