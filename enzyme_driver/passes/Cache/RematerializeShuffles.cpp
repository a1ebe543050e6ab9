// Numbers that lanes of a warp hand to each other are handed on again in the reverse sweep, not kept: a scan of a warp
// is ten shuffles of what two loads bring, and Enzyme would keep each of their results in every iteration. Enzyme must
// not repeat a shuffle itself, for it would do so where only some lanes may come by.
//
// What is repeated follows by arithmetic and shuffles from memory that nobody changes, from what is the same in all
// iterations, from numbers that are kept in any case, and from what the loop carries, which is kept in place of what
// follows from it. All threads of the block are there, in either sweep, or all lanes that a mask names, as they come to
// the adjoints of shuffles with the same mask; and the forward loop computes it in every iteration. Where a loop inside
// another hands round what lanes have found before it, as of each key what it weighs, that is kept once for the inner
// loop, and handed round again.
#include "Analysis/EnzymeCaches.h"
#include "Analysis/Uniformity.h"
#include "Cache/SentAgain.h"
#include "Cache/ShuffleCaches.h"
#include "Support/Pass.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Analysis/AliasAnalysis.h"
#include "llvm/Analysis/DomTreeUpdater.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/PatternMatch.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

#define DEBUG_TYPE "adgen-rematerialize-shuffles"

using namespace llvm;

STATISTIC(NumCaches, "Number of caches that shuffles take the place of");

namespace adgen {
namespace {

constexpr unsigned MostAgain = 6; // instructions for each cache

// What is kept of one loop, and read in iterations of another that have the same number.
class Sweeps {
public:
  Sweeps(PHINode &Number, Value &Again, ArrayRef<Cache> Caches, LoopInfo &Loops, DominatorTree &Before,
         const Uniformity &Threads, bool KeepsCarried)
      : Number(Number), Again(Again), Caches(Caches), Loops(Loops), Before(Before), Threads(Threads),
        KeepsCarried(KeepsCarried), Forward(*Loops.getLoopFor(Number.getParent())) {}

  // How many caches less there are; none if it is not worth it.
  unsigned plan() {
    Place = placeOfLoads();
    if (!Place)
      return 0;
    using Instructions = SmallSetVector<Instruction *, 32>;
    SmallVector<std::pair<const Cache *, Instructions>, 0> Found;
    for (const Cache &Each : Caches) {
      if (Each.IsReadElsewhere || !isFilledAlways(Each))
        continue;
      Instructions Needed = neededFor(*Each.Store->getValueOperand());
      if (isKeptTwice(Each) || any_of(Needed, [&](Instruction *I) { return isShuffle(*I) || usesCarried(*I); }))
        Found.push_back({&Each, std::move(Needed)});
    }
    auto Join = [&] {
      All.clear();
      for (const auto &[Each, Needed] : Found)
        All.insert_range(Needed);
    };
    for (Join(); All.size() > MostAgain * Found.size(); Join()) // what takes the most stays kept
      Found.erase(max_element(Found, [](auto &A, auto &B) { return A.second.size() < B.second.size(); }));
    for (const auto &Each : Found)
      Gone.push_back(Each.first);
    bool Shuffles = any_of(All, [](const Instruction *I) { return isShuffle(*I); });
    return Shuffles && findPlacesForCarried() ? Gone.size() - PlaceOf.size() : 0;
  }

  void run() {
    SmallVector<Value *> Results;
    for (const Cache *Each : Gone)
      Results.push_back(repeat(*Each->Store->getValueOperand()));
    for (auto [Each, Result] : zip_equal(Gone, Results))
      replace(*Each, *Result);
    for (auto [Carried, Each] : PlaceOf)
      Each->Store->setOperand(0, Carried);
    for (const Cache *Each : Gone)
      if (none_of(PlaceOf, [&](const auto &Taken) { return Taken.second == Each; }))
        erase(*Each);
  }

private:
  enum class Way { Again, Kept, Carried, None };

