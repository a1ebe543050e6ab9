// Values that a body reads from shared memory are read again in the reverse sweep instead of being kept for every
// thread and read. The arrays get back what they held: where the block meets at a barrier, its threads together keep
// what the arrays hold, each a share (adgen_rule_snapshot), and put it back when the reverse sweep arrives there.
//
// A load may be repeated where, until the next barriers that its thread reaches, nothing in the thread writes to the
// array: what other threads write there before a barrier would be a race. Where the array changes behind those
// barriers, nothing behind them may need what was computed from the load: Enzyme would read again where it is needed,
// before the array has its values back. The barriers must be met by all threads of the block, because each has its
// share; so no branch that threads may take differently decides about them. Enzyme repeats loads of one kind
// without question, llvm.nvvm.ldu.global, so that is what they become until it has run (StripGuards).
//
// Where nothing but few sums of what is read is needed, as of a convolution, and a thread's share of the array is more
// than these, the sums are kept instead, and nothing is read again.
#include "Analysis/Needed.h"
#include "Analysis/Refill.h"
#include "Checkpointing/BarrierIntervals.h"
#include "Checkpointing/BarrierMeetings.h"
#include "Support/Guards.h"
#include "Support/LeftValues.h"
#include "Support/Pass.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallSet.h"
#include "llvm/Analysis/PostDominators.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicsNVPTX.h"

#include <optional>

#define DEBUG_TYPE "adgen-rematerialize-shared-loads"

using namespace llvm;

STATISTIC(NumLoads, "Number of loads repeated");

namespace adgen {
namespace {

constexpr uint64_t UsualThreads = 256; // of a block, among which an array is shared
constexpr size_t FewestParted = 8;     // loads that are worth a barrier

// A whole number that says where to read, and decides about nothing: what follows from a decision may be asked for
// where the array has not its values back yet.
bool isIndex(const Instruction &I) {
  return all_of(I.users(), [&](const User *U) {
    return isa<GetElementPtrInst>(U) ||
           (isa<CastInst, BinaryOperator>(U) && U->getType()->isIntegerTy() && isIndex(*cast<Instruction>(U)));
  });
}

bool isRepeatedType(const LoadInst &Load) {
  return Load.getType()->isFPOrFPVectorTy() || (Load.getType()->isIntegerTy(32) && isIndex(Load));
}

// Where a value has to be there: for a phi at the end of the block that it comes from.
const Instruction &placeOf(const Use &U) {
  auto *Phi = dyn_cast<PHINode>(U.getUser());
  return Phi ? *Phi->getIncomingBlock(U)->getTerminator() : *cast<Instruction>(U.getUser());
}

class Reloading {
public:
  Reloading(Function &Body, FunctionAnalysisManager &FAM, UnchangedMemory &Unchanged)
      : Body(Body), Before(FAM.getResult<DominatorTreeAnalysis>(Body)), Loops(FAM.getResult<LoopAnalysis>(Body)),
        Arrays(Body), Meet(Body, FAM, Unchanged), Known(Body, knownActivities(Body)),
        Fill(Body, Before, FAM.getResult<PostDominatorTreeAnalysis>(Body), Loops, Unchanged) {}

  bool run() {
    bool Changed = partLoadsFromStores();
    collect();
    Changed |= !Settled.empty();
    for (LoadInst *Load : Settled)
      repeat(*Load);
    for (auto &[A, Loads] : Candidates) {
      if (!pays(Loads))
        continue;
      if (auto Sums = sumsOf(Loads); !Sums.empty() && bytesOf(Sums) < shareOf(*A, Loads)) {
        for (Instruction *Sum : Sums)
          holdInVariable(*Sum, isa<PHINode>(Sum) ? Sum->getParent()->getFirstInsertionPt() : ++Sum->getIterator());
        Changed = true;
        continue;
      }
      for (auto &[Load, Found] : Loads) {
        for (CallInst *End : Found.Ends)
          if (isWrittenBehind(*End, A))
            Snapshots[End].insert(A);
        Left.insert_range(Found.Left);
        const bool IsLeft = Left.remove(Load);
        Instruction *Again = repeat(*Load);
        if (IsLeft)
          Left.insert(Again);
      }
      Changed = true;
    }
    for (auto &[Barrier, Wanted] : Snapshots)
      for (Argument *A : Wanted)
        Stores.try_emplace(A, storesTo(A));
    for (auto &[Barrier, Wanted] : Snapshots)
      snapshot(*Barrier, Wanted.getArrayRef());
    keepWhatIsLeft();
    return Changed;
  }

private:
  using Repeated = SmallVector<std::pair<LoadInst *, Interval>>;

