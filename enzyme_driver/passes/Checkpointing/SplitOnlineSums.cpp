// Sums of exponentials that are kept in range by the largest exponent so far, as in a softmax that reads its row once,
//   for (i...) { n = max(m, x[i]); s = s * exp(m - n) + exp(x[i] - n); m = n; }
// are products and sums of two carried numbers, of which Enzyme keeps both in each iteration. What they come to is a
// plain sum, whose reverse sweep needs the last m alone:
//   for (i...) m = max(m, x[i]);    s = s0 * exp(m0 - m); for (i...) s += exp(x[i] - m);
// The sum gets a loop of its own behind the other, with all that its terms need. It differs from the user's by
// rounding. A number has a base where it is a multiple of exp(-base): the carried sum has the carried m, a product with
// exp(m - n) exchanges m for n, and what a sum hands on has to have the base that goes with it.
//
// A pair of a maximum and a sum to which another one is added, as reductions of such pairs have it, asks which maximum
// is the larger one and rescales only the other sum; it is written with two factors here, of which one is exp(0).
#include "Analysis/Poles.h"
#include "Support/Pass.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/Analysis/AssumptionCache.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "llvm/Transforms/Utils/Local.h"
#include "llvm/Transforms/Utils/LoopSimplify.h"

#define DEBUG_TYPE "adgen-split-online-sums"

using namespace llvm;

STATISTIC(NumSums, "Number of online sums that got a loop of their own");

namespace adgen {
namespace {

// exp(Scale * (From - To)); no scale is one.
struct Exponential {
  CallInst *Call;
  BinaryOperator *Difference;
  Value *Scale;
  Value *from() const { return Difference->getOperand(0); }
  Value *to() const { return Difference->getOperand(1); }

  static std::optional<Exponential> of(Value *V, const Loop &L) {
    auto *Call = dyn_cast<CallInst>(V);
    if (!Call || Call->arg_size() != 1 || !isExponential(*Call))
      return std::nullopt;
    Value *Argument = Call->getArgOperand(0), *Scale = nullptr;
    if (auto *Product = dyn_cast<BinaryOperator>(Argument); Product && Product->getOpcode() == Instruction::FMul) {
      bool First = L.isLoopInvariant(Product->getOperand(0));
      Scale = Product->getOperand(First ? 0 : 1);
      Argument = Product->getOperand(First ? 1 : 0);
    }
    auto *Difference = dyn_cast<BinaryOperator>(Argument);
    if (!Difference || Difference->getOpcode() != Instruction::FSub || (Scale && !L.isLoopInvariant(Scale)))
      return std::nullopt;
    return Exponential{Call, Difference, Scale};
  }

  bool isLike(const Exponential &Other) const {
    return Scale == Other.Scale && Call->getCalledFunction() == Other.Call->getCalledFunction();
  }

  // The same of other numbers.
  Value *copy(Value *From, Value *To, IRBuilder<> &B) const {
    Instruction *Exponent = B.Insert(Difference->clone());
    Exponent->setOperand(0, From);
    Exponent->setOperand(1, To);
    if (Scale) {
      Instruction *Product = B.Insert(cast<Instruction>(Call->getArgOperand(0))->clone());
      Product->replaceUsesOfWith(Difference, Exponent);
      Exponent = Product;
    }
    Instruction *Power = B.Insert(Call->clone());
    Power->setOperand(0, Exponent);
    return Power;
  }
};

bool isZero(const Value *V) {
  auto *C = dyn_cast<ConstantFP>(V);
  return C && C->isZero();
}

// All that comes of a number in a loop.
SmallSetVector<Instruction *, 32> reached(PHINode &From, const Loop &L) {
  SmallSetVector<Instruction *, 32> Found;
  Found.insert(&From);
  for (unsigned I = 0; I < Found.size(); ++I)
    for (User *U : Found[I]->users())
      if (L.contains(cast<Instruction>(U)))
        Found.insert(cast<Instruction>(U));
  return Found;
}

// A sum that a loop of one block carries, and the number that it carries as its base.
class OnlineSum {
public:
  OnlineSum(PHINode &Sum, PHINode &Base, const Exponential &Pattern, Loop &L)
      : Sum(Sum), Base(Base), Pattern(Pattern), L(L), OfSum(reached(Sum, L)), OfBase(reached(Base, L)) {}

