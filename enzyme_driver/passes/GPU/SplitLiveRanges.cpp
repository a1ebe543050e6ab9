// Computes numbers again in the middle of a long block, where a gradient would have to keep more of them than there are
// registers. A kernel without loops is one such block with both its sweeps: every number of the forward sweep that the
// reverse sweep needs lives until then, and ptxas stores and loads what has no register. What follows by cheap
// operations from inputs that the kernel never writes is not kept between two uses that are far apart, the longest
// distances first, as long as more lives there than there are registers for.
#include "GPU/ReadAgain.h"
#include "Support/Pass.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Analysis/CFG.h"

#define DEBUG_TYPE "adgen-split-live-ranges"

using namespace llvm;

STATISTIC(NumAgain, "Number of values that are computed again before a use that is far away");

namespace adgen {
namespace {

constexpr int TooMany = 232;       // words: there are 255 registers, less what addresses and the like take
constexpr int Enough = 140;        // for ptxas, which orders what is computed its own way
constexpr unsigned Nearest = 32;   // instructions between two uses, without which it does not pay
constexpr unsigned MostAgain = 12; // instructions for a number: with 18, as with 8, ptxas keeps more in memory

// Between which two places a number lives without being used.
struct Gap {
  Instruction *Value;
  unsigned From, To;
  unsigned length() const { return To - From; }
};

class Splitter {
public:
  explicit Splitter(BasicBlock &Block) : Block(Block), Layout(Block.getDataLayout()), B(Block.getContext()) {
    for (Instruction &I : Block) {
      Number[&I] = Order.size();
      Order.push_back(&I);
    }
  }

  void run() {
    measure();
    if (*max_element(Kept) <= TooMany)
      return;
    choose();
    for (unsigned Place = 0; Place < Order.size(); ++Place)
      renew(Place);
  }

private:
  // Where values are used here, in order; and what lives at each place.
  void measure() {
    for (auto [Place, I] : enumerate(Order))
      if (!isa<PHINode>(I))
        for (Value *Operand : I->operand_values())
          if (auto *Used = dyn_cast<Instruction>(Operand); Used && !is_contained(Uses[Used], Place))
            Uses[Used].push_back(Place);
    Kept.assign(Order.size(), 0);
    for (auto &[Value, Places] : Uses)
      add(begin(*Value), endsHere(*Value) ? Places.back() : Order.size(), words(*Value->getType(), Layout));
  }

  void add(unsigned From, unsigned To, int Words) {
    for (unsigned Place = From; Place < To; ++Place)
      Kept[Place] += Words;
  }

  unsigned begin(const Instruction &Value) const { return Value.getParent() == &Block ? Number.lookup(&Value) : 0; }

  // Whether the last use here is the last on any way.
  bool endsHere(const Instruction &Value) {
    if (Value.getParent() != &Block && comesAgain())
      return false;
    return all_of(Value.users(), [&](const User *U) {
      auto *By = cast<Instruction>(U);
      if (By->getParent() == &Block)
        return !isa<PHINode>(By);
      return !isReachable(*By->getParent());
    });
  }

  bool isReachable(const BasicBlock &Other) {
    auto [Place, IsNew] = Reachable.try_emplace(&Other, false);
    if (IsNew)
      Place->second =
          any_of(successors(&Block), [&](BasicBlock *Next) { return isPotentiallyReachable(Next, &Other); });
    return Place->second;
  }
  bool comesAgain() { return isReachable(Block); }

  void choose() {
    std::vector<Gap> Gaps;
    for (auto &[Value, Places] : Uses) {
      if (!isAgain(*Value) || !endsHere(*Value))
        continue;
      unsigned Last = begin(*Value);
      for (unsigned Place : Places) {
        if (Place - Last >= Nearest)
          Gaps.push_back({Value, Last, Place});
        Last = Place;
      }
    }
    stable_sort(Gaps, [](const Gap &X, const Gap &Y) { return X.length() > Y.length(); });
    for (const Gap &Each : Gaps)
      if (*std::max_element(Kept.begin() + Each.From + 1, Kept.begin() + Each.To) > Enough) {
        Cut.insert({Each.Value, Each.To});
        add(Each.From + 1, Each.To, -int(words(*Each.Value->getType(), Layout)));
      }
  }

