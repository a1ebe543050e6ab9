// `if (!inside) return;` in front of barriers to which the others come. A gradient in which threads miss barriers has
// each of them announce itself, and keeps for threads what others keep for the block. Here who would return writes what
// it writes, and then goes on with the others from barrier to barrier, if all of the block's threads can tell which
// come next: what decides about barriers is the same in all of them. It does nothing else. No thread is counted, or
// asked for a vote, by a barrier to which it would not have come.
//
// The blocks of what follows are parted into those that everyone comes by, with barriers and what decides about them,
// and the work between. Each way from one to the other asks whether the thread is still there, and else leads to where
// everyone comes next; what work has computed is zero behind it then. What everyone reads, others read as well, as long
// as there is one that has not returned.
#include "Autodiff/Bystanders.h"

#include "Analysis/Cooperates.h"
#include "Analysis/Uniformity.h"
#include "Support/Reaches.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/Analysis/PostDominators.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "llvm/Transforms/Utils/SSAUpdater.h"

using namespace llvm;

namespace adgen {
namespace {

enum class Meeting { Plain, Counts, Any, All, Unknown };

// Of all threads of the block, whoever they are.
Meeting kindOf(const Instruction &Barrier) {
  auto *Call = dyn_cast<IntrinsicInst>(&Barrier);
  auto *Number = Call && Call->arg_size() ? dyn_cast<ConstantInt>(Call->getArgOperand(0)) : nullptr;
  if (!Number || !Number->isZero())
    return Meeting::Unknown;
  switch (Call->getIntrinsicID()) {
  case Intrinsic::nvvm_barrier_cta_sync_aligned_all:
  case Intrinsic::nvvm_barrier_cta_sync_all:
    return Meeting::Plain;
  case Intrinsic::nvvm_barrier_cta_red_popc_aligned_all:
  case Intrinsic::nvvm_barrier_cta_red_popc_all:
    return Meeting::Counts;
  case Intrinsic::nvvm_barrier_cta_red_or_aligned_all:
  case Intrinsic::nvvm_barrier_cta_red_or_all:
    return Meeting::Any;
  case Intrinsic::nvvm_barrier_cta_red_and_aligned_all:
  case Intrinsic::nvvm_barrier_cta_red_and_all:
    return Meeting::All;
  default:
    return Meeting::Unknown;
  }
}

// Of a thread's own memory.
bool isOwn(const Instruction &I) {
  auto *Set = dyn_cast<MemSetInst>(&I);
  const Value *Pointer = Set ? Set->getDest() : getLoadStorePointerOperand(&I);
  return Pointer && !I.isVolatile() && isa<AllocaInst>(Pointer->stripInBoundsConstantOffsets());
}

// What happens to nobody but the thread, whatever its numbers are.
bool isHarmless(const Instruction &I) {
  if (isa<PHINode>(I) || I.isTerminator() || isOwn(I))
    return true;
  auto *Known = dyn_cast<IntrinsicInst>(&I);
  if (Known && (Known->isLifetimeStartOrEnd() || isa<DbgInfoIntrinsic>(Known) ||
                Known->getIntrinsicID() == Intrinsic::experimental_noalias_scope_decl))
    return true;
  if (Known && Known->isAssumeLikeIntrinsic())
    return false;
  switch (I.getOpcode()) {
  case Instruction::UDiv:
  case Instruction::SDiv:
  case Instruction::URem:
  case Instruction::SRem:
    return isa<ConstantInt>(I.getOperand(1)) && !cast<ConstantInt>(I.getOperand(1))->isZero() &&
           !cast<ConstantInt>(I.getOperand(1))->isMinusOne();
  default:
    return !I.mayHaveSideEffects() && !I.mayReadFromMemory();
  }
}

class Staying {
public:
  Staying(Function &Body, ArrayRef<BasicBlock *> Conditions, BasicBlock &GoesOn, BasicBlock &Leaves,
          FunctionAnalysisManager &FAM)
      : Body(Body), Conditions(Conditions), GoesOn(GoesOn), Leaves(Leaves), FAM(FAM), Rest(blocksReachedFrom(GoesOn)) {}

