#include "Cache/Untangle.h"

#include "Analysis/EnzymeCaches.h"
#include "Cache/Cleaning.h"
#include "Cache/EqualAddresses.h"
#include "Support/Adgen.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/MemorySSA.h"
#include "llvm/Analysis/PostDominators.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/Transforms/Utils/Cloning.h"

using namespace llvm;

namespace adgen {
namespace {

// Conditions, each of which may double what lies between its decisions.
constexpr int MostSeparated = 8;
// Instructions that are there twice.
constexpr unsigned MostInstructions = 4000;

// A block that only decides again what was decided on the way to it, as after `if (i >= n) return;`, where both ways
// meet and part again: the way on which the decision is known goes on directly. True if the function was changed.
bool partSooner(BasicBlock &Join, DominatorTree &DT) {
  auto *Choice = dyn_cast<BranchInst>(Join.getTerminator());
  if (!Choice || !Choice->isConditional() || Join.getFirstNonPHIIt() != Choice->getIterator() ||
      Choice->getSuccessor(0) == Choice->getSuccessor(1))
    return false;
  for (BasicBlock *From : predecessors(&Join)) {
    auto *Before = dyn_cast<BranchInst>(From->getTerminator());
    if (!Before || !Before->isConditional() || Before->getCondition() != Choice->getCondition() ||
        Before->getSuccessor(0) == Before->getSuccessor(1))
      continue;
    unsigned Way = Before->getSuccessor(0) == &Join ? 0 : 1;
    BasicBlock *To = Choice->getSuccessor(Way), *Rest = Choice->getSuccessor(1 - Way);
    bool OnlyRestUses = all_of(Join.phis(), [&](PHINode &Phi) {
      return all_of(Phi.uses(), [&](const Use &U) {
        auto *Merge = dyn_cast<PHINode>(U.getUser());
        return (Merge && Merge->getParent() == To && Merge->getIncomingBlock(U) == &Join) ||
               DT.dominates(BasicBlockEdge(&Join, Rest), U);
      });
    });
    if (!OnlyRestUses || To == &Join)
      continue;
    for (PHINode &Phi : To->phis()) {
      Value *Incoming = Phi.getIncomingValueForBlock(&Join);
      auto *Inner = dyn_cast<PHINode>(Incoming);
      Phi.addIncoming(Inner && Inner->getParent() == &Join ? Inner->getIncomingValueForBlock(From) : Incoming, From);
    }
    Join.removePredecessor(From);
    Before->setSuccessor(Way, To);
    return true;
  }
  return false;
}

void partSooner(Function &F) {
  for (bool Changed = true; Changed;) {
    DominatorTree DT(F);
    Changed = any_of(F, [&](BasicBlock &Block) { return partSooner(Block, DT); });
  }
}

// Which of its values a selection has where its condition was decided on the way, as where Enzyme adds a cotangent to
// that of either way before it reverses one of them.
Value *valueBehind(SelectInst &Chosen, const Use &Incoming, const DominatorTree &DT) {
  if (isa<Constant>(Chosen.getCondition()))
    return nullptr; // whose uses are not kept
  for (User *U : Chosen.getCondition()->users()) {
    auto *Choice = dyn_cast<BranchInst>(U);
    if (!Choice || Choice->getSuccessor(0) == Choice->getSuccessor(1))
      continue;
    for (unsigned Way : {0, 1})
      if (DT.dominates(BasicBlockEdge(Choice->getParent(), Choice->getSuccessor(Way)), Incoming))
        return Way == 0 ? Chosen.getTrueValue() : Chosen.getFalseValue();
  }
  return nullptr;
}

void chooseSooner(Function &F) {
  DominatorTree DT(F);
  for (BasicBlock &Block : F)
    for (PHINode &Phi : Block.phis())
      for (Use &Incoming : Phi.incoming_values())
        if (auto *Chosen = dyn_cast<SelectInst>(Incoming))
          if (Value *Known = valueBehind(*Chosen, Incoming, DT))
            Incoming.set(Known);
}

// The cache that a pointer leads to; behind the condition under which it is made, it may be undefined.
CallInst *cacheOf(Value *Pointer) {
  Value *Made = Pointer;
  if (auto *Phi = dyn_cast<PHINode>(Pointer)) {
    SmallPtrSet<Value *, 2> All(Phi->op_begin(), Phi->op_end());
    for (Value *V : Phi->operands())
      if (isa<UndefValue>(V))
        All.erase(V);
    Made = All.size() == 1 ? *All.begin() : nullptr;
  }
  return Made && isCacheAllocation(Made) ? cast<CallInst>(Made) : nullptr;
}

// Where the optimiser has read one of two caches, both are read, and one of the values is chosen: what either way kept
// is found again. Caches that are as long and made together have the element both.
void readBoth(Function &F) {
  for (Instruction &I : make_early_inc_range(instructions(F))) {
    auto *Load = dyn_cast<LoadInst>(&I);
    auto *Element = Load && Load->isSimple() ? dyn_cast<GetElementPtrInst>(Load->getPointerOperand()) : nullptr;
    auto *Chosen = Element ? dyn_cast<SelectInst>(Element->getPointerOperand()) : nullptr;
    CallInst *One = Chosen ? cacheOf(Chosen->getTrueValue()) : nullptr;
    CallInst *Other = Chosen ? cacheOf(Chosen->getFalseValue()) : nullptr;
    if (!One || !Other || One->getParent() != Other->getParent() || One->getArgOperand(0) != Other->getArgOperand(0))
      continue;
    auto Read = [&](Value *Cache) {
      Instruction *Place = Element->clone(), *Value = Load->clone();
      Place->insertBefore(Load->getIterator());
      Place->setOperand(GetElementPtrInst::getPointerOperandIndex(), Cache);
      Value->insertBefore(Load->getIterator());
      Value->setOperand(LoadInst::getPointerOperandIndex(), Place);
      Value->dropUBImplyingAttrsAndMetadata(); // the one that is not chosen may be nothing
      Value->setAAMetadata(Load->getAAMetadata());
      return Value;
    };
    IRBuilder<> B(Load);
    Load->replaceAllUsesWith(
        B.CreateSelect(Chosen->getCondition(), Read(Chosen->getTrueValue()), Read(Chosen->getFalseValue())));
    Load->eraseFromParent();
  }
}

// What the reversal computes and writes once more, to where it still is. True if something was written for nothing.
bool dropRewritten(Function &F, FunctionAnalysisManager &FAM) {
  MemorySSA &Memory = FAM.getResult<MemorySSAAnalysis>(F).getMSSA();
  auto &DT = FAM.getResult<DominatorTreeAnalysis>(F);
  BatchAAResults AA(FAM.getResult<AAManager>(F));
  SmallVector<StoreInst *> Rewritten;
  for (Instruction &I : instructions(F)) {
    auto *Store = dyn_cast<StoreInst>(&I);
    if (!Store || !Store->isSimple() || !isa<AllocaInst>(getUnderlyingObject(Store->getPointerOperand())))
      continue;
    auto *Last = dyn_cast<MemoryDef>(Memory.getWalker()->getClobberingMemoryAccess(
        Memory.getMemoryAccess(Store)->getDefiningAccess(), MemoryLocation::get(Store), AA));
    auto *Before = Last ? dyn_cast_or_null<StoreInst>(Last->getMemoryInst()) : nullptr;
    if (Before && Before->isSimple() && DT.dominates(Before, Store) &&
        Before->getPointerOperand() == Store->getPointerOperand() &&
        Before->getValueOperand() == Store->getValueOperand())
      Rewritten.push_back(Store);
  }
  for (StoreInst *Store : Rewritten)
    Store->eraseFromParent();
  return !Rewritten.empty();
}

class Separator {
public:
  Separator(Function &F, function_ref<bool(ArrayRef<BasicBlock *>)> IsWorth)
      : F(F), IsWorth(IsWorth), DT(F), PDT(F), LI(DT) {}