  bool find() {
    return baseOf(next()) == Base.getIncomingValueForBlock(L.getLoopLatch()) && !Rescaled.empty() &&
           all_of(OfSum, [&](Instruction *I) { return Bases.contains(I) && leavesOnlyAs(*I, *next()); });
  }

  Instruction *next() const { return dyn_cast<Instruction>(Sum.getIncomingValueForBlock(L.getLoopLatch())); }

  // In the copy of the loop, which `Begin` leads to: the last base for each, and no product that exchanges it.
  void settle(ValueToValueMapTy &Map, BasicBlock &Begin) {
    auto &Copy = *cast<PHINode>(Map[&Sum]);
    Value *Last = Base.getIncomingValueForBlock(L.getLoopLatch());
    for (const Exponential &Term : Terms) {
      IRBuilder<> B(cast<Instruction>(Map[Term.Call]));
      Value *From = Map.lookup(Term.from());
      Map[Term.Call]->replaceAllUsesWith(Term.copy(From ? From : Term.from(), Last, B));
    }
    for (auto [Product, Of] : Rescaled) {
      auto *Again = cast<Instruction>(Map[Product]);
      Value *Plain = Map[Of];
      IRBuilder<> B(Again);
      if (isFma(*Product))
        Plain = B.CreateFAddFMF(Plain, Again->getOperand(2), Product);
      Again->replaceAllUsesWith(Plain);
      Map[Product] = Plain;
    }
    Value *First = Sum.getIncomingValueForBlock(L.getLoopPreheader());
    if (!isZero(First)) {
      IRBuilder<> B(Begin.getTerminator());
      Value *Power = Pattern.copy(Base.getIncomingValueForBlock(L.getLoopPreheader()), Last, B);
      First = B.CreateFMulFMF(First, Power, cast<Instruction>(Rescaled.front().first));
    }
    Copy.setIncomingValueForBlock(&Begin, First);
  }

private:
  bool isApart(const Value *V) const {
    auto *I = dyn_cast<Instruction>(V);
    return !I || (!OfSum.contains(I) && !OfBase.contains(I));
  }

  bool leavesOnlyAs(const Instruction &I, const Instruction &Result) const {
    return &I == &Result || all_of(I.users(), [&](const User *U) { return L.contains(cast<Instruction>(U)); });
  }

  // What base a number has; null where it has none.
  Value *baseOf(Value *V) {
    auto *I = dyn_cast_or_null<Instruction>(V);
    if (I == &Sum)
      return Bases[I] = &Base;
    if (!I || !L.contains(I) || isa<PHINode>(I))
      return nullptr;
    if (auto Known = Bases.find(I); Known != Bases.end())
      return Known->second;
    Value *Found = find(*I);
    if (Found)
      Bases[I] = Found;
    return Found;
  }

  Value *find(Instruction &I) {
    if (auto Power = Exponential::of(&I, L))
      return baseOfTerm(*Power);
    if (isFma(I)) {
      Value *Product = baseOfProduct(I);
      return Product && sameBase(Product, I.getOperand(2)) ? Product : nullptr;
    }
    switch (I.getOpcode()) {
    case Instruction::FMul:
      return baseOfProduct(I);
    case Instruction::FDiv:
      return isApart(I.getOperand(1)) ? baseOf(I.getOperand(0)) : nullptr;
    case Instruction::FNeg:
      return baseOf(I.getOperand(0));
    case Instruction::FAdd:
    case Instruction::FSub:
      return baseOfBoth(I.getOperand(0), I.getOperand(1));
    case Instruction::Select:
      return isApart(I.getOperand(0)) ? baseOfBoth(I.getOperand(1), I.getOperand(2)) : nullptr;
    default:
      return nullptr;
    }
  }

  Value *baseOfTerm(const Exponential &Power) {
    if (!Power.isLike(Pattern) || !isApart(Power.from()) || isApart(Power.to()))
      return nullptr;
    Terms.push_back(Power);
    return Power.to();
  }

  bool sameBase(Value *Wanted, Value *V) { return isZero(V) || baseOf(V) == Wanted; }

  Value *baseOfBoth(Value *One, Value *Other) {
    Value *Wanted = isZero(One) ? baseOf(Other) : baseOf(One);
    return Wanted && sameBase(Wanted, Other) ? Wanted : nullptr;
  }