  // Before the first of the loads, where all come by, or all that hand numbers to each other.
  Instruction *placeOfLoads() {
    BasicBlock *Block = nullptr;
    for (const Cache &Each : Caches)
      for (LoadInst *Load : Each.Loads)
        Block = Block ? Before.findNearestCommonDominator(Block, Load->getParent()) : Load->getParent();
    if (!Block)
      return nullptr;
    findMasks(*Block);
    IsUniform = !Threads.isDivergent(Block);
    if (!IsUniform && Masks.empty())
      return nullptr;
    Instruction *First = Block->getTerminator();
    for (const Cache &Each : Caches)
      for (LoadInst *Load : Each.Loads)
        if (Load->getParent() == Block && Load->comesBefore(First))
          First = Load;
    auto *Known = dyn_cast<Instruction>(&Again);
    bool IsThere = Known && Before.dominates(Known, First) &&
                   Loops.getLoopFor(Known->getParent()) == Loops.getLoopFor(Block) && !Forward.contains(Block);
    return IsThere ? First : nullptr;
  }

  // In each iteration, the lanes that come to the block meet behind it, all that a mask names: so they can meet in it,
  // too.
  void findMasks(const BasicBlock &Block) {
    const Loop *Around = Loops.getLoopFor(&Block);
    const BasicBlock *Latch = Around ? Around->getLoopLatch() : nullptr;
    if (!Latch)
      return;
    SmallVector<BasicBlock *> Exiting;
    Around->getExitingBlocks(Exiting);
    for (BasicBlock *Behind : Around->blocks()) {
      if (Loops.getLoopFor(Behind) != Around || !Before.dominates(&Block, Behind) || !Before.dominates(Behind, Latch) ||
          !all_of(Exiting, [&](const BasicBlock *Exit) { return Before.dominates(Behind, Exit); }))
        continue;
      for (const Instruction &I : *Behind) {
        auto *Found = const_cast<Value *>(maskOf(I));
        auto *Known = dyn_cast_or_null<Instruction>(Found);
        if (const Cache *Kept = cacheWith(Known))
          Masks.try_emplace(Kept->Store->getValueOperand(), nullptr);
        if (Found && (!Known || Before.dominates(Known, &Block)) && isTheSameIn(*onlyValueOf(Found), Block))
          Masks.try_emplace(onlyValueOf(Found), Found);
      }
    }
  }

  // Of a mask that each iteration has found, and that the one with the same number reads again.
  const Cache *cacheWith(const Instruction *Mask) const {
    auto *Found = find_if(Caches, [&](const Cache &Each) { return is_contained(Each.Loads, Mask); });
    return Found == Caches.end() || !isFilledAlways(*Found) ? nullptr : Found;
  }

  // Of a loop that has ended, each iteration had another one.
  bool isTheSameIn(const Value &V, const BasicBlock &Block) const {
    auto *I = dyn_cast<Instruction>(&V);
    const Loop *Around = I ? Loops.getLoopFor(I->getParent()) : nullptr;
    return !Around || Around->contains(&Block);
  }

  // Every iteration of the forward loop does it, in all threads that do one.
  bool isFilledAlways(const Cache &Each) const {
    BasicBlock *Latch = Forward.getLoopLatch(), *Block = Each.Store->getParent();
    return Latch && Forward.getExitingBlock() == Latch && Before.dominates(Block, Latch) &&
           (!IsUniform || !Threads.isDivergent(Block));
  }

  // What has its value in the reverse sweep without further ado: not that of a loop that has ended.
  bool isThere(const Value &V) const {
    auto *I = dyn_cast<Instruction>(&V);
    const Loop *Around = I ? Loops.getLoopFor(I->getParent()) : nullptr;
    return !I || I == &Number || Masks.contains(I) ||
           (Before.dominates(I, Place) && (!Around || Around->contains(Place)));
  }

  bool isCarried(const Value &V) const {
    auto *Phi = dyn_cast<PHINode>(&V);
    return KeepsCarried && Phi && Phi->getParent() == Number.getParent() && Phi->getType()->isFloatingPointTy();
  }

  bool usesCarried(Instruction &I) {
    return any_of(operandsOf(I), [&](Value *Operand) { return !isThere(*Operand) && wayOf(*Operand) == Way::Carried; });
  }

  Way wayOf(Value &V) {
    if (auto Known = Ways.find(&V); Known != Ways.end())
      return Known->second;
    const Cache *Kept = cacheOf(V);
    auto *Frozen = dyn_cast<FreezeInst>(&V);
    if (Kept && (Kept->IsReadElsewhere || isCarried(V) || (Frozen && isCarried(*Frozen->getOperand(0)))))
      return Ways[&V] = Way::Kept;
    if (isCarried(V))
      return Ways[&V] = Way::Carried;
    auto &I = cast<Instruction>(V);
    bool Possible = (canRepeat(I) || canMergeAgain(I)) && all_of(operandsOf(I), [&](Value *Operand) {
                      return isThere(*Operand) || wayOf(*Operand) != Way::None;
                    });
    return Ways[&V] = Possible ? Way::Again : Kept ? Way::Kept : Way::None;
  }

