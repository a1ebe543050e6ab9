// What is used only where a condition holds, and otherwise decides about such conditions alone,
//   d = f(x); if (d < best) best = d;
// has a cotangent of zero wherever the condition does not hold; Enzyme keeps what f needs, and reverses f, in any case.
// f is computed again where it is used:
//   d = f(x); if (d < best) best = f(x);
// What decides has no derivative then. It is done where Enzyme would keep numbers that f reads, or the way that f
// takes.
#include "Analysis/UnchangedMemory.h"
#include "Checkpointing/Selection.h"
#include "Support/Guards.h"
#include "Support/Iterations.h"
#include "Support/Pass.h"

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/PostDominators.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "llvm/Transforms/Utils/SSAUpdater.h"

#define DEBUG_TYPE "adgen-sink-to-uses"

using namespace llvm;

STATISTIC(NumSunk, "Number of blocks to which what they alone use was moved");

namespace adgen {
namespace {

constexpr unsigned MostLogic = 4; // conditions in conditions

bool isNumber(const Value &V) { return V.getType()->isFPOrFPVectorTy(); }

bool hasEffect(const Instruction &I) {
  return !isAssumed(I) && !isHeld(&I) &&
         (I.mayWriteToMemory() || (isa<CallBase>(I) && cast<CallBase>(I).isConvergent()));
}

// Of what an instruction makes of numbers.
bool hasNoDerivative(const User &U) {
  auto *Call = dyn_cast<CallBase>(&U);
  const Function *Callee = Call ? Call->getCalledFunction() : nullptr;
  return isa<CmpInst>(U) || cast<Instruction>(U).hasMetadata(InactiveMark) ||
         (Callee && Callee->hasFnAttribute("enzyme_inactive"));
}

// What a block that runs under a condition needs of the blocks before it.
class Slice {
public:
  Slice(BasicBlock &Use, const DominatorTree &DT, const PostDominatorTree &PDT, const LoopInfo &LI,
        UnchangedMemory &Unchanged)
      : Use(Use), DT(DT), PDT(PDT), LI(LI), Unchanged(Unchanged) {}

  bool find() { return isConditional() && findRegion() && findNumbers() && gather() && isWorthIt() && findBlocks(); }

  // Returns the blocks that this makes.
  SmallVector<BasicBlock *> sink() {
    SmallVector<std::pair<Instruction *, Use_ *>> Behind;
    for (Instruction *Each : Numbers)
      for (Use_ &U : Each->uses())
        if (isBehind(U))
          Behind.push_back({Each, &U});
    ValueToValueMapTy Map;
    for (BasicBlock *Block : Blocks)
      reachAll(*Block, Map);
    BasicBlock *Rest = Use.splitBasicBlock(Use.getFirstNonPHIIt(), Use.getName() + ".sunk");
    SmallVector<BasicBlock *> Copies;
    for (BasicBlock *Block : Blocks)
      Copies.push_back(copy(*Block, *Rest, Map));
    remapInstructionsInBlocks(Copies, Map);
    Use.getTerminator()->setSuccessor(0, cast<BasicBlock>(Map[First]));
    for (auto &[Each, U] : Behind)
      U->set(Map[Each]);
    for (Instruction *Each : Deciding)
      Each->setMetadata(InactiveMark, MDNode::get(Each->getContext(), {}));
    Copies.push_back(Rest);
    return Copies;
  }

private:
  using Use_ = llvm::Use;

  BasicBlock *above(const BasicBlock &Block) const {
    auto *Node = DT.getNode(&Block)->getIDom();
    return Node ? Node->getBlock() : nullptr;
  }

  bool isConditional() const {
    if (!DT.isReachableFromEntry(&Use) || Use.isEHPad() || !LI.getLoopFor(&Use))
      return false; // outside of loops nothing is kept on the tape
    BasicBlock *Above = above(Use);
    return Above && !PDT.dominates(&Use, Above) && LI.getLoopFor(Above) == LI.getLoopFor(&Use);
  }

  // The blocks before, of the same loop, up to one that does more than compute.
  bool findRegion() {
    for (BasicBlock *Begin = above(Use); Begin && LI.getLoopFor(Begin) == LI.getLoopFor(&Use); Begin = above(*Begin)) {
      SmallSetVector<BasicBlock *, 16> Found = between(*Begin, Use);
      if (!all_of(Found, [&](BasicBlock *Block) { return Block == Begin || computes(*Block); }))
        break;
      Region = std::move(Found);
      Top = Begin;
      if (!computes(*Begin))
        break;
    }
    return Top;
  }

  // With the first, without the last.
  SmallSetVector<BasicBlock *, 16> between(BasicBlock &Begin, BasicBlock &End) const {
    SmallSetVector<BasicBlock *, 16> Found;
    Found.insert(&Begin);
    SmallVector<BasicBlock *> Left(predecessors(&End));
    while (!Left.empty())
      if (BasicBlock *Block = Left.pop_back_val(); DT.isReachableFromEntry(Block) && Found.insert(Block))
        append_range(Left, predecessors(Block));
    return Found;
  }