  // True if something was separated.
  bool run() {
    MapVector<std::pair<Value *, Loop *>, SmallVector<BasicBlock *>> Decisions; // of an iteration
    for (BasicBlock *Block : ReversePostOrderTraversal<Function *>(&F))
      if (auto *Choice = dyn_cast<BranchInst>(Block->getTerminator()); Choice && Choice->isConditional())
        if (isa<Instruction>(Choice->getCondition()) && Choice->getSuccessor(0) != Choice->getSuccessor(1))
          Decisions[{Choice->getCondition(), LI.getLoopFor(Block)}].push_back(Block);
    return any_of(Decisions, [&](auto &Decision) {
      return Decision.second.size() > 1 && separate(*Decision.first.first, Decision.second);
    });
  }

private:
  bool separate(Value &Condition, ArrayRef<BasicBlock *> Blocks) {
    BasicBlock *First = Blocks.front();
    BasicBlock *Join = First;
    for (BasicBlock *Block : Blocks)
      Join = Join ? PDT.findNearestCommonDominator(Join, Block) : nullptr; // none where a way ends in a trap
    if (Join && is_contained(Blocks, Join))
      Join = PDT[Join]->getIDom() ? PDT[Join]->getIDom()->getBlock() : nullptr;
    if (!LI.getLoopFor(First) || !Join || !collect(*First, *Join) || !IsWorth(Region.getArrayRef()))
      return false;
    SmallVector<BasicBlock *> From(predecessors(Join));
    ValueToValueMapTy Map;
    SmallVector<BasicBlock *> Copies;
    for (BasicBlock *Block : Region) {
      Copies.push_back(CloneBasicBlock(Block, Map, ".otherwise", &F));
      Map[Block] = Copies.back();
    }
    remapInstructionsInBlocks(Copies, Map);
    enterOtherwise(*First, Map);
    for (BasicBlock *Block : From)
      if (Region.contains(Block))
        for (PHINode &Phi : Join->phis()) {
          Value *Incoming = Phi.getIncomingValueForBlock(Block);
          Value *Copy = Map.lookup(Incoming);
          Phi.addIncoming(Copy ? Copy : Incoming, cast<BasicBlock>(Map[Block]));
        }
    mergeBehind(*Join, From, Map);
    decide(Condition, Copies);
    return true;
  }

