// In gradients of C++ on the host. The derivative of an exponential is the exponential, which Enzyme computes again,
// and so it does with what it needs of other mathematics. Where a loop of the forward sweep has called the function
// with the same numbers,
//   for (i = 0; i < n; i++) sum += exp(x[i]);   becomes   for (...) sum += kept[i] = exp(x[i]);
//   for (i = n - 1; i >= 0; i--) dx[i] += d * exp(x[i]);  for (...) dx[i] += d * (there is kept[i] ? kept[i] :
//   exp(x[i]));
// Whether something has been kept is asked when the gradient runs: nothing depends on the ways that lead from one loop
// to the other. Of a call that only some iterations make, the others keep NaN, which says so.
#include "Analysis/EnzymeCaches.h"
#include "Analysis/LibraryMath.h"
#include "Cache/Kept.h"
#include "Support/Iterations.h"
#include "Support/Pass.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/Analysis/CFG.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/PromoteMemToReg.h"
#include "llvm/Transforms/Utils/ScalarEvolutionExpander.h"

#define DEBUG_TYPE "adgen-cache-math-calls"

using namespace llvm;

STATISTIC(NumCalls, "Number of calls cached");

namespace adgen {
namespace {

constexpr uint64_t MostKept = 64 << 20; // bytes for the results of one call
constexpr unsigned MostCompared = 200;  // operations that lead to what is handed to a function

// What a number of the forward loop's iteration is in that iteration of the reversal which has the same number: the
// last one comes first.
class Mirrored : public SCEVRewriteVisitor<Mirrored> {
public:
  Mirrored(ScalarEvolution &SE, const Loop &Forward, const Loop &Reverse)
      : SCEVRewriteVisitor(SE), Forward(Forward), Reverse(Reverse), Last(SE.getBackedgeTakenCount(&Reverse)) {}

  const SCEV *of(const SCEV *S) {
    Fits = true;
    const SCEV *Result = visit(S);
    return Fits ? Result : SE.getCouldNotCompute();
  }

  const SCEV *visitAddRecExpr(const SCEVAddRecExpr *Steps) {
    if (Steps->getLoop() != &Forward)
      return Steps;
    if (!Steps->isAffine()) {
      Fits = false;
      return Steps;
    }
    const SCEV *Step = Steps->getStepRecurrence(SE), *Number = SE.getTruncateOrZeroExtend(Last, Step->getType());
    const SCEV *Start = SE.getAddExpr(Steps->getStart(), SE.getMulExpr(Step, Number));
    return SE.getAddRecExpr(Start, SE.getNegativeSCEV(Step), &Reverse, SCEV::FlagAnyWrap);
  }

  const SCEV *visitUnknown(const SCEVUnknown *Other) {
    auto *I = dyn_cast<Instruction>(Other->getValue());
    Fits &= !I || !Forward.contains(I);
    return Other;
  }

private:
  const Loop &Forward, &Reverse;
  const SCEV *Last;
  bool Fits = true;
};

// A loop of the forward sweep and one that may be its reversal, in the same loop around them, if any.
class Pair {
public:
  Pair(const Loop &Forward, const Loop &Reverse, LoopInfo &LI, const DominatorTree &DT, ScalarEvolution &SE)
      : Forward(Forward), Reverse(Reverse), LI(LI), DT(DT), SE(SE), Mirror(SE, Forward, Reverse) {}

  bool areSameCalls(const CallInst &First, const CallInst &Again) {
    Compared = 0;
    return areSameOperands(First, Again);
  }

private:
  bool areSameOperands(const User &Mine, const User &Other) {
    return all_of(zip(Mine.operands(), Other.operands()),
                  [&](const auto &Both) { return areSame(std::get<0>(Both), std::get<1>(Both)); });
  }

  bool areSame(Value *Mine, Value *Other) {
    if (++Compared > MostCompared)
      return false;
    Mine = resolved(Mine, /*AlsoUnset=*/false);
    Other = resolved(Other, /*AlsoUnset=*/true);
    auto *I = dyn_cast<Instruction>(Mine), *J = dyn_cast<Instruction>(Other);
    if (Mine == Other)
      return !I || (!Forward.contains(I) && !Reverse.contains(I));
    if (SE.isSCEVable(Mine->getType()) && Mine->getType() == Other->getType() &&
        Mirror.of(SE.getSCEV(Mine)) == SE.getSCEV(Other))
      return true;
    if (!I || !J || !Reverse.contains(J))
      return false;
    if (isa<LoadInst>(J) && isKept(*Mine, cast<LoadInst>(*J)))
      return true;
    return Forward.contains(I) && I->isSameOperationAs(J) && isRepeatable(*I) && isRepeatable(*J) &&
           areSameOperands(*I, *J);
  }

