// What a loop selects, and what has to be computed again for it.
#include "Checkpointing/Selection.h"
#include "Support/Guards.h"

#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/IntrinsicInst.h"

using namespace llvm;

namespace adgen {
namespace {

constexpr unsigned Deepest = 16; // choices behind each other

// The rest of an iteration from the way that a branch leads.
class Way {
public:
  Way(const BasicBlock &From, const BasicBlock &To, const Loop &L) : From(From), To(To), L(L) {
    SmallVector<const BasicBlock *> Work{&To};
    while (!Work.empty()) {
      const BasicBlock *Block = Work.pop_back_val();
      if (Block != L.getHeader() && L.contains(Block) && Reached.insert(Block).second)
        append_range(Work, successors(Block));
    }
  }

  // Whether what is handed on there is the number so far; of choices that have been made before it is not known.
  bool loses(const Selection &S, const Value &V) const {
    if (!S.isChoice(&V))
      return &V == &S.soFar();
    auto *Choice = cast<Instruction>(&V);
    if (!Reached.contains(Choice->getParent()))
      return false;
    if (auto *Select = dyn_cast<SelectInst>(Choice))
      return loses(S, *Select->getTrueValue()) && loses(S, *Select->getFalseValue());
    auto *Join = cast<PHINode>(Choice);
    return all_of(zip(Join->incoming_values(), Join->blocks()), [&](const auto &Each) {
      const auto &[Incoming, Before] = Each;
      bool IsTaken = Reached.contains(Before) || (Before == &From && Join->getParent() == &To);
      return !IsTaken || loses(S, *Incoming);
    });
  }

private:
  const BasicBlock &From, &To;
  const Loop &L;
  SmallPtrSet<const BasicBlock *, 16> Reached;
};

bool carriesNumbers(const Type *T) { return !T->isIntOrIntVectorTy() && !T->isPtrOrPtrVectorTy(); }

} // namespace

bool mayOverwrite(Instruction &Writer, LoadInst &Load, AAResults &AA) {
  auto All = [](const Value *Pointer) { return MemoryLocation::getBeforeOrAfter(getUnderlyingObject(Pointer)); };
  MemoryLocation Read = All(Load.getPointerOperand());
  if (const Value *Address = getLoadStorePointerOperand(&Writer))
    return !AA.isNoAlias(All(Address), Read);
  return isModSet(AA.getModRefInfo(&Writer, Read));
}

bool isAssumed(const Instruction &I) {
  auto *Known = dyn_cast<IntrinsicInst>(&I);
  return Known && Known->isAssumeLikeIntrinsic();
}

bool canRunAgain(const Instruction &I) {
  if (auto *Load = dyn_cast<LoadInst>(&I))
    return Load->isSimple();
  if (auto *Call = dyn_cast<CallBase>(&I)) {
    if (isHeld(Call))
      return true;
    if (Call->isConvergent())
      return false;
  }
  return !I.mayReadOrWriteMemory() && !I.mayHaveSideEffects() && !isa<AllocaInst>(I);
}

// Choices whose one side leads to what was carried in.
bool Selection::keeps(Value *V, unsigned Depth) {
  if (V == SoFar || Choices.contains(V))
    return true;
  auto *I = dyn_cast<Instruction>(V);
  if (!I || Depth > Deepest || LI->getLoopFor(I->getParent()) != L || !Asked.insert(V))
    return false;
  bool Keeps = false;
  if (auto *Choice = dyn_cast<SelectInst>(I)) {
    Keeps |= keeps(Choice->getTrueValue(), Depth + 1);
    Keeps |= keeps(Choice->getFalseValue(), Depth + 1);
  } else if (auto *Join = dyn_cast<PHINode>(I); Join && Join->getParent() != L->getHeader()) {
    for (Value *Each : Join->incoming_values())
      Keeps |= keeps(Each, Depth + 1);
  }
  if (Keeps)
    Choices.insert(V);
  return Keeps;
}

bool Selection::find() {
  BasicBlock *Latch = L->getLoopLatch();
  Next = Latch && SoFar->getType()->isFloatingPointTy() ? dyn_cast<Instruction>(SoFar->getIncomingValueForBlock(Latch))
                                                        : nullptr;
  return Next && Next != SoFar && keeps(Next) && Choices.contains(Next);
}

bool Selection::canBeComputedAgain(const DominatorTree &DT, AAResults &AA, const Constants &Known) {
  return isOnlyCompared() && findExits() && isIndependent(Known) && gather(DT, AA);
}

SmallVector<Instruction *> Selection::carried() const {
  SmallVector<Instruction *> All{SoFar};
  for (const Value *Each : Choices)
    All.push_back(const_cast<Instruction *>(cast<Instruction>(Each)));
  return All;
}

// In the loop; another selection's memory of it is a comparison's too.
bool Selection::isOnlyCompared() const {
  for (Instruction *Each : carried())
    for (Use &U : Each->uses()) {
      auto *User = cast<Instruction>(U.getUser());
      bool Known = User == SoFar || Choices.contains(User) || isa<CmpInst>(User) || User->hasMetadata(InactiveMark);
      if (L->contains(User) && !Known)
        return false;
    }
  return true;
}

// Where it leaves the loop, as it was carried in or as it is handed on.
bool Selection::findExits() {
  for (Instruction *Each : carried())
    for (User *U : Each->users()) {
      auto *Seen = dyn_cast<PHINode>(U);
      if (L->contains(cast<Instruction>(U)))
        continue;
      bool Plain = Seen && all_of(Seen->incoming_values(), [&](Value *V) { return V == SoFar || V == Next; });
      if (!Plain || (is_contained(Exits, Seen->getParent()) && seenAt(*Seen->getParent()) != Seen))
        return false;
      if (!is_contained(Exits, Seen->getParent()))
        Exits.push_back(Seen->getParent());
    }
  return !Exits.empty();
}

PHINode *Selection::seenAt(const BasicBlock &Exit) const {
  for (const PHINode &Phi : Exit.phis())
    if (any_of(Phi.incoming_values(), [&](const Value *V) { return V == SoFar || V == Next; }))
      return const_cast<PHINode *>(&Phi);
  return nullptr;
}

bool Selection::leavesLike(const Selection &Other) const {
  return Exits.size() == Other.Exits.size() && all_of(Exits, [&](const BasicBlock *Exit) {
           const PHINode *Mine = seenAt(*Exit), *Its = Other.seenAt(*Exit);
           return Its && all_of(Mine->blocks(), [&](const BasicBlock *From) {
                    return (Mine->getIncomingValueForBlock(From) == SoFar) ==
                           (Its->getIncomingValueForBlock(From) == Other.SoFar);
                  });
         });
}

// What the choices choose among beside the number so far.
SmallVector<Value *> Selection::others() const {
  SmallVector<Value *> Found;
  for (const Value *Each : Choices) {
    auto *Choice = cast<Instruction>(Each);
    for (const Use &U : Choice->operands())
      if (!isa<SelectInst>(Choice) || U.getOperandNo())
        if (U != SoFar && !Choices.contains(U))
          Found.push_back(U);
  }
  return Found;
}

// Whether numbers with a derivative that the loop carries have no part in what may win. What they are compared for has
// none.
bool Selection::isIndependent(const Constants &Known) const {
  SmallSetVector<Value *, 32> Parts;
  Parts.insert_range(others());
  for (unsigned I = 0; I < Parts.size(); ++I) {
    auto *Part = dyn_cast<Instruction>(Parts[I]);
    if (!Part || !L->contains(Part) || isa<CmpInst, FPToSIInst, FPToUIInst>(Part) || Part->hasMetadata(InactiveMark))
      continue;
    if (isa<BitCastInst>(Part) && Part->getType()->isFPOrFPVectorTy() &&
        !Part->getOperand(0)->getType()->isFPOrFPVectorTy())
      return false;
    if (!isa<PHINode>(Part) || Part->getParent() != L->getHeader())
      Parts.insert_range(Part->operands());
    else if (carriesNumbers(Part->getType()) && !(Part->getType()->isFPOrFPVectorTy() && Known.isConstant(Part)))
      return false;
  }
  return true;
}

// The side that is chosen where something else than the number so far is; null where that does not follow.
Value *Selection::otherOf(const Instruction &Choice) const {
  auto *Select = dyn_cast<SelectInst>(&Choice);
  if (!Select || !Choices.contains(Select))
    return nullptr;
  if (Select->getTrueValue() == SoFar)
    return const_cast<Value *>(Select->getFalseValue());
  return Select->getFalseValue() == SoFar ? const_cast<Value *>(Select->getTrueValue()) : nullptr;
}

void Selection::settle(ValueToValueMapTy &Map) const {
  for (const Value *Each : Choices)
    if (Value *Other = otherOf(*cast<Instruction>(Each))) {
      auto *Copy = cast<Instruction>(static_cast<Value *>(Map[Each]));
      auto *Of = dyn_cast<Instruction>(Other);
      Value *Chosen = Of && L->contains(Of) ? static_cast<Value *>(Map[Other]) : Other;
      Copy->replaceAllUsesWith(Chosen);
      Copy->eraseFromParent();
      Map[Each] = Chosen;
    }
}

// Whether one of both ways only leads to where the number so far is handed on.
bool Selection::findWay(const BranchInst &Branch) {
  for (unsigned Index : {0u, 1u})
    if (Way(*Branch.getParent(), *Branch.getSuccessor(Index), *L).loses(*this, *Next)) {
      Ways[Branch.getParent()] = 1 - Index;
      return true;
    }
  return false;
}

// Everything in an iteration that the number, and the way to it, follows from.
bool Selection::gather(const DominatorTree &DT, AAResults &AA) {
  SmallVector<Instruction *> Writers;
  auto Need = [&](Value *V) {
    if (auto *I = dyn_cast<Instruction>(V); I && L->contains(I))
      Needed.insert(I);
  };
  Need(Next);
  for (BasicBlock *Block : L->blocks()) {
    for (Instruction &I : *Block)
      if (I.mayWriteToMemory() && !isAssumed(I))
        Writers.push_back(&I);
    Instruction *End = Block->getTerminator();
    if (DT.dominates(Next->getParent(), Block))
      continue;
    unsigned Inside = count_if(successors(Block), [&](BasicBlock *To) { return L->contains(To); });
    if (!isa<BranchInst, SwitchInst>(End) || (isa<SwitchInst>(End) && Inside != End->getNumSuccessors()))
      return false;
    auto *Branch = dyn_cast<BranchInst>(End);
    if (Inside > 1 && !(Branch && Inside == 2 && findWay(*Branch)))
      Need(End->getOperand(0));
  }
  for (unsigned I = 0; I < Needed.size(); ++I) {
    Instruction &Part = *Needed[I];
    if (isa<PHINode>(Part) && Part.getParent() == L->getHeader())
      continue;
    auto *Load = dyn_cast<LoadInst>(&Part);
    if (!canRunAgain(Part) ||
        (Load && any_of(Writers, [&](Instruction *Writer) { return mayOverwrite(*Writer, *Load, AA); })))
      return false;
    if (Value *Other = otherOf(Part))
      Need(Other);
    else
      for (Value *Operand : Part.operands())
        Need(Operand);
  }
  return true;
}

bool maySelect(const Loop &L) {
  return any_of(L.getHeader()->phis(), [&](const PHINode &Phi) {
    return Phi.getType()->isFloatingPointTy() && any_of(Phi.incoming_values(), [&](const Value *V) {
             auto *I = dyn_cast<Instruction>(V);
             return I && I != &Phi && L.contains(I) && isa<SelectInst, PHINode>(I);
           });
  });
}

std::vector<Selection> selectionsOf(Loop &L, const DominatorTree &DT, const LoopInfo &LI, AAResults &AA,
                                    const Constants &Known) {
  std::vector<Selection> Found;
  if (!L.getLoopPreheader() || !L.getLoopLatch() || !L.hasDedicatedExits())
    return Found;
  for (PHINode &Phi : L.getHeader()->phis()) {
    Selection S(Phi, L, LI);
    if (S.find() && S.canBeComputedAgain(DT, AA, Known))
      Found.push_back(std::move(S));
  }
  return Found;
}

} // namespace adgen
