#include "Autodiff/Moments.h"

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/PatternMatch.h"
#include "llvm/Transforms/Utils/LoopUtils.h"

using namespace llvm;
using namespace llvm::PatternMatch;

namespace adgen {
namespace {

constexpr unsigned MostAttempts = 4096; // in a function: each is a few comparisons of what was computed once

bool isNumber(const Value &V) { return V.getType()->isFloatTy() || V.getType()->isDoubleTy(); }

bool isOfShuffle(const CallInst &Call) {
  const Function *Rule = Call.getCalledFunction();
  return Rule && Call.arg_size() == 5 && Rule->getName().starts_with("adgen_rule_shfl_") &&
         (Rule->getName().ends_with("_f32") || Rule->getName().ends_with("_f64"));
}

// Header phis and what is computed from them in the loop, on any way.
SmallSetVector<Value *, 32> reachedIn(const Loop &L, Value *From) {
  SmallSetVector<Value *, 32> Found;
  Found.insert(From);
  for (unsigned I = 0; I < Found.size(); ++I) {
    auto *Each = dyn_cast<Instruction>(Found[I]);
    const bool IsInside = Each && L.contains(Each) && Each->getParent() != L.getHeader();
    if (Each && (isArithmetic(*Each) || (IsInside && isa<PHINode>(Each))))
      Found.insert_range(Each->operands());
  }
  return Found;
}

} // namespace

std::optional<LaneMove> LaneMove::of(const Value *V) {
  auto *Received = const_cast<LoadInst *>(dyn_cast<LoadInst>(V));
  auto *Call = Received ? dyn_cast_or_null<CallInst>(Received->getPrevNode()) : nullptr;
  auto *Sent = Call ? dyn_cast_or_null<StoreInst>(Call->getPrevNode()) : nullptr;
  if (!Sent || !isOfShuffle(*Call) || Received->getPointerOperand() != Call->getArgOperand(0) ||
      Sent->getPointerOperand() != Call->getArgOperand(1))
    return std::nullopt;
  return LaneMove{Sent, Call, Received};
}

bool LaneMove::isLike(const LaneMove &Other) const {
  return Call->getCalledFunction() == Other.Call->getCalledFunction() && Call->getParent() == Other.Call->getParent() &&
         equal(drop_begin(Call->args(), 2), drop_begin(Other.Call->args(), 2),
               [](const Use &A, const Use &B) { return A.get() == B.get(); });
}

Value *LaneMove::sentBeside(const Value *Other) const {
  if (auto Move = LaneMove::of(Other))
    return isLike(*Move) ? Move->number() : nullptr;
  auto *Shuffle = dyn_cast<CallInst>(Other);
  StringRef Name = Shuffle && Shuffle->getCalledFunction() ? Shuffle->getCalledFunction()->getName() : "";
  StringRef Way = Call->getCalledFunction()->getName().rsplit('_').first.rsplit('_').second;
  const bool IsLike =
      Name.ends_with(("llvm.nvvm.shfl.sync." + Way + ".i32").str()) && Shuffle->getParent() == Call->getParent() &&
      Shuffle->getArgOperand(0) == Call->getArgOperand(2) && Shuffle->getArgOperand(2) == Call->getArgOperand(3) &&
      Shuffle->getArgOperand(3) == Call->getArgOperand(4);
  return IsLike ? Shuffle->getArgOperand(1) : nullptr;
}

Moments *MomentFinder::known(const Value *Mean, const Value *Squares) const {
  for (const auto &Each : All)
    if (Each->Mean == Mean && Each->Squares == Squares)
      return Each.get();
  return nullptr;
}

MomentFinder::Values MomentFinder::leavesOf(Value *V) const {
  Values Seen, Leaves;
  Seen.insert(V);
  for (unsigned I = 0; I < Seen.size(); ++I) {
    Value *Each = Seen[I];
    bool IsKnown = any_of(All, [&](const auto &Of) {
      return Each == Of->Mean || Each == Of->Squares || (Each == Of->Count && Each != V);
    });
    if (!IsKnown && isArithmetic(*Each))
      Seen.insert_range(cast<Instruction>(Each)->operands());
    else if (!isa<Constant>(Each))
      Leaves.insert(Each);
  }
  return Leaves;
}

// What is assumed on the way is taken back where it does not come true.
Moments *MomentFinder::derive(const Triple &T) {
  if (match(T.Mean, m_AnyZeroFP()) && match(T.Squares, m_AnyZeroFP()))
    return &Nothing;
  if (Moments *Known = known(T.Mean, T.Squares))
    return countOf(*Known) == countOf(T) ? Known : nullptr;
  if (++Attempts > MostAttempts || !isNumber(*T.Mean) || T.Mean->getType() != T.Squares->getType())
    return nullptr;
  const size_t Before = All.size();
  auto *Mean = dyn_cast<PHINode>(T.Mean), *Squares = dyn_cast<PHINode>(T.Squares);
  const bool AreWays = Mean && Squares && Mean->getParent() == Squares->getParent();
  Moments *Found = AreWays ? deriveWays(T) : LaneMove::of(T.Mean) ? deriveReceived(T) : deriveSum(T);
  if (!Found)
    All.resize(Before);
  return Found;
}

Moments *MomentFinder::deriveWays(const Triple &T) {
  auto *Mean = cast<PHINode>(T.Mean), *Squares = cast<PHINode>(T.Squares);
  All.push_back(std::make_unique<Moments>(Moments{T, Moments::Kind::Ways}));
  Moments &Way = *All.back();
  auto *Count = dyn_cast<PHINode>(T.Count);
  for (BasicBlock *From : Mean->blocks()) {
    Value *Had = Count && Count->getParent() == Mean->getParent() ? Count->getIncomingValueForBlock(From) : T.Count;
    Moments *Each =
        derive({Mean->getIncomingValueForBlock(From), Squares->getIncomingValueForBlock(From), Had, T.Offset});
    if (!Each)
      return nullptr;
    Way.From.push_back(Each);
  }
  return &Way;
}

Moments *MomentFinder::deriveReceived(const Triple &T) {
  auto Mean = LaneMove::of(T.Mean);
  Value *Squares = Mean->sentBeside(T.Squares), *Count = Mean->sentBeside(T.Count);
  Moments *Sent = Squares && Count && !T.Offset ? derive({Mean->number(), Squares, Count}) : nullptr;
  if (!Sent || Sent->Is == Moments::Kind::None)
    return nullptr;
  All.push_back(std::make_unique<Moments>(Moments{T, Moments::Kind::Received, {Sent}}));
  return All.back().get();
}

// Those of other lanes that are added.
bool MomentFinder::deriveMoved(const Values &OfMean, const Values &OfSquares, const Values &OfCount, Moments &Sum) {
  for (Value *Mean : OfMean) {
    auto Move = LaneMove::of(Mean);
    if (!Move || OfCount.contains(Mean))
      continue;
    auto Beside = [&](const Values &Leaves, const Value *Not) {
      return find_if(Leaves, [&](Value *V) { return V != Mean && V != Not && Move->sentBeside(V); });
    };
    auto Count = Beside(OfCount, nullptr);
    if (Count == OfCount.end())
      return false;
    auto Squares = Beside(OfSquares, *Count);
    Moments *Each = Squares == OfSquares.end() ? nullptr : derive({Mean, *Squares, *Count});
    if (!Each)
      return false;
    Sum.From.push_back(Each);
  }
  return true;
}

Moments *MomentFinder::deriveSum(const Triple &T) {
  const Values OfMean = leavesOf(T.Mean), OfSquares = leavesOf(T.Squares), OfCount = leavesOf(T.Count);
  for (Value *Mean : OfMean)
    for (Value *Squares : OfSquares) {
      auto *Phi = dyn_cast<PHINode>(Mean), *Other = dyn_cast<PHINode>(Squares);
      Moments *Known = known(Mean, Squares);
      if (Mean == Squares || (!Known && !(Phi && Other && Phi->getParent() == Other->getParent())))
        continue;
      Values Counts = OfCount;
      if (Known)
        Counts.clear(), Counts.insert(Known->Count);
      for (Value *Count : Counts) {
        const size_t Before = All.size();
        Moments *Base = Known ? Known : derive({Mean, Squares, Count, T.Offset});
        auto Sum = std::make_unique<Moments>(Moments{T, Moments::Kind::Sum, {Base}});
        if (Base && Base->Is != Moments::Kind::None && deriveMoved(OfMean, OfSquares, OfCount, *Sum) && isSum(*Sum)) {
          All.push_back(std::move(Sum));
          return All.back().get();
        }
        All.resize(Before);
      }
    }
  return nullptr;
}

namespace {

// What lies between some numbers and what is computed from them.
class Between {
public:
  explicit Between(Moments &Sum) : Sum(Sum) {
    for (const Moments *Each : Sum.From) {
      Numbers.insert_range(ArrayRef<Value *>{Each->Mean, Each->Squares});
      Ends.insert_range(ArrayRef<Value *>{Each->Mean, Each->Squares, Each->Count});
    }
  }

