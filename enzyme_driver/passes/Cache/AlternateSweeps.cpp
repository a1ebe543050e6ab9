// Where a thread comes by several elements, as with the stride of the grid, no iteration of its loop needs anything of
// another one, and Enzyme keeps what all of them have computed until the reverse sweep. Here the loop of the reverse
// sweep computes an iteration and reverses it at once, from the last iteration to the first: a cache then holds one
// iteration, which stays in the processor's cache, or is a variable where that is one number, and what is read is read
// again while it is near. Cotangents are taken in the order in which they were.
//
// What iterations store, they now store from the last to the first, which does not show where all elements are
// different. They are if the numbers of elements go on by one step and do not begin anew: the compiler knows that, or
// it is asked before the loop. Of other places it is asked meanwhile: all are different as long as each iteration
// stores below what was stored before. Else the loop of the forward sweep runs once more behind the other one.
//
// It is done in a copy of the gradient that the optimiser has cleaned up, as in FuseSweeps. The tape is measured before
// the loop, up to which the names of Enzyme's blocks are kept.
#include "Analysis/EnzymeCaches.h"
#include "Cache/SweepLoops.h"
#include "Cache/SweepOutputs.h"
#include "Cache/Untangle.h"
#include "Support/Iterations.h"
#include "Support/Pass.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/MDBuilder.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "llvm/Transforms/Utils/LoopUtils.h"
#include "llvm/Transforms/Utils/PromoteMemToReg.h"
#include "llvm/Transforms/Utils/ScalarEvolutionExpander.h"

#define DEBUG_TYPE "adgen-alternate-sweeps"

using namespace llvm;

STATISTIC(NumAlternating, "Number of loops of which each iteration is reversed where it was computed, backwards");

namespace adgen {
namespace {

// An index by which the iteration's part of a cache is found.
struct Index {
  GetElementPtrInst *Element;
  bool IsForward;
  const SCEV *Step; // elements an iteration
  bool IsAlone;     // the number of the iteration times that, and nothing else
};

// A cache that the loops of a pair fill and read.
struct Kept {
  CallInst *Allocation;
  const SCEV *Bytes; // of an iteration
};

class Alternator {
public:
  Alternator(Function &F, FunctionAnalysisManager &FAM)
      : F(F), AA(FAM.getResult<AAManager>(F)), DT(FAM.getResult<DominatorTreeAnalysis>(F)),
        LI(FAM.getResult<LoopAnalysis>(F)), SE(FAM.getResult<ScalarEvolutionAnalysis>(F)), Sweeps(LI, SE),
        Outputs(DT, LI, SE) {}

  bool run() {
    for (Loop *L : LI) {
      LoopPair P;
      if (Sweeps.findForward(*L, P.Forward) && Sweeps.findReverse(P, /*InOrder=*/true) && mayAlternate(P)) {
        alternate(P);
        return true;
      }
    }
    return false;
  }

private:
  bool mayAlternate(const LoopPair &P) {
    Loop &L = *P.Forward.L;
    Caches.clear();
    Indices.clear();
    if (P.Join || !hasSingleElement(L.getHeader()->phis()) || !isUnusedOutside(L) || doTogether(L) ||
        doTogether(*P.Reverse.L) || !SweepMemory(P, F, AA, DT, SE).isComputedAlone())
      return false;
    for (Instruction &I : instructions(F))
      if (isCacheAllocation(&I) && !collectCache(P, cast<CallInst>(I)))
        return false;
    return (!Caches.empty() || isReadAgain(P)) && Outputs.collect(P);
  }

  // Whether the reversal reads what its iteration has read, of arrays whose elements belong to iterations.
  bool isReadAgain(const LoopPair &P) {
    SmallPtrSet<const Value *, 8> Arrays;
    forEachOwnLoad(P.Forward, [&](LoadInst &Load) { Arrays.insert(getUnderlyingObject(Load.getPointerOperand(), 0)); });
    bool Found = false;
    forEachOwnLoad(P.Reverse,
                   [&](LoadInst &Load) { Found |= Arrays.contains(getUnderlyingObject(Load.getPointerOperand(), 0)); });
    return Found;
  }

