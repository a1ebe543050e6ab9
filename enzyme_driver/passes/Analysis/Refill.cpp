#include "Analysis/Refill.h"

#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/Transforms/Utils/ValueMapper.h"

using namespace llvm;

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
  End = Barrier.getParent();
  if (Stores.empty())
    return false;
  for (StoreInst *Store : Stores) {
    if (!Store->isSimple() || !need(Store->getPointerOperand(), true) || !need(Store->getValueOperand(), false))
      return false;
    Needed.insert(Store);
  }
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
  if (Numbers.contains(I) || (IsFixed && isReadOnce(*I)))
    return Numbers.insert(I), Numbers.size() <= MostNumbers;
  IsFixed |= IsOfFilling;
  return (IsFixed ? Fixed.contains(I) : Needed.contains(I)) || need(*I, IsFixed);
}

// Before all loops.
bool Refill::isReadOnce(const Instruction &I) const {
  return isa<LoadInst>(I) && I.getType()->isIntegerTy() && !Loops.getLoopFor(I.getParent()) &&
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
      if (!Branch || (!(Deciding.contains(Block) && isOverForGood(*Branch, Stores)) &&
                      !need(Branch->getCondition(), Deciding.contains(Block))))
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
           auto *Counter = dyn_cast<PHINode>(Number);
           return !Counter || Loops.getLoopFor(Counter->getParent())->contains(First);
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