  // What stands outside of both loops is there once for each run of the loop around them. A number that is not set on
  // some way is what it is on the others: on that way nothing can be wrong.
  Value *resolved(Value *V, bool AlsoUnset) const {
    while (auto *Phi = dyn_cast<PHINode>(V)) {
      Loop *Around = LI.getLoopFor(Phi->getParent());
      Value *Only = Around == Forward.getParentLoop() && !LI.isLoopHeader(Phi->getParent()) ? onlyValue(*Phi, AlsoUnset)
                                                                                            : nullptr;
      if (!Only)
        break;
      V = Only;
    }
    return V;
  }

  static Value *onlyValue(const PHINode &Phi, bool AlsoUnset) {
    Value *Only = nullptr;
    for (Value *Each : Phi.incoming_values()) {
      if (AlsoUnset && isa<UndefValue>(Each))
        continue;
      if (Only && Only != Each)
        return nullptr;
      Only = Each;
    }
    return Only;
  }

  static bool isRepeatable(const Instruction &I) {
    if (auto *Load = dyn_cast<LoadInst>(&I))
      return Load->isSimple() && Load->hasMetadata(LLVMContext::MD_invariant_load);
    return !isa<PHINode, AllocaInst>(I) && !I.isTerminator() && !I.mayReadOrWriteMemory() && !I.mayHaveSideEffects();
  }

  // Whether the load is of a cache of Enzyme's that holds this number of each iteration, and nothing else.
  bool isKept(const Value &Mine, LoadInst &Load) {
    auto *Cache = dyn_cast<CallInst>(getUnderlyingObject(Load.getPointerOperand()));
    if (!Load.isSimple() || !isCacheAllocation(Cache))
      return false;
    StoreInst *Store = onlyStoreTo(*Cache, LI);
    return Store && Store->getValueOperand() == &Mine && Forward.contains(Store) &&
           DT.dominates(Store->getParent(), Forward.getLoopLatch()) &&
           LI.getLoopFor(Cache->getParent()) == Forward.getParentLoop() && isOfEach(*Store) &&
           areSame(Store->getPointerOperand(), Load.getPointerOperand());
  }

  // Whether each iteration of the forward loop stores to an element of its own.
  bool isOfEach(StoreInst &Store) {
    auto *Steps = dyn_cast<SCEVAddRecExpr>(SE.getSCEV(Store.getPointerOperand()));
    auto *Step = Steps && Steps->getLoop() == &Forward ? dyn_cast<SCEVConstant>(Steps->getStepRecurrence(SE)) : nullptr;
    return Step && Step->getAPInt() == Store.getDataLayout().getTypeStoreSize(Store.getValueOperand()->getType());
  }

  const Loop &Forward, &Reverse;
  LoopInfo &LI;
  const DominatorTree &DT;
  ScalarEvolution &SE;
  Mirrored Mirror;
  unsigned Compared = 0;
};

// Where a result is read: if it has been kept, from that place of what has been kept.
struct Read {
  CallInst *Instead;
  Value *Is, *Place;
  bool InSome; // iterations of the forward loop alone
};

class Keeper {
public:
  Keeper(Function &F, FunctionAnalysisManager &FAM)
      : F(F), DT(FAM.getResult<DominatorTreeAnalysis>(F)), LI(FAM.getResult<LoopAnalysis>(F)),
        SE(FAM.getResult<ScalarEvolutionAnalysis>(F)), Expander(SE, "kept"), Runtime(*F.getParent()),
        Number(Type::getInt64Ty(F.getContext())) {}

  bool run() {
    const ReversePostOrderTraversal<const Function *> Order(&F);
    if (containsIrreducibleCFG<const BasicBlock *>(Order, LI))
      return false;
    SmallVector<CallInst *> Calls;
    for (Instruction &I : instructions(F))
      if (auto *Call = dyn_cast<CallInst>(&I);
          Call && isMathematics(*Call) && isCounted(LI.getLoopFor(Call->getParent())))
        Calls.push_back(Call);
    for (CallInst *Again : Calls)
      if (CallInst *First = findFirst(Calls, *Again))
        Found[First].push_back(Again);
    for (auto &[First, Repeated] : Found) {
      ADGEN_COUNT(NumCalls, *First);
      keep(*First, Repeated);
    }
    if (Found.empty())
      return false;
    for (const Read &Each : Reads)
      split(Each);
    DominatorTree Now(F);
    PromoteMemToReg(Variables, Now);
    return true;
  }

private:
  static bool isMathematics(const CallInst &Call) {
    const Function *Callee = Call.getCalledFunction();
    return Callee && isLibraryMath(*Callee) && Call.doesNotAccessMemory() && Call.doesNotThrow() && Call.willReturn();
  }

