// What a thread does to several elements under a condition each, one after the other, as in the strips of a tile with
// bounds: `if (row < rows) use(d[at]);` four times. A thread would wait for memory once an element, because no load is
// moved over what others before it write. Here all elements are loaded first, or taken by an exchange, each under its
// own condition, which has to be known there already.
#include "Analysis/Accumulation.h"
#include "GPU/Updates.h"
#include "Support/Pass.h"

#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

#define DEBUG_TYPE "adgen-load-together"

using namespace llvm;

STATISTIC(NumGuarded, "Number of elements that are loaded, under their conditions, before others are used");

namespace adgen {
namespace {

constexpr unsigned MostInstructions = 8192; // of a gradient: longer ones have no registers left

// A block that is gone through if a condition holds, and what comes behind it in any case.
struct Guarded {
  BasicBlock *From, *Body, *Next;
  Value *Condition;
  bool If; // what the condition has to be

  static std::optional<Guarded> behind(BasicBlock &From) {
    auto *Branch = dyn_cast<BranchInst>(From.getTerminator());
    if (!Branch || !Branch->isConditional())
      return {};
    for (unsigned Way : {0, 1}) {
      BasicBlock *Body = Branch->getSuccessor(Way), *Next = Branch->getSuccessor(1 - Way);
      if (Body != Next && Next != &From && Body->getSinglePredecessor() == &From &&
          Body->getSingleSuccessor() == Next && Next->hasNPredecessors(2))
        return Guarded{&From, Body, Next, Branch->getCondition(), Way == 0};
    }
    return {};
  }
};

// A load or an exchange of an element of global memory.
struct Access {
  const Guarded *Under;
  Instruction *Of;
  StoreInst *Store;            // that replaces what was loaded
  SmallVector<unsigned> Meets; // accesses before it whose stores may be to the same element

  Value *pointer() const { return const_cast<Value *>(accessedPointer(*Of)); }
};

// Blocks under a condition each, one behind the other.
class Row {
public:
  Row(BasicBlock &Head, const Loop *L, AAResults &AA) : Head(Head), L(L), AA(AA) {
    SmallPtrSet<const BasicBlock *, 8> Seen{&Head};
    for (auto Next = Guarded::behind(Head); Next && Seen.insert(Next->Next).second;
         Next = Guarded::behind(*Blocks.back().Next))
      Blocks.push_back(*Next);
  }

  bool loadFirst() {
    if (Blocks.size() < 2)
      return false;
    find();
    if (!IsHeldUp || !moveUp(DominatorTree(*Head.getParent())))
      return false;
    Instruction &Place = *Head.getTerminator();
    for (ArrayRef<Access> Left = Found; !Left.empty();) {
      ArrayRef<Access> Same = Left.take_while([&](const Access &Each) { return Each.Under == Left.front().Under; });
      moveBefore(Place, Same);
      Left = Left.drop_front(Same.size());
    }
    return true;
  }

private:
  // What may come before all that stands before it, up to where others may wait for the thread.
  void find() {
    for (const Guarded &Each : Blocks)
      for (BasicBlock *Part : {Each.From, Each.Body})
        for (Instruction &I : *Part) {
          if (Part == &Head)
            break;
          std::optional<Access> New = Part == Each.Body ? accessAt(I, Each) : std::nullopt;
          if (New) {
            IsHeldUp |= New->Under != Blocks.begin() && any_of(Between, [](auto *B) { return B->mayWriteToMemory(); });
            Found.push_back(std::move(*New));
            continue;
          }
          if (I.mayWriteToMemory() && !isPlainWrite(I))
            return;
          if (I.mayReadOrWriteMemory())
            Between.push_back(&I);
        }
  }

  std::optional<Access> accessAt(Instruction &I, const Guarded &Under) {
    auto *Load = dyn_cast<LoadInst>(&I);
    // What stays the same during the launch is moved over other writes by ptxas.
    bool IsRead =
        Load && Load->isSimple() && isWholeElement(*Load) && !Load->hasMetadata(LLVMContext::MD_invariant_load);
    if (Found.size() == MostWaiting || !(IsRead || isConsumption(I)) || !isGlobal(*accessedPointer(I)) ||
        (L && !stridesByThreads(accessedPointer(I), *L)))
      return {};
    Access New{&Under, &I, IsRead ? storeOver(*Load, AA) : nullptr, {}};
    if (!all_of(Between, [&](Instruction *Other) { return mayChangePlaces(*Other, New); }) ||
        Compared + New.Meets.size() > MostCompared)
      return {};
    Compared += New.Meets.size();
    return New;
  }

