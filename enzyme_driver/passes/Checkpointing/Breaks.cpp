#include "Checkpointing/Breaks.h"

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/PatternMatch.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

using namespace llvm;
using namespace llvm::PatternMatch;

namespace adgen {
namespace {

PHINode *carriedBy(const Loop &L, const Value *Next) {
  for (PHINode &Phi : L.getHeader()->phis())
    if (Phi.getIncomingValueForBlock(L.getLoopLatch()) == Next)
      return &Phi;
  return nullptr;
}

// What leaves the loop by its counter has been carried, if it is a number.
bool leavesCarried(const Loop &L, const BasicBlock &Exit) {
  return all_of(Exit.phis(), [&](const PHINode &Phi) {
    const Value *Left = Phi.getIncomingValueForBlock(L.getLoopLatch());
    return Phi.getType()->isIntegerTy() || (Phi.getType()->isFloatingPointTy() && carriedBy(L, Left));
  });
}

// `k + 1` of k, which the header may compute.
Instruction *step(const Loop &L, const PHINode &Phi) {
  auto *Next = dyn_cast<Instruction>(Phi.getIncomingValueForBlock(L.getLoopLatch()));
  bool Is = Next && Next->getOpcode() == Instruction::Add && Next->getOperand(0) == &Phi &&
            L.isLoopInvariant(Next->getOperand(1));
  return Is ? Next : nullptr;
}

bool isCounter(const Loop &L, const Value *Next) {
  const PHINode *Phi = carriedBy(L, Next);
  return Phi && step(L, *Phi);
}

// What comes to the latch by ways that there were before, or by the break.
class Joint {
public:
  Joint(BasicBlock &Latch, BasicBlock &From) : Latch(Latch), From(From), Ways(predecessors(&Latch)) {
    for (PHINode &Phi : Latch.phis())
      Before.push_back(&Phi);
  }

  Value *join(Value *On, Value *Broken) {
    Value *&Met = Made[{On, Broken}];
    if (Met || On == Broken)
      return Met ? Met : On;
    auto *Own = dyn_cast<PHINode>(On);
    bool IsOwn = Own && Own->getParent() == &Latch;
    PHINode *New = PHINode::Create(On->getType(), Ways.size() + 1, "joined", Latch.begin());
    for (BasicBlock *Way : Ways)
      New->addIncoming(IsOwn ? Own->getIncomingValueForBlock(Way) : On, Way);
    New->addIncoming(Broken, &From);
    return Met = New;
  }

