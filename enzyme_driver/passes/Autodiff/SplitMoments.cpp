// Welford's method carries a mean and a sum of squared distances from it,
//   n += 1; d = x - mean; mean += d / n; squares += d * (x - mean);
// each of which a derivative would walk back step by step, with a division and all means kept. But with t = n * mean
// and q = squares + n * mean^2 all steps are t += x and q += x * x, and two lanes or blocks that merge what each has by
// Chan's formula add up. So the user's recurrence is computed without a derivative, of numbers that are hidden from
// Enzyme, and beside it t and q, of which nothing but the derivatives is needed:
//   d mean = dt / n, d squares = dq - 2 * mean * dt.
#include "Analysis/Bits.h"
#include "Autodiff/Collectives.h"
#include "Autodiff/Moments.h"
#include "Support/Guards.h"
#include "Support/Pass.h"

#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/IR/PatternMatch.h"

#define DEBUG_TYPE "adgen-split-moments"

using namespace llvm;
using namespace llvm::PatternMatch;

STATISTIC(NumMoments, "Number of means and sums of squares whose derivatives are those of sums");

namespace adgen {
namespace {

using Kind = Moments::Kind;

class MomentSplitter {
public:
  MomentSplitter(Function &Body, const DominatorTree &DT, const LoopInfo &LI, ArrayRef<std::unique_ptr<Moments>> All)
      : Body(Body), DT(DT), LI(LI), All(All) {
    for (const auto &Each : All) {
      Steps.insert_range(Each->Steps);
      Carried.insert_range(ArrayRef<Value *>{Each->Mean, Each->Squares});
      for (auto &Move : movesOf(*Each))
        Sent.insert(Move.Sent);
    }
    for (const auto &Each : All)
      for (Value *V : {Each->Mean, Each->Squares})
        for (Use &U : V->uses())
          if (isOutside(*cast<Instruction>(U.getUser())))
            Outside.push_back({Each.get(), &U});
  }

  bool canSplit() {
    return !Outside.empty() && all_of(All, [&](const auto &Each) { return isPlain(*Each); }) &&
           all_of(Outside, [&](const OutsideUse &Each) { return canReplace(Each); });
  }

  void split() {
    for (const OutsideUse &Each : Outside)
      replace(Each);
    for (const auto &Each : All) {
      hideTaken(*Each);
      hideMoves(*Each);
    }
  }

private:
  struct OutsideUse {
    Moments *Of;
    Use *At;
    bool isMean() const { return At->get() == Of->Mean; }
  };

  static SmallVector<LaneMove, 3> movesOf(const Moments &Of) {
    SmallVector<LaneMove, 3> Found;
    if (Of.Is == Kind::Received)
      for (Value *V : {Of.Mean, Of.Squares, Of.Count})
        if (auto Move = LaneMove::of(V))
          Found.push_back(*Move);
    return Found;
  }

  bool isOutside(Instruction &User) const {
    return !Steps.contains(&User) && !Carried.contains(&User) && !Sent.contains(&User);
  }

  // Whether nothing else uses what is computed on the way, no mean is a number of others, and the count has no
  // derivative.
  bool isPlain(const Moments &Of) {
    SmallPtrSet<Value *, 16> Seen;
    auto StaysInside = [&](Instruction *Step) {
      return Carried.contains(Step) ||
             all_of(Step->users(), [&](User *U) { return Steps.contains(cast<Instruction>(U)); });
    };
    return isInactive(Of.Count, Seen) && all_of(Of.Steps, StaysInside) &&
           none_of(Of.Taken, [&](Value *Number) { return Carried.contains(Number); });
  }

  // Integers, and what is computed and received of them.
  static bool isInactive(Value *Count, SmallPtrSetImpl<Value *> &Seen) {
    if (Count->getType()->isIntegerTy() || isa<Constant>(Count) || !Seen.insert(Count).second)
      return true;
    if (auto Move = LaneMove::of(Count))
      return isInactive(Move->number(), Seen);
    return (isArithmetic(*Count) || isa<PHINode>(Count)) &&
           all_of(cast<Instruction>(Count)->operands(), [&](Value *Part) { return isInactive(Part, Seen); });
  }

  // Where mean, squares and count are known.
  Instruction *placeFor(const Moments &Of) const {
    auto *Place = cast<Instruction>(Of.Mean);
    for (Value *V : {Of.Squares, Of.Count})
      if (auto *I = dyn_cast<Instruction>(V); I && !DT.dominates(I, Place)) {
        if (!isa<PHINode>(I) && !DT.dominates(Place, I))
          return nullptr;
        Place = isa<PHINode>(Place) && isa<PHINode>(I) && I->getParent() == Place->getParent() ? Place : I;
      }
    return isa<PHINode>(Place) ? &*Place->getParent()->getFirstInsertionPt() : Place->getNextNode();
  }