  static bool isAgain(const Instruction &I) { return isOfInput(I) || isCheap(I); }

  // Whether something lives on over this place anyway.
  bool isKept(Instruction &Value, unsigned Place) {
    auto Found = Uses.find(&Value);
    if (Found == Uses.end())
      return false;
    if (!endsHere(Value))
      return true;
    auto Next = llvm::lower_bound(Found->second, Place);
    return Next != Found->second.end() && begin(Value) < Place && (*Next == Place || !Cut.contains({&Value, *Next}));
  }

  // What has to be computed for a number, in order; false where that is too much, or it can't be. `Above` are those
  // that it is needed for, which come behind it.
  bool list(Instruction &Value, unsigned Place, SetVector<Instruction *> &Needed, unsigned Above = 0) {
    if (Needed.contains(&Value) || (Here.contains(&Value) && Here.lookup(&Value) + Nearest > Place))
      return true;
    if (!isAgain(Value) || Needed.size() + Above >= MostAgain)
      return false;
    for (Use &Each : Value.operands())
      if (auto *Operand = dyn_cast<Instruction>(Each.get()))
        if (!isFree(*Operand, Place) && !list(*Operand, Place, Needed, Above + 1))
          return false;
    return Needed.insert(&Value);
  }

  // What is there without being kept for it. What can't be computed again is kept: of that there is little.
  bool isFree(Instruction &I, unsigned Place) {
    return !isAgain(I) || (isKept(I, Place) && !Cut.contains({&I, Place}));
  }

  // From here on a number is another instruction's.
  void renew(unsigned Place) {
    Instruction &User = *Order[Place];
    if (isa<PHINode>(User))
      return;
    for (Use &Each : User.operands()) {
      auto *Value = dyn_cast<Instruction>(Each.get());
      if (!Value)
        continue;
      if (Cut.contains({Value, Place}))
        compute(*Value, Place);
      if (auto Found = Now.find(Value); Found != Now.end())
        Each.set(Found->second);
    }
  }

  // Whether nothing would find that it has been computed before.
  bool isOther(const Instruction &I) const {
    return isOfInput(I) ||
           any_of(I.operand_values(), [&](const llvm::Value *Operand) { return Now.contains(Operand); });
  }

  void compute(Instruction &Value, unsigned Place) {
    SetVector<Instruction *> Needed;
    if (!list(Value, Place, Needed) || none_of(Needed, [&](const Instruction *Each) { return isOther(*Each); }))
      return;
    ADGEN_COUNT(NumAgain, Value);
    B.SetInsertPoint(Order[Place]);
    for (Instruction *Each : Needed) {
      Instruction *Copy = Each->clone();
      for (Use &Operand : Copy->operands())
        if (auto Found = Now.find(Operand.get()); Found != Now.end())
          Operand.set(Found->second);
      if (isOfInput(*Copy))
        Copy->setOperand(0, hidden(B, *Copy->getOperand(0)));
      B.Insert(Copy, Each->getName() + ".again");
      Now[Each] = Copy;
      Here[Each] = Place;
    }
  }

  BasicBlock &Block;
  const DataLayout &Layout;
  IRBuilder<> B;
  std::vector<Instruction *> Order;
  DenseMap<const Instruction *, unsigned> Number;
  MapVector<Instruction *, SmallVector<unsigned>> Uses;
  DenseMap<const BasicBlock *, bool> Reachable;
  std::vector<int> Kept;
  DenseSet<std::pair<Instruction *, unsigned>> Cut;
  DenseMap<const llvm::Value *, llvm::Value *> Now; // what stands for a number here
  DenseMap<Instruction *, unsigned> Here;           // where it was computed again last
};

} // namespace

ADGEN_DECLARE_PASS(SplitLiveRanges);

PreservedAnalyses SplitLiveRanges::run(Module &M, ModuleAnalysisManager &) {
  for (Function &F : M)
    if (isKernel(F) && F.getName().ends_with(GradientSuffix))
      for (BasicBlock &Block : F)
        Splitter(Block).run();
  return PreservedAnalyses::none();
}

} // namespace adgen