  void collect() {
    for (Instruction &I : instructions(Body)) {
      auto *Load = dyn_cast<LoadInst>(&I);
      if (!Load || !Load->isSimple() || !isRepeatedType(*Load))
        continue;
      Argument *A = Arrays.find(Load->getPointerOperand());
      if (!A || !isNeeded(*Load, Known))
        continue;
      if (Known.isArray(A)) { // nothing is written behind its reads
        Settled.push_back(Load);
        continue;
      }
      if (std::optional<Interval> Found = repeatable(*Load, A))
        Candidates[A].push_back({Load, std::move(*Found)});
    }
  }

  // What happens behind a load that may be repeated.
  std::optional<Interval> repeatable(LoadInst &Load, Argument *A) {
    Interval Found = intervalBehind(Load, A, Arrays);
    bool Changes = any_of(Found.Ends, [&](CallInst *End) { return isWrittenBehind(*End, A); });
    if (Found.Repeatable && !(Found.LanesMeet && isWrittenAround(Found, A)) &&
        !(Changes && isNeededBehind(Load, Found)) &&
        all_of(Found.Ends, [&](CallInst *End) { return Meet.all(*End->getParent()) || isFilledAgain(*End, *A); }))
      return Found;
    return std::nullopt;
  }

  // By each thread what it has filled itself, whoever has returned before.
  bool isFilledAgain(CallInst &End, const Argument &A) {
    if (!isWrittenBehind(End, &A))
      return true;
    auto Writers = storesTo(&A);
    return Writers && Fill.isPossible(*Writers, End);
  }

  // Two halves of an array that are read and written in turn need one barrier a turn. Where all threads of the block
  // come to the store, another one before it parts what they read from what they write.
  bool partLoadsFromStores() {
    MapVector<Instruction *, SmallVector<LoadInst *>> Parted; // what writes first behind these
    for (Instruction &I : instructions(Body)) {
      auto *Load = dyn_cast<LoadInst>(&I);
      Argument *A = Load && Load->isSimple() && Load->getType()->isFPOrFPVectorTy()
                        ? Arrays.find(Load->getPointerOperand())
                        : nullptr;
      if (!A || Known.isArray(A) || !isNeeded(*Load, Known) || !Loops.getLoopFor(Load->getParent()))
        continue;
      auto Writes = [&](Instruction &Each) { return Arrays.mayWrite(Each, A); };
      auto First = std::find_if(std::next(Load->getIterator()), Load->getParent()->end(), Writes);
      if (First != Load->getParent()->end() && isa<StoreInst>(*First))
        Parted[&*First].push_back(Load);
    }
    bool Changed = false;
    CallInst *Barrier = Parted.empty() ? nullptr : someBarrier();
    for (auto &[Store, Loads] : Parted) {
      if (!Barrier || Loads.size() < FewestParted || !Meet.all(*Store->getParent()))
        continue;
      Instruction *Parts = Barrier->clone();
      Parts->insertBefore(Store->getIterator());
      const bool Helps = repeatable(*Loads.front(), Arrays.find(Loads.front()->getPointerOperand())).has_value();
      Helps ? void(Changed = true) : void(Parts->eraseFromParent());
    }
    return Changed;
  }

  CallInst *someBarrier() const {
    for (Instruction &I : instructions(Body))
      if (isBlockBarrier(I) && none_of(I.operands(), [](const Use &U) { return isa<Instruction>(U); }))
        return cast<CallInst>(&I);
    return nullptr;
  }