  bool canRepeat(Instruction &I) const {
    if (isShuffle(I)) {
      const Value *Named = I.getOperand(0);
      return (Masks.contains(onlyValueOf(Named)) && Loops.getLoopFor(I.getParent()) == &Forward) ||
             (IsUniform && isFullMask(Named) && !Threads.isDivergent(I.getParent()));
    }
    if (auto *Load = dyn_cast<LoadInst>(&I))
      return Load->isSimple() && (Load->hasMetadata(LLVMContext::MD_invariant_load) || lastStored(*Load));
    auto *Call = dyn_cast<CallBase>(&I);
    return !isa<PHINode, AllocaInst>(I) && !I.isTerminator() && !I.mayReadOrWriteMemory() && !I.mayHaveSideEffects() &&
           !(Call && Call->isConvergent());
  }

  // On its ways nothing is computed but what can be computed again there, by one lane or by many.
  bool canMergeAgain(Instruction &I) {
    auto *Phi = dyn_cast<PHINode>(&I);
    std::optional<Merge> Found = Phi ? mergeOf(*Phi, Before) : std::nullopt;
    if (!Found || Loops.getLoopFor(Phi->getParent()) != &Forward ||
        Loops.getLoopFor(Found->Fork->getParent()) != &Forward)
      return false;
    for (unsigned Side : {0U, 1U})
      for (Instruction *On : neededOn(*Found, Side))
        if (isShuffle(*On) || wayOf(*On) != Way::Again || isa<PHINode>(On) ||
            (isa<LoadInst>(On) && !On->hasMetadata(LLVMContext::MD_invariant_load)))
          return false;
    return true;
  }

  // What a way computes for what it brings.
  static SmallSetVector<Instruction *, 8> neededOn(const Merge &Of, unsigned Way) {
    SmallSetVector<Instruction *, 8> Found;
    auto Add = [&](Value *V) {
      if (auto *I = dyn_cast<Instruction>(V); I && I->getParent() == Of.Sides[Way])
        Found.insert(I);
    };
    Add(Of.Brought[Way]);
    for (unsigned At = 0; At != Found.size(); ++At)
      for (Value *Operand : Found[At]->operands())
        Add(Operand);
    return Found;
  }

  // What is computed from; of a variable of the thread, what it holds; of a merge, also what decides about the way.
  SmallVector<Value *, 4> operandsOf(Instruction &I) const {
    if (Value *Held = lastStored(I))
      return {Held};
    auto Operands =
        SmallVector<Value *, 4>(make_filter_range(I.operands(), [](const Use &U) { return !isa<Function>(U); }));
    if (auto *Phi = dyn_cast<PHINode>(&I))
      Operands.push_back(mergeOf(*Phi, Before)->Fork->getCondition());
    return Operands;
  }

  // What a variable holds that is written and read back in one block; null where that is not known.
  static Value *lastStored(Instruction &I) {
    auto *Load = dyn_cast<LoadInst>(&I);
    auto *Variable = Load ? dyn_cast<AllocaInst>(Load->getPointerOperand()) : nullptr;
    for (Instruction *At = I.getPrevNode(); Variable && At; At = At->getPrevNode()) {
      auto *Store = dyn_cast<StoreInst>(At);
      const Value *Written = Store ? getUnderlyingObject(Store->getPointerOperand()) : nullptr;
      if (Store && Store->getPointerOperand() == Variable)
        return Store->isSimple() && Store->getValueOperand()->getType() == I.getType() ? Store->getValueOperand()
                                                                                       : nullptr;
      if (At->mayWriteToMemory() && !isShuffle(*At) &&
          (!Written || Written == Variable || !isIdentifiedObject(Written)))
        return nullptr;
    }
    return nullptr;
  }

  bool isKeptTwice(const Cache &Each) {
    Value &V = *Each.Store->getValueOperand();
    return !isThere(V) && wayOf(V) == Way::Kept && cacheOf(V) != &Each;
  }

  // Where the value is kept.
  const Cache *cacheOf(const Value &V) const {
    auto *Found = find_if(Caches, [&](const Cache &Each) {
      const Value *Stored = Each.Store->getValueOperand();
      auto *Frozen = dyn_cast<FreezeInst>(Stored);
      return (Stored == &V || (Frozen && isCarried(V) && Frozen->getOperand(0) == &V)) && canBeRead(Each);
    });
    return Found == Caches.end() ? nullptr : Found;
  }

