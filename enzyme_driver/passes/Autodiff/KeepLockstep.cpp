// Volatile shared memory is how lanes of a warp handed each other values before there were shuffles: without a barrier,
// as all of them do the same instruction at once. They do so no more, and less so in a reverse sweep or on the host. So
// they meet before a read behind a write, and before a write behind anything; what other lanes do before and behind a
// block is not known. That is behind and before in the reverse sweep. Lanes that a condition or a loop keeps from such
// accesses meet the others before and behind it: each round of a loop is one for all of them.
#include "Analysis/ThreadFacts.h"
#include "Analysis/Uniformity.h"
#include "Autodiff/Collectives.h"
#include "Support/Pass.h"
#include "Support/Threads.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/IR/PatternMatch.h"

using namespace llvm;
using namespace llvm::PatternMatch;

namespace adgen {
namespace {

bool isVolatile(const Instruction &I) {
  auto *Load = dyn_cast<LoadInst>(&I);
  auto *Store = dyn_cast<StoreInst>(&I);
  return (Load && Load->isVolatile()) || (Store && Store->isVolatile());
}

bool isShared(Function &Body, Value *Pointer) {
  SmallVector<const Value *> Objects;
  getUnderlyingObjects(Pointer, Objects, nullptr, /*MaxLookup=*/0);
  return any_of(Objects, [&](const Value *Object) {
    if (auto *Variable = dyn_cast<GlobalVariable>(Object))
      return Variable->getAddressSpace() == SharedSpace;
    auto *A = dyn_cast<Argument>(Object);
    return A && A->getArgNo() >= Body.arg_size() - sharedNames(Body).size();
  });
}

bool exchanges(Function &Body, Instruction &I) {
  return isVolatile(I) && isShared(Body, getLoadStorePointerOperand(&I));
}

bool hasExchange(Function &Body) {
  return any_of(instructions(Body), [&](Instruction &I) { return exchanges(Body, I); });
}

// Without a derivative the lanes only have to wait.
void meet(Instruction &Before, Value *Anchor) {
  if (Anchor)
    return insertRule(Before, "lockstep", Anchor, {});
  IRBuilder<> B(&Before);
  Value *Active = activeLanes(B);
  B.CreateIntrinsic(Intrinsic::nvvm_bar_warp_sync, ArrayRef<Type *>(), {Active});
}

class Lockstep {
public:
  Lockstep(Function &Body, function_ref<void(Instruction &)> Meet, bool BehindBlocks)
      : Body(Body), Meet(Meet), BehindBlocks(BehindBlocks), Threads(Body, kindInBody) {}

  // Whether all lanes that have not returned come to the block. Those that left for another way may not wait on it, nor
  // may others wait for them, who are to return behind the block, on theirs.
  bool isForAll(BasicBlock &Block, function_ref<bool(const BasicBlock &)> IsTogether) const {
    auto Parts = [&](BasicBlock &Before) {
      if (IsTogether(Before))
        return false;
      BasicBlock *Meeting = Threads.meetingPoint(&Before);
      if (Meeting == &Block)
        return any_of(waysBetween(Before, Meeting), hasMeetings);
      auto Waits = [&](BasicBlock *Next) { return mayWait(*Next); };
      return count_if(successors(&Before), Waits) > 1 && runsBetween(Block, Before, Meeting);
    };
    return mayWait(Block) && none_of(Body, Parts);
  }

  void keep() {
    for (BasicBlock &Block : Body)
      if (any_of(Block, [&](Instruction &I) { return exchanges(I); }))
        Exchanging.insert(&Block);
    SmallSetVector<Instruction *, 8> Places = aroundConditions();
    for (BasicBlock *Block : Exchanging)
      keepIn(*Block);
    for (Instruction *Place : Places)
      Meet(*Place);
  }

private:
  bool exchanges(Instruction &I) const { return adgen::exchanges(Body, I); }

