// Reads inputs again in the reverse sweep, and computes again what follows from them by a few operations, where a
// gradient would have to keep more numbers than there are registers. ptxas stores and loads what has none, at the price
// of the loads that take its place and the stores besides. Only what the kernel never writes is read again, by
// addresses that follow from the launch's registers, and only where no block in between needs the numbers.
//
// What is computed again begins at a register of the launch or a number that is kept anyway, hidden from what would
// find that it is there already.
#include "GPU/ReadAgain.h"
#include "Support/Pass.h"

#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/DepthFirstIterator.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Analysis/CycleAnalysis.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/Transforms/Utils/Local.h"

#define DEBUG_TYPE "adgen-rematerialize-loads"

using namespace llvm;

STATISTIC(NumCopied, "Number of instructions that are repeated where they are used");

namespace adgen {
namespace {

constexpr unsigned Enough = 104;     // words that a thread may keep: registers, less what addresses and the like take
constexpr unsigned FewestSaved = 24; // words for which it pays
constexpr unsigned MostLeft = 512;   // with more by far than there are registers, ptxas did worse than before
constexpr unsigned MostAgain = 4;    // instructions for each word
constexpr unsigned MostRounds = 4, MostTried = 4; // places in each
constexpr unsigned Deepest = 64;

// Which values are live where, and how many words they take. Only uses that `IsUse` holds of count.
class Liveness {
public:
  using Uses = function_ref<bool(const Use &)>;

  Liveness(Function &F, Uses IsUse) : Layout(F.getDataLayout()), IsUse(IsUse) {
    for (Instruction &I : instructions(F))
      if (!I.getType()->isVoidTy()) {
        Number[&I] = Values.size();
        Values.push_back(&I);
      }
    for (BasicBlock &Block : F)
      AtEntry[&Block].resize(Values.size());
    for (bool Changed = true; Changed;) {
      Changed = false;
      for (BasicBlock &Block : reverse(F)) {
        BitVector Live = atEnd(Block);
        for (Instruction &I : reverse(Block))
          step(I, Live, [](unsigned, bool) {});
        Changed |= Live != AtEntry[&Block];
        AtEntry[&Block] = std::move(Live);
      }
    }
    for (BasicBlock &Block : F) {
      AtExit[&Block] = atEnd(Block);
      Most[&Block] = most(Block);
    }
  }

  unsigned mostIn(const BasicBlock &Block) const { return Most.lookup(&Block); }
  bool isAtEntry(const Instruction &I, const BasicBlock &Block) const {
    auto Found = Number.find(&I);
    return Found != Number.end() && AtEntry.find(&Block)->second.test(Found->second);
  }

private:
  BitVector atEnd(BasicBlock &Block) const {
    BitVector Live(Values.size());
    for (BasicBlock *Next : successors(&Block)) {
      Live |= AtEntry.find(Next)->second;
      for (PHINode &Phi : Next->phis())
        if (const Use &Each = Phi.getOperandUse(Phi.getBasicBlockIndex(&Block)); isLive(Each))
          Live.set(Number.find(cast<Instruction>(Each.get()))->second);
    }
    return Live;
  }

  // From behind an instruction to before it; `Changed` gets what is live from here on, or no more.
  void step(const Instruction &I, BitVector &Live, function_ref<void(unsigned, bool)> Changed) const {
    if (auto Found = Number.find(&I); Found != Number.end() && Live.test(Found->second)) {
      Live.reset(Found->second);
      Changed(Found->second, false);
    }
    if (isa<PHINode>(I))
      return;
    for (const Use &Each : I.operands())
      if (unsigned Its = isLive(Each) ? Number.find(cast<Instruction>(Each.get()))->second : Live.size();
          Its < Live.size() && !Live.test(Its)) {
        Live.set(Its);
        Changed(Its, true);
      }
  }

  bool isLive(const Use &Each) const { return isa<Instruction>(Each.get()) && IsUse(Each); }

  unsigned most(BasicBlock &Block) const {
    BitVector Live = AtExit.find(&Block)->second;
    auto Size = [&](unsigned Each) { return words(*Values[Each]->getType(), Layout); };
    unsigned Here = 0;
    for (unsigned Each : Live.set_bits())
      Here += Size(Each);
    unsigned Most = Here;
    for (Instruction &I : reverse(Block)) {
      step(I, Live, [&](unsigned Each, bool Begins) { Begins ? Here += Size(Each) : Here -= Size(Each); });
      Most = std::max(Most, Here);
    }
    return Most;
  }

