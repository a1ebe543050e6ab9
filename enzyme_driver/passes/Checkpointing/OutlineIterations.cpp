// In C++, iterations of the loops of functions and parallel regions that need nothing but memory that stays as it is
// become functions of their own. An array that every iteration fills before it reads it is each one's own first. Enzyme
// makes a forward and a reverse sweep of each, and RematerializeIterations has the reverse sweep of an iteration begin
// with its forward sweep: what an iteration needs is then kept for one iteration, and not for all of them.
#include "Analysis/Reachability.h"
#include "Analysis/UnderlyingObjects.h"
#include "Checkpointing/IterationScratch.h"
#include "Support/Allocations.h"
#include "Support/Guards.h"
#include "Support/Iterations.h"
#include "Support/Pass.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/CodeExtractor.h"

#define DEBUG_TYPE "adgen-outline-iterations"

using namespace llvm;

STATISTIC(NumOutlined, "Number of iterations outlined");

namespace adgen {
namespace {

bool allocates(const CallBase &Call) { return Call.returnDoesNotAlias(); }

// Has no effect on memory but on what it allocates or frees.
bool isHarmless(const CallBase &Call) {
  const Function *Callee = Call.getCalledFunction();
  if (!Callee || allocates(Call) || isRelease(Call))
    return Callee;
  auto *Known = dyn_cast<IntrinsicInst>(&Call);
  return (Known && Known->isAssumeLikeIntrinsic()) || isHeld(&Call) || Call.doesNotAccessMemory() ||
         Call.doesNotReturn();
}

// What an iteration without loops in loops would keep is hardly more than what it reads, and not worth a second run.
bool hasNest(const Loop &L) {
  return any_of(L.getSubLoops(), [](const Loop *Inner) { return !Inner->isInnermost(); });
}

class Body {
public:
  Body(Loop &L, const UnderlyingObjects &Memory, IterationScratch Scratch)
      : L(L), Memory(Memory), F(*L.getHeader()->getParent()), Scratch(std::move(Scratch)) {}

  // Whether it can be a function that is run again at any time until the gradient ends.
  bool canBeOutlined() { return hasForm() && findEnds() && needsNothingThatChanges() && HasMemory; }

  void outline(unsigned Number) {
    Scratch.giveEachIterationItsOwn();
    BasicBlock *Tail = separateTail();
    BasicBlock *Header = L.getHeader();
    BasicBlock *First = SplitBlock(Header, afterHoisted());
    SmallSetVector<BasicBlock *, 16> Blocks;
    Blocks.insert(First);
    for (BasicBlock *Block : L.blocks())
      if (Block != Header && Block != Tail)
        Blocks.insert(Block);
    for (BasicBlock *Block : make_early_inc_range(Parts))
      if (Block != Header)
        Blocks.insert(Block);
    for (BasicBlock *Block : Blocks)
      for (Instruction &I : *Block)
        if (isa<StoreInst>(I))
          Stores.insert(&I);
    DominatorTree Tree(F);
    CodeExtractor Extractor(Blocks.getArrayRef(), &Tree, false, nullptr, nullptr, nullptr, false, true);
    Function *Iteration = Extractor.isEligible() ? Extractor.extractCodeRegion(CodeExtractorAnalysisCache(F)) : nullptr;
    if (!Iteration)
      return;
    Iteration->setName(IterationPrefix + Twine(Number));
    Iteration->setLinkage(GlobalValue::InternalLinkage);
    Iteration->addFnAttr(Attribute::NoInline);
    for (Argument &A : Iteration->args())
      A.setName("value" + Twine(A.getArgNo()));
    mark(*Iteration);
  }

private:
  // Left at its end only, where the values that the next iteration gets are computed from this one's.
  bool hasForm() {
    BasicBlock *Latch = L.getLoopLatch();
    auto *Branch = Latch ? dyn_cast<BranchInst>(Latch->getTerminator()) : nullptr;
    if (!L.getLoopPreheader() || !Branch || !Branch->isConditional() || !L.isLoopExiting(Latch))
      return false;
    Exit = Branch->getSuccessor(L.contains(Branch->getSuccessor(0)));
    Last.insert(Branch);
    auto *Condition = dyn_cast<Instruction>(Branch->getCondition());
    if (Condition && L.contains(Condition) && !joinsEnd(*Condition))
      return false;
    for (PHINode &Phi : L.getHeader()->phis())
      if (auto *Next = dyn_cast<Instruction>(Phi.getIncomingValueForBlock(Latch)); Next && L.contains(Next))
        if (!isa<PHINode>(Next) && !isAtBegin(*Next) && !joinsEnd(*Next))
          return false;
    return true;
  }

