#include "Analysis/Roots.h"

#include "Support/OpenMP.h"

#include "llvm/ADT/SmallSet.h"
#include "llvm/Analysis/AliasAnalysis.h"
#include "llvm/IR/InstrTypes.h"
#include "llvm/IR/Instructions.h"

using namespace llvm;

namespace adgen {

using Pairs = SmallSet<std::pair<const Value *, const Value *>, 8>;

// What all callers and forks hand over for a parameter, in their order.
static bool handedFor(const Argument &A, SmallVector<const Value *> &Handed) {
  for (const Use &U : A.getParent()->uses()) {
    auto *Call = dyn_cast<CallBase>(U.getUser());
    const Function *Callee = Call ? Call->getCalledFunction() : nullptr;
    bool Starts = Callee && Callee->getName() == ForkName && Call->getArgOperandNo(&U) == ForkFunction;
    if (!Call || (!Starts && !Call->isCallee(&U)) || (Starts && A.getArgNo() < RegionCaptured))
      return false;
    Handed.push_back(Call->getArgOperand(A.getArgNo() + (Starts ? ForkCaptured - RegionCaptured : 0)));
  }
  return !Handed.empty();
}

std::optional<UnderlyingObjects::Set> rootsOf(const Value *Pointer) {
  UnderlyingObjects::Set Roots;
  SmallVector<const Value *> Work{Pointer};
  SmallPtrSet<const Value *, 16> Seen;
  while (!Work.empty()) {
    const Value *V = Work.pop_back_val();
    if (!Seen.insert(V).second || isa<ConstantPointerNull>(V)) // of an empty vector
      continue;
    auto *A = dyn_cast<Argument>(V);
    if (isNoAliasCall(V) || (A && A->getParent()->getName().starts_with(BodyPrefix)))
      Roots.insert(V);
    else if (auto *Phi = dyn_cast<PHINode>(V))
      append_range(Work, Phi->incoming_values());
    else if (auto *Choice = dyn_cast<SelectInst>(V))
      Work.append({Choice->getTrueValue(), Choice->getFalseValue()});
    else if (SmallVector<const Value *> Handed; A && handedFor(*A, Handed))
      append_range(Work, Handed);
    else
      return std::nullopt;
  }
  return Roots;
}

static const Value *withoutCopies(const Value *V) {
  for (auto *Phi = dyn_cast<PHINode>(V); Phi && Phi->getNumIncomingValues() == 1; Phi = dyn_cast<PHINode>(V))
    V = Phi->getIncomingValue(0);
  return V;
}

// Of values at the same time: where both are joins of one block, they come from the same side.
static bool areDistinct(const Value *One, const Value *Other, Pairs &Assumed) {
  One = withoutCopies(One), Other = withoutCopies(Other);
  if (isa<ConstantPointerNull>(One) || isa<ConstantPointerNull>(Other))
    return true;
  if (One == Other)
    return false;
  auto *Here = dyn_cast<PHINode>(One), *There = dyn_cast<PHINode>(Other);
  if (Here && There && Here->getParent() == There->getParent()) {
    if (!Assumed.insert({One, Other}).second)
      return true;
    return all_of(Here->blocks(), [&](const BasicBlock *From) {
      return areDistinct(Here->getIncomingValueForBlock(From), There->getIncomingValueForBlock(From), Assumed);
    });
  }
  auto *Either = dyn_cast<SelectInst>(One), *Or = dyn_cast<SelectInst>(Other);
  if (Either && Or && Either->getCondition() == Or->getCondition())
    return areDistinct(Either->getTrueValue(), Or->getTrueValue(), Assumed) &&
           areDistinct(Either->getFalseValue(), Or->getFalseValue(), Assumed);
  auto *A = dyn_cast<Argument>(One), *B = dyn_cast<Argument>(Other);
  if (A && B && A->getParent() == B->getParent() && !A->getParent()->getName().starts_with(BodyPrefix))
    return areDistinct(*A, *B);
  auto Ones = rootsOf(One), Others = rootsOf(Other);
  return Ones && Others && none_of(*Ones, [&](const Value *Root) { return Others->contains(Root); });
}

bool areDistinct(const Argument &One, const Argument &Other) {
  SmallVector<const Value *> Ones, Others;
  if (&One == &Other || !handedFor(One, Ones) || !handedFor(Other, Others) || Ones.size() != Others.size())
    return false;
  Pairs Assumed;
  return all_of(zip(Ones, Others),
                [&](auto Pair) { return areDistinct(std::get<0>(Pair), std::get<1>(Pair), Assumed); });
}

} // namespace adgen
