// Two loops that read the same elements in the same order, as two solves with one factorised matrix do. Where Enzyme
// has kept what the first loop read, it takes that for what the second one reads too, but looks it up by the first
// loop's counter, which stands still in the reverse sweep of the second. The second loop's addresses get an offset of
// zero that Enzyme cannot see through, and are others to it.
#include "Support/Guards.h"
#include "Support/Pass.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Analysis/AliasAnalysis.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/PatternMatch.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

using namespace llvm;
using namespace llvm::PatternMatch;

namespace adgen {
namespace {

// A load whose address goes on by the same step with each iteration of a loop.
struct Walk {
  LoadInst *Load;
  const SCEVAddRecExpr *Address;
};

bool differ(const SCEV *A, const SCEV *B, ScalarEvolution &SE) {
  if (isa<SCEVCouldNotCompute>(A) || isa<SCEVCouldNotCompute>(B) || A->getType() != B->getType())
    return false;
  auto *Apart = dyn_cast<SCEVConstant>(SE.getMinusSCEV(A, B));
  return Apart && !Apart->isZero();
}

bool repeats(const Walk &Second, const Walk &First, ScalarEvolution &SE, const DominatorTree &DT) {
  const Loop *A = First.Address->getLoop(), *B = Second.Address->getLoop();
  return A != B && DT.dominates(First.Load, Second.Load) &&
         First.Address->getStepRecurrence(SE) == Second.Address->getStepRecurrence(SE) &&
         !differ(First.Address->getStart(), Second.Address->getStart(), SE) &&
         !differ(SE.getBackedgeTakenCount(A), SE.getBackedgeTakenCount(B), SE);
}

MapVector<const Value *, SmallVector<Walk>> walksByObject(Function &F, ScalarEvolution &SE) {
  MapVector<const Value *, SmallVector<Walk>> Found;
  for (Instruction &I : instructions(F))
    if (auto *Load = dyn_cast<LoadInst>(&I))
      if (auto *Address = dyn_cast<SCEVAddRecExpr>(SE.getSCEV(Load->getPointerOperand())))
        if (auto *Base = dyn_cast<SCEVUnknown>(SE.getPointerBase(Address))) // behind pointers that walk, too
          Found[getUnderlyingObject(Base->getValue())].push_back({Load, Address});
  return Found;
}

// Zeros that are all different to Enzyme: what hides one hides the next.
class Zeros {
public:
  explicit Zeros(Function &F) : Entry(F.getEntryBlock()), Last(ConstantInt::getFalse(F.getContext())) {}