  // Whether an access may come before what stands before it; notes a store that it has to be compared with.
  bool mayChangePlaces(const Instruction &Other, Access &New) {
    ModRefInfo Does = AA.getModRefInfo(&Other, MemoryLocation::get(New.Of));
    if (!isa<LoadInst>(New.Of))
      return !isModOrRefSet(Does);
    if (!isModSet(Does))
      return true;
    auto *Store = find_if(Found, [&](const Access &Each) { return Each.Store == &Other && Each.Under != New.Under; });
    if (Store == Found.end() || Store->Of->getType() != New.Of->getType())
      return false;
    New.Meets.push_back(Store - Found.begin());
    return true;
  }

  // What conditions and addresses are computed from. Where it cannot be known so early, this access and all behind it
  // stay where they are. Whether several are left.
  bool moveUp(const DominatorTree &DT) {
    Instruction &Place = *Head.getTerminator();
    auto IsKnown = [&](Value *V) {
      auto *I = dyn_cast<Instruction>(V);
      return !I || DT.dominates(I, &Place) || (isSafeToSpeculativelyExecute(I) && moveUpTo(Place, *I, DT));
    };
    Found.erase(
        find_if_not(Found,
                    [&](const Access &Each) { return IsKnown(Each.Under->Condition) && IsKnown(Each.pointer()); }),
        Found.end());
    return !Found.empty() && Found.front().Under != Found.back().Under;
  }

  void moveBefore(Instruction &Place, ArrayRef<Access> Same) {
    IRBuilder<> B(&Place);
    Instruction *Early = SplitBlockAndInsertIfThen(condition(B, *Same.front().Under), Place.getIterator(), false);
    for (const Access &Each : Same) {
      ADGEN_COUNT(NumGuarded, *Each.Of);
      SmallVector<Use *> Uses(map_range(Each.Of->uses(), [](Use &U) { return &U; }));
      Each.Of->moveBefore(Early->getIterator());
      Value *Read = readUnder(*Each.Of, *Place.getParent(), *Early->getParent());
      B.SetInsertPoint(Each.Under->Body->getFirstInsertionPt());
      for (unsigned Number : Each.Meets)
        Read = unlessStored(B, Found[Number], Each, *Read);
      for (Use *U : Uses)
        U->set(Read);
    }
  }

  static Value *condition(IRBuilder<> &B, const Guarded &Of) {
    return Of.If ? Of.Condition : B.CreateNot(Of.Condition);
  }

  // A value of one of the ways that lead to a block.
  static PHINode *readUnder(Value &V, BasicBlock &Block, const BasicBlock &Way) {
    auto *Phi = PHINode::Create(V.getType(), 2, "", Block.begin());
    for (BasicBlock *From : predecessors(&Block))
      Phi->addIncoming(From == &Way ? &V : PoisonValue::get(V.getType()), From);
    return Phi;
  }

  // Where an earlier block was gone through and its element was the same, what it has stored there.
  static Value *unlessStored(IRBuilder<> &B, const Access &Earlier, const Access &Own, Value &Read) {
    Value *Stored = readUnder(*Earlier.Store->getValueOperand(), *Earlier.Under->Next, *Earlier.Under->Body);
    Value *IsSame = B.CreateICmpEQ(Earlier.pointer(), Own.pointer());
    return B.CreateSelect(B.CreateLogicalAnd(condition(B, *Earlier.Under), IsSame), Stored, &Read);
  }

  BasicBlock &Head;
  const Loop *L;
  AAResults &AA;
  SmallVector<Guarded> Blocks;
  SmallVector<Access> Found;
  SmallVector<Instruction *> Between; // what reads or writes memory, and stays
  unsigned Compared = 0;
  bool IsHeldUp = false; // whether a thread waits for one before it asks for another
};

} // namespace

void loadPastGuards(Function &F, FunctionAnalysisManager &FAM) {
  if (F.getInstructionCount() > MostInstructions)
    return;
  const ReversePostOrderTraversal<Function *> Order(&F); // the longest rows first
  const SmallVector<BasicBlock *> Heads(Order.begin(), Order.end());
  for (BasicBlock *Head : Heads) {
    const Loop *Around = FAM.getResult<LoopAnalysis>(F).getLoopFor(Head);
    if (Row(*Head, Around, FAM.getResult<AAManager>(F)).loadFirst())
      FAM.invalidate(F, PreservedAnalyses::none());
  }
}

} // namespace adgen
