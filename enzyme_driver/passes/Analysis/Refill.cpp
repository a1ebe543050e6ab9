#include "Analysis/Refill.h"

#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/PatternMatch.h"
#include "llvm/Transforms/Utils/ValueMapper.h"

#include <functional>
#include <tuple>

using namespace llvm;
using namespace llvm::PatternMatch;

namespace adgen {

// The primal of such a rule has no body before Enzyme, which would see that it does nothing and leave its derivative
// out.
static constexpr StringLiteral RefillPrefix = "adgen_rule_refill_";
constexpr unsigned MostNeeded = 400, MostNumbers = 16;

static void defineAsNothing(Function &F) {
  LLVMContext &C = F.getContext();
  F.addFnAttr(Attribute::NoInline);
  ReturnInst::Create(C, BasicBlock::Create(C, "entry", &F));
}

void definePrimalsOfRefills(Module &M) {
  for (Function &F : M)
    if (F.isDeclaration() && F.getName().starts_with(RefillPrefix))
      defineAsNothing(F);
}

bool Refill::isPossible(ArrayRef<StoreInst *> Stores, const CallInst &Barrier) {
  Needed.clear();
  Fixed.clear();
  Pointers.clear();
  Numbers.clear();
  Decides = nullptr;
  Counter = nullptr;
  End = Barrier.getParent();
  if (Stores.empty())
    return false;
  for (StoreInst *Store : Stores) {
    if (!Store->isSimple() || !need(Store->getPointerOperand(), true) || !need(Store->getValueOperand(), false))
      return false;
    Needed.insert(Store);
  }
  StoresIn = Stores.front()->getParent();
  return findRegion(Stores, Barrier) && isOneRound(Stores, Barrier) && !meetBetween(Stores);
}

// What is fixed is the same whenever the thread computes it.
bool Refill::need(Value *V, bool IsFixed) {
  if (isa<Constant>(V))
    return true;
  if (isa<Argument>(V) && V->getType()->isPointerTy())
    return Pointers.insert(V), true;
  auto *Phi = dyn_cast<PHINode>(V);
  bool IsCounter = Phi && Loops.isLoopHeader(Phi->getParent());
  bool IsOfFilling = IsCounter && isFilling(Phi->getParent());
  if (isa<Argument>(V) || (IsCounter && !IsOfFilling && !IsFixed))
    return V->getType()->isIntegerTy() && (Numbers.insert(V), Numbers.size() <= MostNumbers);
  auto *I = dyn_cast<Instruction>(V);
  if (!I || (IsCounter && !IsOfFilling))
    return false;
  if (Numbers.contains(I) || ((IsFixed || Loops.getLoopFor(End)) && isReadOnce(*I)))
    return Numbers.insert(I), Numbers.size() <= MostNumbers;
  IsFixed |= IsOfFilling;
  return (IsFixed ? Fixed.contains(I) : Needed.contains(I)) || need(*I, IsFixed);
}

// Before all loops: what is there, or one of two such numbers.
bool Refill::isReadOnce(const Instruction &I) const {
  return isa<LoadInst, PHINode>(I) && I.getType()->isIntegerTy() && !Loops.getLoopFor(I.getParent()) &&
         Before.dominates(I.getParent(), End);
}

// The optimiser computes the same on each way, where one has computed it already.
static bool isSameOnEachWay(const PHINode &Phi) {
  auto *First = dyn_cast<Instruction>(Phi.getIncomingValue(0));
  return First && all_of(Phi.incoming_values(), [&](const Use &U) {
           auto *Other = dyn_cast<Instruction>(U.get());
           return Other && Other->isIdenticalTo(First);
         });
}

bool Refill::isFilling(const BasicBlock *Block) const {
  const Loop *L = Loops.getLoopFor(Block);
  return L && !L->contains(End);
}

bool Refill::need(Instruction &I, bool IsFixed) {
  auto *Load = dyn_cast<LoadInst>(&I);
  auto *Call = dyn_cast<CallBase>(&I);
  auto *Phi = dyn_cast<PHINode>(&I);
  bool MayDiffer = Load || (Phi && !Loops.isLoopHeader(Phi->getParent()) && !isSameOnEachWay(*Phi));
  if (IsFixed ? MayDiffer : Load && !Unchanged.isReadBy(*Load))
    return false;
  if (I.mayHaveSideEffects() || (!Load && I.mayReadFromMemory()) || isa<AllocaInst>(I) ||
      (Call && Call->isConvergent()))
    return false;
  Needed.insert(&I);
  if (IsFixed)
    Fixed.insert(&I);
  return Needed.size() <= MostNeeded &&
         all_of(I.operands(), [&](const Use &U) { return isa<BasicBlock, Function>(U) || need(U.get(), IsFixed); });
}

// The branches within decide about what is needed as well, and may need more.
bool Refill::findRegion(ArrayRef<StoreInst *> Stores, const CallInst &Barrier) {
  for (unsigned Known = 0; Known != Needed.size();) {
    Known = Needed.size();
    if (!collectBlocks(Stores, Barrier))
      return false;
    const SmallPtrSet<const BasicBlock *, 8> Deciding = decidingOn(Stores);
    for (BasicBlock *Block : Region) {
      auto *Branch = dyn_cast<BranchInst>(Block->getTerminator());
      if (Block == Last || (Branch && Branch->isUnconditional()))
        continue;
      if (!Branch || !((Deciding.contains(Block) && isDecided(*Branch, Stores)) ||
                       need(Branch->getCondition(), Deciding.contains(Block))))
        return false;
    }
  }
  return true;
}

// Whose branches decide whether something is stored: as addresses, they have to be the same each time, for what is not
// stored stays as it was.
SmallPtrSet<const BasicBlock *, 8> Refill::decidingOn(ArrayRef<StoreInst *> Stores) const {
  SmallPtrSet<const BasicBlock *, 8> Found;
  SmallVector<const BasicBlock *> Work;
  for (const StoreInst *Store : Stores)
    Work.push_back(Store->getParent());
  while (!Work.empty()) {
    const BasicBlock *Decided = Work.pop_back_val();
    for (const BasicBlock *Block : Region)
      if (Block != Last && !After.properlyDominates(Decided, Block) &&
          any_of(successors(Block), [&](const BasicBlock *Next) { return After.dominates(Decided, Next); }) &&
          Found.insert(Block).second)
        Work.push_back(Block);
  }
  return Found;
}

// Whether who stores nothing any more in an iteration stores nothing in any that comes: `first + lane < end`. What was
// stored last then stays there until the reverse sweep comes to where it was stored.
bool Refill::isOverForGood(const BranchInst &Branch, ArrayRef<StoreInst *> Stores) {
  auto *Compared = dyn_cast<ICmpInst>(Branch.getCondition());
  bool Stays =
      all_of(Stores, [&](const StoreInst *S) { return Before.dominates(Branch.getSuccessor(0), S->getParent()); });
  if (!Compared || Compared->getPredicate() != CmpInst::ICMP_SLT || !Stays ||
      !Branch.getSuccessor(0)->getSinglePredecessor())
    return false;
  SmallVector<Value *> Terms{Compared->getOperand(0)};
  unsigned Counters = 0;
  for (unsigned Next = 0; Next < Terms.size(); ++Next) {
    auto *Sum = dyn_cast<BinaryOperator>(Terms[Next]);
    if (Sum && Sum->getOpcode() == Instruction::Add && Sum->hasNoSignedWrap())
      Terms.append(Sum->value_op_begin(), Sum->value_op_end());
    else if (risesInOutermost(*Terms[Next]))
      ++Counters;
    else if (!need(Terms[Next], true))
      return false;
  }
  return Counters == 1 && need(Compared->getOperand(1), true) && need(Compared, false);
}

// A counter of the loop around the barrier that no other one is around.
bool Refill::risesInOutermost(const Value &V) const {
  auto *Phi = dyn_cast<PHINode>(&V);
  const Loop *L = Phi ? Loops.getLoopFor(Phi->getParent()) : nullptr;
  if (!L || L->getHeader() != Phi->getParent() || L->getParentLoop() || !L->contains(End) || !L->getLoopLatch())
    return false;
  auto *Next = dyn_cast<BinaryOperator>(Phi->getIncomingValueForBlock(L->getLoopLatch()));
  auto *Step = Next ? dyn_cast<ConstantInt>(Next->getOperand(1)) : nullptr;
  return Step && Next->getOpcode() == Instruction::Add && Next->getOperand(0) == Phi && Next->hasNoSignedWrap() &&
         Step->getValue().isStrictlyPositive();
}

// What is needed stays as it was where that is not possible.
bool Refill::tryTo(function_ref<bool()> Act) {
  auto Before = std::tuple(Needed, Fixed, Pointers, Numbers);
  if (Act())
    return true;
  std::tie(Needed, Fixed, Pointers, Numbers) = std::move(Before);
  return false;
}

bool Refill::isDecided(BranchInst &Branch, ArrayRef<StoreInst *> Stores) {
  return tryTo([&] { return isOverForGood(Branch, Stores); }) ||
         tryTo([&] { return isDecidedByCounter(Branch, Stores); });
}

// Whether the counter of the only loop around says, with what is the same in all of its iterations, if anything is
// stored: then it can be asked of other iterations, too. What an iteration does not store, an earlier one has.
bool Refill::isDecidedByCounter(BranchInst &Branch, ArrayRef<StoreInst *> Stores) {
  auto LeadsToAll = [&](const BasicBlock *Way) {
    return Way->getSinglePredecessor() &&
           all_of(Stores, [&](const StoreInst *S) { return Before.dominates(Way, S->getParent()); });
  };
  if (!LeadsToAll(Branch.getSuccessor(0)) && !LeadsToAll(Branch.getSuccessor(1)))
    return false;
  PHINode *Found = counterOf(*Branch.getCondition());
  if (!Found || (Decides && Decides != &Branch) || !canAskAt(*Found, Branch.getCondition()) ||
      !need(Branch.getCondition(), false))
    return false;
  Decides = &Branch;
  Counter = Found;
  return true;
}

// The one number by which a loop around the barrier, which no other is around, counts, and on which this depends.
PHINode *Refill::counterOf(const Value &V) const {
  const Loop *L = Loops.getLoopFor(End);
  if (!L || L->getParentLoop() || !L->getLoopLatch() || !L->getLoopPredecessor())
    return nullptr;
  for (PHINode &Phi : L->getHeader()->phis()) {
    auto *Next = dyn_cast<BinaryOperator>(Phi.getIncomingValueForBlock(L->getLoopLatch()));
    auto *Step = Next ? dyn_cast<ConstantInt>(Next->getOperand(1)) : nullptr;
    if (Step && Next->getOpcode() == Instruction::Add && Next->getOperand(0) == &Phi && !Step->isZero() &&
        isa<ConstantInt>(Phi.getIncomingValueForBlock(L->getLoopPredecessor())) && dependsOn(Phi, V))
      return &Phi;
  }
  return nullptr;
}

bool Refill::dependsOn(const PHINode &On, const Value &V) const {
  auto *I = dyn_cast<Instruction>(&V);
  if (I == &On)
    return true;
  return I && !isa<PHINode>(I) && any_of(I->operands(), [&](const Use &U) { return dependsOn(On, *U.get()); });
}

// Whether it can be computed for any number of the counter, and says of a sum with it whether it is below or above
// something: whoever does not fill an element any more leaves it to nobody else.
bool Refill::canAskAt(const PHINode &Of, Value *V) {
  if (!dependsOn(Of, *V))
    return V->getType()->isIntegerTy() && need(V, true) && canAskFixed(*V);
  Value *One, *Other;
  if (match(V, m_LogicalAnd(m_Value(One), m_Value(Other))) || match(V, m_LogicalOr(m_Value(One), m_Value(Other))))
    return canAskAt(Of, One) && canAskAt(Of, Other) && dependsOn(Of, *One) != dependsOn(Of, *Other);
  auto *Compared = dyn_cast<ICmpInst>(V);
  if (!Compared || Compared->isEquality())
    return false;
  return all_of(Compared->operands(), [&](const Use &U) { return isSumWith(Of, U.get()); }) &&
         dependsOn(Of, *Compared->getOperand(0)) != dependsOn(Of, *Compared->getOperand(1));
}

bool Refill::isSumWith(const PHINode &Of, Value *V) {
  if (V == &Of)
    return true;
  if (!dependsOn(Of, *V))
    return need(V, true) && canAskFixed(*V);
  if (auto *Bounded = dyn_cast<MinMaxIntrinsic>(V)) // as two comparisons, with the one and with the other
    return isSumWith(Of, Bounded->getLHS()) && isSumWith(Of, Bounded->getRHS()) &&
           dependsOn(Of, *Bounded->getLHS()) != dependsOn(Of, *Bounded->getRHS());
  auto *I = cast<Instruction>(V);
  bool IsSum = isa<ZExtInst, SExtInst, TruncInst>(I) ||
               is_contained({Instruction::Add, Instruction::Sub, Instruction::Mul, Instruction::Shl}, I->getOpcode());
  return IsSum && all_of(I->operands(), [&](const Use &U) { return isSumWith(Of, U.get()); });
}

// No choice of ways is among what it is computed from.
bool Refill::canAskFixed(const Value &V) const {
  auto *I = dyn_cast<Instruction>(&V);
  return !I || Numbers.contains(I) ||
         (!isa<PHINode, LoadInst>(I) && all_of(I->operands(), [&](const Use &U) { return canAskFixed(*U.get()); }));
}

bool Refill::collectBlocks(ArrayRef<StoreInst *> Stores, const CallInst &Barrier) {
  Last = Stores.front()->getParent();
  for (StoreInst *Store : Stores)
    if (Last = After.findNearestCommonDominator(Last, Store->getParent()); !Last)
      return false;
  while (isFilling(Last) || !Before.dominates(Last, End)) {
    const auto *Behind = After.getNode(Last)->getIDom();
    if (!Behind || !Behind->getBlock())
      return false;
    Last = Behind->getBlock();
  }
  First = Last;
  SmallVector<BasicBlock *> Ends{Last};
  for (Instruction *I : Needed) {
    if (!isa<StoreInst, LoadInst, PHINode>(I))
      continue;
    Ends.push_back(I->getParent());
    First = Before.findNearestCommonDominator(First, I->getParent());
    if (isa<PHINode>(I)) {
      if (!Before.getNode(I->getParent())->getIDom())
        return false;
      First = Before.findNearestCommonDominator(First, Before.getNode(I->getParent())->getIDom()->getBlock());
    }
  }
  for (; isFilling(First); First = Before.getNode(First)->getIDom()->getBlock())
    ;
  Region.clear();
  while (!Ends.empty()) {
    BasicBlock *Block = Ends.pop_back_val();
    if (!Region.insert(Block) || Block == First)
      continue;
    if (!Before.dominates(First, Block) || (Loops.getLoopFor(Block) != Loops.getLoopFor(First) && !isFilling(Block)))
      return false;
    append_range(Ends, predecessors(Block));
  }
  return all_of(Region, [&](BasicBlock *Block) {
    return Block == Last ||
           all_of(successors(Block), [&](BasicBlock *Next) { return Next != First && Region.contains(Next); });
  });
}

// Whoever comes to the barrier has filled the array in the same iteration of all loops that decide how.
bool Refill::isOneRound(ArrayRef<StoreInst *> Stores, const CallInst &Barrier) const {
  Loop *Around = Loops.getLoopFor(First);
  if (Around && !Around->contains(Barrier.getParent()))
    return false;
  auto IsBefore = [&](const StoreInst *S) { return S->getParent() != Barrier.getParent() || S->comesBefore(&Barrier); };
  return all_of(Stores, IsBefore) && all_of(Numbers, [&](Value *Number) {
           auto *Phi = dyn_cast<PHINode>(Number);
           const Loop *Counted = Phi ? Loops.getLoopFor(Phi->getParent()) : nullptr;
           return !Counted || Counted->contains(First);
         });
}

// Behind a barrier, threads write to what others have written: filling it again without the barrier would be a race.
bool Refill::meetBetween(ArrayRef<StoreInst *> Stores) const {
  auto Parts = [&](const Instruction &I) {
    auto *Call = dyn_cast<CallBase>(&I);
    if (!Call || !Call->isConvergent())
      return false;
    return isFilling(I.getParent()) || (any_of(Stores, [&](const StoreInst *S) { return comesBefore(*S, I); }) &&
                                        any_of(Stores, [&](const StoreInst *S) { return comesBefore(I, *S); }));
  };
  return any_of(Region, [&](const BasicBlock *Block) { return any_of(*Block, Parts); });
}

// On some way through the region.
bool Refill::comesBefore(const Instruction &One, const Instruction &Other) const {
  if (One.getParent() == Other.getParent())
    return One.comesBefore(&Other);
  SmallSetVector<const BasicBlock *, 16> Behind;
  Behind.insert(One.getParent());
  for (unsigned Next = 0; Next < Behind.size(); ++Next)
    if (Behind[Next] != Last)
      Behind.insert_range(successors(Behind[Next]));
  return Behind.contains(Other.getParent());
}

void Refill::emit(IRBuilder<> &B, Argument &Array) {
  SmallVector<Value *> Operands{&Array};
  for (Value *Pointer : Pointers)
    if (Pointer != &Array)
      Operands.push_back(Pointer);
  unsigned PointerCount = Operands.size();
  append_range(Operands, Numbers);
  SmallVector<Type *> Types;
  for (Value *Number : Numbers)
    Types.push_back(Number->getType());
  Module &M = *Body.getParent();
  std::string Name =
      (RefillPrefix.drop_front(RulePrefix.size()) + Body.getName().drop_front(BodyPrefix.size()) + "_" + Twine(Count++))
          .str();
  Function *Rule = declareRule(M, Name, PointerCount, Types);
  for (unsigned Index = 1; Index < PointerCount; ++Index) {
    Rule->addParamAttr(Index, Attribute::ReadOnly);
    Rule->addParamAttr(Index, Attribute::getWithCaptureInfo(M.getContext(), CaptureInfo::none()));
  }
  Function *Augmented = M.getFunction((RulePrefix + Name + "_augmented").str()),
           *Reverse = M.getFunction((RulePrefix + Name + "_reverse").str());
  defineAsNothing(*Augmented);
  write(*Reverse, Array);
  B.CreateCall(Rule, Operands)->addFnAttr(Attribute::Convergent);
}

// Whether anything is stored where the counter has that number.
Value *Refill::ask(IRBuilder<> &B, Value *At, const ValueToValueMapTy &Map) const {
  ValueToValueMapTy Here;
  Here[Counter] = At;
  std::function<Value *(Value *)> Again = [&](Value *V) -> Value * {
    if (Value *Known = Here.lookup(V))
      return Known;
    auto *I = dyn_cast<Instruction>(V);
    if (Value *Known = Map.lookup(V); Known || !I)
      return Known ? Known : V;
    Instruction *Made = I->clone();
    Made->dropUnknownNonDebugMetadata();
    Made->dropPoisonGeneratingFlags(); // no iteration has to have come there
    Made->setDebugLoc(DebugLoc());
    for (Use &U : Made->operands())
      U.set(Again(U.get()));
    Here[V] = B.Insert(Made);
    return Made;
  };
  Value *Holds = Again(Decides->getCondition());
  bool IsFirst = Before.dominates(Decides->getSuccessor(0), StoresIn);
  return IsFirst ? Holds : B.CreateNot(Holds);
}

// Where an iteration stores nothing and the next one does, the latest before that did is the one whose numbers were
// there. Leads to the block that is to fill, and knows it.
BasicBlock *Refill::writeSearch(BasicBlock &Entry, ValueToValueMapTy &Map) const {
  LLVMContext &C = Entry.getContext();
  auto Make = [&](const char *Name) { return BasicBlock::Create(C, Name, Entry.getParent()); };
  BasicBlock *Next = Make("next"), *Search = Make("search"), *Earlier = Make("earlier"), *Fill = Make("fill"),
             *Done = Make("done");
  const Loop *L = Loops.getLoopFor(Counter->getParent());
  Value *First = Counter->getIncomingValueForBlock(L->getLoopPredecessor());
  Value *Step = cast<BinaryOperator>(Counter->getIncomingValueForBlock(L->getLoopLatch()))->getOperand(1);
  Value *Now = Map.lookup(Counter);
  IRBuilder<> B(&Entry);
  B.CreateCondBr(ask(B, Now, Map), Fill, Next);
  B.SetInsertPoint(Next);
  B.CreateCondBr(ask(B, B.CreateAdd(Now, Step), Map), Search, Done);
  B.SetInsertPoint(Search);
  PHINode *At = B.CreatePHI(Now->getType(), 2);
  B.CreateCondBr(B.CreateICmpEQ(At, First), Done, Earlier);
  B.SetInsertPoint(Earlier);
  Value *Before = B.CreateSub(At, Step);
  B.CreateCondBr(ask(B, Before, Map), Fill, Search);
  At->addIncoming(Now, Next);
  At->addIncoming(Before, Earlier);
  B.SetInsertPoint(Done);
  B.CreateRetVoid();
  B.SetInsertPoint(Fill);
  PHINode *Of = B.CreatePHI(Now->getType(), 2);
  Of->addIncoming(Now, &Entry);
  Of->addIncoming(Before, Earlier);
  Map[Counter] = Of;
  return Fill;
}

// Every argument of a derivative is there twice.
void Refill::write(Function &Reverse, const Argument &Array) {
  ValueToValueMapTy Map;
  unsigned Next = 0;
  auto Take = [&](const Value *V) { Map[V] = Reverse.getArg(2 * Next++); };
  Take(&Array);
  for (Value *Pointer : Pointers)
    if (Pointer != &Array)
      Take(Pointer);
  for (Value *Number : Numbers)
    Take(Number);

  LLVMContext &C = Body.getContext();
  Reverse.addFnAttr(Attribute::NoInline);
  auto *Entry = BasicBlock::Create(C, "entry", &Reverse);
  if (Decides)
    Entry = writeSearch(*Entry, Map);
  SmallVector<BasicBlock *> Order;
  for (BasicBlock *Block : ReversePostOrderTraversal<Function *>(&Body))
    Order.push_back(Block);
  for (BasicBlock *Block : Order)
    if (Region.contains(Block))
      Map[Block] = BasicBlock::Create(C, Block->getName(), &Reverse);
  SmallVector<Instruction *> Copies;
  auto Copy = [&](Instruction &I, BasicBlock *To) {
    Instruction *Made = I.clone();
    Made->insertInto(To, To->end());
    Made->dropUnknownNonDebugMetadata();
    Made->setDebugLoc(DebugLoc());
    Map[&I] = Made;
    Copies.push_back(Made);
  };
  for (BasicBlock *Block : Order) {
    bool IsInside = Region.contains(Block);
    auto *To = IsInside ? cast<BasicBlock>(Map[Block]) : Entry;
    for (Instruction &I : *Block)
      if (Needed.contains(&I))
        Copy(I, To);
    if (IsInside && Block != Last)
      Copy(*Block->getTerminator(), To);
  }
  BranchInst::Create(cast<BasicBlock>(Map[First]), Entry);
  ReturnInst::Create(C, cast<BasicBlock>(Map[Last]));
  for (Instruction *Made : Copies)
    RemapInstruction(Made, Map, RF_NoModuleLevelChanges | RF_IgnoreMissingLocals);
}

} // namespace adgen