  // Loads of arrays by the loop's own blocks, each of another place.
  void forEachOwnLoad(const Counted &Of, function_ref<void(LoadInst &)> Do) {
    for (BasicBlock *Block : Of.L->blocks())
      for (Instruction &I : *Block)
        if (auto *Load = dyn_cast<LoadInst>(&I); Load && !Of.L->isLoopInvariant(Load->getPointerOperand()))
          Do(*Load);
  }

  static bool doTogether(const Loop &L) {
    return any_of(L.blocks(), [](const BasicBlock *Block) {
      return any_of(*Block, [](const Instruction &I) {
        auto *Call = dyn_cast<CallBase>(&I);
        return Call && Call->isConvergent();
      });
    });
  }

  // False where the cache is not one part for each iteration, which the forward loop fills and the other one reads.
  bool collectCache(const LoopPair &P, CallInst &Allocation) {
    SmallVector<Instruction *> Accesses;
    SetVector<Instruction *> Places;
    Places.insert(&Allocation);
    for (unsigned I = 0; I < Places.size(); ++I)
      for (User *U : Places[I]->users()) {
        auto *By = cast<Instruction>(U);
        auto *Store = dyn_cast<StoreInst>(By);
        if (isa<GetElementPtrInst>(By) && By->getNumOperands() == 2)
          Places.insert(By);
        else if (Store ? Store->getPointerOperand() == Places[I] && P.Forward.L->contains(By)
                       : isa<LoadInst>(By) && P.Reverse.L->contains(By))
          Accesses.push_back(By);
        else if (!isCacheRelease(*By) || LI.getLoopFor(By->getParent()))
          return false;
      }
    Kept Found{&Allocation, nullptr};
    for (Instruction *I : Accesses) {
      const Counted &Of = P.Forward.L->contains(I) ? P.Forward : P.Reverse;
      const SCEV *Offset = SE.getMinusSCEV(SE.getSCEV(getLoadStorePointerOperand(I)), SE.getSCEV(&Allocation));
      const SCEVAddRecExpr *ByIteration = partOf(Of, Offset);
      const SCEV *Bytes = ByIteration ? stepOf(P, *ByIteration) : nullptr;
      if (!Bytes || (Found.Bytes && Found.Bytes != Bytes))
        return false;
      Found.Bytes = Bytes;
    }
    return Accesses.empty() || (holdsAll(P, Found) && collectIndices(P, Places.getArrayRef().drop_front()));
  }

  // How the loop's iterations go on in an expression, whatever loops in them add.
  static const SCEVAddRecExpr *partOf(const Counted &Of, const SCEV *Expression) {
    auto *Steps = dyn_cast<SCEVAddRecExpr>(Expression);
    while (Steps && Steps->getLoop() != Of.L) {
      if (!Of.L->contains(Steps->getLoop()) || !Steps->isAffine())
        return nullptr;
      Steps = dyn_cast<SCEVAddRecExpr>(Steps->getStart());
    }
    return Steps && Steps->isAffine() ? Steps : nullptr;
  }

  // In the order of the forward loop.
  const SCEV *stepOf(const LoopPair &P, const SCEVAddRecExpr &Steps) {
    const SCEV *Step = Steps.getStepRecurrence(SE);
    return Steps.getLoop() == P.Forward.L ? Step : SE.getNegativeSCEV(Step);
  }

  // Whether the cache is as large as one part for each iteration.
  bool holdsAll(const LoopPair &P, const Kept &Cache) {
    const SCEV *Size = SE.getSCEV(Cache.Allocation->getArgOperand(0));
    const SCEV *Last = SE.getNoopOrZeroExtend(P.Forward.Last, Size->getType());
    const SCEV *Count = SE.getAddExpr(Last, SE.getOne(Size->getType()));
    if (!Sweeps.areEqual(Size, SE.getMulExpr(Count, Cache.Bytes)))
      return false;
    Caches.push_back(Cache);
    return true;
  }

