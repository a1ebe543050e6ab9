// Shared arrays are brought into the form in which adgen-rematerialize-shared-loads fills them again for the reverse
// sweep, as tiles of matrices are that are copied 16 bytes at a time:
//   if (inside) { s[i] = x[at]; } else { s[i] = 0; }   becomes   v = inside ? x[at] : 0; s[i] = v;
//   for (...) { ...; at += step; }                     becomes   for (j = 0; ...; ++j) { at = begin + j * step; ... }
// so that there is one store, and what it stores follows from the iteration. And the lanes of a warp exchange indices
// that stay the same before the loop: Enzyme would keep each of them for each iteration. A shuffle of x + c is the
// shuffle of x, plus c.
#include "Checkpointing/SharedArrays.h"
#include "Support/Pass.h"

#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/PatternMatch.h"
#include "llvm/Transforms/Utils/ScalarEvolutionExpander.h"

#define DEBUG_TYPE "adgen-expose-refills"

using namespace llvm;

STATISTIC(NumStores, "Number of stores of two branches made one");
STATISTIC(NumShuffles, "Number of shuffles moved or merged");

namespace adgen {
namespace {

// Of a counter: in fewer it may begin again at zero.
constexpr unsigned LeastBits = 32;
constexpr StringLiteral Shuffle = "adgen_hidden_llvm.nvvm.shfl.sync.idx.i32";

// Both branches of a condition end with stores to the same elements of shared arrays.
class Merging {
public:
  Merging(BasicBlock &Merge, const SharedArrays &Arrays) : Merge(Merge), Arrays(Arrays) {}

  bool run() {
    SmallVector<BasicBlock *, 2> Ways(predecessors(&Merge));
    if (Ways.size() != 2 || Ways[0] == Ways[1] || !isa<BranchInst>(Ways[0]->getTerminator()))
      return false;
    for (BasicBlock *Way : Ways)
      if (Way->getSingleSuccessor() != &Merge || Way->getSinglePredecessor() != Ways[0]->getSinglePredecessor() ||
          !collect(*Way))
        return false;
    SmallVector<StoreInst *> &One = Stores[Ways[0]], &Other = Stores[Ways[1]];
    if (One.empty() || One.size() != Other.size())
      return false;
    for (auto [A, B] : zip(One, Other))
      if (A->getValueOperand()->getType() != B->getValueOperand()->getType() ||
          !isSame(A->getPointerOperand(), B->getPointerOperand()))
        return false;
    BasicBlock::iterator At = Merge.getFirstInsertionPt();
    for (auto [A, B] : zip(One, Other)) {
      ADGEN_COUNT(NumStores, *A);
      merge(*A, *B, At);
    }
    return true;
  }

private:
  // The stores of a branch, if it does nothing else but read and compute.
  bool collect(BasicBlock &Way) {
    for (Instruction &I : Way) {
      auto *Store = dyn_cast<StoreInst>(&I);
      if (Store && Store->isSimple() && Arrays.find(Store->getPointerOperand()))
        Stores[&Way].push_back(Store);
      else if (I.mayHaveSideEffects() || isa<PHINode>(I))
        return false;
      // What is read behind a store must not be what was stored.
      if (I.mayReadFromMemory() && any_of(Stores[&Way], [&](StoreInst *S) {
            auto *Load = dyn_cast<LoadInst>(&I);
            return !Load || Arrays.find(Load->getPointerOperand()) ||
                   !isa<Argument>(getUnderlyingObject(Load->getPointerOperand(), 0));
          }))
        return false;
    }
    return true;
  }

  static bool isSame(const Value *A, const Value *B) {
    auto *One = dyn_cast<GetElementPtrInst>(A), *Other = dyn_cast<GetElementPtrInst>(B);
    return A == B || (One && Other && One->isIdenticalTo(Other));
  }

  void merge(StoreInst &One, StoreInst &Other, BasicBlock::iterator At) {
    IRBuilder<> B(&Merge, Merge.begin());
    PHINode *Stored = B.CreatePHI(One.getValueOperand()->getType(), 2);
    Stored->addIncoming(One.getValueOperand(), One.getParent());
    Stored->addIncoming(Other.getValueOperand(), Other.getParent());
    auto *Address = dyn_cast<Instruction>(One.getPointerOperand());
    if (Address && Address->getParent() == One.getParent()) {
      Instruction *Made = Address->clone();
      Made->insertBefore(At);
      One.setOperand(StoreInst::getPointerOperandIndex(), Made);
    }
    One.setOperand(0, Stored);
    if (Stored->getType()->isFPOrFPVectorTy()) { // a sum, for Enzyme does not see the type of a zero
      B.SetInsertPoint(At);
      One.setOperand(0, B.CreateFAdd(Stored, ConstantFP::getNegativeZero(Stored->getType())));
    }
    One.setAlignment(std::min(One.getAlign(), Other.getAlign()));
    One.dropUnknownNonDebugMetadata();
    One.moveBefore(Merge, At);
    Other.eraseFromParent();
  }

