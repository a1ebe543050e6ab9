// In the reverse sweep of C++. What the primal did not use, because it took another branch, has a cotangent of zero,
// and everything that is added for it is zero too. Where a cotangent may be zero by the way that the sweep has come,
//   a[i] += c * x; b[i] += c * y / z;   becomes   if (c != 0) { a[i] += c * x; b[i] += c * y / z; }
// if that is worth a branch. What is not a number is not zero.
#include "Analysis/Accumulation.h"
#include "Support/Iterations.h"
#include "Support/Pass.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Analysis/AliasAnalysis.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/MemoryLocation.h"
#include "llvm/IR/PatternMatch.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

#define DEBUG_TYPE "adgen-skip-zeros"

using namespace llvm;
using namespace llvm::PatternMatch;

STATISTIC(NumBlocks, "Number of blocks guarded");

namespace adgen {
namespace {

constexpr unsigned MostAsked = 4;     // cotangents in one condition
constexpr unsigned WorthABranch = 12; // operations that are skipped
constexpr unsigned Deepest = 8;       // through how many operations a zero is followed

using Support = SmallSetVector<Value *, MostAsked>; // what has to be zero for a number to be

bool isZero(const Value *V) { return match(V, m_AnyZeroFP()); }

// An addition to an element: an atomic, or everything from the store of the new number back to the load of the old one.
struct Addition {
  SmallVector<Instruction *, 4> Parts;
  Support Zeros;
};

class Zeros {
public:
  explicit Zeros(const LoopInfo &LI) : LI(LI) {}

  // Whether the number is zero on some way through the loop's body.
  bool mayBe(const Value *V, unsigned Depth = 0) const {
    if (isZero(V))
      return true;
    auto *I = dyn_cast<Instruction>(V);
    if (!I || ++Depth > Deepest || I->getType()->isVectorTy())
      return false;
    auto May = [&](const Value *Operand) { return mayBe(Operand, Depth); };
    switch (I->getOpcode()) {
    case Instruction::PHI:
      return !LI.isLoopHeader(I->getParent()) && any_of(I->operands(), May);
    case Instruction::Select:
      return May(I->getOperand(1)) || May(I->getOperand(2));
    case Instruction::FNeg:
    case Instruction::FDiv:
      return May(I->getOperand(0));
    case Instruction::FMul:
      return any_of(I->operands(), May);
    case Instruction::FAdd:
    case Instruction::FSub:
      return all_of(I->operands(), May);
    default:
      return false;
    }
  }

  // What a number computed in a block is zero without, if that may be zero.
  std::optional<Support> of(Value *V, const BasicBlock &Block, unsigned Depth = 0) const {
    if (isZero(V))
      return Support();
    auto *I = dyn_cast<Instruction>(V);
    if (I && I->getParent() == &Block && Depth < Deepest)
      if (std::optional<Support> Found = ofOperands(*I, Block, Depth + 1))
        return Found;
    if (!V->getType()->isFloatingPointTy() || !mayBe(V))
      return std::nullopt;
    Support Itself;
    Itself.insert(V);
    return Itself;
  }

private:
  std::optional<Support> ofOperands(Instruction &I, const BasicBlock &Block, unsigned Depth) const {
    switch (I.getOpcode()) {
    case Instruction::FNeg:
    case Instruction::FDiv:
      return of(I.getOperand(0), Block, Depth);
    case Instruction::FMul:
      if (std::optional<Support> Found = of(I.getOperand(0), Block, Depth))
        return Found;
      return of(I.getOperand(1), Block, Depth);
    case Instruction::FAdd:
    case Instruction::FSub:
      return ofBoth(I.getOperand(0), I.getOperand(1), Block, Depth);
    case Instruction::Select:
      return ofBoth(I.getOperand(1), I.getOperand(2), Block, Depth);
    default:
      return std::nullopt;
    }
  }

  std::optional<Support> ofBoth(Value *One, Value *Other, const BasicBlock &Block, unsigned Depth) const {
    std::optional<Support> Found = of(One, Block, Depth), More = of(Other, Block, Depth);
    if (!Found || !More)
      return std::nullopt;
    Found->insert_range(*More);
    return Found;
  }

  const LoopInfo &LI;
};

class Guard {
public:
  Guard(BasicBlock &B, const Zeros &Z, AAResults &AA) : B(B), Z(Z), AA(AA) {}