  bool canReplace(const OutsideUse &Each) const {
    Instruction *Place = placeFor(*Each.Of);
    auto *User = cast<Instruction>(Each.At->getUser());
    if (!Place || Each.Of->Is == Kind::Received || (Place != User && !DT.dominates(Place, *Each.At)))
      return false;
    // In a loop that carries it, each iteration would have a derivative of its own.
    return none_of(All, [&](const auto &Other) {
      auto *Phi = dyn_cast<PHINode>(Other->Mean);
      const Loop *L = Phi ? LI.getLoopFor(Phi->getParent()) : nullptr;
      return L && L->getHeader() == Phi->getParent() && L->contains(Place) && L->contains(User);
    });
  }

  Value *count(const Moments &Of, IRBuilder<> &B) const {
    Value *Count = Of.Count;
    if (Of.Offset)
      Count = Count->getType()->isIntegerTy() ? B.CreateAdd(Count, ConstantInt::getSigned(Count->getType(), Of.Offset))
                                              : B.CreateFAdd(Count, ConstantFP::get(Count->getType(), Of.Offset));
    return Count->getType()->isIntegerTy()          ? B.CreateSIToFP(Count, Of.Mean->getType())
           : Count->getType() == Of.Mean->getType() ? Count
                                                    : B.CreateFPCast(Count, Of.Mean->getType());
  }

  static FastMathFlags flagsOf(const Moments &Of) {
    for (const Instruction *I : Of.Steps)
      if (isa<FPMathOperator>(I))
        return I->getFastMathFlags();
    return {};
  }

  // The sum of the numbers, or of their squares.
  Value *sum(Moments &Of, bool OfSquares) {
    if (Of.Is == Kind::None)
      return ConstantFP::get(Ty, 0.0);
    Value *&Known = Sums[{&Of, OfSquares}];
    if (Known)
      return Known;
    if (Of.Is == Kind::Ways)
      return sumOfWays(Of, OfSquares);
    Value *Found = Of.Is == Kind::Received ? received(Of, OfSquares) : added(Of, OfSquares);
    return Sums[{&Of, OfSquares}] = Found;
  }

  Value *sumOfWays(Moments &Of, bool OfSquares) {
    auto *Mean = cast<PHINode>(Of.Mean);
    auto *Phi = PHINode::Create(Ty, Of.From.size(), OfSquares ? "squares" : "numbers", Mean->getIterator());
    Sums[{&Of, OfSquares}] = Phi;
    for (auto [Each, From] : zip(Of.From, Mean->blocks()))
      Phi->addIncoming(sum(*Each, OfSquares), From);
    return Phi;
  }

  Value *received(Moments &Of, bool OfSquares) {
    Value *Sent = sum(*Of.From.front(), OfSquares);
    if (Value *Known = Sums[{&Of, OfSquares}])
      return Known;
    auto Move = *LaneMove::of(OfSquares ? Of.Squares : Of.Mean);
    IRBuilder<> B(Move.Sent);
    B.SetCurrentDebugLocation(Move.Call->getDebugLoc());
    StringRef Way = Move.Call->getCalledFunction()->getName();
    Way.consume_front("adgen_rule_shfl_");
    Value *Operands[] = {Move.Call->getArgOperand(2), Move.Call->getArgOperand(3), Move.Call->getArgOperand(4)};
    return shuffled(B, Sent, ("shfl_back_" + Way).str(), Operands);
  }

  Value *added(Moments &Of, bool OfSquares) {
    SmallVector<Value *> Terms;
    for (Moments *Each : Of.From)
      Terms.push_back(sum(*Each, OfSquares));
    if (Value *Known = Sums[{&Of, OfSquares}]) // a loop carries it
      return Known;
    IRBuilder<> B(cast<Instruction>(OfSquares ? Of.Squares : Of.Mean)->getNextNode());
    B.setFastMathFlags(flagsOf(Of));
    for (Value *Number : Of.Taken)
      Terms.push_back(OfSquares ? B.CreateFMul(Number, Number) : Number);
    Value *Sum = Terms.front();
    for (Value *Each : drop_begin(Terms))
      Sum = B.CreateFAdd(Sum, Each);
    return Sum;
  }

  void replace(const OutsideUse &Each) {
    Ty = Each.Of->Mean->getType();
    Value *&Known = Results[{Each.Of, !Each.isMean()}];
    if (!Known)
      Known = Each.isMean() ? mean(*Each.Of) : squares(*Each.Of);
    Each.At->set(Known);
  }