  // Nothing behind the break asks for what was there before.
  void finish() {
    for (PHINode *Phi : Before)
      Phi->addIncoming(Constant::getNullValue(Phi->getType()), &From);
  }

private:
  BasicBlock &Latch, &From;
  SmallVector<BasicBlock *> Ways;
  SmallVector<PHINode *> Before;
  DenseMap<std::pair<Value *, Value *>, Value *> Made;
};

// What the exit has of it where the loop breaks; else it is not used any more.
Value *whereBroken(PHINode &Carried, const Value *Next, BasicBlock &Latch, BasicBlock &Exit, BasicBlock &From) {
  for (PHINode &Left : Exit.phis())
    if (Left.getIncomingValueForBlock(&Latch) == Next)
      return Left.getIncomingValueForBlock(&From);
  return &Carried;
}

// A block of its own, in the loop.
BasicBlock *wayTo(BasicBlock &Exit, BasicBlock &From, Loop &L, LoopInfo &LI) {
  BasicBlock *Way = BasicBlock::Create(Exit.getContext(), "breaks", Exit.getParent(), &Exit);
  BranchInst::Create(&Exit, Way)->setDebugLoc(From.getTerminator()->getDebugLoc());
  From.getTerminator()->replaceSuccessorWith(&Exit, Way);
  Exit.replacePhiUsesWith(&From, Way);
  L.addBasicBlockToLoop(Way, LI);
  return Way;
}

} // namespace

std::optional<Break> breakOf(const Loop &L) {
  SmallVector<BasicBlock *> Exiting;
  L.getExitingBlocks(Exiting);
  BasicBlock *Exit = L.getUniqueExitBlock(), *Latch = L.getLoopLatch();
  if (!Exit || !Latch || Exiting.size() != 2 || !is_contained(Exiting, Latch) || pred_size(Exit) != 2)
    return {};
  BasicBlock *Other = Exiting[Exiting[0] == Latch];
  auto *From = dyn_cast<BranchInst>(Other->getTerminator()), *Ends = dyn_cast<BranchInst>(Latch->getTerminator());
  auto *Counts = Ends ? dyn_cast<ICmpInst>(Ends->getCondition()) : nullptr;
  if (!From || !Counts || !Counts->hasOneUse() || !isCounter(L, Counts->getOperand(0)) ||
      !L.isLoopInvariant(Counts->getOperand(1)) || !leavesCarried(L, *Exit))
    return {};
  for (PHINode &Phi : Exit->phis())
    if (match(Phi.getIncomingValueForBlock(Other), m_One()) && match(Phi.getIncomingValueForBlock(Latch), m_Zero()) &&
        Phi.getType()->isIntegerTy(1))
      return Break{From, &Phi, Counts};
  return {};
}

void joinBreak(Loop &L, const Break &Of, DominatorTree &DT, LoopInfo &LI) {
  BasicBlock *Exit = L.getUniqueExitBlock(), *Latch = L.getLoopLatch(), *From = Of.From->getParent();
  auto *Ends = cast<BranchInst>(Latch->getTerminator());
  for (PHINode &Phi : L.getHeader()->phis())
    if (Instruction *Next = step(L, Phi))
      Next->moveBefore(L.getHeader()->getFirstInsertionPt());
  Of.Counts->moveBefore(Ends->getIterator());
  if (&*Latch->getFirstNonPHIOrDbg() != Of.Counts)
    Latch = SplitBlock(Latch, Of.Counts->getIterator(), &DT, &LI);
  if (L.contains(Ends->getSuccessor(0))) {
    Of.Counts->setPredicate(Of.Counts->getInversePredicate());
    Ends->swapSuccessors();
  }
  if (is_contained(successors(From), Latch))
    From = wayTo(*Exit, *From, L, LI); // two ways from one block to another would bring the same
  Joint Met(*Latch, *From);
  From->getTerminator()->replaceSuccessorWith(Exit, Latch);
  for (PHINode &Phi : L.getHeader()->phis()) {
    auto *Next = dyn_cast<Instruction>(Phi.getIncomingValueForBlock(Latch));
    if (Next && Next != &Phi && !step(L, Phi))
      Phi.setIncomingValueForBlock(Latch, Met.join(Next, whereBroken(Phi, Next, *Latch, *Exit, *From)));
  }
  for (PHINode &Left : Exit->phis()) {
    Value *Joined = Met.join(Left.getIncomingValueForBlock(Latch), Left.getIncomingValueForBlock(From));
    Left.removeIncomingValue(From, /*DeletePHIIfEmpty=*/false);
    Left.setIncomingValueForBlock(Latch, Joined);
  }
  Met.finish();
  IRBuilder<> B(Ends);
  Ends->setCondition(B.CreateLogicalOr(Of.Flag->getIncomingValueForBlock(Latch), Of.Counts));
  DeleteDeadPHIs(Latch);
  DT.recalculate(*Latch->getParent());
}

bool joinBreakBy(Loop &L, function_ref<bool(const Value &)> Decides, DominatorTree &DT, LoopInfo &LI) {
  SmallVector<BasicBlock *> Exiting;
  L.getExitingBlocks(Exiting);
  BasicBlock *Exit = L.getUniqueExitBlock(), *Latch = L.getLoopLatch();
  if (!Exit || !Latch || Exiting.size() != 2 || !is_contained(Exiting, Latch))
    return false;
  BasicBlock *From = Exiting[Exiting[0] == Latch];
  auto *Branch = dyn_cast<BranchInst>(From->getTerminator());
  if (!Branch || !Decides(*Branch->getCondition()))
    return false;
  PHINode *Flag = PHINode::Create(Type::getInt1Ty(Exit->getContext()), 2, "broken", Exit->begin());
  for (BasicBlock *Each : predecessors(Exit))
    Flag->addIncoming(ConstantInt::getBool(Flag->getContext(), Each == From), Each);
  std::optional<Break> Found = breakOf(L);
  if (Found)
    joinBreak(L, *Found, DT, LI);
  DeleteDeadPHIs(Exit);
  return Found.has_value();
}

} // namespace adgen