  bool make() {
    findAdditions();
    if (Additions.empty() || Asked.empty() || Asked.size() > MostAsked || !sort())
      return false;
    sink();
    if (weight() < WorthABranch)
      return false;
    split();
    return true;
  }

private:
  // Whether a sum is the old number and what may be zero; adds to what has been found how it comes about.
  bool addsToOld(Value *Sum, const StoreInst &Store, Addition &Found) const {
    auto *I = dyn_cast<Instruction>(Sum);
    if (!I || I->getParent() != &B || !I->hasOneUse())
      return false;
    Found.Parts.push_back(I);
    if (auto *Old = dyn_cast<LoadInst>(I))
      return Old->isSimple() && Old->getPointerOperand() == Store.getPointerOperand();
    std::optional<unsigned> Side = keptSide(*I);
    if (!Side)
      return false;
    Found.Zeros.insert_range(*Z.of(I->getOperand(1 - *Side), B));
    return addsToOld(I->getOperand(*Side), Store, Found);
  }

  // Of a sum of a number and one that may be zero: which of them stays the same.
  std::optional<unsigned> keptSide(const Instruction &I) const {
    bool Sum = I.getOpcode() == Instruction::FAdd;
    if (!Sum && I.getOpcode() != Instruction::FSub)
      return std::nullopt;
    if (Z.of(I.getOperand(1), B))
      return 0;
    return Sum && Z.of(I.getOperand(0), B) ? std::optional(1u) : std::nullopt;
  }

  std::optional<Addition> additionAt(Instruction &I) const {
    Addition Found;
    if (AtomicRMWInst *Atomic = asAccumulation(I)) {
      Found.Parts.push_back(&I);
      std::optional<Support> Zeros = Z.of(Atomic->getValOperand(), B);
      return Zeros ? std::optional(Addition{Found.Parts, *Zeros}) : std::nullopt;
    }
    auto *Store = dyn_cast<StoreInst>(&I);
    if (!Store || !Store->isSimple() || !Store->getValueOperand()->getType()->isFloatingPointTy())
      return std::nullopt;
    Found.Parts.push_back(&I);
    return addsToOld(Store->getValueOperand(), *Store, Found) ? std::optional(Found) : std::nullopt;
  }

  // The last additions of the block that follow each other, with nothing else that is written or that reads their
  // elements between them.
  void findAdditions() {
    SmallVector<MemoryLocation> Elements;
    for (Instruction &I : reverse(B)) {
      std::optional<Addition> Found = Additions.contains(&I) ? std::nullopt : additionAt(I);
      if (Found) {
        Last = Last ? Last : &I;
        Additions.insert_range(Found->Parts);
        Asked.insert_range(Found->Zeros);
        Elements.push_back(*MemoryLocation::getOrNone(&I));
      } else if (Last && !Additions.contains(&I) && isInTheWay(I, Elements)) {
        break;
      }
      if (Last)
        Window.insert(&I);
    }
    if (!all_of(Additions, [&](Instruction *Part) { return Window.contains(Part); }))
      Additions.clear();
  }

  bool isInTheWay(Instruction &I, ArrayRef<MemoryLocation> Elements) const {
    if (I.mayHaveSideEffects())
      return true;
    return I.mayReadFromMemory() && !I.hasMetadata(LLVMContext::MD_invariant_load) &&
           any_of(Elements, [&](const MemoryLocation &Each) { return isModOrRefSet(AA.getModRefInfo(&I, Each)); });
  }

  // What is under the condition, and what has to come behind because it depends on that; false if the latter cannot be
  // moved there.
  bool sort() {
    for (Instruction &I : make_range(B.getFirstNonPHIIt(), std::next(Last->getIterator()))) {
      auto Is = [&](const SetVector<Instruction *> &Ones) {
        return any_of(I.operands(), [&](Value *Operand) { return Ones.contains(dyn_cast<Instruction>(Operand)); });
      };
      bool Waits = Is(Behind);
      if (!Waits && (Additions.contains(&I) || (!Asked.contains(&I) && (isAskedZero(I) || isAskedSum(I)))))
        Under.insert(&I);
      else if (Waits || Is(Under)) {
        if (Additions.contains(&I) || Asked.contains(&I) || I.mayReadOrWriteMemory() || I.mayHaveSideEffects())
          return false;
        Behind.insert(&I);
      }
    }
    return true;
  }

  bool isAsked(const std::optional<Support> &Zeros) const {
    return Zeros && all_of(*Zeros, [&](Value *Each) { return Asked.contains(Each); });
  }

  bool isAskedZero(Instruction &I) const { return I.getType()->isFloatingPointTy() && isAsked(Z.of(&I, B)); }

  bool isAskedSum(const Instruction &I) const {
    std::optional<unsigned> Side = keptSide(I);
    return Side && isAsked(Z.of(I.getOperand(1 - *Side), B));
  }

