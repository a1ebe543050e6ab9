// Numbers that lanes of a warp hand to each other are handed on again in the reverse sweep, not kept: a scan of a warp
// is ten shuffles of what two loads bring, and Enzyme would keep each of their results in every iteration. Enzyme must
// not repeat a shuffle itself, for it would do so where only some lanes may come by.
//
// What is repeated follows by arithmetic and shuffles from memory that nobody changes, from what is the same in all
// iterations, and from numbers that are kept in any case. All threads of the block are there, in either sweep, and the
// forward loop computes it in every iteration. Where a loop inside another hands round what lanes have found before it,
// as of each key what it weighs, that is kept once for the inner loop, and handed round again.
#include "Analysis/EnzymeCaches.h"
#include "Analysis/Uniformity.h"
#include "Support/Pass.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Analysis/AliasAnalysis.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/PatternMatch.h"

#define DEBUG_TYPE "adgen-rematerialize-shuffles"

using namespace llvm;

STATISTIC(NumCaches, "Number of caches that shuffles take the place of");
STATISTIC(NumSent, "Number of caches that keep what is sent once for a loop");

namespace adgen {
namespace {

constexpr unsigned MostAgain = 6; // instructions for each cache

bool isShuffle(const Instruction &I) {
  auto *Call = dyn_cast<CallInst>(&I);
  const Function *Callee = Call ? Call->getCalledFunction() : nullptr;
  return Callee && Callee->getName().starts_with("llvm.nvvm.shfl.sync.");
}

// An array with one number for each iteration of a loop.
struct Cache {
  CallInst *Allocation;
  StoreInst *Store;
  SmallVector<LoadInst *> Loads;
};

// The index by which an array is accessed; null where there are several, or none.
Value *indexOf(const Value *Pointer) {
  auto *Address = dyn_cast<GetElementPtrInst>(Pointer);
  return Address && Address->getNumIndices() == 1 ? Address->getOperand(1) : nullptr;
}

SmallSetVector<Instruction *, 16> usersOf(CallInst &Allocation) {
  SmallSetVector<Instruction *, 16> All;
  All.insert(&Allocation);
  for (unsigned At = 0; At != All.size(); ++At)
    if (isa<CallInst, GetElementPtrInst, PHINode>(All[At]) && All[At]->getType()->isPointerTy())
      for (User *U : All[At]->users())
        All.insert(cast<Instruction>(U));
  return All;
}

// What is kept of one loop, and read in iterations of another that have the same number.
class Sweeps {
public:
  Sweeps(PHINode &Number, Value &Again, ArrayRef<Cache> Caches, const LoopInfo &Loops, const DominatorTree &Before,
         const Uniformity &Threads)
      : Number(Number), Again(Again), Caches(Caches), Loops(Loops), Before(Before), Threads(Threads),
        Forward(*Loops.getLoopFor(Number.getParent())) {}

  bool run() {
    Place = placeOfLoads();
    if (!Place)
      return false;
    SmallVector<const Cache *> Gone;
    SmallSetVector<Instruction *, 32> All;
    for (const Cache &Each : Caches) {
      if (!isFilledAlways(Each))
        continue;
      SmallSetVector<Instruction *, 32> Needed = neededFor(*Each.Store->getValueOperand());
      if (any_of(Needed, [](const Instruction *I) { return isShuffle(*I); })) {
        Gone.push_back(&Each);
        All.insert_range(Needed);
      }
    }
    if (Gone.empty() || All.size() > MostAgain * Gone.size())
      return false;
    SmallVector<Value *> Results;
    for (const Cache *Each : Gone)
      Results.push_back(repeat(*Each->Store->getValueOperand()));
    for (auto [Each, Result] : zip_equal(Gone, Results))
      replace(*Each, *Result);
    return true;
  }

private:
  enum class Way { Again, Kept, None };