  // The first decision leads into the copies on the other way, and no more into what they were copied from.
  void enterOtherwise(BasicBlock &First, ValueToValueMapTy &Map) {
    auto *Choice = cast<BranchInst>(First.getTerminator());
    BasicBlock *One = Choice->getSuccessor(0), *Other = Choice->getSuccessor(1);
    auto Forget = [&](BasicBlock &Block) {
      for (PHINode &Phi : Block.phis())
        Phi.removeIncomingValue(&First, /*DeletePHIIfEmpty=*/false);
    };
    if (Value *Copy = Map.lookup(One))
      Forget(*cast<BasicBlock>(Copy));
    if (Value *Copy = Map.lookup(Other)) {
      Forget(*Other);
      Choice->setSuccessor(1, cast<BasicBlock>(Copy));
    }
  }

  // What runs between the decision and the join, of one iteration. False where it cannot be there twice.
  bool collect(BasicBlock &First, BasicBlock &Join) {
    Region.clear();
    Loop *L = LI.getLoopFor(&First);
    SmallVector<BasicBlock *> Next(successors(&First));
    unsigned Count = 0;
    while (!Next.empty()) {
      BasicBlock *Block = Next.pop_back_val();
      if (Block == &Join || !Region.insert(Block))
        continue;
      Count += Block->size();
      bool Inside = L->contains(Block) && Block != L->getHeader() && DT.dominates(&First, Block);
      if (!Inside || Count > MostInstructions || any_of(*Block, isThereOnce))
        return false;
      append_range(Next, successors(Block));
    }
    auto IsInside = [&](BasicBlock *Block) { return Region.contains(Block); };
    auto IsNeeded = [&](BasicBlock *Block) {
      return any_of(*Block, [&](Instruction &I) { return isUsedBehind(I, Join); });
    };
    bool Alone = all_of(predecessors(&Join), [&](BasicBlock *Block) { return Block == &First || IsInside(Block); });
    return L->contains(&Join) && Alone && (all_of(predecessors(&Join), IsInside) || none_of(Region, IsNeeded));
  }

