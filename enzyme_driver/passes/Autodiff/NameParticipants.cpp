// A shuffle's mask may name lanes that have returned: the GPU does not wait for those. In a gradient they have not
// returned, they wait in the reverse sweep, and the others would wait for them forever. So where lanes of a warp may go
// different ways, such a mask becomes adgen_lanes_participants(mask) (rules/barrier.cu): the lanes of it that have not
// come to the end of the forward sweep, which adgen_lanes_leave says. One call is enough for all that the same lanes
// do.
#include "Analysis/Uniformity.h"
#include "Autodiff/Collectives.h"
#include "Support/Pass.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/PostDominators.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicsNVPTX.h"

using namespace llvm;

namespace adgen {
namespace {

// Where the mask is among the operands of what lanes of a warp do together; -1 of any other call.
int maskOperand(const CallInst &Call) {
  StringRef Name = Call.getCalledFunction() ? Call.getCalledFunction()->getName() : "";
  constexpr StringLiteral First[] = {"llvm.nvvm.shfl.sync.",     "llvm.nvvm.bar.warp.sync", "llvm.nvvm.vote.",
                                     "llvm.nvvm.match.",         "_Z11__shfl_syncjdii",     "_Z14__shfl_up_syncjdji",
                                     "_Z16__shfl_down_syncjdji", "_Z15__shfl_xor_syncjdii"};
  if (Name.starts_with("llvm.nvvm.redux.sync."))
    return 1;
  return any_of(First, [&](StringRef Each) { return Name.starts_with(Each); }) ? 0 : -1;
}

// A mask of the lanes that were there, as __activemask() and votes give it, names none that has returned.
bool asksWhoIsThere(const Value *Mask) {
  SmallVector<const Value *> Work{Mask};
  SmallPtrSet<const Value *, 8> Seen;
  while (!Work.empty()) {
    auto *I = dyn_cast<Instruction>(Work.pop_back_val());
    if (!I || !Seen.insert(I).second)
      continue;
    auto *Call = dyn_cast<CallInst>(I);
    if (Call && Call->getIntrinsicID() == Intrinsic::nvvm_activemask)
      return true;
    if (!Call && !isa<LoadInst>(I))
      append_range(Work, I->operands());
  }
  return false;
}

class Masks {
public:
  explicit Masks(Function &Body) : Body(Body), Threads(Body, kindInBody), Before(Body), After(Body), Loops(Before) {}

  bool rewrite() {
    SmallVector<CallInst *> Calls;
    for (Instruction &I : instructions(Body))
      if (auto *Call = dyn_cast<CallInst>(&I); Call && maskOperand(*Call) >= 0 && Threads.isDivergent(I.getParent()))
        Calls.push_back(Call);
    bool Changed = false;
    for (CallInst *Call : Calls)
      Changed |= rewrite(*Call);
    return Changed;
  }

private:
  bool rewrite(CallInst &Call) {
    Use &Mask = Call.getArgOperandUse(maskOperand(Call));
    if (asksWhoIsThere(Mask))
      return false;
    if (!isa<Constant>(Mask)) {
      Mask.set(named(Call, *Mask));
      return true;
    }
    BasicBlock *First = firstOf(Call.getParent());
    if (!Threads.isDivergent(First))
      return false;
    Value *&Named = Known[{First, Mask}];
    if (!Named)
      Named = named(*First->getFirstNonPHIOrDbgOrAlloca(), *Mask);
    Mask.set(Named);
    return true;
  }

  // The first block on the way to this one that the same lanes run, as often.
  BasicBlock *firstOf(BasicBlock *Block) const {
    while (BasicBlock *Earlier = sameLanes(Block))
      Block = Earlier;
    return Block;
  }

  BasicBlock *sameLanes(BasicBlock *Block) const {
    DomTreeNode *Up = Before.getNode(Block)->getIDom();
    if (Up && isOnlyWay(Up->getBlock(), Block))
      return Up->getBlock();
    for (; Up; Up = Up->getIDom())
      if (takeTurns(Up->getBlock(), Block))
        return Up->getBlock();
    return nullptr;
  }

  // Whether whoever comes to the end of the earlier block goes on to this one, which may be a loop that all run alike.
  bool isOnlyWay(BasicBlock *Earlier, BasicBlock *Block) const {
    Loop *Own = Loops.getLoopFor(Block), *Other = Loops.getLoopFor(Earlier);
    if (Own != Other && !(Own && Own->getHeader() == Block && Own->getParentLoop() == Other && leftTogether(*Own)))
      return false;
    return isTogether(*Earlier) && all_of(predecessors(Block), [&](BasicBlock *Each) {
             return Each == Earlier || (Own != Other && Own->contains(Each));
           });
  }

