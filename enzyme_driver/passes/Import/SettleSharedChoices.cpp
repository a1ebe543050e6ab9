// Maxima and minima by atomics in shared memory, which a barrier settles: behind it every thread reads what remains. In
// the reverse sweep the thread whose value that is takes the cotangent (rules/choice.cu), and sees it by what the place
// holds. Where something else is written there later, such as the value to begin with in the next iteration, what
// remains is kept at the barrier, and put back (adgen_rule_settle_TYPE).
//
// So between the threads' choice and the barrier nothing may read or write the array, and it is known at the barrier
// which element it was.
#include "Analysis/Layout.h"
#include "Analysis/Reachability.h"
#include "Import/AtomicChoices.h"
#include "Support/Pass.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"

#define DEBUG_TYPE "adgen-settle-shared-choices"

using namespace llvm;

STATISTIC(NumKept, "Number of places that are kept at a barrier");

namespace adgen {
namespace {

StringRef ruleOf(const Instruction &I) {
  auto *Call = dyn_cast<CallInst>(&I);
  StringRef Name = Call && Call->getCalledFunction() ? Call->getCalledFunction()->getName() : "";
  return Name.consume_front(RulePrefix) ? Name : "";
}

// Also one that RematerializeSharedLoads has the reverse sweep repeat.
bool isRead(const Instruction &I) {
  auto *Known = dyn_cast<IntrinsicInst>(&I);
  return isa<LoadInst>(I) || (Known && Known->getCalledFunction()->getName().starts_with("llvm.nvvm.ldu.global."));
}

bool isSum(const Instruction &I) {
  auto *Atomic = dyn_cast<AtomicRMWInst>(&I);
  return Atomic && Atomic->getOperation() == AtomicRMWInst::FAdd;
}

bool isBarrier(const Instruction &I) { return ruleOf(I).ends_with("barrier"); }

// What the threads of a block do together and hand a shared array for Enzyme's sake, or keep of it.
bool isTogether(const Instruction &I) {
  return isBarrier(I) || ruleOf(I).ends_with("turn") || ruleOf(I).contains("snapshot") ||
         ruleOf(I).ends_with("meet_back");
}

// Bytes of an array, from an offset on: so many, or all behind it.
struct Part {
  int64_t From;
  uint64_t Bytes;

  bool overlaps(const Part &Other) const {
    return From < Other.From ? uint64_t(Other.From - From) < Bytes : uint64_t(From - Other.From) < Other.Bytes;
  }
};

constexpr uint64_t All = ~uint64_t(0) / 2;
constexpr Part Anywhere{0, All};

// Subscripts that are no constants are taken for positive: else a thread would read what others are about to choose.
Part partAt(Value &Address, Type *Accessed, const DataLayout &DL) {
  int64_t From = 0;
  bool IsOne = true;
  Value *Base = &Address;
  while (auto *Step = dyn_cast<GEPOperator>(Base)) {
    APInt Constant(DL.getIndexTypeSizeInBits(Step->getType()), 0);
    SmallMapVector<Value *, APInt, 4> Subscripts;
    if (!Step->collectOffset(DL, Constant.getBitWidth(), Subscripts, Constant))
      return Anywhere;
    From += Constant.getSExtValue();
    IsOne &= Subscripts.empty();
    Base = Step->getPointerOperand();
  }
  if (!isa<Argument>(Base->stripPointerCasts()))
    return Anywhere;
  return {From, IsOne && Accessed ? DL.getTypeStoreSize(Accessed).getFixedValue() : All};
}

class SharedArray {
public:
  SharedArray(Function &Body, Argument &Array) : Body(Body), Array(Array) {}

  void settle() {
    collect(Array);
    if (Choices.empty())
      return;
    copy_if(Others, std::back_inserter(Writes),
            [](Instruction *Other) { return isa<StoreInst, AtomicRMWInst>(Other); });
    dropElsewhere();
    for (Instruction *Other : Others)
      if (isRead(*Other) && Other->getType()->isIntOrIntVectorTy())
        return stop(*Other, "in shared memory whose bits are read as integers",
                    "declare what is chosen as __shared__ float or double");
      else if (!isa<StoreInst>(Other) && !isRead(*Other) && !isSum(*Other))
        return stop(*Other, "in shared memory where something else is done to the array by atomics or calls",
                    "keep what is chosen in a __shared__ variable of its own");
    for (CallInst *Choice : Choices)
      if (!isOfNumbers(*Choice))
        return stop(*Choice, "in shared memory that is declared as integers beside others",
                    "keep what is chosen in a __shared__ float or double of its own");
    DominatorTree Dominators(Body);
    for (CallInst *Choice : Choices)
      for (CallInst *Barrier : barriersBehind(*Choice))
        if (isWrittenBehind(*Choice))
          keep(*Choice, *Barrier, Dominators);
  }

private:
  void collect(Value &Address) {
    if (!Visited.insert(&Address).second)
      return;
    for (User *U : Address.users()) {
      auto &I = *cast<Instruction>(U);
      if (isa<GetElementPtrInst, AddrSpaceCastInst, PHINode, SelectInst>(I))
        collect(I);
      else if (isChoice(I))
        Choices.push_back(cast<CallInst>(&I));
      else if (!isTogether(I) && !I.isLifetimeStartOrEnd())
        Others.insert(&I);
    }
  }