  bool run() {
    if (!isKnownCode() || !findWhatIsSame() || !findCommon())
      return false;
    partBlocks();
    comeTogether();
    guardWays();
    guardVotes();
    EliminateUnreachableBlocks(Body);
    mend();
    return true;
  }

private:
  bool isKnownCode() const {
    DominatorTree DT(Body);
    for (BasicBlock *Block : Rest) {
      if (!DT.dominates(&GoesOn, Block) && !succ_empty(Block))
        return false;
      for (Instruction &I : *Block) {
        bool Waits = waitsForBlock(I);
        if ((Waits && kindOf(I) == Meeting::Unknown) || (!Waits && ordersThreads(I)))
          return false;
      }
      if (!isa<SwitchInst, BranchInst, ReturnInst>(Block->getTerminator()))
        return false;
    }
    return !isa<PHINode>(GoesOn.front());
  }

  // In a copy in which no thread returns.
  bool findWhatIsSame() {
    ValueToValueMapTy Map;
    Function *Copy = CloneFunction(&Body, Map);
    for (BasicBlock *Block : Conditions) {
      auto *Branch = cast<BranchInst>(cast<BasicBlock>(Map[Block])->getTerminator());
      BasicBlock *On = cast<BasicBlock>(Map[&GoesOn]);
      for (BasicBlock *Next : successors(Branch))
        if (Next != On)
          Next->removePredecessor(Branch->getParent(), /*KeepOneInputPHIs=*/true);
      ReplaceInstWithInst(Branch, BranchInst::Create(On));
    }
    EliminateUnreachableBlocks(*Copy);
    {
      Uniformity Threads(*Copy, kindInBody);
      for (BasicBlock *Block : Rest) {
        auto *Twin = cast_or_null<BasicBlock>(static_cast<Value *>(Map.lookup(Block)));
        if (!Twin || Threads.isDivergent(Twin))
          continue;
        Together.insert(Block);
        for (Instruction &I : *Block)
          if (Value *V = Map.lookup(&I); V && !I.getType()->isVoidTy() && Threads.isUniform(V))
            Same.insert(&I);
      }
    }
    FAM.clear(*Copy, Copy->getName());
    Copy->eraseFromParent();
    return all_of(Rest,
                  [&](const BasicBlock *Block) { return Together.contains(Block) || none_of(*Block, waitsForBlock); });
  }

  // What everyone comes by and computes: barriers, the end, and what decides about them.
  bool findCommon() {
    PostDominatorTree After(Body);
    SmallVector<BasicBlock *> Blocks;
    auto Add = [&](BasicBlock *Block) {
      if (Rest.contains(Block) && Common.insert(Block))
        Blocks.push_back(Block);
    };
    for (BasicBlock *Block : Rest)
      if (succ_empty(Block) || any_of(*Block, waitsForBlock))
        Add(Block);
    Add(&GoesOn);
    SmallVector<const Instruction *> Work;
    while (!Blocks.empty() || !Work.empty()) {
      if (!Blocks.empty()) {
        BasicBlock *Block = Blocks.pop_back_val();
        if (!Together.contains(Block) && !succ_empty(Block))
          return false;
        for (BasicBlock *Branch : Rest)
          if (succ_size(Branch) > 1 && decides(*Branch, *Block, After)) {
            Add(Branch);
            Work.push_back(Branch->getTerminator());
          }
        continue;
      }
      const Instruction *I = Work.pop_back_val();
      if (!Needed.insert(I).second || waitsForBlock(*I))
        continue;
      if (!I->isTerminator() && (!Same.contains(I) || I->mayHaveSideEffects()))
        return false;
      Reads |= I->mayReadFromMemory();
      for (const Use &U : I->operands())
        if (auto *Operand = dyn_cast<Instruction>(U.get()); Operand && Rest.contains(Operand->getParent())) {
          Work.push_back(Operand);
          Add(const_cast<BasicBlock *>(Operand->getParent()));
        }
      if (auto *Phi = dyn_cast<PHINode>(I))
        for (BasicBlock *From : Phi->blocks())
          if (Rest.contains(From)) {
            Add(From);
            Work.push_back(From->getTerminator());
          }
    }
    return true;
  }

  static bool decides(const BasicBlock &Branch, const BasicBlock &Block, const PostDominatorTree &After) {
    return !After.properlyDominates(&Block, &Branch) &&
           any_of(successors(&Branch), [&](const BasicBlock *Next) { return After.dominates(&Block, Next); });
  }