  // Behind lanes that have met another one may write to what was read before.
  bool isWrittenAround(const Interval &Found, const Argument *A) const {
    auto IsWritten = [&](const Instruction *There) { return isWrittenBefore(*There, A, Arrays); };
    return any_of(Found.Ends, IsWritten) || any_of(Found.Returns, IsWritten);
  }

  // Whether the reverse of anything behind the interval needs a value computed from the load. What recurs in a loop is
  // kept, and so can be what a loop leaves behind.
  bool isNeededBehind(LoadInst &Load, Interval &Found) const {
    if (!isNeededBehind(Load, Found, nullptr))
      return false;
    if (!isNeededBehind(Load, Found, &Found.Left))
      return false;
    Found.Left.clear();
    return true;
  }

  bool isNeededBehind(LoadInst &Load, const Interval &Found, SmallSetVector<Instruction *, 4> *Left) const {
    Instructions Before = reachedFrom({std::next(Load.getIterator())}, isBlockBarrier);
    // What an iteration computes is not what the next one uses where that computes it, too.
    auto IsBehind = [&](const Instruction &V, const Instruction &Place) {
      return !Before.contains(&Place) ||
             any_of(Found.Ends, [&](const CallInst *End) { return reachesPast(*End, Place, V); });
    };
    const Loop *Free = loopWithoutBarriers(Load);
    // Whether still in that loop, and whether it may be computed behind the interval.
    using Computed = std::tuple<Instruction *, bool, bool>;
    SmallVector<Computed> Work{{&Load, Free != nullptr, false}};
    SmallSet<Computed, 16> Seen;
    while (!Work.empty()) {
      auto [V, IsIn, IsLate] = Work.pop_back_val();
      for (Use &U : V->uses()) {
        auto *I = cast<Instruction>(U.getUser());
        if (isa<StoreInst>(I) || Meet.isRecurrence(*I))
          continue;
        if (Left && isLeftByLoops(*V, *I)) {
          Left->insert(V);
          continue;
        }
        const bool Stays = IsIn && Free->contains(I);
        const bool Late = !Stays && (IsLate || IsBehind(*V, placeOf(U)));
        if (Late && !isLinear(*I, V, Known))
          return true;
        if (Seen.insert({I, Stays, Late}).second)
          Work.push_back({I, Stays, Late});
      }
    }
    return false;
  }

  // The outermost one around a load in which no threads meet: what is used in it is used before the interval ends.
  const Loop *loopWithoutBarriers(const LoadInst &Load) const {
    const Loop *Found = nullptr;
    for (const Loop *L = Loops.getLoopFor(Load.getParent()); L; L = L->getParentLoop()) {
      if (any_of(L->blocks(), [](const BasicBlock *Block) { return any_of(*Block, isBlockBarrier); }))
        break;
      Found = L;
    }
    return Found;
  }

  // Of all loops around a number, or of the innermost around a condition: whether a pixel is opaque is kept for a tile.
  bool isLeftByLoops(const Instruction &V, const Instruction &Use) const {
    Type *T = V.getType();
    const Loop *L = Loops.getLoopFor(V.getParent());
    if (T->isIntegerTy(1))
      return L && isa<PHINode>(V) && !L->contains(&Use);
    for (; L && L->getParentLoop(); L = L->getParentLoop())
      ;
    return (T->isFloatTy() || T->isDoubleTy()) && L && !L->contains(&Use);
  }

  // Enzyme would find it out again from what was read.
  void keepWhatIsLeft() {
    auto IsKept = [&](const PHINode &Phi) {
      return Phi.getType()->isIntegerTy() || !Loops.getLoopFor(Phi.getParent());
    };
    for (Instruction *V : Left)
      holdBehind(*V, Before, Loops, IsKept);
  }

  bool isWrittenBehind(CallInst &Barrier, const Argument *A) const {
    Instructions Behind = reachedFrom({std::next(Barrier.getIterator())}, [](const Instruction &) { return false; });
    return any_of(Behind, [&](const Instruction *I) { return Arrays.mayWrite(*I, A); });
  }