  bool computes(const BasicBlock &Block) const {
    return LI.getLoopFor(&Block) == LI.getLoopFor(&Use) && none_of(Block, hasEffect);
  }

  // Computed behind everything that has an effect.
  bool isInRegion(const Instruction &I) const {
    if (!Region.contains(const_cast<BasicBlock *>(I.getParent())))
      return false;
    if (I.getParent() != Top)
      return true;
    return !(isa<PHINode>(I) && LI.isLoopHeader(Top)) &&
           none_of(make_range(I.getIterator(), I.getParent()->end()), hasEffect);
  }

  bool isBehind(const Use_ &U) const {
    const BasicBlock *Place = placeOf(U);
    return DT.isReachableFromEntry(Place) && DT.dominates(&Use, Place);
  }

  static BasicBlock *placeOf(const Use_ &U) {
    auto *User = cast<Instruction>(U.getUser());
    if (auto *Phi = dyn_cast<PHINode>(User))
      return Phi->getIncomingBlock(U);
    return User->getParent();
  }

  // Whether a number is used behind the condition, for comparisons, and for numbers of which the same is true.
  bool decides(Instruction &I) {
    auto [Known, IsNew] = Asked.try_emplace(&I, false);
    if (!IsNew)
      return Known->second;
    bool Decides = isNumber(I) && isInRegion(I) && all_of(I.uses(), [&](const Use_ &U) {
                     auto &User = *cast<Instruction>(U.getUser());
                     return isBehind(U) || hasNoDerivative(User) || decides(User);
                   });
    Asked[&I] = Decides;
    return Decides;
  }

  bool findNumbers() {
    for (BasicBlock *Block : Region)
      for (Instruction &I : *Block)
        if (!I.hasMetadata(InactiveMark) && decides(I)) {
          Deciding.push_back(&I);
          if (any_of(I.uses(), [&](Use_ &U) { return isBehind(U); }))
            Numbers.insert(&I);
        }
    return any_of(Numbers, [&](Instruction *Each) {
      return any_of(Each->uses(), [&](Use_ &U) { return isBehind(U) && !hasNoDerivative(*U.getUser()); });
    });
  }

  // What follows from comparisons of numbers: otherwise Enzyme would keep the numbers where they were compared first.
  bool isComparison(const Value &V, unsigned Depth = 0) const {
    auto *I = dyn_cast<Instruction>(&V);
    if (!I || Depth > MostLogic || !isInRegion(*I))
      return false;
    if (isa<FCmpInst>(I))
      return true;
    return I->getType()->isIntegerTy(1) && isa<BinaryOperator, SelectInst>(I) &&
           any_of(I->operands(), [&](const llvm::Use &Part) { return isComparison(*Part, Depth + 1); });
  }

  bool isComputedAgain(const Instruction &I) const {
    bool IsPart = isNumber(I) || isa<LoadInst, GetElementPtrInst, AddrSpaceCastInst>(I) || isComparison(I);
    return IsPart && isInRegion(I) && canRunAgain(I) && !I.hasMetadata(InactiveMark);
  }

  bool gather() {
    Needed.insert_range(Numbers);
    close();
    return all_of(Numbers, [&](Instruction *Each) { return isComputedAgain(*Each); });
  }

  void close() {
    for (unsigned I = 0; I < Needed.size(); ++I)
      for (Value *Operand : Needed[I]->operands())
        need(*Operand);
  }

  void need(Value &V) {
    if (auto *Part = dyn_cast<Instruction>(&V); Part && isComputedAgain(*Part))
      Needed.insert(Part);
  }

  bool isWorthIt() {
    return any_of(Needed, [&](Instruction *I) {
      auto *Load = dyn_cast<LoadInst>(I);
      return Load && isNumber(*Load) && !Unchanged.isReadBy(*Load);
    });
  }

  // Blocks of what is needed, and what is needed for the way through them.
  bool findBlocks() {
    for (Instruction *Each : Numbers)
      if (!Last || DT.dominates(Last, Each->getParent()))
        Last = Each->getParent();
    for (size_t Known = 0; Known != Needed.size();) {
      Known = Needed.size();
      for (Instruction *Each : Needed) {
        BasicBlock *Begin = isa<PHINode>(Each) ? above(*Each->getParent()) : Each->getParent();
        First = First ? DT.findNearestCommonDominator(First, Begin) : Begin;
      }
      if (!Region.contains(First))
        return false;
      Blocks.insert(Last);
      if (First != Last)
        Blocks.insert_range(between(*First, *Last));
      for (BasicBlock *Block : Blocks) {
        if (!Region.contains(Block) || (Block != Last && !isa<BranchInst>(Block->getTerminator())))
          return false;
        if (inside(*Block).size() > 1)
          need(*cast<BranchInst>(Block->getTerminator())->getCondition());
      }
      close();
    }
    return true;
  }

