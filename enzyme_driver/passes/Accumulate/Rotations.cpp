#include "Accumulate/Rotations.h"
#include "Analysis/Accumulation.h"
#include "Analysis/Cycles.h"
#include "Analysis/Uniformity.h"
#include "Support/Threads.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/IR/Operator.h"

using namespace llvm;

namespace adgen {
namespace {

constexpr size_t MostSeldom = 6; // elements to which an iteration may add nothing at all
constexpr int64_t WidestStep =
    16; // bytes between what neighbouring lanes read: further apart it is dearer than what is saved

class Finder {
public:
  Finder(Function &F, LoopInfo &Loops, const DominatorTree &Tree, ScalarEvolution &SE)
      : F(F), Loops(Loops), Tree(Tree), SE(SE), Threads(F, [&](const Value &V) { return kindOnDevice(V, F); }) {}

  SmallVector<Rotation> find() {
    SmallVector<Rotation> Found;
    for (Loop *L : Loops.getLoopsInPreorder())
      if (L->isInnermost() && L->isLoopSimplifyForm() && !hasCycleWithEntries(*L, Loops))
        if (std::optional<Rotation> R = examine(*L))
          Found.push_back(*R);
    return Found;
  }

private:
  // All that has an effect stands before what decides about the end.
  std::optional<Rotation> examine(Loop &L) {
    BasicBlock *Exiting = L.getExitingBlock(), *Latch = L.getLoopLatch();
    auto *Branch = Exiting ? dyn_cast<BranchInst>(Exiting->getTerminator()) : nullptr;
    if (!Branch || !Branch->isConditional() || !L.getExitBlock() ||
        (Latch != Exiting && Latch->getSinglePredecessor() != Exiting) || !isSameInLanes(Branch->getCondition(), L))
      return {};
    Rotation R{&L, Exiting, {}, {}, {}, SE.getBackedgeTakenCount(&L)};
    if (isa<SCEVCouldNotCompute>(R.LastIteration) || SE.getTypeSizeInBits(R.LastIteration->getType()) > 64 ||
        !examinePhis(L, R))
      return {};
    for (BasicBlock *Block : L.blocks())
      for (Instruction &I : *Block)
        if (!examine(I, R))
          return {};
    return R.Elements.empty() || (R.IsSeldom && R.Elements.size() > MostSeldom) ? std::nullopt
                                                                                : std::optional(std::move(R));
  }

  bool examinePhis(const Loop &L, Rotation &R) {
    for (PHINode &Phi : L.getHeader()->phis()) {
      if (isSum(Phi, R))
        continue;
      auto *Counted = Phi.getType()->isIntegerTy() ? dyn_cast<SCEVAddRecExpr>(SE.getSCEV(&Phi)) : nullptr;
      if (!Counted || Counted->getLoop() != &L || !isa<SCEVConstant>(Counted->getStepRecurrence(SE)))
        return false;
      R.Counters.push_back(&Phi);
    }
    return true;
  }

  // A number to which something is added in an iteration, or not, and which nothing else looks at before the end.
  static bool isSum(PHINode &Phi, Rotation &R) {
    auto *Next = dyn_cast<Instruction>(Phi.getIncomingValueForBlock(R.L->getLoopLatch()));
    if (!Phi.getType()->isFloatingPointTy() || !Next)
      return false;
    SmallSetVector<Instruction *, 8> Same;
    Same.insert(&Phi);
    for (unsigned Number = 0; Number < Same.size(); ++Number)
      for (User *U : Same[Number]->users())
        if (auto *I = cast<Instruction>(U); R.L->contains(I))
          Same.insert(I);
    auto IsSame = [&](const Value *V) { return Same.contains(dyn_cast<Instruction>(const_cast<Value *>(V))); };
    bool IsOnlyAdded =
        IsSame(Next) && all_of(Same, [&](const Instruction *I) {
          return I == &Phi ||
                 (addsUp(*I, IsSame) && (I->getParent() != R.L->getLoopLatch() || R.Exiting == R.L->getLoopLatch()));
        });
    if (IsOnlyAdded)
      R.Results.insert(Next);
    return IsOnlyAdded;
  }

  // Whether it is the sum so far, or that and something.
  static bool addsUp(const Instruction &I, function_ref<bool(const Value *)> IsSum) {
    if (auto *Join = dyn_cast<PHINode>(&I))
      return all_of(Join->incoming_values(), [&](const Use &U) { return IsSum(U); });
    if (auto *Choice = dyn_cast<SelectInst>(&I))
      return IsSum(Choice->getTrueValue()) && IsSum(Choice->getFalseValue());
    if (I.getOpcode() == Instruction::FSub)
      return IsSum(I.getOperand(0)) && !IsSum(I.getOperand(1));
    return I.getOpcode() == Instruction::FAdd && IsSum(I.getOperand(0)) != IsSum(I.getOperand(1));
  }