  // A share of the array is kept a barrier, and a value a load otherwise: several loads, or one in a loop, are worth
  // it.
  bool pays(const Repeated &Loads) const {
    return Loads.size() > 1 || any_of(Loads, [&](const std::pair<LoadInst *, Interval> &Item) {
             return all_of(Item.second.Ends, [&](CallInst *End) { return Meet.isLoopBehind(*Item.first, *End); });
           });
  }

  // The numbers, fewer than the loads and computed as often, by which all that is needed of these follows.
  SmallSetVector<Instruction *, 4> sumsOf(const Repeated &Loads) const {
    SmallSetVector<Instruction *, 32> Linear;
    for (const auto &[Load, Found] : Loads)
      Linear.insert(Load);
    const Loop *Around = Loops.getLoopFor(Linear.front()->getParent());
    for (unsigned Next = 0; Next < Linear.size(); ++Next)
      for (User *U : Linear[Next]->users())
        if (isLinearIn(*cast<Instruction>(U), Linear, *Linear[Next]))
          Linear.insert(cast<Instruction>(U));
    SmallSetVector<Instruction *, 4> Sums;
    for (Instruction *I : Linear) {
      if (Loops.getLoopFor(I->getParent()) != Around)
        return {};
      bool IsLast =
          any_of(I->users(), [&](User *U) { return !isa<StoreInst>(U) && !Linear.contains(cast<Instruction>(U)); });
      bool Follows = any_of(I->operands(), [&](const Use &U) {
        auto *Operand = dyn_cast<Instruction>(U.get());
        return Operand && Sums.contains(Operand) &&
               all_of(I->operands(), [&](const Use &Other) { return U == Other || Known.isConstant(Other); });
      });
      if (IsLast && !Follows && isNeeded(*I, Known) &&
          (isa<LoadInst>(I) || (Sums.insert(I), Sums.size() == Loads.size())))
        return {};
    }
    return Sums;
  }

  // Whether a number is a sum of these, and of constants.
  bool isLinearIn(const Instruction &I, const SmallSetVector<Instruction *, 32> &Terms, const Value &Term) const {
    return isLinear(I, &Term, Known) && !(isa<PHINode>(I) && Loops.isLoopHeader(I.getParent())) &&
           all_of(I.operands(), [&](const Use &U) {
             auto *Operand = dyn_cast<Instruction>(U.get());
             return !U->getType()->isFPOrFPVectorTy() || (Operand && Terms.contains(Operand)) || Known.isConstant(U);
           });
  }

  static uint64_t bytesOf(const SmallSetVector<Instruction *, 4> &Sums) {
    uint64_t Bits = 0;
    for (const Instruction *Sum : Sums)
      Bits += Sum->getType()->getPrimitiveSizeInBits();
    return Bits / 8;
  }

  // Bytes that a thread keeps so that these can be repeated.
  uint64_t shareOf(Argument &A, const Repeated &Loads) {
    SmallPtrSet<CallInst *, 4> Kept;
    auto Writers = storesTo(&A);
    for (const auto &[Load, Found] : Loads)
      for (CallInst *End : Found.Ends)
        if (isWrittenBehind(*End, &A) && !(Writers && Fill.isPossible(*Writers, *End)))
          Kept.insert(End);
    return Kept.size() * Arrays.bytes(&A) / UsualThreads;
  }

  static Instruction *repeat(LoadInst &Load) {
    ADGEN_COUNT(NumLoads, Load);
    IRBuilder<> B(&Load);
    Value *Alignment = B.getInt32(Load.getAlign().value());
    const Intrinsic::ID Kind =
        Load.getType()->isIntegerTy() ? Intrinsic::nvvm_ldu_global_i : Intrinsic::nvvm_ldu_global_f;
    Instruction *Again =
        B.CreateIntrinsic(Kind, {Load.getType(), Load.getPointerOperandType()}, {Load.getPointerOperand(), Alignment});
    Load.replaceAllUsesWith(Again);
    Load.eraseFromParent();
    return Again;
  }