  const DataLayout &Layout;
  Uses IsUse;
  SmallVector<const Instruction *> Values;
  DenseMap<const Instruction *, unsigned> Number;
  DenseMap<const BasicBlock *, BitVector> AtEntry, AtExit;
  DenseMap<const BasicBlock *, unsigned> Most;
};

// Whether two instructions compute the same in the same way, from the same. What has been compared before was alike.
using Compared = DenseSet<std::pair<const Value *, const Value *>>;
bool areAlike(const Value *One, const Value *Other, Compared &Before, unsigned Depth = 0) {
  if (One == Other || !Before.insert({One, Other}).second)
    return true;
  auto *I = dyn_cast<Instruction>(One), *J = dyn_cast<Instruction>(Other);
  if (!I || !J || Depth > Deepest || !I->isSameOperationAs(J) || !(isRegister(*I) || isOfInput(*I) || isCheap(*I)) ||
      (isOfInput(*I) && !isOfInput(*J)))
    return false;
  return all_of(zip(I->operand_values(), J->operand_values()),
                [&](auto Pair) { return areAlike(std::get<0>(Pair), std::get<1>(Pair), Before, Depth + 1); });
}

// What can be computed again at the beginning of a block, and by which instructions.
class Again {
public:
  Again(const BasicBlock &Block, const Liveness &Live, const DominatorTree &Dominators)
      : Block(Block), Live(Live), Dominators(Dominators) {}

  // Adds what the value needs, in order; false where it cannot be computed again.
  bool add(const Instruction &Value) {
    const size_t Before = Order.size();
    if (Value.getType()->isIntegerTy(1) || !add(Value, 0) || !Made.lookup(&Value).Reads) {
      while (Order.size() > Before)
        Order.pop_back();
      return false;
    }
    return true;
  }

  ArrayRef<const Instruction *> order() const { return Order.getArrayRef(); }

  // The first of what flows together, where all of it is alike.
  static const Instruction *origin(const Instruction &I) {
    auto *Phi = dyn_cast<PHINode>(&I);
    if (!Phi)
      return &I;
    auto *First = dyn_cast<Instruction>(Phi->getIncomingValue(0));
    Compared Before;
    bool Alike = First && Phi->getNumIncomingValues() > 1 && !isa<PHINode>(First) &&
                 all_of(Phi->incoming_values(), [&](const Use &Each) { return areAlike(First, Each.get(), Before); });
    return Alike ? First : nullptr;
  }

private:
  // Whether a number comes from something that was read, and from something that can be hidden.
  struct From {
    bool Reads = false, Hides = false;
  };

  bool add(const Instruction &I, unsigned Depth) {
    if (Order.contains(&I))
      return true;
    From Its{isOfInput(I), isRegister(I)};
    if (!(Its.Reads || Its.Hides || isCheap(I)) || Depth > Deepest) {
      Made[&I] = {false, canBeHidden(*I.getType())};
      return Live.isAtEntry(I, Block) && Dominators.dominates(&I, &Block.front());
    }
    for (const Value *Operand : I.operand_values())
      if (auto *Needed = dyn_cast<Instruction>(Operand)) {
        if (!add(*Needed, Depth + 1))
          return false;
        const From Before = Made.lookup(Needed);
        Its.Reads |= Before.Reads;
        Its.Hides |= Before.Hides;
      }
    if (isOfInput(I) && !Its.Hides)
      return false;
    Made[&I] = Its;
    Order.insert(&I);
    return true;
  }

  const BasicBlock &Block;
  const Liveness &Live;
  const DominatorTree &Dominators;
  SetVector<const Instruction *> Order;
  DenseMap<const Instruction *, From> Made;
};

// A block, and what is computed again at its beginning.
struct Plan {
  BasicBlock *Block = nullptr;
  SmallVector<Instruction *> Values;
  SmallVector<const Instruction *> Order;
  unsigned Words = 0; // that need not be kept
};

class Reloader {
public:
  explicit Reloader(Function &F) : F(F), Dominators(F) { Cycles.compute(F); }

  void run() {
    for (unsigned Round = 0; Round < MostRounds; ++Round) {
      const Liveness Live(F, [](const Use &) { return true; });
      if (none_of(F, [&](const BasicBlock &Block) { return Live.mostIn(Block) > Enough; }))
        return;
      std::vector<Plan> Plans;
      for (BasicBlock &Block : F)
        if (Plan Each = plan(Block, Live); Each.Block)
          Plans.push_back(std::move(Each));
      stable_sort(Plans, [&](const Plan &X, const Plan &Y) {
        return X.Words > Y.Words || (X.Words == Y.Words && isBehind(*Y.Block, *X.Block));
      });
      if (Plans.size() > MostTried)
        Plans.resize(MostTried);
      auto Best = find_if(Plans, [&](const Plan &Each) { return pays(Each, Live); });
      if (Best == Plans.end())
        return;
      carryOut(*Best);
    }
  }

private:
  bool isBehind(const BasicBlock &Block, const BasicBlock &Other) const {
    return &Block != &Other && Dominators.dominates(&Block, &Other);
  }
  bool isLater(const BasicBlock &From, const Instruction &Use) const {
    return Dominators.dominates(&From, Use.getParent());
  }