  static bool isThereOnce(const Instruction &I) {
    auto *Call = dyn_cast<CallBase>(&I);
    return (Call && (Call->isConvergent() || Call->cannotDuplicate())) || I.getType()->isTokenTy();
  }

  bool isUsedBehind(Instruction &I, BasicBlock &Join) const {
    return any_of(I.uses(), [&](Use &U) { return isBehind(U, Join); });
  }

  bool isBehind(Use &U, BasicBlock &Join) const {
    auto *User = cast<Instruction>(U.getUser());
    auto *Phi = dyn_cast<PHINode>(User);
    if (Phi && Phi->getParent() == &Join)
      return false;
    return !Region.contains(Phi ? Phi->getIncomingBlock(U) : User->getParent());
  }

  void mergeBehind(BasicBlock &Join, ArrayRef<BasicBlock *> From, ValueToValueMapTy &Map) {
    for (BasicBlock *Block : Region)
      for (Instruction &I : *Block) {
        if (!isUsedBehind(I, Join))
          continue;
        IRBuilder<> B(&Join, Join.begin());
        PHINode *Either = B.CreatePHI(I.getType(), 2 * From.size());
        I.replaceUsesWithIf(Either, [&](Use &U) { return U.getUser() != Either && isBehind(U, Join); });
        for (BasicBlock *Before : From) {
          Either->addIncoming(&I, Before);
          Either->addIncoming(Map[&I], cast<BasicBlock>(Map[Before]));
        }
      }
  }

  void decide(Value &Condition, ArrayRef<BasicBlock *> Copies) {
    SmallPtrSet<BasicBlock *, 16> Otherwise(Copies.begin(), Copies.end());
    auto Replace = [&](auto &Blocks, bool Way) {
      Condition.replaceUsesWithIf(ConstantInt::getBool(F.getContext(), Way), [&](Use &U) {
        return Blocks.contains(cast<Instruction>(U.getUser())->getParent()) && !isa<PHINode>(U.getUser());
      });
    };
    Replace(Region, true);
    Replace(Otherwise, false);
  }

  Function &F;
  function_ref<bool(ArrayRef<BasicBlock *>)> IsWorth;
  DominatorTree DT;
  PostDominatorTree PDT;
  LoopInfo LI;
  SmallSetVector<BasicBlock *, 16> Region;
};

// Says of what is only read through a parameter that nothing else overlaps that it stays the same, so that it is found
// again however much lies between; for as long as this lives, because what comes later may write there.
class OnlyRead {
public:
  explicit OnlyRead(Function &F) {
    for (Argument &A : F.args())
      if (A.getType()->isPointerTy() && A.hasNoAliasAttr() && !A.hasAttribute(Attribute::ReadOnly) && isOnlyRead(A)) {
        A.addAttr(Attribute::ReadOnly);
        Marked.push_back(&A);
      }
  }
  ~OnlyRead() {
    for (Argument *A : Marked)
      A->removeAttr(Attribute::ReadOnly);
  }

private:
  static bool isOnlyRead(const Value &Pointer) {
    return all_of(Pointer.users(),
                  [](const User *U) { return isa<LoadInst>(U) || (isa<GetElementPtrInst>(U) && isOnlyRead(*U)); });
  }