  SmallSetVector<Instruction *, 8> aroundConditions() {
    SmallSetVector<Instruction *, 8> Places;
    for (BasicBlock &Block : Body) {
      auto *Branch = dyn_cast<BranchInst>(Block.getTerminator());
      if (!Branch || Branch->isUnconditional() || Threads.isUniform(Branch->getCondition()))
        continue;
      BasicBlock *Meeting = Threads.meetingPoint(&Block);
      if (!exchangeBetween(Block, Meeting))
        continue;
      Places.insert(Branch);
      if (Meeting)
        Places.insert(&*Meeting->getFirstNonPHIOrDbgOrAlloca());
    }
    return Places;
  }

  bool exchangeBetween(BasicBlock &Before, BasicBlock *Meeting) const {
    return any_of(waysBetween(Before, Meeting), [&](BasicBlock *Block) { return Exchanging.contains(Block); });
  }

  // Also the block itself, where lanes come to it again that others have left.
  static bool runsBetween(BasicBlock &Block, BasicBlock &Before, BasicBlock *Meeting) {
    SmallSetVector<BasicBlock *, 8> Ways = waysBetween(Before, Meeting);
    if (&Block != &Before)
      return Ways.contains(&Block);
    return any_of(predecessors(&Before), [&](BasicBlock *Each) { return Each == &Before || Ways.contains(Each); });
  }

  static SmallSetVector<BasicBlock *, 8> waysBetween(BasicBlock &Before, BasicBlock *Meeting) {
    SmallSetVector<BasicBlock *, 8> Ways;
    auto Enter = [&](BasicBlock *Next) { return Next == Meeting || Next == &Before || Ways.insert(Next); };
    for_each(successors(&Before), Enter);
    for (unsigned I = 0; I < Ways.size(); ++I)
      for_each(successors(Ways[I]), Enter);
    return Ways;
  }

  // Whether lanes exchange values or wait for each other in the block or behind it.
  bool mayWait(BasicBlock &Block) const {
    SmallSetVector<BasicBlock *, 8> Behind;
    Behind.insert(&Block);
    for (unsigned I = 0; I < Behind.size(); ++I)
      Behind.insert_range(successors(Behind[I]));
    auto Exchanges = [&](Instruction &I) { return exchanges(I); };
    return any_of(Behind, [&](BasicBlock *Each) { return hasMeetings(Each) || any_of(*Each, Exchanges); });
  }

  static bool hasMeetings(BasicBlock *Block) {
    return any_of(*Block, [](Instruction &I) {
      auto *Call = dyn_cast<CallBase>(&I);
      const Function *Callee = Call ? Call->getCalledFunction() : nullptr;
      return Call && Call->isConvergent() && !(Callee && Callee->getName().starts_with("__nv")); // mathematics
    });
  }

  void keepIn(BasicBlock &Block) {
    bool Read = true, Written = true; // what may have been done since they met
    for (Instruction &I : Block) {
      if (!exchanges(I))
        continue;
      bool Writes = isa<StoreInst>(I);
      if (Written || (Writes && Read)) {
        Meet(I);
        Read = Written = false;
      }
      (Writes ? Written : Read) = true;
    }
    if (BehindBlocks)
      Meet(*Block.getTerminator());
  }