  // Whether a loop has a number of iterations that is known before it starts.
  bool isCounted(const Loop *L) {
    const SCEV *Last =
        L && L->isLoopSimplifyForm() && L->getExitingBlock() ? SE.getBackedgeTakenCount(L) : SE.getCouldNotCompute();
    return !isa<SCEVCouldNotCompute>(Last) && SE.getTypeSizeInBits(Last->getType()) <= 64 &&
           Expander.isSafeToExpandAt(Last, L->getLoopPreheader()->getTerminator());
  }

  CallInst *findFirst(ArrayRef<CallInst *> Calls, const CallInst &Again) {
    if (!isReverse(*Again.getParent()))
      return nullptr;
    const Loop &Reverse = *LI.getLoopFor(Again.getParent());
    auto Is = [&](const CallInst *First) {
      const Loop &Forward = *LI.getLoopFor(First->getParent());
      bool MayBe = First->getCalledFunction() == Again.getCalledFunction() && !isReverse(*First->getParent()) &&
                   &Forward != &Reverse && Forward.getParentLoop() == Reverse.getParentLoop() &&
                   Forward.getExitingBlock() == Forward.getLoopLatch() &&
                   (isInAll(*First) || First->getType()->isFloatingPointTy());
      return MayBe && Pair(Forward, Reverse, LI, DT, SE).areSameCalls(*First, Again);
    };
    auto At = find_if(Calls, Is);
    return At == Calls.end() ? nullptr : *At;
  }

  // Whether every iteration of its loop makes the call.
  bool isInAll(const CallInst &First) const {
    return DT.dominates(First.getParent(), LI.getLoopFor(First.getParent())->getLoopLatch());
  }

  void keep(CallInst &First, ArrayRef<CallInst *> Repeated) {
    const Loop &Forward = *LI.getLoopFor(First.getParent());
    AllocaInst *Count = variable(Number, Forward.getParentLoop()),
               *Memory = variable(PointerType::getUnqual(F.getContext()), nullptr);
    fill(First, Forward, *Count, *Memory);
    for (CallInst *Again : Repeated)
      readInstead(*Again, *Count, *Memory, !isInAll(First));
    for (BasicBlock &Block : F)
      if (isa<ReturnInst>(Block.getTerminator())) {
        IRBuilder<> B(&Block, Block.getFirstInsertionPt());
        B.CreateCall(Runtime.Free, B.CreateLoad(Memory->getAllocatedType(), Memory));
      }
  }

  // Zero in the beginning, and whenever the loop begins once more.
  AllocaInst *variable(Type *T, const Loop *L) {
    IRBuilder<> B(&F.getEntryBlock(), F.getEntryBlock().getFirstNonPHIOrDbgOrAlloca());
    AllocaInst *Made = B.CreateAlloca(T);
    Variables.push_back(Made);
    B.CreateStore(Constant::getNullValue(T), Made);
    if (L) {
      B.SetInsertPoint(L->getHeader(), L->getHeader()->getFirstInsertionPt());
      B.CreateStore(Constant::getNullValue(T), Made);
    }
    return Made;
  }

  Value *expand(const SCEV *S, Instruction &Before) {
    return Expander.expandCodeFor(SE.getTruncateOrZeroExtend(S, Number), Number, Before.getIterator());
  }