  SmallVector<Argument *> Marked;
};

} // namespace

SmallVector<Function *> gradientsUpTo(Module &M, unsigned MostInstructions) {
  SmallVector<Function *> Found;
  for (Function &F : M)
    if (F.hasFnAttribute(ActivityAttribute) && F.getName().starts_with(GradientPrefix) && !F.isDeclaration() &&
        F.getInstructionCount() <= MostInstructions)
      Found.push_back(&F);
  return Found;
}

bool hasLoopsBesideEachOther(Function &F, FunctionAnalysisManager &FAM) {
  const LoopInfo &LI = FAM.getResult<LoopAnalysis>(F);
  return any_of(LI.getLoopsInPreorder(), [&](const Loop *L) {
    const auto &Siblings = L->getParentLoop() ? L->getParentLoop()->getSubLoops() : LI.getTopLevelLoops();
    return Siblings.size() > 1;
  });
}

bool replaceByCopy(Function &F, FunctionAnalysisManager &FAM, function_ref<bool(Function &)> IsWorth) {
  ValueToValueMapTy Map;
  Function *Copy = CloneFunction(&F, Map), *Other = Copy;
  auto Marks = std::make_unique<OnlyRead>(*Copy);
  bool Replaced = IsWorth(*Copy);
  Marks.reset();
  if (Replaced) {
    auto &Functions = F.getParent()->getFunctionList();
    Functions.splice(F.getIterator(), Functions, Copy->getIterator());
    Copy->takeName(&F);
    F.replaceAllUsesWith(Copy);
    Other = &F;
  }
  FAM.clear(*Other, Other->getName());
  Other->eraseFromParent();
  return Replaced;
}

void clean(Function &F, FunctionAnalysisManager &FAM) {
  Cleaning Passes;
  bool Changed = true;
  for (unsigned Before = ~0U; F.getInstructionCount() < Before;) {
    Before = F.getInstructionCount();
    uint64_t Looks = looksOf(F);
    Passes.run(F, FAM);
    partSooner(F);
    chooseSooner(F);
    readBoth(F);
    FAM.invalidate(F, PreservedAnalyses::none());
    mergeAddresses(F, FAM);
    if (dropRewritten(F, FAM))
      FAM.invalidate(F, PreservedAnalyses::none());
    Changed = looksOf(F) != Looks;
  }
  if (Changed)
    Passes.run(F, FAM);
}

bool separateDecisions(Function &F, FunctionAnalysisManager &FAM, function_ref<bool(ArrayRef<BasicBlock *>)> IsWorth,
                       function_ref<bool()> Helped) {
  bool Merged = mergeAddresses(F, FAM);
  if (Merged) // what is read again is known then, and decisions that follow from it
    clean(F, FAM);
  int Times = 0;
  for (bool Goes = true; Goes && Times < MostSeparated && Separator(F, IsWorth).run(); ++Times) {
    FAM.invalidate(F, PreservedAnalyses::none());
    clean(F, FAM);
    Goes = Helped();
  }
  return Merged || Times > 0;
}

namespace {

// What is done with a cache that nothing reads: stores, and to give it back; nothing where it is read.
SmallSetVector<Instruction *, 16> onlyWritten(CallInst &Cache) {
  SmallSetVector<Instruction *, 16> Found;
  Found.insert(&Cache);
  for (unsigned Next = 0; Next < Found.size(); ++Next) {
    if (isa<StoreInst>(Found[Next]) || isCacheRelease(*Found[Next]))
      continue;
    for (Use &U : Found[Next]->uses()) {
      auto *By = cast<Instruction>(U.getUser());
      bool IsWritten = isa<StoreInst>(By) && U.getOperandNo() == StoreInst::getPointerOperandIndex();
      if (!IsWritten && !isa<GetElementPtrInst, PHINode>(By) && !isCacheRelease(*By))
        return {};
      Found.insert(By);
    }
  }
  auto IsOther = [&](const Use &From) {
    return !isa<UndefValue>(From) && !Found.contains(dyn_cast<Instruction>(From));
  };
  bool Alone = none_of(Found, [&](Instruction *I) { return isa<PHINode>(I) && any_of(I->operands(), IsOther); });
  return Alone ? Found : SmallSetVector<Instruction *, 16>();
}

} // namespace

void dropUnread(Function &F) {
  SmallVector<CallInst *> Caches;
  for (Instruction &I : instructions(F))
    if (isCacheAllocation(&I))
      Caches.push_back(cast<CallInst>(&I));
  for (CallInst *Cache : Caches) {
    SmallSetVector<Instruction *, 16> All = onlyWritten(*Cache);
    for (Instruction *I : All)
      I->replaceAllUsesWith(PoisonValue::get(I->getType()));
    for (Instruction *I : All)
      I->eraseFromParent();
  }
}

} // namespace adgen