  Function &Body;
  function_ref<void(Instruction &)> Meet;
  bool BehindBlocks; // where there is a reverse sweep
  Uniformity Threads;
  SmallSetVector<BasicBlock *, 8> Exchanging;
};

// The numbers that a phi of constants may hold, without those for which a branch leads elsewhere; none where not all
// are known.
bool mayHold(PHINode &Phi, SmallPtrSetImpl<ConstantInt *> &Numbers, SmallPtrSet<PHINode *, 8> Path = {}) {
  constexpr unsigned Longest = 6;
  if (!Path.insert(&Phi).second) // what comes round again has come before
    return true;
  if (Path.size() > Longest)
    return false;
  for (auto [Value, From] : zip(Phi.incoming_values(), Phi.blocks())) {
    if (auto *Number = dyn_cast<ConstantInt>(Value)) {
      Numbers.insert(Number);
      continue;
    }
    auto *Other = dyn_cast<PHINode>(Value);
    SmallPtrSet<ConstantInt *, 8> Brought;
    if (!Other || !mayHold(*Other, Brought, Path))
      return false;
    CmpPredicate Kind;
    ConstantInt *Left;
    BasicBlock *Then, *Else;
    if (match(From->getTerminator(), m_Br(m_ICmp(Kind, m_Specific(Other), m_ConstantInt(Left)), Then, Else)) &&
        ICmpInst::isEquality(Kind) && (Kind == ICmpInst::ICMP_EQ ? Then : Else) != Phi.getParent())
      Brought.erase(Left);
    Numbers.insert_range(Brought);
  }
  return true;
}

bool takesCases(const SwitchInst &Switch) {
  auto *Phi = dyn_cast<PHINode>(Switch.getCondition());
  SmallPtrSet<ConstantInt *, 8> Numbers;
  return Phi && mayHold(*Phi, Numbers) &&
         all_of(Numbers, [&](ConstantInt *Number) { return Switch.findCaseValue(Number) != Switch.case_default(); });
}

} // namespace

void closeSwitches(Function &Body) {
  if (!hasExchange(Body))
    return;
  for (BasicBlock &Block : make_early_inc_range(Body)) {
    auto *Switch = dyn_cast<SwitchInst>(Block.getTerminator());
    if (!Switch || Switch->defaultDestUnreachable() || !takesCases(*Switch))
      continue;
    BasicBlock *Nowhere = BasicBlock::Create(Body.getContext(), "nowhere", &Body);
    new UnreachableInst(Body.getContext(), Nowhere);
    Switch->getDefaultDest()->removePredecessor(&Block);
    Switch->setDefaultDest(Nowhere);
  }
}

void keepLockstep(Function &Body, Value *Anchor) {
  if (!hasExchange(Body))
    return;
  auto Meet = [&](Instruction &Before) { meet(Before, Anchor); };
  Lockstep(Body, Meet, /*BehindBlocks=*/Anchor).keep();
}

void meetAll(Function &Body, function_ref<bool(const BasicBlock &)> IsTogether) {
  if (!hasExchange(Body))
    return;
  SmallSetVector<Instruction *, 16> Places;
  auto Collect = [&](Instruction &Before) { Places.insert(&Before); };
  Lockstep Lanes(Body, Collect, /*BehindBlocks=*/true);
  Lanes.keep();
  Places.remove_if([&](Instruction *Place) { return !Lanes.isForAll(*Place->getParent(), IsTogether); });
  for (Instruction *Place : Places) {
    IRBuilder<> B(Place);
    B.CreateIntrinsic(Intrinsic::nvvm_bar_warp_sync, ArrayRef<Type *>(), {B.getInt32(-1)});
  }
}

void meetBeforeAsking(Function &Body) {
  SmallVector<Instruction *> Questions;
  for (Instruction &I : instructions(Body))
    if (auto *Call = dyn_cast<CallBase>(&I); Call && Call->getIntrinsicID() == Intrinsic::nvvm_activemask)
      Questions.push_back(&I);
  if (Questions.empty())
    return;
  const Uniformity Threads(Body, kindInBody);
  for (Instruction *Question : Questions) {
    if (Threads.isDivergent(Question->getParent()))
      continue;
    IRBuilder<> B(Question);
    B.CreateIntrinsic(Intrinsic::nvvm_bar_warp_sync, ArrayRef<Type *>(), {B.getInt32(-1)});
  }
}

ADGEN_DECLARE_PASS(KeepLockstep);

PreservedAnalyses KeepLockstep::run(Module &M, ModuleAnalysisManager &) {
  for (Function &F : M)
    if (!F.isDeclaration() && F.getName().starts_with(BodyPrefix)) {
      meetBeforeAsking(F); // before there are questions for that alone
      keepLockstep(F, nullptr);
    }
  return PreservedAnalyses::none();
}

void waitAsBlock(Function &Body) {
  const uint64_t Threads = mostThreads(Body);
  if (!Threads || Threads > LanesOfWarp)
    return;
  const Uniformity Known(Body, kindInBody);
  for (Instruction &I : make_early_inc_range(instructions(Body))) {
    if (!match(&I, m_Intrinsic<Intrinsic::nvvm_bar_warp_sync>(m_AllOnes())) || Known.isDivergent(I.getParent()))
      continue;
    IRBuilder<> B(&I);
    B.CreateIntrinsic(Intrinsic::nvvm_barrier_cta_sync_aligned_all, {}, {B.getInt32(0)});
    I.eraseFromParent();
  }
}

} // namespace adgen
