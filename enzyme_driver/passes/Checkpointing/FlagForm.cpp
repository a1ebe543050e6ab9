#include "Checkpointing/FlagForm.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/PatternMatch.h"
#include "llvm/Transforms/Utils/Local.h"

using namespace llvm;
using namespace llvm::PatternMatch;

namespace adgen {
namespace {

bool isFlag(const Value &V, const Loop &Outer) {
  auto *Phi = dyn_cast<PHINode>(&V);
  return Phi && Phi->getType()->isIntegerTy(1) && Phi->getParent() == Outer.getHeader();
}

// Two conditions one after the other that lead past the loop, of which the first is a flag.
class Guards {
public:
  explicit Guards(const Nest &N) : N(N) {}

  bool join() {
    Second = N.guard();
    BasicBlock *Block = Second ? Second->getParent() : nullptr,
               *Before = Block ? Block->getSinglePredecessor() : nullptr;
    First = Before ? dyn_cast<BranchInst>(Before->getTerminator()) : nullptr;
    if (!First || !First->isConditional() || !N.Outer.contains(First) || !isFlag(*First->getCondition(), N.Outer))
      return false;
    Behind = Second->getSuccessor(Second->getSuccessor(0) == N.Before);
    if (Behind == N.Before || !is_contained(successors(Before), Behind) || !canComeFirst(*Block))
      return false;
    if (!all_of(Behind->phis(), [&](PHINode &Phi) { return onFirst(Phi) == onSecond(Phi); }))
      return false;
    for (PHINode &Phi : Behind->phis()) {
      Phi.setIncomingValueForBlock(Before, onFirst(Phi));
      Phi.removeIncomingValue(Block, /*DeletePHIIfEmpty=*/false);
    }
    Value *Skips = conditionOf(*First, *Behind);
    for (Instruction &I : make_early_inc_range(*Block))
      if (&I != Second)
        I.moveBefore(First->getIterator());
    Value *SkipsToo = conditionOf(*Second, *Behind);
    if (auto *Made = dyn_cast<Instruction>(SkipsToo); Made && Made->getParent() == Block)
      Made->moveBefore(First->getIterator());
    First->setCondition(IRBuilder<>(First).CreateLogicalOr(Skips, SkipsToo));
    First->setSuccessor(1, N.Before);
    N.Before->replacePhiUsesWith(Block, Before);
    Block->eraseFromParent();
    return true;
  }

private:
  static bool canComeFirst(const BasicBlock &Block) {
    return all_of(Block, [](const Instruction &I) {
      return I.isTerminator() || (!isa<PHINode>(I) && isSafeToSpeculativelyExecute(&I));
    });
  }

  // A constant that the flag is known to be there is the flag.
  Value *onFirst(PHINode &Phi) const { return named(Phi, *First, First->getSuccessor(0) == Behind); }
  Value *onSecond(PHINode &Phi) const { return named(Phi, *Second, First->getSuccessor(0) != Behind); }

  Value *named(PHINode &Phi, const BranchInst &From, bool FlagIs) const {
    Value *V = Phi.getIncomingValueForBlock(From.getParent());
    auto *Constant = dyn_cast<ConstantInt>(V);
    return Constant && Phi.getType()->isIntegerTy(1) && Constant->isOne() == FlagIs ? First->getCondition() : V;
  }

  const Nest &N;
  BranchInst *First = nullptr, *Second = nullptr;
  BasicBlock *Behind = nullptr;
};

// A flag by which the loop runs becomes its opposite, and so does all that phis make of it.
class Inverted {
public:
  explicit Inverted(const Nest &N) : N(N) {}

  bool invert() {
    BranchInst *Asks = N.guard();
    PHINode *Flag = Asks ? findIn(*Asks->getCondition(), Asks->getSuccessor(0) == N.Before) : nullptr;
    if (!Flag || isAskedElsewhere(*Flag))
      return false;
    collect(*Flag);
    for (auto &[Phi, New] : Opposites)
      New = PHINode::Create(Phi->getType(), Phi->getNumIncomingValues(), Phi->getName() + ".not", Phi->getIterator());
    for (auto &[Phi, New] : Opposites)
      for (auto [V, From] : zip(Phi->incoming_values(), Phi->blocks()))
        New->addIncoming(opposite(*V, *From), From);
    SmallVector<BranchInst *> Branches;
    for (BasicBlock *Block : N.Outer.blocks())
      if (auto *Branch = dyn_cast<BranchInst>(Block->getTerminator());
          Branch && Branch->isConditional() && findIn(*Branch->getCondition(), true))
        Branches.push_back(Branch);
    for (auto &[Phi, New] : Opposites) {
      for (User *U : make_early_inc_range(Phi->users()))
        if (match(U, m_Not(m_Specific(Phi))))
          U->replaceAllUsesWith(New);
      Phi->replaceUsesWithIf(IRBuilder<>(New->getParent(), New->getParent()->getFirstInsertionPt()).CreateNot(New),
                             [&](Use &U) { return !Opposites.contains(dyn_cast<PHINode>(U.getUser())); });
    }
    for (BranchInst *Branch : Branches) {
      WeakVH Old = Branch->getCondition();
      conditionOf(*Branch, *Branch->getSuccessor(1));
      if (auto *Unused = dyn_cast_or_null<Instruction>(Old))
        RecursivelyDeleteTriviallyDeadInstructions(Unused);
    }
    for (auto &[Phi, New] : Opposites) {
      Phi->replaceAllUsesWith(PoisonValue::get(Phi->getType()));
      for (User *U : make_early_inc_range(New->users()))
        RecursivelyDeleteTriviallyDeadInstructions(U);
    }
    for (auto &[Phi, New] : Opposites)
      Phi->eraseFromParent();
    return true;
  }

private:
  // One of those by which a conjunction holds, or a disjunction of opposites does not.
  PHINode *findIn(Value &Condition, bool Holds) const {
    Value *One, *Other;
    if (Holds ? match(&Condition, m_LogicalAnd(m_Value(One), m_Value(Other)))
              : match(&Condition, m_LogicalOr(m_Value(One), m_Value(Other)))) {
      PHINode *Found = findIn(*One, Holds);
      return Found ? Found : findIn(*Other, Holds);
    }
    if (match(&Condition, m_Not(m_Value(One))))
      return findIn(*One, !Holds);
    auto *Phi = dyn_cast<PHINode>(&Condition);
    return Holds && Phi && (Opposites.empty() ? isFlag(*Phi, N.Outer) : Opposites.contains(Phi)) ? Phi : nullptr;
  }