  bool collectIndices(const LoopPair &P, ArrayRef<Instruction *> Elements) {
    for (Instruction *I : Elements) {
      auto *Element = cast<GetElementPtrInst>(I);
      Value *Operand = Element->getOperand(1);
      const Counted &Of = P.Forward.L->contains(I) ? P.Forward : P.Reverse;
      if (!Of.L->contains(I))
        return false;
      const SCEV *Number = SE.getSCEV(Operand);
      const SCEVAddRecExpr *ByIteration = partOf(Of, Number);
      if (!ByIteration)
        continue;
      const SCEV *Step = stepOf(P, *ByIteration);
      if (Operand->getType() != Of.Counter->getType())
        return false;
      Indices.push_back({Element, Of.L == P.Forward.L, Step, Number == SE.getMulExpr(Of.Number, Step)});
    }
    return true;
  }

  void alternate(LoopPair &P) {
    createVariables(P);
    IRBuilder<> B(P.Reverse.L->getHeader(), P.Reverse.L->getHeader()->getFirstInsertionPt());
    Number = P.Reverse.Ahead->isZero() ? P.Reverse.Counter : B.CreateSub(P.Reverse.Counter, P.Reverse.Ahead);
    keepOneIteration(P);
    BasicBlock *Left = P.Reverse.L->getExitBlock();
    ValueToValueMapTy Copies;
    compute(P, Copies);
    watchOrder(Copies);
    repair(P, Left);
    for (const Kept &Cache : Caches)
      if (Type *Only = onlyNumberOf(*Cache.Allocation))
        becomeVariable(*Cache.Allocation, *Only, *P.Reverse.L->getHeader());
    DominatorTree Tree(F);
    PromoteMemToReg(Variables, Tree);
    EliminateUnreachableBlocks(F);
  }

  // Whether the order of iterations has not shown so far, and where the last one has stored, for each output.
  void createVariables(const LoopPair &P) {
    IRBuilder<> B(&*F.getEntryBlock().getFirstInsertionPt());
    IRBuilder<> AtBegin(P.Forward.L->getLoopPreheader()->getTerminator());
    auto Create = [&](Value *Begin) {
      Variables.push_back(B.CreateAlloca(Begin->getType()));
      AtBegin.CreateStore(Begin, Variables.back());
    };
    Create(Outputs.ask(P, AtBegin));
    for (unsigned I = 0; I < Outputs.Watched.size(); ++I)
      Create(B.getInt64(-1));
  }

  // The caches lose their room for others.
  void keepOneIteration(const LoopPair &P) {
    SCEVExpander Expander(SE, "part");
    Instruction *Begin = P.Forward.L->getLoopPreheader()->getTerminator();
    for (const Kept &Cache : Caches)
      Cache.Allocation->setArgOperand(
          0, Expander.expandCodeFor(Cache.Bytes, Cache.Bytes->getType(), Cache.Allocation->getIterator()));
    for (const Index &Each : Indices) {
      Value *Alone = ConstantInt::get(Number->getType(), 0);
      if (!Each.IsAlone) {
        Value *Step = Expander.expandCodeFor(Each.Step, Number->getType(), Begin->getIterator());
        IRBuilder<> B(Each.Element);
        Value *Of = Each.IsForward ? P.Forward.Counter : Number;
        Alone = B.CreateSub(Each.Element->getOperand(1), B.CreateMul(Of, Step));
      }
      Each.Element->setOperand(1, Alone);
    }
  }