  // Before the first of the loads, where all come by.
  Instruction *placeOfLoads() const {
    BasicBlock *Block = nullptr;
    for (const Cache &Each : Caches)
      for (LoadInst *Load : Each.Loads)
        Block = Block ? Before.findNearestCommonDominator(Block, Load->getParent()) : Load->getParent();
    if (!Block || Threads.isDivergent(Block))
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

  // Every iteration of the forward loop does it, in all threads.
  bool isFilledAlways(const Cache &Each) const {
    BasicBlock *Latch = Forward.getLoopLatch(), *Block = Each.Store->getParent();
    return Latch && Forward.getExitingBlock() == Latch && Before.dominates(Block, Latch) && !Threads.isDivergent(Block);
  }

  // What has its value in the reverse sweep without further ado: not that of a loop that has ended.
  bool isThere(const Value &V) const {
    auto *I = dyn_cast<Instruction>(&V);
    const Loop *Around = I ? Loops.getLoopFor(I->getParent()) : nullptr;
    return !I || I == &Number || (Before.dominates(I, Place) && (!Around || Around->contains(Place)));
  }

  Way wayOf(Value &V) {
    if (auto Known = Ways.find(&V); Known != Ways.end())
      return Known->second;
    auto &I = cast<Instruction>(V);
    bool Possible = canRepeat(I) && all_of(operandsOf(I), [&](Value *Operand) {
                      return isThere(*Operand) || wayOf(*Operand) != Way::None;
                    });
    return Ways[&V] = Possible ? Way::Again : cacheOf(V) ? Way::Kept : Way::None;
  }

  bool canRepeat(Instruction &I) const {
    if (isShuffle(I)) {
      auto *Mask = dyn_cast<ConstantInt>(I.getOperand(0));
      return Mask && Mask->isMinusOne() && !Threads.isDivergent(I.getParent());
    }
    if (auto *Load = dyn_cast<LoadInst>(&I))
      return Load->isSimple() && (Load->hasMetadata(LLVMContext::MD_invariant_load) || lastStored(*Load));
    auto *Call = dyn_cast<CallBase>(&I);
    return !isa<PHINode, AllocaInst>(I) && !I.isTerminator() && !I.mayReadOrWriteMemory() && !I.mayHaveSideEffects() &&
           !(Call && Call->isConvergent());
  }

  // What is computed from; of a variable of the thread, what it holds.
  static SmallVector<Value *, 4> operandsOf(Instruction &I) {
    if (Value *Held = lastStored(I))
      return {Held};
    return SmallVector<Value *, 4>(make_filter_range(I.operands(), [](const Use &U) { return !isa<Function>(U); }));
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

  // Where the value is kept.
  const Cache *cacheOf(const Value &V) const {
    auto *Found = find_if(Caches, [&](const Cache &Each) {
      auto *Address = cast<GetElementPtrInst>(Each.Loads.front()->getPointerOperand());
      return Each.Store->getValueOperand() == &V && isThere(*Address->getPointerOperand());
    });
    return Found == Caches.end() ? nullptr : Found;
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

  Value *repeat(Value &V) {
    if (&V == &Number)
      return &Again;
    if (isThere(V))
      return &V;
    if (Value *Known = Made.lookup(&V))
      return Known;
    auto &I = cast<Instruction>(V);
    return Made[&V] = wayOf(V) == Way::Kept ? readKept(*cacheOf(V)) : repeatInstruction(I);
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
    for (Instruction *I : usersOf(*Each.Allocation)) {
      I->replaceAllUsesWith(PoisonValue::get(I->getType()));
      I->eraseFromParent();
    }
  }

  PHINode &Number;
  Value &Again;
  ArrayRef<Cache> Caches;
  const LoopInfo &Loops;
  const DominatorTree &Before;
  const Uniformity &Threads;
  const Loop &Forward;
  Instruction *Place = nullptr;
  DenseMap<const Value *, Way> Ways;
  DenseMap<const Value *, Value *> Made;
};

// Caches by the loop that fills them and by the number of the iteration that reads them.
using Groups = MapVector<std::pair<PHINode *, Value *>, SmallVector<Cache>>;

Groups cachesIn(Function &F, const LoopInfo &Loops) {
  Groups Found;
  for (Instruction &I : instructions(F)) {
    StoreInst *Store = isCacheAllocation(&I) ? onlyStoreTo(cast<CallInst>(I), Loops) : nullptr;
    auto *Number = Store ? dyn_cast_or_null<PHINode>(indexOf(Store->getPointerOperand())) : nullptr;
    const Loop *Around = Number ? Loops.getLoopFor(Number->getParent()) : nullptr;
    if (!Around || Around->getHeader() != Number->getParent() || Around != Loops.getLoopFor(Store->getParent()))
      continue;
    Cache Made{cast<CallInst>(&I), Store, {}};
    for (Instruction *User : usersOf(*Made.Allocation))
      if (auto *Load = dyn_cast<LoadInst>(User))
        Made.Loads.push_back(Load);
    Value *Again = Made.Loads.empty() ? nullptr : indexOf(Made.Loads.front()->getPointerOperand());
    if (Again && all_of(Made.Loads, [&](LoadInst *Load) { return indexOf(Load->getPointerOperand()) == Again; }))
      Found[{Number, Again}].push_back(std::move(Made));
  }
  return Found;
}

// What an inner loop of a known number of iterations keeps is indexed by its own number and that of the loop around.
struct NestedIndex {
  Value *Inner = nullptr, *Outer = nullptr;
  ConstantInt *Iterations = nullptr;
  bool operator!=(const NestedIndex &Other) const {
    return std::tie(Inner, Outer, Iterations) != std::tie(Other.Inner, Other.Outer, Other.Iterations);
  }
};

std::optional<NestedIndex> nestedIndexOf(const Value *Pointer) {
  using namespace PatternMatch;
  NestedIndex Found;
  Value *Index = indexOf(Pointer);
  if (Index &&
      match(Index, m_c_Add(m_Value(Found.Inner), m_c_Mul(m_Value(Found.Outer), m_ConstantInt(Found.Iterations)))))
    return Found;
  return {};
}

Value *arrayOf(Value *Pointer) { return cast<GetElementPtrInst>(Pointer)->getPointerOperand(); }

// What is kept in each iteration of an inner loop, and comes by a shuffle of what is the same in all of them.
class KeptFromLanes {
public:
  KeptFromLanes(CallInst &Allocation, const LoopInfo &Loops, const DominatorTree &Before, const Uniformity &Threads)
      : Allocation(Allocation), Loops(Loops), Before(Before), Threads(Threads) {}

  bool run() {
    if (!findForward() || !findReverse())
      return false;
    ADGEN_COUNT(NumSent, *Store);
    keepSent();
    receiveAgain();
    return true;
  }

private:
  bool findForward() {
    Store = onlyStoreTo(Allocation, Loops);
    std::optional<NestedIndex> Found = Store ? nestedIndexOf(Store->getPointerOperand()) : std::nullopt;
    Shuffle = Found ? dyn_cast<CallInst>(Store->getValueOperand()) : nullptr;
    Filled = Found ? Loops.getLoopFor(Store->getParent()) : nullptr;
    if (!Shuffle || !Filled || !isShuffle(*Shuffle) || !isNumberOf(Found->Inner, *Filled) ||
        !isNumberOf(Found->Outer, Filled->getParentLoop()) || Found->Iterations->isZero())
      return false;
    Forward = *Found;
    auto *Mask = dyn_cast<ConstantInt>(Shuffle->getArgOperand(0));
    BasicBlock *Latch = Filled->getLoopLatch(), *Ahead = Filled->getLoopPreheader();
    return Mask && Mask->isMinusOne() && Ahead && Latch && Filled->getExitingBlock() == Latch &&
           Before.dominates(Store->getParent(), Latch) && Filled->contains(Shuffle) &&
           !Threads.isDivergent(Shuffle->getParent()) && Filled->isLoopInvariant(Shuffle->getArgOperand(1)) &&
           isByNumber(Shuffle->getArgOperand(2)) && isa<Constant>(Shuffle->getArgOperand(3)) &&
           isAt(*arrayOf(Store->getPointerOperand()), *Ahead);
  }

  static bool isNumberOf(const Value *V, const Loop *L) {
    auto *Number = dyn_cast<PHINode>(V);
    return Number && L && L->getHeader() == Number->getParent();
  }
  static bool isNumberOf(const Value *V, const Loop &L) { return isNumberOf(V, &L); }

  bool isByNumber(const Value *Lane) const {
    auto *Cast = dyn_cast<CastInst>(Lane);
    return isa<Constant>(Lane) || Lane == Forward.Inner || (Cast && Cast->getOperand(0) == Forward.Inner);
  }

  bool isAt(const Value &V, const BasicBlock &Block) const {
    auto *I = dyn_cast<Instruction>(&V);
    return !I || Before.dominates(I, Block.getTerminator());
  }

  // All loads are in one block of a loop, in iterations that have the same numbers.
  bool findReverse() {
    for (Instruction *User : usersOf(Allocation))
      if (auto *Load = dyn_cast<LoadInst>(User))
        Loads.push_back(Load);
    if (Loads.empty())
      return false;
    First = Loads.front();
    std::optional<NestedIndex> Found = nestedIndexOf(First->getPointerOperand());
    const Loop *Again = Loops.getLoopFor(First->getParent());
    BasicBlock *Ahead = Again ? Again->getLoopPreheader() : nullptr;
    if (!Found || !Ahead || Again == Filled || Found->Iterations != Forward.Iterations ||
        !isNumberOf(Found->Inner, *Again) || Threads.isDivergent(First->getParent()) || !isAt(*Found->Outer, *Ahead) ||
        !isAt(*arrayOf(First->getPointerOperand()), *Ahead))
      return false;
    Reverse = *Found;
    for (LoadInst *Load : Loads) {
      if (Load->getParent() != First->getParent() || nestedIndexOf(Load->getPointerOperand()) != Reverse)
        return false;
      First = Load->comesBefore(First) ? Load : First;
    }
    return true;
  }

  void keepSent() {
    IRBuilder<> Size(&Allocation);
    Value *Bytes = Allocation.getArgOperand(0);
    Value *Fewer = ConstantInt::get(Bytes->getType(), Forward.Iterations->getZExtValue());
    Allocation.setArgOperand(0, Size.CreateUDiv(Bytes, Fewer, "", /*isExact=*/true));
    IRBuilder<> B(Filled->getLoopPreheader()->getTerminator());
    Value *Sent = Shuffle->getArgOperand(1);
    B.CreateStore(Sent, B.CreateGEP(Sent->getType(), arrayOf(Store->getPointerOperand()), Forward.Outer));
    Store->eraseFromParent();
  }

  void receiveAgain() {
    Type *T = Shuffle->getType();
    IRBuilder<> Ahead(Loops.getLoopFor(First->getParent())->getLoopPreheader()->getTerminator());
    Value *Sent = Ahead.CreateLoad(T, Ahead.CreateGEP(T, arrayOf(First->getPointerOperand()), Reverse.Outer));
    Instruction *Again = Shuffle->clone();
    Again->insertBefore(First->getIterator());
    Again->dropUnknownNonDebugMetadata();
    Again->setOperand(1, Sent);
    Again->setOperand(2, laneAgain(*Shuffle->getArgOperand(2), *Again));
    for (LoadInst *Load : Loads) {
      Load->replaceAllUsesWith(Again);
      Load->eraseFromParent();
    }
  }

  Value *laneAgain(Value &Lane, Instruction &Place) const {
    if (&Lane == Forward.Inner)
      return Reverse.Inner;
    auto *Cast = dyn_cast<CastInst>(&Lane);
    if (!Cast)
      return &Lane;
    Instruction *Copy = Cast->clone();
    Copy->insertBefore(Place.getIterator());
    Copy->setOperand(0, Reverse.Inner);
    return Copy;
  }

  CallInst &Allocation;
  const LoopInfo &Loops;
  const DominatorTree &Before;
  const Uniformity &Threads;
  NestedIndex Forward, Reverse;
  StoreInst *Store = nullptr;
  CallInst *Shuffle = nullptr;
  const Loop *Filled = nullptr;
  SmallVector<LoadInst *> Loads;
  LoadInst *First = nullptr;
};

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
    Changed |= KeptFromLanes(*Allocation, Loops, Before, Threads).run();
  for (auto &[At, Caches] : cachesIn(F, Loops))
    Changed |= Sweeps(*At.first, *At.second, Caches, Loops, Before, Threads).run();
  return Changed;
}

} // namespace

ADGEN_DECLARE_PASS(RematerializeShuffles);

PreservedAnalyses RematerializeShuffles::run(Module &M, ModuleAnalysisManager &) {
  bool Changed = false;
  for (Function &F : M)
    if (F.hasFnAttribute(ActivityAttribute) && !F.isDeclaration())
      Changed |= shuffleAgain(F);
  return Changed ? PreservedAnalyses::none() : PreservedAnalyses::all();
}

} // namespace adgen