  bool examine(Instruction &I, Rotation &R) {
    const BasicBlock *Block = I.getParent();
    if (AtomicRMWInst *Atomic = asAccumulation(I)) {
      if ((Block == R.L->getLoopLatch() && Block != R.Exiting) || !isPossible(*Atomic, *R.L))
        return false;
      R.Elements[SE.getSCEV(Atomic->getPointerOperand())].push_back(Atomic);
      R.IsSeldom &= !Tree.dominates(Block, R.Exiting);
      return true;
    }
    bool Leaves = any_of(I.users(), [&](const User *U) { return !R.L->contains(cast<Instruction>(U)); });
    return (!Leaves || R.Results.contains(&I)) && (I.isTerminator() || isa<PHINode>(I) || isSafeAtAnyTime(I, *R.L));
  }

  bool isPossible(const AtomicRMWInst &Atomic, const Loop &L) const {
    Type *T = Atomic.getType();
    Value *Pointer = const_cast<Value *>(Atomic.getPointerOperand());
    return (T->isFloatTy() || T->isDoubleTy()) && isShadow(getUnderlyingObject(Pointer)) && isSameInLanes(Pointer, L) &&
           bytesAStep(Pointer, L).value_or(0);
  }

  // Follows from the iteration alone, whichever way it takes, and wherever other lanes are that do not come to the
  // loop.
  bool isSameInLanes(const Value *V, const Loop &L) const {
    if (Threads.isUniform(V))
      return true;
    auto *I = dyn_cast<Instruction>(V);
    if (auto *Phi = dyn_cast<PHINode>(V))
      return Phi->getParent() == L.getHeader() && Phi->getType()->isIntegerTy() &&
             isSameInLanes(Phi->getIncomingValueForBlock(L.getLoopPreheader()), L);
    return I && isa<GetElementPtrInst, CastInst, BinaryOperator, CmpInst, SelectInst, MinMaxIntrinsic>(I) &&
           (!L.contains(I) || isSafeToSpeculativelyExecute(I)) &&
           all_of(I->operands(), [&](const Use &U) { return isa<Function>(U) || isSameInLanes(U, L); });
  }

  // What is read is nothing that is accumulated into, and near to what the neighbour reads.
  bool isSafeAtAnyTime(Instruction &I, const Loop &L) const {
    auto *Load = dyn_cast<LoadInst>(&I);
    if (I.mayHaveSideEffects())
      return false;
    if (!Load)
      return !I.mayReadFromMemory();
    const Value *Object = getUnderlyingObject(Load->getPointerOperand());
    return Load->isSimple() && isa<Argument>(Object) && !isShadow(Object) && bytesAStep(Load->getPointerOperand(), L);
  }

  bool isShadow(const Value *Object) const {
    auto *A = dyn_cast<Argument>(Object);
    return A && (F.hasParamAttribute(A->getArgNo(), ShadowAttribute) ||
                 F.hasParamAttribute(A->getArgNo(), SharedShadowAttribute));
  }

  // How far a pointer moves in an iteration, if that is not far.
  std::optional<int64_t> bytesAStep(Value *Pointer, const Loop &L) const {
    std::optional<int64_t> Bytes = changeAStep(Pointer, L);
    return Bytes && std::abs(*Bytes) <= WidestStep ? Bytes : std::nullopt;
  }

  // Of a number or a pointer that is counted in multiples; where a cast wraps around, the pointer only is dearer than
  // it seems.
  std::optional<int64_t> changeAStep(Value *V, const Loop &L) const {
    if (L.isLoopInvariant(V))
      return 0;
    if (isa<CastInst>(V) && V->getType()->isIntegerTy())
      return changeAStep(cast<CastInst>(V)->getOperand(0), L);
    if (auto *Address = dyn_cast<GEPOperator>(V))
      return changeAStep(*Address, L);
    auto *Counted = V->getType()->isIntegerTy() ? dyn_cast<SCEVAddRecExpr>(SE.getSCEV(V)) : nullptr;
    auto *Step = Counted && Counted->getLoop() == &L ? dyn_cast<SCEVConstant>(Counted->getStepRecurrence(SE)) : nullptr;
    return Step ? std::optional(Step->getAPInt().getSExtValue()) : std::nullopt;
  }

  std::optional<int64_t> changeAStep(const GEPOperator &Address, const Loop &L) const {
    const DataLayout &Layout = F.getDataLayout();
    unsigned Bits = Layout.getIndexTypeSizeInBits(Address.getType());
    SmallMapVector<Value *, APInt, 4> Scales;
    APInt Constant(Bits, 0);
    std::optional<int64_t> Change = changeAStep(const_cast<Value *>(Address.getPointerOperand()), L);
    if (!Change || !Address.collectOffset(Layout, Bits, Scales, Constant))
      return {};
    for (auto &[Index, Scale] : Scales) {
      std::optional<int64_t> OfIndex = changeAStep(Index, L);
      if (!OfIndex)
        return {};
      *Change += *OfIndex * Scale.getSExtValue();
    }
    return Change;
  }

  Function &F;
  LoopInfo &Loops;
  const DominatorTree &Tree;
  ScalarEvolution &SE;
  Uniformity Threads;
};

} // namespace

SmallVector<Rotation> rotationsIn(Function &F, LoopInfo &Loops, const DominatorTree &Tree, ScalarEvolution &SE) {
  return Finder(F, Loops, Tree, SE).find();
}

} // namespace adgen