  // What is about another part of the array, as where one is carved into several.
  void dropElsewhere() {
    const DataLayout &DL = Body.getDataLayout();
    Type *T = Choices.front()->getCalledFunction()->getName().ends_with("_f32") ? Type::getFloatTy(Body.getContext())
                                                                                : Type::getDoubleTy(Body.getContext());
    Others.remove_if([&](Instruction *Other) {
      if (!isa<StoreInst, AtomicRMWInst>(Other) && !isRead(*Other))
        return false;
      Type *Accessed = isa<StoreInst>(Other) ? Other->getOperand(0)->getType() : Other->getType();
      Part Here = partAt(*Other->getOperand(isa<StoreInst>(Other)), Accessed, DL);
      return none_of(Choices,
                     [&](CallInst *Choice) { return partAt(*Choice->getArgOperand(0), T, DL).overlaps(Here); });
    });
  }

  // By the array's type: Enzyme takes what it says are integers for no variable.
  static bool isOfNumbers(const CallInst &Choice) {
    uint64_t Bytes = Choice.getCalledFunction()->getName().ends_with("_f32") ? 4 : 8;
    std::optional<Place> At = placeOf(Choice.getArgOperand(0), Choice.getDataLayout());
    auto Leaves = At && At->Memory ? At->Memory->cover(At->Offset, Bytes) : std::nullopt;
    return !At || (Leaves && Leaves->size() == 1 && Leaves->front().isFloat() && Leaves->front().Bytes == Bytes);
  }

  // The first ones on all ways.
  SmallSetVector<CallInst *, 4> barriersBehind(CallInst &Choice) {
    SmallSetVector<CallInst *, 4> Found;
    SmallVector<Instruction *> Work{Choice.getNextNode()};
    SmallPtrSet<const BasicBlock *, 16> Seen;
    while (!Work.empty()) {
      Instruction *I = Work.pop_back_val();
      BasicBlock *Block = I->getParent();
      for (; I && !isBarrier(*I); I = I->getNextNode())
        if (Others.contains(I)) {
          stop(*I, "in shared memory where the array is read or written before a barrier",
               "let the threads meet (__syncthreads) between what they bring and what they read");
          return {};
        }
      if (I)
        Found.insert(cast<CallInst>(I));
      else
        for (BasicBlock *Next : successors(Block))
          if (Seen.insert(Next).second)
            Work.push_back(&Next->front());
    }
    return Found;
  }

  bool isWrittenBehind(const CallInst &Choice) const {
    return any_of(Writes, [&](Instruction *Write) { return mayFollow(Choice, *Write); });
  }

  void keep(CallInst &Choice, CallInst &Barrier, const DominatorTree &Dominators) {
    Value *Place = Choice.getArgOperand(0);
    if (!Kept.insert({&Barrier, Place}))
      return;
    if (!Dominators.dominates(Place, &Barrier))
      return stop(Choice, "in shared memory where the element is not known at the barrier behind",
                  "compute its address before the condition or the loop");
    bool Single = Choice.getCalledFunction()->getName().ends_with("_f32");
    IRBuilder<> B(Barrier.getNextNode());
    Type *T = Single ? B.getFloatTy() : B.getDoubleTy();
    Function *Rule = declareRule(*Body.getParent(), Single ? "settle_f32" : "settle_f64", 1, {}, T);
    Rule->setNotConvergent();
    Rule->setMemoryEffects(MemoryEffects::argMemOnly());
    B.CreateCall(Rule, Place);
    ADGEN_COUNT(NumKept, Choice);
  }

  void stop(const Instruction &I, const Twine &Where, const Twine &Hint) const {
    refuse(&Body, I.getDebugLoc(), ("cannot differentiate a maximum or minimum by atomics " + Where).str(), Hint.str());
  }

  Function &Body;
  Argument &Array;
  SmallPtrSet<Value *, 16> Visited;
  SmallVector<CallInst *> Choices;
  SmallSetVector<Instruction *, 8> Others; // accesses
  SmallVector<Instruction *> Writes;       // of them, and elsewhere in the array too
  SmallSetVector<std::pair<CallInst *, Value *>, 4> Kept;
};

} // namespace

ADGEN_DECLARE_PASS(SettleSharedChoices);

PreservedAnalyses SettleSharedChoices::run(Module &M, ModuleAnalysisManager &) {
  SmallVector<Function *> Bodies;
  for (Function &F : M)
    if (!F.isDeclaration() && F.getName().starts_with(BodyPrefix))
      Bodies.push_back(&F);
  for (Function *Body : Bodies)
    for (unsigned I = Body->arg_size() - sharedNames(*Body).size(); I < Body->arg_size(); ++I)
      SharedArray(*Body, *Body->getArg(I)).settle();
  return PreservedAnalyses::none();
}

} // namespace adgen