  // Whether a sum that may be seen behind the condition is this number where all that was asked is zero.
  bool isLeftBy(const User &U, const Instruction &Kept) const {
    auto &Sum = cast<Instruction>(U);
    return !Additions.contains(&Sum) && isAskedSum(Sum) && Sum.getOperand(*keptSide(Sum)) == &Kept;
  }

  // What is needed under the condition only, and can be computed there.
  void sink() {
    for (Instruction &I : reverse(make_range(B.getFirstNonPHIIt(), std::next(Last->getIterator())))) {
      if (Under.contains(&I) || Behind.contains(&I) || Asked.contains(&I) || I.mayHaveSideEffects() || I.use_empty())
        continue;
      bool Stays = I.mayReadFromMemory() && !I.hasMetadata(LLVMContext::MD_invariant_load) && !Window.contains(&I);
      if (!Stays &&
          all_of(I.users(), [&](User *U) { return Under.contains(cast<Instruction>(U)) && !isLeftBy(*U, I); }))
        Under.insert(&I);
    }
  }

  unsigned weight() const {
    unsigned Sum = 0;
    for (const Instruction *I : Under) {
      bool IsLong = I->getOpcode() == Instruction::FDiv || isa<CallInst, AtomicRMWInst>(I);
      Sum += IsLong ? WorthABranch / 2 : !isa<GetElementPtrInst>(I);
    }
    return Sum;
  }

  // What a number under the condition is where all that was asked is zero.
  Value *otherwise(Instruction &I) const {
    if (isAskedZero(I))
      return ConstantFP::getZero(I.getType());
    Value *Kept = I.getOperand(*keptSide(I));
    auto *Before = dyn_cast<Instruction>(Kept);
    return Before && Under.contains(Before) ? otherwise(*Before) : Kept;
  }

  void split() {
    MapVector<Instruction *, Value *> Seen; // behind the condition
    for (Instruction &I : B)
      if (Under.contains(&I) && any_of(I.users(), [&](User *U) { return !Under.contains(cast<Instruction>(U)); }))
        Seen[&I] = otherwise(I);
    IRBuilder<> Ask(Last->getNextNode());
    Value *Any = nullptr;
    for (Value *Each : Asked) {
      Value *Some = Ask.CreateFCmpUNE(Each, ConstantFP::getZero(Each->getType()));
      Any = Any ? Ask.CreateOr(Any, Some) : Some;
    }
    SmallVector<Instruction *> InOrder, Later;
    for (Instruction &I : B)
      if (Under.contains(&I) || Behind.contains(&I))
        (Under.contains(&I) ? InOrder : Later).push_back(&I);
    BasicBlock::iterator Rest = Ask.GetInsertPoint();
    Instruction *Then = SplitBlockAndInsertIfThen(Any, Rest, /*Unreachable=*/false);
    for (Instruction *I : InOrder)
      I->moveBefore(Then->getIterator());
    BasicBlock *Tail = Then->getSuccessor(0);
    for (Instruction *I : Later)
      I->moveBefore(Rest);
    IRBuilder<> Joins(Tail, Tail->begin());
    for (auto &[I, Otherwise] : Seen) {
      PHINode *Phi = Joins.CreatePHI(I->getType(), 2, I->getName());
      I->replaceUsesWithIf(Phi, [&](Use &U) { return !Under.contains(cast<Instruction>(U.getUser())); });
      Phi->addIncoming(I, Then->getParent());
      Phi->addIncoming(Otherwise, &B);
    }
  }

  BasicBlock &B;
  const Zeros &Z;
  AAResults &AA;
  SmallPtrSet<const Instruction *, 16> Window; // from the first addition to the last one
  SetVector<Instruction *> Additions, Under, Behind;
  Support Asked;
  Instruction *Last = nullptr;
};

} // namespace

ADGEN_DECLARE_PASS(SkipZeros);

PreservedAnalyses SkipZeros::run(Module &M, ModuleAnalysisManager &MAM) {
  auto &FAM = MAM.getResult<FunctionAnalysisManagerModuleProxy>(M).getManager();
  bool Changed = false;
  for (Function &F : M) {
    if (F.isDeclaration() || !isOfGradient(F)) // the primal's own sums stay as they are
      continue;
    auto &AA = FAM.getResult<AAManager>(F);
    auto &LI = FAM.getResult<LoopAnalysis>(F);
    const Zeros Z(LI);
    SmallVector<BasicBlock *> Blocks;
    for (BasicBlock &B : F)
      if (LI.getLoopFor(&B))
        Blocks.push_back(&B);
    for (BasicBlock *B : Blocks)
      if (Guard(*B, Z, AA).make()) {
        ADGEN_COUNT(NumBlocks, B->getName());
        Changed = true;
      }
  }
  return Changed ? PreservedAnalyses::none() : PreservedAnalyses::all();
}

} // namespace adgen