  bool canBeRead(const Cache &From) const {
    auto *Address = cast<GetElementPtrInst>(From.Loads.front()->getPointerOperand());
    const BasicBlock *Latch = Forward.getLoopLatch();
    return Latch && Before.dominates(From.Store->getParent(), Latch) && isThere(*Address->getPointerOperand());
  }

  SmallSetVector<Instruction *, 32> neededFor(Value &V) {
    SmallSetVector<Instruction *, 32> Found;
    if (isThere(V) || wayOf(V) != Way::Again)
      return Found;
    Found.insert(cast<Instruction>(&V));
    for (unsigned At = 0; At != Found.size(); ++At)
      for (Value *Operand : operandsOf(*Found[At]))
        if (!isThere(*Operand) && wayOf(*Operand) == Way::Again)
          Found.insert(cast<Instruction>(Operand));
    return Found;
  }

  // What is carried is kept in a place that is not needed any more.
  bool findPlacesForCarried() {
    SmallPtrSet<const Cache *, 8> Taken;
    for (Instruction *I : All)
      for (Value *Operand : operandsOf(*I)) {
        if (isThere(*Operand) || wayOf(*Operand) != Way::Carried || PlaceOf.contains(Operand))
          continue;
        auto *Found = find_if(Gone, [&](const Cache *Each) {
          return Each->Store->getValueOperand()->getType() == Operand->getType() && canBeRead(*Each) &&
                 !Taken.contains(Each);
        });
        if (Found == Gone.end())
          return false;
        Taken.insert(*Found);
        PlaceOf[Operand] = *Found;
      }
    return true;
  }

  Value *repeat(Value &V) {
    if (&V == &Number)
      return &Again;
    if (Value *Known = Made.lookup(&V))
      return Known;
    if (auto Mask = Masks.find(&V); Mask != Masks.end())
      return Mask->second ? Mask->second : Made[&V] = readKept(*cacheOf(V));
    if (isThere(V))
      return &V;
    auto &I = cast<Instruction>(V);
    if (Way Found = wayOf(V); Found != Way::Again)
      return Made[&V] = readKept(Found == Way::Kept ? *cacheOf(V) : *PlaceOf.find(&V)->second);
    auto *Phi = dyn_cast<PHINode>(&I);
    return Made[&V] = Phi ? mergeAgain(*Phi) : repeatInstruction(I);
  }

  Value *repeatInstruction(Instruction &I) {
    if (Value *Held = lastStored(I))
      return repeat(*Held);
    Instruction *Copy = I.clone();
    for (Use &U : Copy->operands())
      if (!isa<Function>(U))
        U.set(repeat(*U.get()));
    Copy->insertBefore(Place->getIterator());
    Copy->dropUnknownNonDebugMetadata({LLVMContext::MD_invariant_load, LLVMContext::MD_tbaa});
    return Copy;
  }

  // The ways part and meet again here; what they begin with is computed before.
  Value *mergeAgain(PHINode &Phi) {
    const Merge From = *mergeOf(Phi, Before);
    Value *Condition = repeat(*From.Fork->getCondition());
    SmallSetVector<Instruction *, 8> Needed[] = {neededOn(From, 0), neededOn(From, 1)};
    auto IsOnWay = [&](const Value *V) {
      auto *I = dyn_cast<Instruction>(V);
      return I && any_of(Needed, [&](const auto &On) { return On.contains(I); });
    };
    for (auto &On : Needed)
      for (Instruction *I : On)
        for (Value *Operand : operandsOf(*I))
          if (!IsOnWay(Operand))
            repeat(*Operand);
    for (Value *Brought : From.Brought)
      if (!IsOnWay(Brought))
        repeat(*Brought);
    BasicBlock *Head = Place->getParent();
    BasicBlock *Sides[2] = {};
    DomTreeUpdater Updater(Before, DomTreeUpdater::UpdateStrategy::Eager);
    SplitBlockAndInsertIfThenElse(Condition, Place->getIterator(), From.Sides[0] ? &Sides[0] : nullptr,
                                  From.Sides[1] ? &Sides[1] : nullptr, false, false, nullptr, &Updater, &Loops);
    IRBuilder<> B(Place->getParent(), Place->getParent()->begin());
    PHINode *Result = B.CreatePHI(Phi.getType(), 2);
    for (unsigned Way : {0U, 1U}) {
      if (From.Sides[Way])
        for (Instruction &I : *From.Sides[Way])
          if (Needed[Way].contains(&I))
            repeatOnWay(I, *Sides[Way]->getTerminator());
      Result->addIncoming(repeat(*From.Brought[Way]), Sides[Way] ? Sides[Way] : Head);
    }
    for (auto &On : Needed)
      for (Instruction *I : On)
        Made.erase(I);
    return Result;
  }