  BasicBlock *copy(BasicBlock &Block, BasicBlock &Rest, ValueToValueMapTy &Map) {
    BasicBlock *Copy = BasicBlock::Create(Block.getContext(), Block.getName() + ".again", Rest.getParent(), &Rest);
    Map[&Block] = Copy;
    for (Instruction &I : Block)
      if (Needed.contains(&I)) {
        Instruction *Again = I.clone();
        Again->insertInto(Copy, Copy->end());
        Map[&I] = Again;
      }
    if (&Block == Last) {
      BranchInst::Create(&Rest, Copy);
      return Copy;
    }
    SmallVector<BasicBlock *, 2> Next = inside(Block);
    if (Next.size() == 1)
      BranchInst::Create(Next[0], Copy);
    else
      Block.getTerminator()->clone()->insertInto(Copy, Copy->end());
    return Copy;
  }

  // Where a block that is copied leads to what is copied, too.
  SmallVector<BasicBlock *, 2> inside(BasicBlock &Block) const {
    SmallSetVector<BasicBlock *, 2> Next;
    if (&Block != Last)
      for (BasicBlock *Each : successors(&Block))
        if (Blocks.contains(Each) && Each != First)
          Next.insert(Each);
    return {Next.begin(), Next.end()};
  }

  void reachAll(BasicBlock &Block, ValueToValueMapTy &Map) {
    for (Instruction &I : Block)
      if (Needed.contains(&I))
        for (Value *Operand : I.operands())
          reach(Operand, Map);
    if (inside(Block).size() > 1)
      reach(cast<BranchInst>(Block.getTerminator())->getCondition(), Map);
  }

  // A value that is not computed again is there on every way that needs it.
  void reach(Value *V, ValueToValueMapTy &Map) {
    auto *I = dyn_cast<Instruction>(V);
    if (!I || Needed.contains(I) || Map.count(I) || DT.dominates(I->getParent(), &Use))
      return;
    SSAUpdater Ways;
    Ways.Initialize(I->getType(), I->getName());
    Ways.AddAvailableValue(First, UndefValue::get(I->getType()));
    Ways.AddAvailableValue(I->getParent(), I);
    Map[I] = Ways.GetValueInMiddleOfBlock(&Use);
  }

  BasicBlock &Use;
  const DominatorTree &DT;
  const PostDominatorTree &PDT;
  const LoopInfo &LI;
  UnchangedMemory &Unchanged;
  SmallSetVector<BasicBlock *, 16> Region, Blocks;
  BasicBlock *Top = nullptr, *First = nullptr, *Last = nullptr;
  DenseMap<const Instruction *, bool> Asked;
  SmallVector<Instruction *, 16> Deciding;
  SmallSetVector<Instruction *, 16> Numbers, Needed;
};

// Conditions one behind another are copied into each other: the function may grow by so many times its blocks.
constexpr size_t MostGrowth = 2;

bool sinkIn(Function &F, FunctionAnalysisManager &FAM, UnchangedMemory &Unchanged) {
  SmallPtrSet<BasicBlock *, 16> Done;
  bool Changed = false;
  const size_t Most = (1 + MostGrowth) * F.size();
  for (bool Again = true; Again && F.size() < Most;) {
    Again = false;
    auto &DT = FAM.getResult<DominatorTreeAnalysis>(F);
    auto &PDT = FAM.getResult<PostDominatorTreeAnalysis>(F);
    auto &LI = FAM.getResult<LoopAnalysis>(F);
    for (auto *Node : depth_first(DT.getRootNode())) {
      if (!Done.insert(Node->getBlock()).second)
        continue;
      Slice Each(*Node->getBlock(), DT, PDT, LI, Unchanged);
      if (!Each.find())
        continue;
      ADGEN_COUNT(NumSunk, F.getName());
      for (BasicBlock *Made : Each.sink())
        Done.insert(Made);
      Changed = Again = true;
      break;
    }
    if (Again)
      FAM.invalidate(F, PreservedAnalyses::none());
  }
  return Changed;
}

} // namespace

ADGEN_DECLARE_PASS(SinkToUses);

PreservedAnalyses SinkToUses::run(Module &M, ModuleAnalysisManager &MAM) {
  auto &FAM = MAM.getResult<FunctionAnalysisManagerModuleProxy>(M).getManager();
  UnderlyingObjects Memory(M);
  UnchangedMemory Unchanged(Memory, BodyPrefix);
  bool Changed = false;
  for (Function &F : M)
    if ((F.getName().starts_with(BodyPrefix) || F.getName().starts_with(RegionPrefix)) && !F.isDeclaration())
      Changed |= sinkIn(F, FAM, Unchanged);
  return Changed ? PreservedAnalyses::none() : PreservedAnalyses::all();
}

} // namespace adgen