  // Another loop may run where this one does not.
  bool isAskedElsewhere(const PHINode &Flag) const {
    return any_of(N.Outer.getSubLoops(), [&](Loop *Each) {
      std::optional<Nest> Other = Each != &N.L ? Nest::of(*Each) : std::nullopt;
      const BranchInst *Asks = Other ? Other->guard() : nullptr;
      return Asks && isMadeOf(*Asks->getCondition(), Flag);
    });
  }

  static bool isMadeOf(const Value &Condition, const PHINode &Flag) {
    auto *I = dyn_cast<Instruction>(&Condition);
    return &Condition == &Flag || (I && isa<BinaryOperator, SelectInst>(I) &&
                                   any_of(I->operands(), [&](const Use &U) { return isMadeOf(*U.get(), Flag); }));
  }

  void collect(PHINode &Flag) {
    SmallVector<PHINode *> Work{&Flag};
    while (!Work.empty()) {
      PHINode *Phi = Work.pop_back_val();
      if (!N.Outer.contains(Phi) || !Opposites.insert({Phi, nullptr}).second)
        continue;
      for (Value *V : Phi->incoming_values())
        if (auto *From = dyn_cast<PHINode>(V))
          Work.push_back(From);
      for (User *U : Phi->users())
        if (auto *To = dyn_cast<PHINode>(U))
          Work.push_back(To);
    }
  }

  Value *opposite(Value &V, BasicBlock &From) const {
    if (auto *Phi = dyn_cast<PHINode>(&V); Phi && Opposites.contains(Phi))
      return Opposites.lookup(Phi);
    IRBuilder<> B(From.getTerminator());
    return negated(V, B);
  }

  const Nest &N;
  MapVector<PHINode *, PHINode *> Opposites;
};

// Behind a loop that one of two conditions leaves, the first one holds wherever the second one does not.
class Leaving {
public:
  explicit Leaving(const Nest &N) : N(N) {}

  bool name() {
    const bool IsLeft = N.L.getExitingBlock() && N.Ends->getSuccessor(0) == N.Exit &&
                        match(N.Ends->getCondition(), m_LogicalOr(m_Value(One), m_Value(Other)));
    bool Changed = false;
    for (Instruction &I : make_early_inc_range(*N.Exit)) {
      Value *Holds = IsLeft && !I.use_empty() ? whatHolds(I) : nullptr;
      if (!Holds)
        continue;
      I.replaceAllUsesWith(Holds);
      RecursivelyDeleteTriviallyDeadInstructions(&I);
      Changed = true;
    }
    return Changed;
  }

private:
  // Of `One || !Other`.
  Value *whatHolds(Instruction &I) const {
    Value *First, *Second, *Not;
    if (!I.getType()->isIntegerTy(1) || !match(&I, m_Or(m_Value(First), m_Value(Second))))
      return nullptr;
    for (auto [Holds, Else] : {std::pair(First, Second), std::pair(Second, First)})
      if (match(&inside(*Else), m_Not(m_Value(Not))) &&
          ((&inside(*Holds) == One && &inside(*Not) == Other) || (&inside(*Holds) == Other && &inside(*Not) == One)))
        return Holds;
    return nullptr;
  }

  Value &inside(Value &V) const {
    auto *Phi = dyn_cast<PHINode>(&V);
    return Phi && Phi->getParent() == N.Exit ? *Phi->getIncomingValueForBlock(N.Latch) : V;
  }

  const Nest &N;
  Value *One = nullptr, *Other = nullptr;
};

} // namespace

bool bringToForm(const Nest &N) { return Guards(N).join() || Inverted(N).invert() || Leaving(N).name(); }

} // namespace adgen