  // An iteration of the forward loop comes first in its reversal.
  void compute(const LoopPair &P, ValueToValueMapTy &Copies) {
    Loop &Forward = *P.Forward.L;
    SmallVector<BasicBlock *> Blocks;
    for (BasicBlock *Block : Forward.blocks()) {
      Blocks.push_back(CloneBasicBlock(Block, Copies, ".again", &F));
      Copies[Block] = Blocks.back();
    }
    remapInstructionsInBlocks(Blocks, Copies);
    auto *Counter = cast<PHINode>(Copies[P.Forward.Counter]);
    Counter->replaceAllUsesWith(Number);
    Counter->eraseFromParent();
    Copies.erase(P.Forward.Counter);

    BasicBlock *Begin = P.Reverse.L->getHeader(), *Latch = cast<BasicBlock>(Copies[Forward.getLoopLatch()]);
    auto Rest = Number == P.Reverse.Counter ? Begin->getFirstNonPHIIt() : std::next(Begin->getFirstNonPHIIt());
    BasicBlock *Reversal = Begin->splitBasicBlock(Rest, "invert.computed");
    if (!isReverse(*Begin))
      Begin->setName("invert." + Begin->getName());
    redirect(*Begin, cast<BasicBlock>(Copies[Forward.getHeader()]));
    redirect(*Latch, Reversal);
  }

  static void redirect(BasicBlock &From, BasicBlock *To) {
    From.getTerminator()->eraseFromParent();
    BranchInst::Create(To, &From);
  }

  void watchOrder(ValueToValueMapTy &Copies) {
    for (auto [Each, Above] : zip(Outputs.Watched, ArrayRef(Variables).drop_front())) {
      auto *Store = cast<StoreInst>(Copies[Each.First]);
      IRBuilder<> B(Store);
      Value *Address = B.CreatePtrToInt(Store->getPointerOperand(), B.getInt64Ty());
      if (Each.Begin != 0)
        Address = B.CreateAdd(Address, B.getInt64(Each.Begin));
      Value *End = B.CreateAdd(Address, B.getInt64(Each.size()));
      Value *IsBelow = B.CreateICmpULE(End, B.CreateLoad(B.getInt64Ty(), Above));
      B.CreateStore(B.CreateAnd(B.CreateLoad(B.getInt1Ty(), Variables.front()), IsBelow), Variables.front());
      B.CreateStore(Address, Above);
    }
  }

  // The forward loop goes behind the other one, and runs where the order shows.
  void repair(const LoopPair &P, BasicBlock *Left) {
    for (StoreInst *Fill : Outputs.Fills)
      Fill->eraseFromParent();
    Loop &Forward = *P.Forward.L;
    BasicBlock *Before = Forward.getLoopPreheader(), *Header = Forward.getHeader(), *Latch = Forward.getLoopLatch();
    BasicBlock *Behind = Forward.getExitBlock();
    Before->getTerminator()->replaceSuccessorWith(Header, Behind);
    Behind->replacePhiUsesWith(Latch, Before);
    BasicBlock *Done = Left->splitBasicBlock(Left->getFirstNonPHIIt(), "invert.repaired");
    Left->getTerminator()->eraseFromParent();
    IRBuilder<> B(Left);
    if (Outputs.areKnownApart())
      B.CreateBr(Done);
    else
      B.CreateCondBr(B.CreateLoad(B.getInt1Ty(), Variables.front(), "in.order"), Done, Header,
                     MDBuilder(F.getContext()).createLikelyBranchWeights());
    Header->replacePhiUsesWith(Before, Left);
    Latch->getTerminator()->replaceSuccessorWith(Behind, Done);
    addStringMetadataToLoop(&Forward, "llvm.loop.unroll.disable", 1); // it hardly ever runs
  }

  // The type of what an iteration keeps in a cache, where that is one number; null where it is more.
  static Type *onlyNumberOf(const CallInst &Cache) {
    SetVector<Type *> Types;
    for (const User *U : Cache.users()) {
      if (isCacheRelease(*cast<Instruction>(U)))
        continue;
      auto *Element = dyn_cast<GetElementPtrInst>(U);
      if (!Element || !Element->hasAllZeroIndices())
        return nullptr;
      for (const User *Access : Element->users()) {
        auto *Load = dyn_cast<LoadInst>(Access);
        auto *Store = dyn_cast<StoreInst>(Access);
        if (Load ? !Load->isSimple() : !Store || !Store->isSimple())
          return nullptr;
        Types.insert(getLoadStoreType(Access));
      }
    }
    return Types.size() == 1 ? Types.front() : nullptr;
  }