  // Whether it can be computed before everything else.
  bool isAtBegin(Instruction &I) {
    bool Early = !I.mayReadOrWriteMemory() && all_of(I.operands(), [&](const Use &U) {
      auto *Phi = dyn_cast<PHINode>(U.get());
      return L.isLoopInvariant(U.get()) || (Phi && Phi->getParent() == L.getHeader());
    });
    if (Early)
      Hoisted.insert(&I);
    return Early;
  }

  // Whether it can be computed after everything else: nobody asks for it before.
  bool joinsEnd(Instruction &I) {
    bool Late =
        isa<BinaryOperator, CmpInst>(I) && all_of(I.users(), [&](const User *U) {
          auto *User = cast<Instruction>(U);
          return Last.contains(User) || !L.contains(User) || (isa<PHINode>(User) && User->getParent() == L.getHeader());
        });
    if (Late)
      Last.insert(&I);
    return Late;
  }

  // The blocks of the loop, and those that end the process. False where such a block is reached from elsewhere.
  bool findEnds() {
    Parts.insert(L.block_begin(), L.block_end());
    for (unsigned I = 0; I < Parts.size(); ++I)
      for (BasicBlock *Next : successors(Parts[I]))
        if (Next != Exit)
          Parts.insert(Next);
    return all_of(Parts, [&](BasicBlock *Block) {
      return L.contains(Block) ||
             (all_of(predecessors(Block), [&](BasicBlock *From) { return Parts.contains(From); }) &&
              !isa<ReturnInst>(Block->getTerminator()));
    });
  }

  bool isLocal(const Value *Object) const {
    auto *I = dyn_cast_or_null<Instruction>(Object);
    return I && I->getFunction() == &F &&
           (Scratch.contains(I) || Parts.contains(I->getParent()) || (isa<AllocaInst>(I) && isUsedHereOnly(*I)));
  }

  bool isUsedHereOnly(const Instruction &Variable) const {
    return all_of(Variable.users(), [&](const User *U) { return Parts.contains(cast<Instruction>(U)->getParent()); });
  }

  // Memory from outside that may be read; false where it may be written once the iteration has begun.
  bool stays(const Value *Pointer) {
    const UnderlyingObjects::Set &Objects = Memory.of(Pointer);
    return !Objects.empty() && all_of(Objects, [&](const Value *Object) {
      return isLocal(Object) || (Object && !Changing().contains(Object));
    });
  }

  // What may be written from the first iteration on until the entry ends.
  const UnderlyingObjects::Set &Changing() {
    if (!Written) {
      Written.emplace();
      for (const Function &Other : *F.getParent())
        for (const Instruction &I : instructions(Other))
          if (UnderlyingObjects::Set To = Memory.writtenBy(I); !To.empty() && mayFollow(L.getHeader()->front(), I))
            Written->insert_range(To);
    }
    return *Written;
  }

  bool needsNothingThatChanges() {
    if (Changing().contains(nullptr))
      return false;
    for (BasicBlock *Block : Parts)
      for (Instruction &I : *Block)
        if (!canRunAgain(I))
          return false;
    return true;
  }

  bool canRunAgain(Instruction &I) {
    if (auto *Load = dyn_cast<LoadInst>(&I))
      return Load->isSimple() && stays(Load->getPointerOperand());
    if (auto *Store = dyn_cast<StoreInst>(&I))
      return Store->isSimple() && canWrite(I, Store->getPointerOperand(), Store->getValueOperand()->getType());
    if (auto *Whole = dyn_cast<MemIntrinsic>(&I)) {
      auto *Copy = dyn_cast<MemTransferInst>(Whole);
      return !Whole->isVolatile() && canWrite(I, Whole->getRawDest(), nullptr) &&
             (!Copy || stays(Copy->getRawSource()));
    }
    if (auto *Call = dyn_cast<CallBase>(&I))
      return onlyReadsWhatStays(*Call) ||
             (isHarmless(*Call) && (!isRelease(*Call) || all_of(Memory.of(Call->getArgOperand(0)),
                                                                [&](const Value *Object) { return isLocal(Object); })));
    return !I.mayReadOrWriteMemory();
  }