  Value *next() {
    auto Place = Entry.getFirstNonPHIOrDbgOrAlloca();
    if (auto *Before = dyn_cast<Instruction>(Last))
      Place = std::next(Before->getIterator());
    Last = hidden(Last, Place);
    return Last;
  }

private:
  BasicBlock &Entry;
  Value *Last;
};

void separate(Function &F, FunctionAnalysisManager &Analyses) {
  auto &SE = Analyses.getResult<ScalarEvolutionAnalysis>(F);
  auto &DT = Analyses.getResult<DominatorTreeAnalysis>(F);
  MapVector<const Loop *, SmallVector<LoadInst *>> Repeating;
  for (auto &[Object, Walks] : walksByObject(F, SE))
    for (const Walk &Second : Walks)
      if (any_of(Walks, [&](const Walk &First) { return repeats(Second, First, SE, DT); }))
        Repeating[Second.Address->getLoop()].push_back(Second.Load);
  Zeros Hidden(F);
  for (auto &[Loop, Loads] : Repeating) {
    Value *Zero = Hidden.next();
    for (LoadInst *Load : Loads) {
      IRBuilder<> B(Load);
      Load->setOperand(
          0, B.CreateInBoundsGEP(B.getInt8Ty(), Load->getPointerOperand(), B.CreateZExt(Zero, B.getInt64Ty())));
    }
  }
}

// Memory that was allocated and is known under two names. Beside that of a pointer which may also be null, as that of
// an empty vector is, Enzyme overlooks what is written by the second name behind a read by the first. Beside that of
// the next iteration, which reads what this one has allocated, Enzyme allocates it anew in each iteration of the
// reverse sweep.
SmallSetVector<Instruction *, 8> namedTwice(Function &F, const LoopInfo &LI) {
  SmallSetVector<Instruction *, 8> Allocations;
  for (Instruction &I : instructions(F)) {
    if (!isa<PHINode, SelectInst>(I) || !I.getType()->isPointerTy())
      continue;
    bool MayBeNull = any_of(I.operands(), [](const Use &U) { return isa<ConstantPointerNull>(U); });
    const Loop *Carrying = isa<PHINode>(I) && LI.isLoopHeader(I.getParent()) ? LI.getLoopFor(I.getParent()) : nullptr;
    if (!MayBeNull && !Carrying)
      continue;
    SmallVector<const Value *> Objects;
    getUnderlyingObjects(&I, Objects, nullptr, 0);
    for (const Value *Object : Objects)
      if (isNoAliasCall(Object))
        if (auto *Allocation = const_cast<Instruction *>(cast<Instruction>(Object));
            MayBeNull || Carrying->contains(Allocation))
          Allocations.insert(Allocation);
  }
  return Allocations;
}

// So its own name gets to be one that may be null, too.
void nameOnce(Function &F, const LoopInfo &LI) {
  SmallSetVector<Instruction *, 8> Allocations = namedTwice(F, LI);
  Zeros Hidden(F);
  for (Instruction *Allocation : Allocations) {
    auto *Invoke = dyn_cast<InvokeInst>(Allocation);
    BasicBlock *Next = Invoke ? SplitEdge(Invoke->getParent(), Invoke->getNormalDest()) : nullptr;
    IRBuilder<> B(Next ? &*Next->getFirstInsertionPt() : Allocation->getNextNode());
    Value *Null = ConstantPointerNull::get(cast<PointerType>(Allocation->getType()));
    auto *Name = cast<Instruction>(B.CreateSelect(Hidden.next(), Null, Allocation));
    Allocation->replaceUsesWithIf(Name, [&](const Use &U) {
      auto *Call = dyn_cast<CallBase>(U.getUser());
      return U.getUser() != Name && (!Call || isa<MemIntrinsic>(Call));
    });
  }
}

// Whether the address has a recurrence where Enzyme does not look for one: inside of a bound (`max(i - 1, 0)`) or a
// conversion.
const Loop *recurrenceWithin(const SCEV *Address) {
  while (auto *Recurrence = dyn_cast<SCEVAddRecExpr>(Address))
    Address = Recurrence->getStart();
  const Loop *Found = nullptr;
  SCEVExprContains(Address, [&](const SCEV *Part) {
    auto *Recurrence = dyn_cast<SCEVAddRecExpr>(Part);
    Found = Recurrence ? Recurrence->getLoop() : Found;
    return Found != nullptr;
  });
  return Found;
}

// Enzyme adds up the addresses of a load and of a store that may follow it, and scalar evolution ends the process where
// they recur in two loops of which neither comes first. It cannot see through a bound, and nothing is lost where it
// does not see the address at all.
void hideBounded(Function &F, FunctionAnalysisManager &Analyses) {
  auto &SE = Analyses.getResult<ScalarEvolutionAnalysis>(F);
  auto &DT = Analyses.getResult<DominatorTreeAnalysis>(F);
  auto &LI = Analyses.getResult<LoopAnalysis>(F);
  auto Meets = [&](const LoadInst &Load, const Loop &Within) {
    return any_of(instructions(F), [&](Instruction &I) {
      auto *Store = dyn_cast<StoreInst>(&I);
      const Loop *Other = Store ? LI.getLoopFor(Store->getParent()) : nullptr;
      return Other && !DT.dominates(Other->getHeader(), Within.getHeader()) &&
             !DT.dominates(Within.getHeader(), Other->getHeader()) &&
             getUnderlyingObject(Store->getPointerOperand(), 0) == getUnderlyingObject(Load.getPointerOperand(), 0);
    });
  };
  SmallSetVector<GetElementPtrInst *, 8> Addresses; // each with what it starts from
  for (Instruction &I : instructions(F))
    if (auto *Load = dyn_cast<LoadInst>(&I))
      if (const Loop *Within = recurrenceWithin(SE.getSCEV(Load->getPointerOperand())); Within && Meets(*Load, *Within))
        for (auto *At = dyn_cast<GetElementPtrInst>(Load->getPointerOperand()); At;
             At = dyn_cast<GetElementPtrInst>(At->getPointerOperand()))
          Addresses.insert(At);
  Zeros Hidden(F);
  for (GetElementPtrInst *Address : Addresses)
    for (Use &Index : Address->indices())
      if (!isa<Constant>(Index) && Index->getType()->isIntegerTy()) {
        IRBuilder<> B(Address);
        Index.set(B.CreateXor(Index, B.CreateZExt(Hidden.next(), Index->getType())));
      }
}

// Whether the pointer is what a loop has left behind, on one way at least.
bool isLeftByLoop(Value *Pointer, const Instruction &User, const LoopInfo &LI) {
  SmallSetVector<Value *, 8> Ways;
  Ways.insert(Pointer);
  for (unsigned I = 0; I < Ways.size(); ++I) {
    auto *From = dyn_cast<Instruction>(Ways[I]);
    const Loop *Within = From ? LI.getLoopFor(From->getParent()) : nullptr;
    if (Within && !Within->contains(&User))
      return true;
    if (auto *Step = dyn_cast<GetElementPtrInst>(Ways[I]))
      Ways.insert(Step->getPointerOperand());
    if (auto *Phi = dyn_cast<PHINode>(Ways[I]))
      Ways.insert(Phi->value_op_begin(), Phi->value_op_end());
  }
  return false;
}

// How far two pointers are apart that a loop has left behind, as the size of a vector is that has grown in it, is kept.
// Enzyme would find the pointers out again in the reverse sweep, and takes those of another iteration where not every
// one has allocated memory.
void holdSizes(Function &F, const LoopInfo &LI) {
  SmallVector<Instruction *> Sizes;
  for (Instruction &I : instructions(F)) {
    Value *Last = nullptr, *First = nullptr;
    if (match(&I, m_Sub(m_PtrToInt(m_Value(Last)), m_PtrToInt(m_Value(First)))) &&
        (isLeftByLoop(Last, I, LI) || isLeftByLoop(First, I, LI)))
      Sizes.push_back(&I);
  }
  for (Instruction *Size : Sizes)
    hold(*Size, std::next(Size->getIterator()));
}

} // namespace

ADGEN_DECLARE_PASS(SeparateLoads);

PreservedAnalyses SeparateLoads::run(Module &M, ModuleAnalysisManager &MAM) {
  auto &Analyses = MAM.getResult<FunctionAnalysisManagerModuleProxy>(M).getManager();
  for (Function &F : M)
    if (!F.isDeclaration()) {
      holdSizes(F, Analyses.getResult<LoopAnalysis>(F));
      nameOnce(F, Analyses.getResult<LoopAnalysis>(F));
      Analyses.invalidate(F, PreservedAnalyses::none());
      separate(F, Analyses);
      hideBounded(F, Analyses);
    }
  return PreservedAnalyses::none();
}

} // namespace adgen