  // Values that nobody needs between the block in which they are computed and this one, or a block behind it.
  Plan plan(BasicBlock &Block, const Liveness &Live) {
    Plan Found{&Block};
    if (&Block == &F.getEntryBlock() || !Dominators.isReachableFromEntry(&Block))
      return {};
    SmallSetVector<Instruction *, 32> Candidates;
    for (BasicBlock &Later : F)
      if (Dominators.dominates(&Block, &Later))
        for (Instruction &I : Later) {
          if (isa<PHINode>(I) && &Later == &Block)
            Candidates.insert(&I);
          for (Value *Operand : I.operand_values())
            if (auto *Needed = dyn_cast<Instruction>(Operand); Needed && !(isa<PHINode>(I) && &Later == &Block))
              Candidates.insert(Needed);
        }
    Again Computed(Block, Live, Dominators);
    for (Instruction *I : Candidates)
      if (const Instruction *Origin = Again::origin(*I);
          Origin && isOnlyEarlyAndHere(*I, Block) && Computed.add(*Origin)) {
        Found.Values.push_back(I);
        Found.Words += words(*I->getType(), F.getDataLayout());
      }
    Found.Order.assign(Computed.order().begin(), Computed.order().end());
    return Found.Words >= FewestSaved && Found.Order.size() <= MostAgain * Found.Words ? Found : Plan();
  }

  // Whether the most that is kept anywhere on the way to the block becomes so much less.
  bool pays(const Plan &What, const Liveness &Live) {
    SmallPtrSet<const Value *, 32> Values(What.Values.begin(), What.Values.end());
    const Liveness Then(F, [&](const Use &Each) {
      auto *By = cast<Instruction>(Each.getUser());
      bool IsComputedAgain = Values.contains(Each.get()) && isLater(*What.Block, *By);
      return !IsComputedAgain && !(By->getParent() == What.Block && Values.contains(By));
    });
    unsigned Before = Enough, After = Enough;
    for (const BasicBlock *Each : inverse_depth_first(static_cast<const BasicBlock *>(What.Block)))
      if (!Dominators.dominates(What.Block, Each)) {
        Before = std::max(Before, Live.mostIn(*Each));
        After = std::max(After, Then.mostIn(*Each));
      }
    return Before >= After + FewestSaved && After <= MostLeft;
  }

  // Where it comes from: one block, or each of those that flow together here.
  static SmallVector<const Instruction *, 2> sources(const Instruction &I, const BasicBlock &Block) {
    auto *Phi = dyn_cast<PHINode>(&I);
    if (!Phi || Phi->getParent() != &Block)
      return {&I};
    SmallVector<const Instruction *, 2> Found;
    for (const Use &Each : Phi->incoming_values())
      if (auto *From = dyn_cast<Instruction>(Each.get()))
        Found.push_back(From);
    return Found;
  }

  bool isOnlyEarlyAndHere(const Instruction &I, const BasicBlock &Block) const {
    return all_of(sources(I, Block), [&](const Instruction *From) {
      const BasicBlock *Early = From->getParent();
      bool Before =
          Early != &Block && !Dominators.dominates(&Block, Early) && Cycles.getCycle(Early) == Cycles.getCycle(&Block);
      return Before && all_of(From->users(), [&](const User *U) {
               auto *Use = cast<Instruction>(U);
               bool OnTheWayIn = isa<PHINode>(Use) && Use->getParent() == &Block;
               return Use == &I || Use->getParent() == Early || (isLater(Block, *Use) && !OnTheWayIn);
             });
    });
  }

  void carryOut(const Plan &What) {
    IRBuilder<> B(&*What.Block->getFirstInsertionPt());
    DenseMap<const Value *, Value *> Now;
    auto Again = [&](Value *V) -> Value * {
      auto *I = dyn_cast<Instruction>(V);
      if (!I)
        return V;
      auto [Place, IsNew] = Now.try_emplace(V, nullptr);
      if (IsNew)
        Place->second = hidden(B, *V);
      return Place->second;
    };
    for (const Instruction *I : What.Order) {
      ADGEN_COUNT(NumCopied, *I);
      Instruction *Copy = I->clone();
      for (Use &Operand : Copy->operands())
        Operand.set(Again(Operand.get()));
      B.Insert(Copy, I->getName() + ".again");
      Now[I] = isRegister(*I) ? hidden(B, *Copy) : Copy;
    }
    for (Instruction *Each : What.Values) {
      Value *New = Now.lookup(Again::origin(*Each));
      Each->replaceUsesWithIf(New, [&](Use &U) {
        auto *Use = cast<Instruction>(U.getUser());
        bool OnTheWayIn = isa<PHINode>(Use) && Use->getParent() == What.Block;
        return !OnTheWayIn && isLater(*What.Block, *Use);
      });
    }
    SmallVector<WeakTrackingVH> Replaced(What.Values.begin(), What.Values.end());
    RecursivelyDeleteTriviallyDeadInstructionsPermissive(Replaced);
  }

  Function &F;
  DominatorTree Dominators;
  CycleInfo Cycles;
};

} // namespace

ADGEN_DECLARE_PASS(RematerializeLoads);

PreservedAnalyses RematerializeLoads::run(Module &M, ModuleAnalysisManager &) {
  for (Function &F : M)
    if (isKernel(F) && F.getName().ends_with(GradientSuffix))
      Reloader(F).run();
  return PreservedAnalyses::none();
}

} // namespace adgen