  // A function such as those that find what a loop selects (RematerializeSelections).
  bool onlyReadsWhatStays(const CallBase &Call) {
    const Function *Callee = Call.getCalledFunction();
    return Callee && !Callee->isDeclaration() && Callee->onlyReadsMemory() &&
           all_of(instructions(*Callee), [&](const Instruction &I) {
             auto *Load = dyn_cast<LoadInst>(&I);
             return !I.mayReadOrWriteMemory() || (Load && Load->isSimple() && stays(Load->getPointerOperand()));
           });
  }

  // Of memory from outside the second run writes nothing, and the shadows of addresses are written by it alone, which
  // is too late: so only numbers may go there.
  bool canWrite(Instruction &I, const Value *Pointer, const Type *Written) {
    const UnderlyingObjects::Set &Objects = Memory.of(Pointer);
    if (all_of(Objects, [&](const Value *Object) { return isLocal(Object); }))
      return HasMemory = true;
    Effects.push_back(&I);
    bool IsNumber =
        Written && (Written->isFloatingPointTy() || (Written->isIntegerTy() && Written->getIntegerBitWidth() < 64));
    return IsNumber && none_of(Objects, [&](const Value *Object) { return isLocal(Object); });
  }

  Instruction *afterHoisted() {
    Instruction *First = &*L.getHeader()->getFirstInsertionPt();
    for (Instruction *I : Hoisted) {
      if (I == First)
        First = I->getNextNode();
      else
        I->moveBefore(First->getIterator());
    }
    return First;
  }

  BasicBlock *separateTail() {
    BasicBlock *Latch = L.getLoopLatch();
    Instruction *Branch = Latch->getTerminator(), *First = Branch;
    for (Instruction *I : Last) // users come before what they use
      if (I != Branch) {
        I->moveBefore(First->getIterator());
        First = I;
      }
    return SplitBlock(Latch, First);
  }

  // What was stored by the region is stored through a pointer that the iteration was handed.
  void mark(Function &Iteration) {
    MDNode *Mark = MDNode::get(F.getContext(), {});
    for (Instruction *I : Effects)
      I->setMetadata(EffectMark, Mark);
    for (Instruction &I : instructions(Iteration)) // results that CodeExtractor hands back
      if (auto *Store = dyn_cast<StoreInst>(&I);
          Store && isa<Argument>(Store->getPointerOperand()) && !Stores.contains(Store))
        Store->setMetadata(EffectMark, Mark);
  }

  Loop &L;
  const UnderlyingObjects &Memory;
  Function &F;
  IterationScratch Scratch;
  BasicBlock *Exit = nullptr; // where the loop ends
  SmallSetVector<BasicBlock *, 16> Parts;
  SmallSetVector<Instruction *, 4> Hoisted, Last;
  SmallVector<Instruction *> Effects;         // on memory from outside
  SmallPtrSet<const Instruction *, 8> Stores; // of the loop itself
  std::optional<UnderlyingObjects::Set> Written;
  bool HasMemory = false; // of its own, which Enzyme would keep
};

} // namespace

ADGEN_DECLARE_PASS(OutlineIterations);

PreservedAnalyses OutlineIterations::run(Module &M, ModuleAnalysisManager &MAM) {
  auto &FAM = MAM.getResult<FunctionAnalysisManagerModuleProxy>(M).getManager();
  unsigned Number = 0;
  SmallVector<Function *> Regions;
  for (Function &F : M)
    if ((F.getName().starts_with(RegionPrefix) || F.getName().starts_with(BodyPrefix)) && !F.isDeclaration())
      Regions.push_back(&F);
  for (Function *F : Regions) {
    const UnderlyingObjects Memory(M);
    auto &Loops = FAM.getResult<LoopAnalysis>(*F);
    auto &Tree = FAM.getResult<DominatorTreeAnalysis>(*F);
    auto &SE = FAM.getResult<ScalarEvolutionAnalysis>(*F);
    SmallVector<std::unique_ptr<Body>> Found;
    bool IsParallel = F->getName().starts_with(RegionPrefix);
    for (Loop *L : Loops) {
      if (!IsParallel && !hasNest(*L))
        continue;
      if (auto Of = std::make_unique<Body>(*L, Memory, IterationScratch(*L, SE, Tree, Loops)); Of->canBeOutlined())
        Found.push_back(std::move(Of));
    }
    for (auto &Of : Found) {
      ADGEN_COUNT(NumOutlined, F->getName());
      Of->outline(Number++);
    }
  }
  return PreservedAnalyses::none();
}

} // namespace adgen