  void find() {
    SmallSetVector<Value *, 32> Seen;
    Seen.insert_range(ArrayRef<Value *>{Sum.Mean, Sum.Squares});
    for (unsigned I = 0; I < Seen.size(); ++I) {
      Value *Each = Seen[I];
      if (Ends.contains(Each) || isa<Constant>(Each))
        continue;
      if (!comesOf(Each, Ends, OfEnds)) {
        Sum.Taken.push_back(Each);
        Numbers.insert(Each);
      } else {
        Seen.insert_range(cast<Instruction>(Each)->operands());
      }
    }
    for (Value *Each : Seen)
      if (!Ends.contains(Each) && !Numbers.contains(Each) && comesOf(Each, Numbers, OfNumbers))
        Sum.Steps.insert(cast<Instruction>(Each));
  }

private:
  using Set = SmallPtrSet<Value *, 16>;

  static bool comesOf(Value *V, const Set &From, DenseMap<Value *, bool> &Known) {
    if (From.contains(V))
      return true;
    if (!isArithmetic(*V))
      return false;
    if (auto Found = Known.find(V); Found != Known.end())
      return Found->second;
    bool Comes = any_of(cast<Instruction>(V)->operands(), [&](Value *Part) { return comesOf(Part, From, Known); });
    return Known[V] = Comes;
  }