  Value *baseOfProduct(Instruction &I) {
    for (unsigned Each : {0, 1}) {
      Value *V = I.getOperand(Each), *Factor = I.getOperand(1 - Each);
      if (Value *Had = isApart(V) ? nullptr : baseOf(V)) {
        if (isApart(Factor))
          return Had;
        auto Power = Exponential::of(Factor, L);
        if (!Power || !Power->isLike(Pattern) || Power->from() != Had)
          continue;
        Rescaled.push_back({&I, V});
        return Power->to();
      }
    }
    return nullptr;
  }

  PHINode &Sum, &Base;
  const Exponential Pattern;
  Loop &L;
  const SmallSetVector<Instruction *, 32> OfSum, OfBase;
  DenseMap<Instruction *, Value *> Bases;
  SmallVector<Exponential> Terms;
  SmallVector<std::pair<Instruction *, Value *>> Rescaled; // what of, in the order in which they are computed
};

// Of two numbers with one condition: what is chosen where it holds, and where it does not.
struct Choice {
  Value *Yes, *No;

  static std::optional<Choice> of(Value *V, const Value *Condition) {
    auto *Chosen = dyn_cast<SelectInst>(V);
    return Chosen && Chosen->getCondition() == Condition
               ? std::optional(Choice{Chosen->getTrueValue(), Chosen->getFalseValue()})
               : std::nullopt;
  }

