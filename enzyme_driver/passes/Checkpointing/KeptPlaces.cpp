// What a loop keeps, where it comes from, and what has to be computed again for it.
#include "Checkpointing/KeptPlaces.h"
#include "Checkpointing/KeptTogether.h"
#include "Checkpointing/Selection.h"

#include "llvm/Analysis/CFG.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/IntrinsicInst.h"

using namespace llvm;

namespace adgen {
namespace {

// The variable an address leads into by way of nothing but steps.
AllocaInst *variableOf(const Value *Address) {
  while (auto *Step = dyn_cast<GetElementPtrInst>(Address))
    Address = Step->getPointerOperand();
  auto *Variable = dyn_cast<AllocaInst>(Address);
  return Variable && Variable->isStaticAlloca() ? const_cast<AllocaInst *>(Variable) : nullptr;
}

// All that is done with a variable, by way of addresses in it too; false where its address goes elsewhere.
bool usersOf(const AllocaInst &Variable, SmallVectorImpl<Instruction *> &Found) {
  SmallVector<const Value *> Addresses{&Variable};
  while (!Addresses.empty())
    for (const Use &U : Addresses.pop_back_val()->uses()) {
      auto *User = cast<Instruction>(U.getUser());
      if (isa<GetElementPtrInst>(User))
        Addresses.push_back(User);
      else if (isa<StoreInst>(User) ? U.getOperandNo() == StoreInst::getPointerOperandIndex()
                                    : isa<LoadInst, MemIntrinsic, LifetimeIntrinsic>(User))
        Found.push_back(User);
      else
        return false;
    }
  return true;
}

bool isArithmetic(const User *U) {
  return isa<BinaryOperator, UnaryOperator, CastInst>(U) || (isa<CallBase>(U) && !isa<IntrinsicInst>(U));
}

} // namespace

bool mayKeep(const Loop &L) {
  return any_of(L.blocks(), [](const BasicBlock *Block) {
    return any_of(*Block, [](const Instruction &I) {
      auto *Store = dyn_cast<StoreInst>(&I);
      return Store && Store->getValueOperand()->getType()->isFloatingPointTy() &&
             variableOf(Store->getPointerOperand());
    });
  });
}

SmallVector<Use *> alternatives(Instruction &Choice) {
  SmallVector<Use *> Found;
  for (Use &U : Choice.operands())
    if (!isa<SelectInst>(Choice) || U.getOperandNo())
      Found.push_back(&U);
  return Found;
}

const KeptArray *KeptPlaces::arrayOf(const Value *Address) const {
  const AllocaInst *Variable = variableOf(Address);
  auto *Found = find_if(Arrays, [&](const KeptArray &Each) { return Each.Memory == Variable; });
  return Variable && Found != Arrays.end() ? Found : nullptr;
}

ArrayRef<Value *> KeptPlaces::sourcesOf(const Value *V) const {
  auto Found = Sources.find(groupOf(V));
  return Found == Sources.end() ? ArrayRef<Value *>() : ArrayRef<Value *>(Found->second);
}

unsigned KeptPlaces::sourceOf(const Value *Group, const Value *Source) const {
  ArrayRef<Value *> All = sourcesOf(Group);
  return llvm::find(All, Source) - All.begin();
}

uint64_t KeptPlaces::places() const {
  uint64_t Places = Left.size();
  for (const KeptArray &Each : Arrays)
    Places += Each.IsRead ? std::min<uint64_t>(Each.Count, MostAtOnce) : 0;
  return Places;
}

bool KeptPlaces::find() {
  if (!findArrays() || !follow() || !moves())
    return false;
  findSources();
  dropCompared();
  findBefore();
  Leaders = KeptTogether(L, *this).leaders();
  return !Sources.empty();
}

bool KeptPlaces::findArrays() {
  for (BasicBlock *Block : L.blocks())
    for (Instruction &I : *Block) {
      auto *Store = dyn_cast<StoreInst>(&I);
      if (!Store)
        continue;
      AllocaInst *Variable = variableOf(Store->getPointerOperand());
      Type *Stored = Store->getValueOperand()->getType();
      if (!Variable || !Store->isSimple() || !(Stored->isFloatTy() || Stored->isDoubleTy() || Stored->isIntegerTy()))
        return false;
      SmallVector<Instruction *> Users;
      if (Written.insert(Variable) && !usersOf(*Variable, Users))
        return false;
      if (Stored->isFloatingPointTy() && !arrayOf(Variable) && !addArray(*Variable, *Stored))
        return false;
    }
  return true;
}

bool KeptPlaces::addArray(AllocaInst &Memory, Type &Number) {
  const DataLayout &Layout = Memory.getDataLayout();
  uint64_t Bytes = Memory.getAllocationSize(Layout)->getFixedValue(), Each = Layout.getTypeStoreSize(&Number);
  SmallVector<Instruction *> Users;
  if (Bytes % Each || Memory.getAlign() < Align(Each) || !usersOf(Memory, Users))
    return false;
  bool IsRead = false;
  for (Instruction *User : Users)
    if (L.contains(User)) {
      if (!isPlainAccess(*User, Memory, Number))
        return false;
    } else {
      IsRead |= User->mayReadFromMemory() && !isa<LifetimeIntrinsic>(User);
    }
  Arrays.push_back({&Memory, &Number, Bytes / Each, IsRead, hasContents(Users)});
  return true;
}

// Whether something may have been put into the variable, of which these are the users, when the loop begins.
bool KeptPlaces::hasContents(ArrayRef<Instruction *> Users) const {
  SmallSetVector<BasicBlock *, 16> Before;
  Before.insert(L.getLoopPreheader());
  for (unsigned I = 0; I < Before.size(); ++I) {
    bool Begins = false;
    for (Instruction &At : reverse(*Before[I])) {
      if (!is_contained(Users, &At))
        continue;
      auto *Lifetime = dyn_cast<LifetimeIntrinsic>(&At);
      Begins = Lifetime && Lifetime->getIntrinsicID() == Intrinsic::lifetime_start;
      if (Begins)
        break;
      if (!Lifetime && At.mayWriteToMemory())
        return true;
    }
    if (!Begins)
      Before.insert_range(predecessors(Before[I]));
  }
  return false;
}

bool KeptPlaces::isPlainAccess(Instruction &I, const AllocaInst &Memory, Type &Number) const {
  if (isa<LifetimeIntrinsic>(I))
    return false;
  auto *Load = dyn_cast<LoadInst>(&I);
  auto *Store = dyn_cast<StoreInst>(&I);
  return (Load ? Load->isSimple() : Store && Store->isSimple()) && getLoadStoreType(&I) == &Number &&
         getLoadStoreAlignment(&I) >= Align(I.getDataLayout().getTypeStoreSize(&Number)) &&
         variableOf(getLoadStorePointerOperand(&I)) == &Memory;
}

void KeptPlaces::keep(Instruction &I) {
  if (IsKept.insert(&I))
    Kept.push_back(&I);
}

// Everything that a kept number becomes.
bool KeptPlaces::follow() {
  for (PHINode &Phi : L.getHeader()->phis())
    if (Phi.getType()->isFloatingPointTy() && none_of(Phi.users(), isArithmetic)) {
      Carried.push_back(&Phi);
      keep(Phi);
    }
  SmallVector<BasicBlock *> Exits;
  L.getUniqueExitBlocks(Exits);
  for (BasicBlock *Exit : Exits)
    for (PHINode &Phi : Exit->phis())
      if (Phi.getType()->isFloatingPointTy()) {
        Left.push_back(&Phi);
        keep(Phi);
      }
  for (BasicBlock *Block : L.blocks())
    for (Instruction &I : *Block)
      if (isa<LoadInst>(I) && arrayOf(cast<LoadInst>(I).getPointerOperand()))
        keep(I);
  for (unsigned I = 0; I < Kept.size(); ++I) {
    Groups.insert(Kept[I]);
    if (auto *Load = dyn_cast<LoadInst>(Kept[I]))
      Groups.unionSets(Load, arrayOf(Load->getPointerOperand())->Memory);
    if (!is_contained(Left, Kept[I]))
      for (Use &U : Kept[I]->uses())
        if (!addUser(*Kept[I], U))
          return false;
  }
  return true;
}

bool KeptPlaces::addUser(Instruction &Number, Use &U) {
  auto *User = cast<Instruction>(U.getUser());
  if (isa<CmpInst>(User) && L.contains(User))
    return Compares = true;
  if (auto *Store = dyn_cast<StoreInst>(User)) {
    const KeptArray *To = L.contains(User) ? arrayOf(Store->getPointerOperand()) : nullptr;
    if (To)
      Groups.unionSets(&Number, To->Memory);
    return To;
  }
  if (!isa<SelectInst, PHINode>(User) || (isa<PHINode>(User) && User->getParent() == L.getHeader() && !isKept(User)))
    return false;
  if (!L.contains(User) && !is_contained(Left, User))
    return false;
  keep(*User);
  Groups.unionSets(&Number, User);
  return true;
}

// What is kept depends on what was, and is more than single numbers that are replaced, which Selection does better.
bool KeptPlaces::moves() const {
  SmallPtrSet<const Value *, 8> Seen;
  return Compares && (!Arrays.empty() || any_of(Carried, [&](const PHINode *Phi) {
           return !Seen.insert(Groups.getLeaderValue(Phi)).second;
         }));
}

void KeptPlaces::addSource(const Value *Group, Value *V) {
  SmallVector<Value *> &Known = Sources[Groups.getOrInsertLeaderValue(Group)];
  if (!is_contained(Known, V))
    Known.push_back(V);
}

void KeptPlaces::findSources() {
  for (BasicBlock *Block : L.blocks())
    for (Instruction &I : *Block)
      if (auto *Store = dyn_cast<StoreInst>(&I)) {
        const KeptArray *To = arrayOf(Store->getPointerOperand());
        if (To && !isKept(Store->getValueOperand()))
          addSource(To->Memory, Store->getValueOperand());
      } else if (isKept(&I) && !isa<LoadInst>(I)) {
        for (Use *From : alternatives(I)) {
          bool IsFirst = isa<PHINode>(I) && !L.contains(cast<PHINode>(I).getIncomingBlock(*From));
          if (!IsFirst && !isKept(*From))
            addSource(&I, *From);
        }
      }
  for (PHINode *Phi : Left)
    for (Value *From : Phi->incoming_values())
      if (!isKept(From))
        addSource(Phi, From);
}

// Nothing but comparisons sees the value, also in loops around this one, unless it may get into what is `Moved`.
bool KeptPlaces::isOnlyCompared(const PHINode &Phi, const SmallPtrSetImpl<const Value *> &Moved) const {
  SmallSetVector<const Value *, 8> Values;
  Values.insert(&Phi);
  for (unsigned I = 0; I < Values.size(); ++I)
    for (const User *U : Values[I]->users()) {
      auto *To = cast<Instruction>(U);
      bool IsHere = L.contains(To);
      if (IsHere ? Moved.contains(To) || !is_contained(Carried, To) : !isa<PHINode, SelectInst, CmpInst>(To))
        return false;
      if (!IsHere && !isa<CmpInst>(To))
        Values.insert(To);
    }
  return true;
}

// Values behind the loop that have no derivative, as the largest of a list has none that the next list begins with.
void KeptPlaces::dropCompared() {
  SmallVector<PHINode *> Other;
  for (PHINode *Phi : Left) {
    SmallPtrSet<const Value *, 16> Moved;
    SmallVector<const Value *> Open;
    for (PHINode *Each : Left)
      if (Each != Phi && !is_contained(Other, Each))
        Open.push_back(Each);
    for (BasicBlock *Block : L.blocks())
      for (Instruction &I : *Block)
        if (auto *Store = dyn_cast<StoreInst>(&I); Store && arrayOf(Store->getPointerOperand()))
          Open.push_back(Store->getValueOperand());
    while (!Open.empty()) {
      const Value *V = Open.pop_back_val();
      if (isKept(V) && Moved.insert(V).second && !isa<LoadInst>(V))
        append_range(Open, cast<Instruction>(V)->operand_values());
    }
    if (isOnlyCompared(*Phi, Moved))
      Other.push_back(Phi);
  }
  erase_if(Left, [&](PHINode *Phi) { return is_contained(Other, Phi); });
}

void KeptPlaces::findBefore() {
  SmallPtrSet<const Value *, 4> Varied;
  for (Instruction *Each : Kept)
    Befores[groupOf(Each)];
  auto Add = [&](const Value *V, uint64_t Count) {
    Before &Group = Befores[groupOf(V)];
    Group.First[V] = Group.Count;
    Group.Count += Count;
  };
  for (const KeptArray &Each : Arrays)
    if (Each.HasContents) {
      Add(Each.Memory, Each.Count);
      Varied.insert(groupOf(Each.Memory));
    } else {
      Befores[groupOf(Each.Memory)];
    }
  for (PHINode *Phi : Carried) {
    Value *V = Phi->getIncomingValueForBlock(L.getLoopPreheader());
    Before &Group = Befores[groupOf(Phi)];
    Add(Phi, 1);
    if (isa<UndefValue>(V))
      continue;
    auto *First = dyn_cast<Constant>(V);
    if (!First || (Group.Everywhere && Group.Everywhere != First))
      Varied.insert(groupOf(Phi));
    else
      Group.Everywhere = First;
  }
  for (auto &[Of, Group] : Befores)
    if (Varied.contains(Of)) {
      Group.Everywhere = nullptr;
    } else {
      Group.First.clear();
      Group.Count = 0;
    }
}

SmallSetVector<BasicBlock *, 8> KeptPlaces::wayTo(BasicBlock &End) const {
  SmallSetVector<BasicBlock *, 8> Way;
  Way.insert(&End);
  for (unsigned I = 0; I < Way.size(); ++I)
    if (Way[I] != L.getHeader())
      for (BasicBlock *Before : predecessors(Way[I]))
        Way.insert(Before);
  return Way;
}

bool KeptPlaces::canBeComputedAgain(AAResults &AA) {
  return all_of(Sources, [&](auto &Each) {
    return all_of(Each.second, [&](Value *Source) { return NeedsOf.count(Source) || gather(*Source, AA); });
  });
}

// Everything in an iteration that the number follows from, and the way to it where that decides.
bool KeptPlaces::gather(Value &Source, AAResults &AA) {
  Needs &Needed = NeedsOf[&Source];
  auto *Last = dyn_cast<Instruction>(&Source);
  if (!Last || !L.contains(Last))
    return true;
  if (LI.getLoopFor(Last->getParent()) != &L)
    return false; // of an inner loop's iteration
  SmallVector<Instruction *> Writers;
  for (BasicBlock *Block : L.blocks())
    for (Instruction &I : *Block)
      if (I.mayWriteToMemory() && !isAssumed(I))
        Writers.push_back(&I);
  auto Need = [&](Value *V) {
    if (auto *I = dyn_cast<Instruction>(V); I && L.contains(I))
      Needed.Values.insert(I);
  };
  Need(Last);
  for (unsigned I = 0; I < Needed.Values.size(); ++I) {
    Instruction &Part = *Needed.Values[I];
    if (Part.getParent() == L.getHeader() && isa<PHINode>(Part)) {
      auto *Steps = SE.isSCEVable(Part.getType()) ? dyn_cast<SCEVAddRecExpr>(SE.getSCEV(&Part)) : nullptr;
      if (!Steps || Steps->getLoop() != &L || !Steps->isAffine())
        return false;
      continue;
    }
    auto *Load = dyn_cast<LoadInst>(&Part);
    if (!canRunAgain(Part) ||
        (Load && any_of(Writers, [&](Instruction *Writer) { return mayOverwrite(*Writer, *Load, AA); })))
      return false;
    for (Value *Operand : Part.operands())
      Need(Operand);
    if (isa<PHINode>(Part) && !Needed.NeedsChoices) {
      Needed.NeedsChoices = true;
      SmallSetVector<BasicBlock *, 8> Way = wayTo(*Last->getParent());
      for (BasicBlock *Block : Way) {
        Instruction *End = Block->getTerminator();
        if (Block == Last->getParent())
          continue;
        if (!isa<BranchInst, SwitchInst>(End))
          return false;
        unsigned Inside = count_if(successors(Block), [&](BasicBlock *To) { return Way.contains(To); });
        if (isa<SwitchInst>(End) && Inside != End->getNumSuccessors())
          return false;
        if (Inside > 1)
          Need(End->getOperand(0));
      }
    }
  }
  return true;
}

} // namespace adgen