  // In blocks that everyone comes by, what not everyone may do gets a block of its own.
  void partBlocks() {
    SmallVector<BasicBlock *> Blocks(Common.begin(), Common.end());
    for (BasicBlock *Block : Blocks)
      while (Block)
        Block = partFirst(*Block);
  }

  bool isForAll(const Instruction &I) const { return waitsForBlock(I) || Needed.contains(&I) || I.isTerminator(); }

  BasicBlock *partFirst(BasicBlock &Block) {
    auto First = find_if(Block, [&](const Instruction &I) { return !isForAll(I) && !isHarmless(I); });
    if (First == Block.end())
      return nullptr;
    auto End = std::next(First), Last = First;
    for (; !isForAll(*End); ++End)
      if (!isHarmless(*End))
        Last = End;
    BasicBlock *Work = SplitBlock(&Block, First);
    BasicBlock *Behind = SplitBlock(Work, std::next(Last));
    Rest.insert(Work);
    Rest.insert(Behind);
    Common.insert(Behind);
    return Behind;
  }

  // Who returns does what it does before, and comes along if anyone else does.
  void comeTogether() {
    LLVMContext &C = Body.getContext();
    BasicBlock *Comes = BasicBlock::Create(C, "comes", &Body, &GoesOn);
    SmallVector<BasicBlock *> Left = leavingWays(*Comes);
    IRBuilder<> B(Comes);
    B.SetCurrentDebugLocation(Conditions.back()->getTerminator()->getDebugLoc());
    PHINode *Phi = B.CreatePHI(B.getInt1Ty(), Conditions.size() + Left.size(), "stays");
    for (BasicBlock *From : Conditions) {
      From->getTerminator()->replaceSuccessorWith(&GoesOn, Comes);
      Phi->addIncoming(B.getTrue(), From);
    }
    for (BasicBlock *From : Left)
      Phi->addIncoming(B.getFalse(), From);
    Stays = Phi;
    if (!Reads) {
      B.CreateBr(&GoesOn);
      return;
    }
    BasicBlock *Gone = BasicBlock::Create(C, "all.gone", &Body, &GoesOn);
    Value *Any = B.CreateIntrinsic(Intrinsic::nvvm_barrier_cta_red_or_aligned_all, {}, {B.getInt32(0), Stays});
    B.CreateCondBr(Any, &GoesOn, Gone);
    ReturnInst::Create(C, Gone);
  }

  // Copies of what a thread does before it returns, which lead on; the blocks from which they do.
  SmallVector<BasicBlock *> leavingWays(BasicBlock &To) {
    SmallVector<BasicBlock *> Ends;
    ValueToValueMapTy Map;
    SmallVector<BasicBlock *> New;
    auto Old = blocksReachedFrom(Leaves);
    for (BasicBlock *Block : Old) {
      BasicBlock *Copy = CloneBasicBlock(Block, Map, ".leaving", &Body);
      Map[Block] = Copy;
      New.push_back(Copy);
    }
    for (BasicBlock *Block : Old)
      for (PHINode &Phi : cast<BasicBlock>(Map[Block])->phis())
        for (unsigned Way = Phi.getNumIncomingValues(); Way--;)
          if (BasicBlock *Before = Phi.getIncomingBlock(Way);
              !Old.contains(Before) && !(Block == &Leaves && Before == Conditions.back()))
            Phi.removeIncomingValue(Way, /*DeletePHIIfEmpty=*/false);
    remapInstructionsInBlocks(New, Map);
    for (BasicBlock *Block : New)
      if (isa<ReturnInst>(Block->getTerminator())) {
        ReplaceInstWithInst(Block->getTerminator(), BranchInst::Create(&To));
        Ends.push_back(Block);
      }
    BasicBlock *Last = Conditions.back();
    Leaves.removePredecessor(Last, /*KeepOneInputPHIs=*/true);
    Last->getTerminator()->replaceSuccessorWith(&Leaves, cast<BasicBlock>(Map[&Leaves]));
    return Ends;
  }