  bool isReverseOf(const Choice &Other) const { return Yes == Other.No && No == Other.Yes; }
};

bool isCarried(const Value *V, const Loop &L) {
  auto *Phi = dyn_cast<PHINode>(V);
  return Phi && Phi->getParent() == L.getHeader();
}

// (c ? s : t) + (c ? t : s) * exp((c ? x : m) - (c ? m : x)) becomes s * exp(m - n) + t * exp(x - n), n = c ? m : x.
Value *withTwoFactors(BinaryOperator &Sum, const Loop &L) {
  for (unsigned Each : {0, 1}) {
    auto *Larger = dyn_cast<SelectInst>(Sum.getOperand(1 - Each));
    auto *Rescaled = dyn_cast<BinaryOperator>(Sum.getOperand(Each));
    if (!Larger || !Rescaled || Rescaled->getOpcode() != Instruction::FMul)
      continue;
    const Value *Condition = Larger->getCondition();
    for (unsigned Which : {0, 1}) {
      auto Power = Exponential::of(Rescaled->getOperand(Which), L);
      auto Sums = Choice::of(Larger, Condition), Others = Choice::of(Rescaled->getOperand(1 - Which), Condition);
      if (!Power || !Others || !Sums->isReverseOf(*Others))
        continue;
      auto From = Choice::of(Power->from(), Condition), To = Choice::of(Power->to(), Condition);
      if (!From || !To || !From->isReverseOf(*To) || !(isCarried(To->Yes, L) || isCarried(To->No, L)))
        continue;
      IRBuilder<> B(&Sum);
      Value *One = B.CreateFMulFMF(Sums->Yes, Power->copy(To->Yes, Power->to(), B), Rescaled);
      Value *Other = B.CreateFMulFMF(Sums->No, Power->copy(To->No, Power->to(), B), Rescaled);
      return B.CreateFAddFMF(One, Other, &Sum);
    }
  }
  return nullptr;
}

bool rescaleBoth(Loop &L) {
  SmallVector<std::pair<BinaryOperator *, Value *>> Found;
  for (Instruction &I : *L.getHeader())
    if (auto *Sum = dyn_cast<BinaryOperator>(&I); Sum && Sum->getOpcode() == Instruction::FAdd)
      if (Value *Same = withTwoFactors(*Sum, L))
        Found.push_back({Sum, Same});
  for (auto [Sum, Same] : Found) {
    Sum->replaceAllUsesWith(Same);
    RecursivelyDeleteTriviallyDeadInstructions(Sum);
  }
  return !Found.empty();
}

// How a loop exchanges what it carries as a base, if it does.
std::optional<Exponential> exchanges(PHINode &Base, const Loop &L) {
  if (!Base.getType()->isFloatTy() && !Base.getType()->isDoubleTy())
    return std::nullopt;
  for (User *U : Base.users())
    if (auto *Difference = dyn_cast<BinaryOperator>(U); Difference && Difference->getOperand(0) == &Base)
      for (Instruction *I : reached(Base, L))
        if (auto Power = Exponential::of(I, L); Power && Power->Difference == Difference)
          return Power;
  return std::nullopt;
}

std::vector<OnlineSum> onlineSumsOf(Loop &L) {
  std::vector<OnlineSum> Found;
  SmallPtrSet<PHINode *, 8> Sums;
  for (PHINode &Base : L.getHeader()->phis()) {
    auto Pattern = exchanges(Base, L);
    if (!Pattern)
      continue;
    for (PHINode &Sum : L.getHeader()->phis())
      if (&Sum != &Base && Sum.getType() == Base.getType() && !Sums.contains(&Sum))
        if (OnlineSum Each(Sum, Base, *Pattern, L); Each.next() && Each.find()) {
          Sums.insert(&Sum);
          Found.push_back(std::move(Each));
        }
  }
  return Found;
}

// A copy of the loop between it and its exit; returns the block that leads to it.
BasicBlock &copyBehind(Loop &L, ValueToValueMapTy &Map) {
  BasicBlock *Body = L.getHeader(), *Exit = L.getExitBlock(), *Before = L.getLoopPreheader();
  Function &F = *Body->getParent();
  auto *Begin = BasicBlock::Create(F.getContext(), Body->getName() + ".sums.begin", &F, Exit);
  BasicBlock *Copy = CloneBasicBlock(Body, Map, ".sums", &F);
  Copy->moveBefore(Exit);
  Map[Body] = Copy;
  Map[Before] = Begin;
  remapInstructionsInBlocks({Copy}, Map);
  BranchInst::Create(Copy, Begin);
  Body->getTerminator()->replaceSuccessorWith(Exit, Begin);
  Exit->replacePhiUsesWith(Body, Copy);
  return *Begin;
}

// Nothing else than numbers: all of it can be computed twice.
bool onlyComputes(const BasicBlock &Block) {
  return none_of(Block, [](const Instruction &I) { return I.mayHaveSideEffects() || I.isVolatile() || I.isAtomic(); });
}

// Whether it carries something that the exponent of a power is made of.
bool mayCarryBase(Loop &L) {
  return L.getNumBlocks() == 1 && L.getExitBlock() && onlyComputes(*L.getHeader()) &&
         any_of(L.getHeader()->phis(), [&](PHINode &Base) { return exchanges(Base, L).has_value(); });
}

bool split(Loop &L, FunctionAnalysisManager &FAM) {
  BasicBlock *Body = L.getHeader();
  bool Rewritten = L.getNumBlocks() == 1 && L.getExitBlock() && onlyComputes(*Body) && rescaleBoth(L);
  if (!mayCarryBase(L))
    return Rewritten;
  Function &F = *Body->getParent();
  simplifyLoop(&L, &FAM.getResult<DominatorTreeAnalysis>(F), &FAM.getResult<LoopAnalysis>(F), nullptr,
               &FAM.getResult<AssumptionAnalysis>(F), nullptr, /*PreserveLCSSA=*/false);
  std::vector<OnlineSum> Sums;
  if (L.getNumBlocks() == 1 && L.getLoopPreheader() && L.getExitBlock())
    Sums = onlineSumsOf(L);
  if (Sums.empty())
    return true;
  ADGEN_COUNT(NumSums, L);
  ValueToValueMapTy Map;
  BasicBlock &Begin = copyBehind(L, Map);
  for (OnlineSum &Each : Sums) {
    Each.settle(Map, Begin);
    auto *Next = Each.next();
    Next->replaceUsesOutsideBlock(Map[Next], Body);
  }
  return true;
}

} // namespace

ADGEN_DECLARE_PASS(SplitOnlineSums);

PreservedAnalyses SplitOnlineSums::run(Module &M, ModuleAnalysisManager &MAM) {
  auto &FAM = MAM.getResult<FunctionAnalysisManagerModuleProxy>(M).getManager();
  bool Changed = false;
  for (Function &F : M)
    if (F.getName().starts_with(BodyPrefix) && !F.isDeclaration())
      for (Loop *L : FAM.getResult<LoopAnalysis>(F).getLoopsInPreorder())
        Changed |= split(*L, FAM);
  return Changed ? PreservedAnalyses::none() : PreservedAnalyses::all();
}

} // namespace adgen