  Moments &Sum;
  Set Numbers, Ends;
  DenseMap<Value *, bool> OfEnds, OfNumbers;
};

} // namespace

// With the sums of the numbers, t = n * mean, and of their squares, q = squares + n * mean^2, all that Welford's method
// and Chan's formula do is to add: that both are added to is asked of random numbers.
bool MomentFinder::isSum(Moments &Sum) {
  Between(Sum).find();
  Residue Count, OfNumbers, OfSquares;
  for (const Moments *Each : Sum.From) {
    Residue Mean = Numbers.of(Each->Mean), Of = countOf(*Each);
    Count = Count + Of;
    OfNumbers = OfNumbers + Of * Mean;
    OfSquares = OfSquares + Numbers.of(Each->Squares) + Of * Mean * Mean;
  }
  for (Value *Each : Sum.Taken) {
    Residue Number = Numbers.of(Each);
    Count = Count + Residue(1);
    OfNumbers = OfNumbers + Number;
    OfSquares = OfSquares + Number * Number;
  }
  Residue Mean = Numbers.of(Sum.Mean), Squares = Numbers.of(Sum.Squares);
  return countOf(Sum) == Count && Count * Mean == OfNumbers && Squares + Count * Mean * Mean == OfSquares &&
         all_of(Sum.Taken, [&](const Value *V) { return V->getType() == Sum.Mean->getType(); });
}

void MomentFinder::findCarried(const Loop &L) {
  BasicBlock *Latch = L.getLoopLatch();
  if (!Latch)
    return;
  auto Next = [&](PHINode &Phi) { return reachedIn(L, Phi.getIncomingValueForBlock(Latch)); };
  for (PHINode &Mean : L.getHeader()->phis()) {
    if (!isNumber(Mean))
      continue;
    const auto OfMean = Next(Mean);
    for (PHINode &Squares : L.getHeader()->phis()) {
      if (!OfMean.contains(&Mean) || &Squares == &Mean || Squares.getType() != Mean.getType() ||
          OfMean.contains(&Squares))
        continue;
      const auto OfSquares = Next(Squares);
      if (OfSquares.contains(&Mean) && OfSquares.contains(&Squares))
        for (PHINode &Count : L.getHeader()->phis())
          for (int Offset : {0, -1})
            if (OfMean.contains(&Count) && &Count != &Mean && !known(&Mean, &Squares))
              derive({&Mean, &Squares, &Count, Offset});
    }
  }
}

// Phis with the count that they are of, as some way says it; none where no value is that count.
std::optional<Triple> MomentFinder::waysAt(PHINode &Mean, PHINode &Squares) {
  BasicBlock &Block = *Mean.getParent();
  SmallMapVector<BasicBlock *, Value *, 4> Counts;
  Triple Any{};
  for (BasicBlock *From : Mean.blocks())
    if (Moments *Each = known(Mean.getIncomingValueForBlock(From), Squares.getIncomingValueForBlock(From))) {
      if (Any.Count && (Each->Offset != Any.Offset || Each->Count->getType() != Any.Count->getType()))
        return std::nullopt;
      Any = *Each;
      Counts[From] = Each->Count;
    }
  for (PHINode &Phi : Block.phis())
    if (all_of(Counts, [&](auto &Each) { return Phi.getIncomingValueForBlock(Each.first) == Each.second; }))
      return Triple{&Mean, &Squares, &Phi, Any.Offset};
  auto *Count = dyn_cast<Instruction>(Any.Count);
  if (all_of(Counts, [&](auto &Each) { return Each.second == Any.Count; }) &&
      (!Count || DT.dominates(Count->getParent(), &Block)))
    return Triple{&Mean, &Squares, Any.Count, Any.Offset};
  auto *Made = PHINode::Create(Any.Count->getType(), Mean.getNumIncomingValues(), "count", Block.begin());
  for (BasicBlock *From : Mean.blocks()) {
    Value *Had = Counts.lookup(From);
    Made->addIncoming(Had ? Had : Constant::getNullValue(Any.Count->getType()), From);
  }
  return Triple{&Mean, &Squares, Made, Any.Offset};
}

// Phis behind them, or in front of a loop that goes on with them.
void MomentFinder::followPhis(const Triple &Of) {
  SmallSetVector<PHINode *, 4> Means;
  for (User *U : Of.Mean->users())
    if (auto *Phi = dyn_cast<PHINode>(U))
      Means.insert(Phi);
  for (PHINode *Mean : Means)
    for (PHINode &Squares : Mean->getParent()->phis()) {
      auto IsWay = [&](BasicBlock *From) {
        return Mean->getIncomingValueForBlock(From) == Of.Mean && Squares.getIncomingValueForBlock(From) == Of.Squares;
      };
      if (&Squares != Mean && !known(Mean, &Squares) && any_of(Mean->blocks(), IsWay))
        if (auto Ways = waysAt(*Mean, Squares))
          derive(*Ways);
    }
}

// The same with what another lane has of them.
void MomentFinder::followMoves(const Triple &Of) {
  auto Received = [](Value *V) {
    SmallVector<Value *> Found;
    for (User *U : V->users()) {
      auto *Call = isa<StoreInst>(U) ? cast<Instruction>(U)->getNextNode() : nullptr;
      Found.push_back(Call && Call->getNextNode() ? Call->getNextNode() : U);
    }
    return Found;
  };
  for (Value *Mean : Received(Of.Mean)) {
    auto Move = LaneMove::of(Mean);
    if (!Move || Move->number() != Of.Mean)
      continue;
    for (Value *Squares : Received(Of.Squares))
      for (Value *Count : Received(Of.Count))
        if (Move->sentBeside(Squares) == Of.Squares && Move->sentBeside(Count) == Of.Count)
          followSum(Of, {Mean, Squares, Count});
  }
}

void MomentFinder::followSum(const Triple &A, const Triple &B) {
  const Residue Of = countOf(A), Others = countOf(B), Count = Of + Others;
  const Residue Means[] = {Numbers.of(A.Mean), Numbers.of(B.Mean)};
  const Residue Mean = (Of * Means[0] + Others * Means[1]) / Count, Apart = Means[0] - Means[1];
  const Residue Squares = Numbers.of(A.Squares) + Numbers.of(B.Squares) + Of * Others / Count * Apart * Apart;
  Triple Sum{};
  for (Instruction &I : instructions(Body)) {
    if (!isArithmetic(I))
      continue;
    const Residue Number = Numbers.of(&I);
    if (Number == Mean && isNumber(I))
      Sum.Mean = &I;
    else if (Number == Squares && isNumber(I))
      Sum.Squares = &I;
    else if (Number == Count)
      Sum.Count = &I;
  }
  if (Sum.Mean && Sum.Squares && Sum.Count && !known(Sum.Mean, Sum.Squares))
    derive(Sum);
}

ArrayRef<std::unique_ptr<Moments>> MomentFinder::find() {
  for (const Loop *L : LI.getLoopsInPreorder())
    findCarried(*L);
  for (unsigned I = 0; I < All.size(); ++I) {
    const Triple Each = *All[I];
    SmallVector<Instruction *> Leaving;
    for (Value *V : {Each.Mean, Each.Squares})
      if (auto *Made = dyn_cast<Instruction>(V); Made && LI.getLoopFor(Made->getParent()))
        Leaving.push_back(Made);
    if (formLCSSAForInstructions(Leaving, DT, LI, nullptr))
      Numbers = Residues(); // behind loops, phis are other inputs
    followPhis(Each);
    followMoves(Each);
  }
  return All;
}

} // namespace adgen