  BasicBlock &Merge;
  const SharedArrays &Arrays;
  DenseMap<BasicBlock *, SmallVector<StoreInst *>> Stores;
};

// What a loop moves on in equal steps follows from its counter, beside loops that fill a shared array.
class Walking {
public:
  Walking(Loop &L, ScalarEvolution &SE) : L(L), SE(SE) {}

  bool run() {
    PHINode *Counter = nullptr;
    SmallVector<std::pair<PHINode *, const SCEVAddRecExpr *>> Moved;
    for (PHINode &Phi : L.getHeader()->phis()) {
      if (!SE.isSCEVable(Phi.getType()))
        continue;
      auto *Course = dyn_cast<SCEVAddRecExpr>(SE.getSCEV(&Phi));
      if (!Course || !Course->isAffine() || Course->getLoop() != &L)
        continue;
      bool Counts = Phi.getType()->isIntegerTy() && Phi.getType()->getIntegerBitWidth() >= LeastBits;
      if (Counts && Course->getStart()->isZero() && Course->getStepRecurrence(SE)->isOne())
        Counter = &Phi;
      else
        Moved.push_back({&Phi, Course});
    }
    if (!Counter || !L.getLoopPreheader())
      return false;
    bool Changed = false;
    for (auto [Phi, Course] : Moved)
      Changed |= follow(*Phi, *Course, *Counter);
    return Changed;
  }

private:
  bool follow(PHINode &Phi, const SCEVAddRecExpr &Course, PHINode &Counter) {
    Instruction *Before = L.getLoopPreheader()->getTerminator();
    SCEVExpander Expander(SE, "step");
    const SCEV *Step = Course.getStepRecurrence(SE);
    if (!Expander.isSafeToExpandAt(Step, Before))
      return false;
    Value *By = Expander.expandCodeFor(Step, Step->getType(), Before->getIterator());
    IRBuilder<> B(L.getHeader(), L.getHeader()->getFirstInsertionPt());
    Value *Begin = Phi.getIncomingValueForBlock(L.getLoopPreheader());
    Value *Distance = B.CreateMul(B.CreateZExtOrTrunc(&Counter, By->getType()), By);
    Value *Now = Phi.getType()->isPointerTy() ? B.CreateGEP(B.getInt8Ty(), Begin, Distance, Phi.getName())
                                              : B.CreateAdd(Begin, Distance, Phi.getName());
    SE.forgetValue(&Phi);
    Phi.replaceAllUsesWith(Now);
    Phi.eraseFromParent();
    return true;
  }

  Loop &L;
  ScalarEvolution &SE;
};

class Shuffling {
public:
  Shuffling(ScalarEvolution &SE, const DominatorTree &DT, const LoopInfo &Loops) : SE(SE), DT(DT), Loops(Loops) {}

  bool take(CallInst &Call) {
    const SCEV *What = SE.getSCEV(Call.getArgOperand(1)), *From = SE.getSCEV(Call.getArgOperand(2));
    for (auto &[Earlier, OfWhat, OfFrom] : Known) {
      auto *Further = OfFrom == From ? dyn_cast<SCEVConstant>(SE.getMinusSCEV(What, OfWhat)) : nullptr;
      if (!Further || !DT.dominates(Earlier, &Call))
        continue;
      ADGEN_COUNT(NumShuffles, Call);
      Call.replaceAllUsesWith(IRBuilder<>(&Call).CreateAdd(Earlier, Further->getValue()));
      Call.eraseFromParent();
      return true;
    }
    Known.push_back({&Call, What, From});
    return hoist(Call);
  }

private:
  // In front of the loops whose first iterations come to it, by all lanes.
  bool hoist(CallInst &Call) {
    bool Changed = false;
    for (const Loop *L = Loops.getLoopFor(Call.getParent()); L && L->getLoopPreheader(); L = L->getParentLoop()) {
      SmallVector<BasicBlock *> Exits;
      L->getExitingBlocks(Exits);
      if (Exits.empty() || !all_of(Call.args(), [&](const Use &U) { return L->isLoopInvariant(U); }) ||
          !all_of(Exits, [&](BasicBlock *Block) { return DT.dominates(Call.getParent(), Block); }))
        break;
      ADGEN_COUNT(NumShuffles, Call);
      Call.moveBefore(L->getLoopPreheader()->getTerminator()->getIterator());
      Changed = true;
    }
    return Changed;
  }