  void repeatOnWay(Instruction &I, Instruction &End) {
    Instruction *Copy = I.clone();
    for (Use &U : Copy->operands())
      if (!isa<Function>(U))
        U.set(repeat(*U.get()));
    Copy->insertBefore(End.getIterator());
    Copy->dropUnknownNonDebugMetadata({LLVMContext::MD_invariant_load, LLVMContext::MD_tbaa});
    Made[&I] = Copy;
  }

  Value *readKept(const Cache &From) {
    Instruction *Load = From.Loads.front()->clone();
    Instruction *Address = cast<Instruction>(From.Loads.front()->getPointerOperand())->clone();
    Address->insertBefore(Place->getIterator());
    Load->insertBefore(Place->getIterator());
    Load->setOperand(LoadInst::getPointerOperandIndex(), Address);
    return Load;
  }

  static void replace(const Cache &Each, Value &Result) {
    ADGEN_COUNT(NumCaches, *Each.Store);
    for (LoadInst *Load : Each.Loads)
      Load->replaceAllUsesWith(&Result);
  }

  static void erase(const Cache &Each) {
    for (Instruction *I : usersOf(*Each.Allocation)) {
      I->replaceAllUsesWith(PoisonValue::get(I->getType()));
      I->eraseFromParent();
    }
  }

  PHINode &Number;
  Value &Again;
  ArrayRef<Cache> Caches;
  LoopInfo &Loops;
  DominatorTree &Before;
  const Uniformity &Threads;
  const bool KeepsCarried;
  const Loop &Forward;
  bool IsUniform = false;                 // all of the block come by
  DenseMap<const Value *, Value *> Masks; // of lanes that all come by, and what they are in the reverse sweep
  Instruction *Place = nullptr;
  DenseMap<const Value *, Way> Ways;
  DenseMap<const Value *, Value *> Made;
  SmallVector<const Cache *> Gone;
  SmallSetVector<Instruction *, 32> All;
  MapVector<Value *, const Cache *> PlaceOf; // of what is carried
};

bool shuffleAgain(PHINode &Number, Value &Again, ArrayRef<Cache> Caches, LoopInfo &Loops, DominatorTree &Before,
                  const Uniformity &Threads) {
  Sweeps Plain(Number, Again, Caches, Loops, Before, Threads, false);
  Sweeps Carrying(Number, Again, Caches, Loops, Before, Threads, true);
  unsigned ByPlain = Plain.plan(), ByCarrying = Carrying.plan();
  if (!ByPlain && !ByCarrying)
    return false;
  (ByCarrying > ByPlain ? Carrying : Plain).run();
  return true;
}

// One loop at a time: what is known of blocks is not known of those that come of it.
bool shuffleAgain(Function &F) {
  if (none_of(instructions(F), isShuffle))
    return false;
  DominatorTree Before(F);
  LoopInfo Loops(Before);
  SmallVector<CallInst *> Allocations;
  for (Instruction &I : instructions(F))
    if (isCacheAllocation(&I))
      Allocations.push_back(cast<CallInst>(&I));
  if (Allocations.empty())
    return false;
  Uniformity Threads(F, [&](const Value &V) { return kindOnDevice(V, F); });
  bool Changed = false;
  for (CallInst *Allocation : Allocations)
    Changed |= sendOnce(*Allocation, Loops, Before, Threads);
  for (auto &[At, Caches] : cachesIn(F, Loops))
    if (shuffleAgain(*At.first, *At.second, Caches, Loops, Before, Threads))
      return true;
  return Changed;
}

} // namespace

ADGEN_DECLARE_PASS(RematerializeShuffles);

PreservedAnalyses RematerializeShuffles::run(Module &M, ModuleAnalysisManager &) {
  bool Changed = false;
  for (Function &F : M)
    if (F.hasFnAttribute(ActivityAttribute) && !F.isDeclaration())
      while (shuffleAgain(F))
        Changed = true;
  return Changed ? PreservedAnalyses::none() : PreservedAnalyses::all();
}

} // namespace adgen