  // All that writes to an array, if it is stores to that array for sure.
  std::optional<SmallVector<StoreInst *>> storesTo(const Argument *A) const {
    SmallVector<StoreInst *> Found;
    for (Instruction &I : instructions(Body)) {
      if (!Arrays.mayWrite(I, A))
        continue;
      auto *Store = dyn_cast<StoreInst>(&I);
      if (!Store || Arrays.find(Store->getPointerOperand()) != A)
        return std::nullopt;
      Found.push_back(Store);
    }
    return Found;
  }

  // Shares are kept before the barrier where no thread has written since the one before: then threads need not meet
  // once more until all have read theirs. In the reverse sweep they meet between what is put back and what is read.
  void snapshot(CallInst &Barrier, ArrayRef<Argument *> Wanted) {
    auto IsFilled = [&](Argument *A) {
      const auto &Writers = Stores.find(A)->second;
      return Writers && Fill.isPossible(*Writers, Barrier);
    };
    const bool AnyKept = !all_of(Wanted, IsFilled);
    const bool IsBefore = AnyKept && none_of(Wanted, [&](Argument *A) { return isWrittenBefore(Barrier, A, Arrays); });
    IRBuilder<> B(IsBefore ? &Barrier : Barrier.getNextNode());
    B.SetCurrentDebugLocation(Barrier.getDebugLoc());
    if (IsBefore)
      meetAgain(B, *Wanted.front(), "meet_back");
    for (Argument *A : Wanted)
      IsFilled(A) ? Fill.emit(B, *A) : keep(B, *A);
    if (!IsBefore)
      meetAgain(B, *Wanted.front(), AnyKept ? "behind_snapshot" : "meet_back");
  }

  void meetAgain(IRBuilder<> &B, Argument &A, StringRef Name) {
    Function *Rule = declareRule(*Body.getParent(), Name, 1, {});
    B.CreateCall(Rule, {&A})->addFnAttr(Attribute::Convergent);
  }

  void keep(IRBuilder<> &B, Argument &A) {
    Value *Bytes = B.getInt64(Arrays.bytes(&A));
    StringRef Name = Arrays.inWords(&A) ? "snapshot_words" : "snapshot";
    Function *Rule = declareRule(*Body.getParent(), Name, 1, {Bytes->getType()}, B.getPtrTy());
    B.CreateCall(Rule, {&A, Bytes})->addFnAttr(Attribute::Convergent);
  }

  Function &Body;
  DominatorTree &Before;
  LoopInfo &Loops;
  SharedArrays Arrays;
  BarrierMeetings Meet;
  Constants Known;
  Refill Fill;
  SmallVector<LoadInst *> Settled;
  SmallSetVector<Instruction *, 4> Left;
  MapVector<Argument *, Repeated> Candidates;
  MapVector<CallInst *, SmallSetVector<Argument *, 2>> Snapshots;
  DenseMap<Argument *, std::optional<SmallVector<StoreInst *>>> Stores; // of the arrays of these
};

} // namespace

ADGEN_DECLARE_PASS(RematerializeSharedLoads);

PreservedAnalyses RematerializeSharedLoads::run(Module &M, ModuleAnalysisManager &MAM) {
  auto &FAM = MAM.getResult<FunctionAnalysisManagerModuleProxy>(M).getManager();
  SmallVector<Function *> Bodies;
  for (Function &F : M)
    if (F.getName().starts_with(BodyPrefix) && !F.isDeclaration() && !sharedNames(F).empty())
      Bodies.push_back(&F);
  const UnderlyingObjects Memory(M);
  UnchangedMemory Unchanged(Memory, BodyPrefix);
  for (Function *Body : Bodies) {
    Reloading(*Body, FAM, Unchanged).run();
    FAM.invalidate(*Body, PreservedAnalyses::none());
  }
  return PreservedAnalyses::none();
}

} // namespace adgen