  // From what everyone comes by to work.
  void guardWays() {
    PostDominatorTree After(Body);
    SmallVector<std::pair<BasicBlock *, BasicBlock *>> Ways;
    for (BasicBlock *Block : Common)
      for (BasicBlock *Next : SmallSetVector<BasicBlock *, 4>(succ_begin(Block), succ_end(Block)))
        if (!Common.contains(Next))
          Ways.push_back({Block, Next});
    for (auto [From, To] : Ways) {
      BasicBlock *Next = To;
      while (!Common.contains(Next))
        Next = After.getNode(Next)->getIDom()->getBlock(); // of the blocks that were there before
      BasicBlock *Asks = BasicBlock::Create(Body.getContext(), "asks", &Body, To);
      Guards.push_back(Asks);
      for (PHINode &Phi : To->phis())
        Phi.replaceIncomingBlockWith(From, Asks);
      From->getTerminator()->replaceSuccessorWith(To, Asks);
      for (PHINode &Phi : Next->phis())
        Phi.addIncoming(standIn(Phi, *From, *To, *Asks), Asks);
      BranchInst *Branch = BranchInst::Create(To, Next, Stays, Asks);
      Branch->setDebugLoc(From->getTerminator()->getDebugLoc());
    }
  }

  // What there is where no work is done, or what a loop begins with that is passed by; whatever it is, nobody uses it.
  static Value *standIn(PHINode &Phi, BasicBlock &From, BasicBlock &To, BasicBlock &Asks) {
    if (int Index = Phi.getBasicBlockIndex(&From); Index >= 0)
      return Phi.getIncomingValue(Index);
    for (Value *V : Phi.incoming_values())
      if (auto *Carried = dyn_cast<PHINode>(V); Carried && Carried->getParent() == &To)
        return Carried->getIncomingValueForBlock(&Asks);
    return Constant::getNullValue(Phi.getType());
  }

  void guardVotes() {
    for (BasicBlock *Block : Common)
      for (Instruction &I : *Block) {
        if (!waitsForBlock(I) || kindOf(I) == Meeting::Plain)
          continue;
        auto &Call = cast<CallInst>(I);
        IRBuilder<> B(&Call);
        Value *Vote = Call.getArgOperand(1);
        bool IsAll = kindOf(I) == Meeting::All;
        Call.setArgOperand(1, B.CreateSelect(Stays, Vote, B.getInt1(IsAll)));
      }
  }

  // What a loop carries, for who does not come to it: what it begins with.
  static Value *standIn(Instruction &I, BasicBlock &Asks, const DominatorTree &DT) {
    auto *Phi = dyn_cast<PHINode>(&I);
    if (!Phi || !DT.properlyDominates(&Asks, I.getParent()))
      return nullptr;
    for (Value *V : Phi->incoming_values())
      if (auto *Known = dyn_cast<Instruction>(V); Known && DT.dominates(Known, Asks.getTerminator()))
        return Known;
    return nullptr;
  }

  // What is used where it was not computed by everyone is zero there.
  void mend() {
    DominatorTree DT(Body);
    for (Instruction &I : instructions(Body)) {
      SmallVector<Use *> Uses;
      for (Use &U : I.uses())
        if (!DT.dominates(&I, U))
          Uses.push_back(&U);
      if (Uses.empty())
        continue;
      SSAUpdater Update;
      Update.Initialize(I.getType(), I.getName());
      Update.AddAvailableValue(&Body.getEntryBlock(), Constant::getNullValue(I.getType()));
      for (BasicBlock *Asks : Guards)
        if (Value *V = standIn(I, *Asks, DT))
          Update.AddAvailableValue(Asks, V);
      Update.AddAvailableValue(I.getParent(), &I);
      for (Use *U : Uses)
        Update.RewriteUse(*U);
    }
  }

  Function &Body;
  ArrayRef<BasicBlock *> Conditions;
  BasicBlock &GoesOn, &Leaves;
  FunctionAnalysisManager &FAM;
  SmallSetVector<BasicBlock *, 16> Rest;        // what may come behind the conditions
  SmallPtrSet<const BasicBlock *, 16> Together; // which all threads run
  SmallPtrSet<const Instruction *, 32> Same;    // in all threads
  SmallSetVector<BasicBlock *, 16> Common;      // by which everyone comes
  SmallPtrSet<const Instruction *, 32> Needed;  // to know where everyone comes next
  bool Reads = false;                           // for that
  Value *Stays = nullptr;                       // whether a thread has not returned
  SmallVector<BasicBlock *> Guards;             // where that is asked
};

} // namespace

bool letThemStay(Function &Body, ArrayRef<BasicBlock *> Conditions, BasicBlock &GoesOn, BasicBlock &Leaves,
                 FunctionAnalysisManager &FAM) {
  return Staying(Body, Conditions, GoesOn, Leaves, FAM).run();
}

} // namespace adgen