  // Of no numbers it is a constant.
  Value *mean(Moments &Of) {
    ADGEN_COUNT(NumMoments, *Of.Mean);
    Value *Sum = sum(Of, false);
    IRBuilder<> B(placeFor(Of));
    Value *Count = count(Of, B), *Zero = ConstantFP::get(Ty, 0.0);
    Value *Part = B.CreateSelect(B.CreateFCmpOEQ(Count, Zero), Zero, B.CreateFDiv(ConstantFP::get(Ty, 1.0), Count));
    return withDerivativeOf(B, *Of.Mean, *B.CreateFMul(Sum, Part));
  }

  Value *squares(Moments &Of) {
    Value *OfNumbers = sum(Of, false), *OfSquares = sum(Of, true);
    IRBuilder<> B(placeFor(Of));
    Value *Twice = B.CreateFMul(B.CreateFAdd(Of.Mean, Of.Mean), OfNumbers);
    return withDerivativeOf(B, *Of.Squares, *B.CreateFSub(OfSquares, Twice));
  }

  void hideTaken(const Moments &Of) {
    for (Value *Number : Of.Taken) {
      auto *Definition = dyn_cast<Instruction>(Number);
      IRBuilder<> B(Definition ? &**Definition->getInsertionPointAfterDef()
                               : &*Body.getEntryBlock().getFirstInsertionPt());
      Value *Hidden = B.CreateCall(hiddenFrom(*Body.getParent(), Number->getType(), Number->getType()), Number);
      for (Instruction *Step : Of.Steps)
        Step->replaceUsesOfWith(Number, Hidden);
    }
  }

  void hideMoves(const Moments &Of) {
    for (const LaneMove &Move : movesOf(Of)) {
      IRBuilder<> B(Move.Call);
      Move.Received->replaceAllUsesWith(hiddenMove(B, Move));
      Move.Received->eraseFromParent();
      Move.Call->eraseFromParent();
      Move.Sent->eraseFromParent();
    }
  }

  // By words of 32 bits.
  static Value *hiddenMove(IRBuilder<> &B, const LaneMove &Move) {
    StringRef Way = Move.Call->getCalledFunction()->getName().rsplit('_').first.rsplit('_').second;
    auto Which = StringSwitch<Intrinsic::ID>(Way)
                     .Case("up", Intrinsic::nvvm_shfl_sync_up_f32)
                     .Case("down", Intrinsic::nvvm_shfl_sync_down_f32)
                     .Case("bfly", Intrinsic::nvvm_shfl_sync_bfly_f32)
                     .Default(Intrinsic::nvvm_shfl_sync_idx_f32);
    auto Moved = [&](Value *Word) {
      CallInst *Call = B.CreateIntrinsic(
          Which, {}, {Move.Call->getArgOperand(2), Word, Move.Call->getArgOperand(3), Move.Call->getArgOperand(4)});
      hide(*Call);
      return Call;
    };
    Type *T = Move.number()->getType();
    if (T->isFloatTy())
      return Moved(Move.number());
    auto *Words = FixedVectorType::get(B.getFloatTy(), 2);
    Value *Halves = B.CreateBitCast(Move.number(), Words);
    for (uint64_t I : {0, 1})
      Halves = B.CreateInsertElement(Halves, Moved(B.CreateExtractElement(Halves, I)), I);
    return B.CreateBitCast(Halves, T);
  }

  Function &Body;
  const DominatorTree &DT;
  const LoopInfo &LI;
  ArrayRef<std::unique_ptr<Moments>> All;
  SmallPtrSet<Value *, 32> Steps, Carried, Sent;
  SmallVector<OutsideUse> Outside;
  DenseMap<std::pair<Moments *, unsigned>, Value *> Sums, Results;
  Type *Ty = nullptr;
};

} // namespace

ADGEN_DECLARE_PASS(SplitMoments);

PreservedAnalyses SplitMoments::run(Module &M, ModuleAnalysisManager &MAM) {
  auto &Analyses = MAM.getResult<FunctionAnalysisManagerModuleProxy>(M).getManager();
  bool Changed = false;
  for (Function &F : M) {
    if (!F.getName().starts_with(BodyPrefix) || F.isDeclaration())
      continue;
    auto &DT = Analyses.getResult<DominatorTreeAnalysis>(F);
    auto &LI = Analyses.getResult<LoopAnalysis>(F);
    MomentFinder Finder(F, DT, LI);
    auto All = Finder.find();
    Changed |= !All.empty();
    if (MomentSplitter Splitter(F, DT, LI, All); Splitter.canSplit())
      Splitter.split();
  }
  return Changed ? PreservedAnalyses::none() : PreservedAnalyses::all();
}

} // namespace adgen