  // Whether each lane runs one, then the other, and so on.
  bool takeTurns(BasicBlock *Earlier, BasicBlock *Block) const {
    return After.dominates(Block, Earlier) && !comesAgain(Earlier, Block) && !comesAgain(Block, Earlier);
  }

  static bool comesAgain(BasicBlock *Block, BasicBlock *Without) {
    SmallVector<BasicBlock *> Work{Block};
    SmallPtrSet<BasicBlock *, 32> Seen{Without};
    while (!Work.empty())
      for (BasicBlock *Next : successors(Work.pop_back_val()))
        if (Next == Block)
          return true;
        else if (Seen.insert(Next).second)
          Work.push_back(Next);
    return false;
  }

  // Of arguments, constants and blocks, and of what loops count; optimistic, as values in a loop depend on each other.
  bool isSame(const Value *V, const BasicBlock &At, SmallPtrSet<const Value *, 8> &Seen) const {
    auto *I = dyn_cast<Instruction>(V);
    if (!I || Threads.isUniform(I) || !Seen.insert(I).second)
      return true;
    auto *Phi = dyn_cast<PHINode>(I);
    const Loop *Counting = Phi ? Loops.getLoopFor(Phi->getParent()) : nullptr;
    if (Phi ? !Counting || Counting->getHeader() != Phi->getParent() || !Counting->contains(&At)
            : I->mayReadOrWriteMemory() || isa<CallInst, FreezeInst>(I))
      return false;
    return all_of(I->operands(), [&](const Use &Operand) { return isSame(Operand, At, Seen); });
  }

  // Each round decides at the same places, all lanes alike.
  bool leftTogether(const Loop &L) const {
    SmallVector<BasicBlock *> Exits, Latches;
    L.getExitingBlocks(Exits);
    L.getLoopLatches(Latches);
    return all_of(Exits, [&](BasicBlock *Exit) {
      return isTogether(*Exit) && all_of(Latches, [&](BasicBlock *Latch) { return Before.dominates(Exit, Latch); });
    });
  }

  Value *named(Instruction &Before, Value &Mask) {
    CallInst *Call = CallInst::Create(declared("participants", true), {&Mask}, "participants", Before.getIterator());
    Call->setDebugLoc(Before.getDebugLoc());
    return Call;
  }

public:
  // Whether all lanes that come to the end of the block go on the same way.
  bool isTogether(const BasicBlock &Block) const {
    const Instruction *End = Block.getTerminator();
    SmallPtrSet<const Value *, 8> Seen;
    if (auto *Branch = dyn_cast<BranchInst>(End))
      return Branch->isUnconditional() || isSame(Branch->getCondition(), Block, Seen);
    auto *Switch = dyn_cast<SwitchInst>(End);
    return Switch && isSame(Switch->getCondition(), Block, Seen);
  }

  FunctionCallee declared(StringRef Name, bool Asks = false) {
    LLVMContext &C = Body.getContext();
    Type *Word = Type::getInt32Ty(C);
    auto *T = Asks ? FunctionType::get(Word, {Word}, false) : FunctionType::get(Type::getVoidTy(C), false);
    FunctionCallee Callee = Body.getParent()->getOrInsertFunction((LanesPrefix + Name).str(), T);
    auto *F = cast<Function>(Callee.getCallee());
    F->addFnAttr("enzyme_inactive");
    F->setConvergent();
    F->setDoesNotThrow();
    F->setDoesNotFreeMemory();
    F->setMemoryEffects(MemoryEffects::inaccessibleMemOnly());
    if (Asks)
      F->addRetAttr(Attribute::get(C, "enzyme_type", "{[-1]:Integer}"));
    return Callee;
  }

private:
  Function &Body;
  Uniformity Threads;
  DominatorTree Before;
  PostDominatorTree After;
  LoopInfo Loops;
  MapVector<std::pair<BasicBlock *, Value *>, Value *> Known;
};

} // namespace

ADGEN_DECLARE_PASS(NameParticipants);

PreservedAnalyses NameParticipants::run(Module &M, ModuleAnalysisManager &) {
  for (Function &F : make_early_inc_range(M)) {
    if (F.isDeclaration() || !F.getName().starts_with(BodyPrefix))
      continue;
    closeSwitches(F);
    meetBeforeAsking(F);
    Masks Of(F);
    meetAll(F, [&](const BasicBlock &Block) { return Of.isTogether(Block); });
    if (!Of.rewrite())
      continue;
    CallInst::Create(Of.declared("begin"), "", F.getEntryBlock().getFirstNonPHIOrDbgOrAlloca());
    for (BasicBlock &Block : F)
      if (isa<ReturnInst>(Block.getTerminator()))
        CallInst::Create(Of.declared("leave"), "", Block.getTerminator()->getIterator());
  }
  return PreservedAnalyses::none();
}

} // namespace adgen