  ScalarEvolution &SE;
  const DominatorTree &DT;
  const LoopInfo &Loops;
  SmallVector<std::tuple<CallInst *, const SCEV *, const SCEV *>> Known;
};

// Of indices, by all lanes.
bool isShuffle(const Instruction &I) {
  auto *Call = dyn_cast<CallInst>(&I);
  return Call && Call->getCalledFunction() && Call->getCalledFunction()->getName() == Shuffle &&
         match(Call->getArgOperand(0), PatternMatch::m_AllOnes()) &&
         match(Call->getArgOperand(3), PatternMatch::m_SpecificInt(31));
}

// What the thread has stored to the place a moment ago, which the optimiser, who takes shared arrays for one memory,
// reads again: `ids[lane] = list[at]; depths[lane] = depth_of[ids[lane]];`.
Value *storedBefore(LoadInst &Load, const SharedArrays &Arrays) {
  Argument *A = Load.isSimple() ? Arrays.find(Load.getPointerOperand()) : nullptr;
  if (!A)
    return nullptr;
  for (Instruction *I = Load.getPrevNode(); I; I = I->getPrevNode()) {
    auto *Store = dyn_cast<StoreInst>(I);
    if (Store && Store->isSimple() && Store->getPointerOperand() == Load.getPointerOperand())
      return Store->getValueOperand()->getType() == Load.getType() ? Store->getValueOperand() : nullptr;
    if (Arrays.mayWrite(*I, A) || isBlockBarrier(*I) || isOtherMeeting(*I))
      return nullptr;
  }
  return nullptr;
}

bool readFromStores(BasicBlock &Block, const SharedArrays &Arrays) {
  bool Changed = false;
  for (Instruction &I : make_early_inc_range(Block)) {
    auto *Load = dyn_cast<LoadInst>(&I);
    Value *Stored = Load ? storedBefore(*Load, Arrays) : nullptr;
    if (!Stored)
      continue;
    Load->replaceAllUsesWith(Stored);
    Load->eraseFromParent();
    Changed = true;
  }
  return Changed;
}

bool expose(Function &Body, FunctionAnalysisManager &FAM) {
  const SharedArrays Arrays(Body);
  auto &Loops = FAM.getResult<LoopAnalysis>(Body);
  auto &SE = FAM.getResult<ScalarEvolutionAnalysis>(Body);
  Shuffling Shuffles(SE, FAM.getResult<DominatorTreeAnalysis>(Body), Loops);
  SmallSetVector<Loop *, 4> Filling;
  SmallVector<CallInst *> Calls;
  bool Changed = false;
  for (BasicBlock *Block : ReversePostOrderTraversal<Function *>(&Body)) {
    Changed |= Merging(*Block, Arrays).run() | readFromStores(*Block, Arrays);
    for (Instruction &I : *Block) {
      auto *Store = dyn_cast<StoreInst>(&I);
      if (Store && Arrays.find(Store->getPointerOperand()))
        Filling.insert(Loops.getLoopFor(Block));
      if (isShuffle(I))
        Calls.push_back(cast<CallInst>(&I));
    }
  }
  for (CallInst *Call : Calls)
    Changed |= Shuffles.take(*Call);
  for (Loop *L : Filling)
    Changed |= L && Walking(*L, SE).run();
  return Changed;
}

} // namespace

ADGEN_DECLARE_PASS(ExposeRefills);

PreservedAnalyses ExposeRefills::run(Module &M, ModuleAnalysisManager &MAM) {
  auto &FAM = MAM.getResult<FunctionAnalysisManagerModuleProxy>(M).getManager();
  bool Changed = false;
  for (Function &F : M)
    if (F.getName().starts_with(BodyPrefix) && !F.isDeclaration() && !sharedNames(F).empty())
      Changed |= expose(F, FAM);
  return Changed ? PreservedAnalyses::none() : PreservedAnalyses::all();
}

} // namespace adgen