  void becomeVariable(CallInst &Cache, Type &Only, BasicBlock &Begin) {
    Variables.push_back(IRBuilder<>(&*F.getEntryBlock().getFirstInsertionPt()).CreateAlloca(&Only));
    IRBuilder<>(Begin.getTerminator()).CreateStore(UndefValue::get(&Only), Variables.back());
    for (User *U : make_early_inc_range(Cache.users())) {
      if (isa<GetElementPtrInst>(U))
        U->replaceAllUsesWith(Variables.back());
      cast<Instruction>(U)->eraseFromParent();
    }
    Cache.eraseFromParent();
  }

  Function &F;
  AAResults &AA;
  DominatorTree &DT;
  LoopInfo &LI;
  ScalarEvolution &SE;
  SweepLoops Sweeps;
  Value *Number = nullptr; // of the iteration that is reversed
  SmallVector<Kept> Caches;
  SmallVector<Index> Indices;
  SweepOutputs Outputs;
  SmallVector<AllocaInst *> Variables;
};

// Loops whose bound is not compared with the number of the iteration get that comparison: Enzyme's reversal begins with
// the number of the last iteration, and once both are one value it shows that it reverses the loop.
void compareNumbers(Function &F, FunctionAnalysisManager &FAM) {
  auto &SE = FAM.getResult<ScalarEvolutionAnalysis>(F);
  auto &LI = FAM.getResult<LoopAnalysis>(F);
  for (Loop *L : LI) {
    Counted Of;
    if (isReverse(*L->getHeader()) || !SweepLoops(LI, SE).findForward(*L, Of))
      continue;
    Type *T = Of.Counter->getType();
    SCEVExpander Expander(SE, "last");
    if (SE.getTypeSizeInBits(Of.Last->getType()) > SE.getTypeSizeInBits(T) || !Expander.isSafeToExpand(Of.Last))
      continue;
    auto *Choice = cast<BranchInst>(Of.Exiting->getTerminator());
    const SCEV *Last = SE.getNoopOrZeroExtend(Of.Last, T);
    IRBuilder<> B(Choice);
    Value *End = Expander.expandCodeFor(Last, T, L->getLoopPreheader()->getTerminator()->getIterator());
    Choice->setCondition(L->contains(Choice->getSuccessor(0)) ? B.CreateICmpNE(Of.Counter, End)
                                                              : B.CreateICmpEQ(Of.Counter, End));
    SE.forgetLoop(L);
  }
  FAM.invalidate(F, PreservedAnalyses::none());
}

bool alternateAll(Function &F, FunctionAnalysisManager &FAM) {
  compareNumbers(F, FAM);
  clean(F, FAM);
  if (!Alternator(F, FAM).run())
    return false;
  FAM.invalidate(F, PreservedAnalyses::none());
  clean(F, FAM);
  dropUnread(F); // what was kept for the own iteration alone
  return true;
}

} // namespace

ADGEN_DECLARE_PASS(AlternateSweeps);

PreservedAnalyses AlternateSweeps::run(Module &M, ModuleAnalysisManager &MAM) {
  auto &FAM = MAM.getResult<FunctionAnalysisManagerModuleProxy>(M).getManager();
  for (Function *F : gradientsUpTo(M, MostWithSweeps))
    if (FAM.getResult<LoopAnalysis>(*F).getTopLevelLoops().size() > 1)
      replaceByCopy(*F, FAM, [&](Function &Copy) {
        bool Alternates = alternateAll(Copy, FAM);
        if (Alternates)
          ADGEN_COUNT(NumAlternating, F->getName());
        return Alternates;
      });
  return PreservedAnalyses::none();
}

} // namespace adgen