  // Where there would be too many, all go to the same element, and none counts as kept.
  void fill(CallInst &First, const Loop &Forward, AllocaInst &Count, AllocaInst &Memory) {
    uint64_t Bytes = F.getDataLayout().getTypeStoreSize(First.getType());
    Instruction &Begin = *Forward.getLoopPreheader()->getTerminator();
    Value *Last = expand(SE.getBackedgeTakenCount(&Forward), Begin);
    IRBuilder<> B(&Begin);
    Value *Fits = B.CreateICmpULT(Last, B.getInt64(MostKept / Bytes)), *All = B.CreateAdd(Last, B.getInt64(1));
    B.CreateCall(Runtime.Free, B.CreateLoad(Memory.getAllocatedType(), &Memory));
    Value *Room = B.CreateMul(B.CreateSelect(Fits, All, B.getInt64(1)), B.getInt64(Bytes));
    Value *Kept = B.CreateCall(Runtime.Keep, Room, "kept");
    B.CreateStore(Kept, &Memory);
    B.CreateStore(B.CreateSelect(Fits, All, B.getInt64(0)), &Count);
    Value *Mask = B.CreateSExt(Fits, Number);

    Instruction *End = isInAll(First) ? First.getNextNode() : Forward.getLoopLatch()->getTerminator();
    Value *Which = expand(SE.getAddRecExpr(SE.getZero(Number), SE.getOne(Number), &Forward, SCEV::FlagAnyWrap), *End);
    Value *Result = isInAll(First) ? &First : resultOrNaN(First, Forward, *End);
    B.SetInsertPoint(End);
    B.CreateStore(Result, B.CreateGEP(First.getType(), Kept, B.CreateAnd(Which, Mask)));
  }

  Value *resultOrNaN(CallInst &First, const Loop &Forward, Instruction &End) {
    AllocaInst *Made = variable(First.getType(), nullptr);
    IRBuilder<> B(Forward.getHeader(), Forward.getHeader()->getFirstInsertionPt());
    B.CreateStore(ConstantFP::getNaN(First.getType()), Made);
    B.SetInsertPoint(First.getNextNode());
    B.CreateStore(&First, Made);
    B.SetInsertPoint(&End);
    return B.CreateLoad(First.getType(), Made);
  }

  void readInstead(CallInst &Again, AllocaInst &Count, AllocaInst &Memory, bool InSome) {
    const Loop &Reverse = *LI.getLoopFor(Again.getParent());
    const SCEV *Last = SE.getTruncateOrZeroExtend(SE.getBackedgeTakenCount(&Reverse), Number);
    Instruction &Begin = *Reverse.getLoopPreheader()->getTerminator();
    Value *Most = expand(Last, Begin);
    IRBuilder<> B(&Begin);
    Value *Is = B.CreateICmpULT(Most, B.CreateLoad(Number, &Count));
    Value *Kept = B.CreateLoad(Memory.getAllocatedType(), &Memory);
    Value *Which = expand(SE.getAddRecExpr(Last, SE.getMinusOne(Number), &Reverse, SCEV::FlagAnyWrap), Again);
    B.SetInsertPoint(&Again);
    Reads.push_back({&Again, Is, B.CreateGEP(Again.getType(), Kept, Which), InSome});
  }

  static void split(const Read &Each) {
    CallInst &Again = *Each.Instead;
    Instruction *Then = nullptr, *Else = nullptr;
    SplitBlockAndInsertIfThenElse(Each.Is, Again.getIterator(), &Then, &Else);
    BasicBlock *Tail = Again.getParent();
    IRBuilder<> B(Then);
    Value *Read = B.CreateLoad(Again.getType(), Each.Place);
    if (Each.InSome) {
      B.CreateCondBr(B.CreateFCmpORD(Read, Read), Tail, Else->getParent());
      Then->eraseFromParent();
    }
    BasicBlock *Reading = B.GetInsertBlock();
    B.SetInsertPoint(Tail, Tail->begin());
    PHINode *Result = B.CreatePHI(Again.getType(), 2);
    Again.replaceAllUsesWith(Result);
    Again.moveBefore(Else->getIterator());
    Result->addIncoming(Read, Reading);
    Result->addIncoming(&Again, Else->getParent());
  }

  Function &F;
  DominatorTree &DT;
  LoopInfo &LI;
  ScalarEvolution &SE;
  SCEVExpander Expander;
  const KeptMemory Runtime;
  Type *Number;
  MapVector<CallInst *, SmallVector<CallInst *, 1>> Found;
  SmallVector<AllocaInst *> Variables;
  SmallVector<Read> Reads;
};

} // namespace

ADGEN_DECLARE_PASS(CacheMathCalls);

PreservedAnalyses CacheMathCalls::run(Module &M, ModuleAnalysisManager &MAM) {
  auto &FAM = MAM.getResult<FunctionAnalysisManagerModuleProxy>(M).getManager();
  bool Changed = false;
  for (Function &F : M)
    if (!F.isDeclaration() && isOfGradient(F))
      Changed |= Keeper(F, FAM).run();
  return Changed ? PreservedAnalyses::none() : PreservedAnalyses::all();
}

} // namespace adgen
