// Where variables of a loop's body come to their end, clang has one block to which `continue`, `break` and the end of
// the body all lead, and which asks a number where to go on: each way has its own. The optimiser undoes that for a
// processor, and not for a GPU, where it keeps ways together. Enzyme would have to find out which way led there, and
// passes that recognise how a loop is left see a switch. Here each way leads on to where its number says.
#include "Support/Pass.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/Instructions.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/Local.h"
#include "llvm/Transforms/Utils/SSAUpdater.h"

#include <optional>

#define DEBUG_TYPE "adgen-thread-dispatches"

using namespace llvm;

STATISTIC(NumDispatches, "Number of blocks that only led on");

namespace adgen {
namespace {

// A block of nothing but phis goes on by a number that they give it, or by how that compares with a constant.
struct Dispatch {
  PHINode *Asked;
  ICmpInst *Compared = nullptr;
};

std::optional<Dispatch> dispatchOf(const BasicBlock &Block) {
  const Instruction *End = Block.getTerminator();
  Value *Condition = nullptr;
  if (auto *Switch = dyn_cast<SwitchInst>(End))
    Condition = Switch->getCondition();
  else if (auto *Branch = dyn_cast<BranchInst>(End); Branch && Branch->isConditional())
    Condition = Branch->getCondition();
  Dispatch Found{};
  auto First = Block.getFirstNonPHIOrDbg();
  if (Found.Compared = dyn_cast_or_null<ICmpInst>(Condition); Found.Compared) {
    if (&*First++ != Found.Compared || !Found.Compared->hasOneUse() || !isa<ConstantInt>(Found.Compared->getOperand(1)))
      return {};
    Condition = Found.Compared->getOperand(0);
  }
  Found.Asked = dyn_cast_or_null<PHINode>(Condition);
  return Found.Asked && Found.Asked->getParent() == &Block && First->isTerminator() ? std::optional(Found)
                                                                                    : std::nullopt;
}

BasicBlock *leadsTo(Instruction &End, const ConstantInt &Number, const ICmpInst *Compared) {
  if (auto *Switch = dyn_cast<SwitchInst>(&End))
    return Switch->findCaseValue(&Number)->getCaseSuccessor();
  bool Holds = Compared ? ICmpInst::compare(Number.getValue(), cast<ConstantInt>(Compared->getOperand(1))->getValue(),
                                            Compared->getPredicate())
                        : Number.isOne();
  return End.getSuccessor(Holds ? 0 : 1);
}

using Ways = MapVector<BasicBlock *, SmallSetVector<BasicBlock *, 4>>; // from which blocks, by where they lead

// None where a way has no number of its own.
Ways waysThrough(BasicBlock &Block, const Dispatch &By) {
  Ways Found;
  for (auto [Number, From] : zip(By.Asked->incoming_values(), By.Asked->blocks())) {
    auto *Known = dyn_cast<ConstantInt>(Number);
    if (!Known || !isa<BranchInst, SwitchInst>(From->getTerminator()))
      return {};
    Found[leadsTo(*Block.getTerminator(), *Known, By.Compared)].insert(From);
  }
  return Found;
}

bool isChoiceOfConstants(const Value &V) {
  auto *Choice = dyn_cast<SelectInst>(&V);
  return Choice && Choice->getCondition()->getType()->isIntegerTy(1) && isa<ConstantInt>(Choice->getTrueValue()) &&
         isa<ConstantInt>(Choice->getFalseValue());
}

// Where a way brings one of two constants (`if (…) break;` at the end of what a condition guards), it becomes two.
bool partWays(BasicBlock &Block, PHINode &Asked) {
  for (unsigned Way = 0; Way < Asked.getNumIncomingValues(); ++Way) {
    BasicBlock *From = Asked.getIncomingBlock(Way);
    auto *End = dyn_cast<BranchInst>(From->getTerminator());
    if (!End || End->isConditional() || !isChoiceOfConstants(*Asked.getIncomingValue(Way)))
      continue;
    auto *Choice = cast<SelectInst>(Asked.getIncomingValue(Way));
    const DebugLoc At = End->getDebugLoc();
    BasicBlock *Other = SplitEdge(From, &Block);
    BasicBlock *One = BasicBlock::Create(Block.getContext(), Block.getName() + ".chosen", Block.getParent(), Other);
    for (PHINode &Phi : Block.phis())
      Phi.addIncoming(Phi.getIncomingValueForBlock(Other), One);
    BranchInst::Create(&Block, One)->setDebugLoc(At);
    ReplaceInstWithInst(From->getTerminator(), BranchInst::Create(One, Other, Choice->getCondition()));
    Asked.setIncomingValueForBlock(One, Choice->getTrueValue());
    Asked.setIncomingValueForBlock(Other, Choice->getFalseValue());
    return true;
  }
  return false;
}

// What is computed in the block, where the way leads now.
void leadOn(BasicBlock &Block, BasicBlock &To, ArrayRef<BasicBlock *> From,
            MapVector<PHINode *, SmallVector<PHINode *>> &Met) {
  BasicBlock *Way = BasicBlock::Create(Block.getContext(), Block.getName() + ".way", Block.getParent(), &Block);
  for (PHINode &Phi : Block.phis()) {
    PHINode *Here = PHINode::Create(Phi.getType(), From.size(), Phi.getName() + ".way", Way);
    for (BasicBlock *Each : From)
      Here->addIncoming(Phi.getIncomingValueForBlock(Each), Each);
    Here->setDebugLoc(Phi.getDebugLoc());
    Met[&Phi].push_back(Here);
  }
  BranchInst *On = BranchInst::Create(&To, Way);
  On->setDebugLoc(Block.getTerminator()->getDebugLoc());
  for (BasicBlock *Each : From)
    Each->getTerminator()->replaceSuccessorWith(&Block, Way);
  for (PHINode &Phi : To.phis()) {
    Value *Comes = Phi.getIncomingValueForBlock(&Block);
    if (auto *Own = dyn_cast<PHINode>(Comes); Own && Own->getParent() == &Block)
      Comes = Met[Own].back();
    Phi.addIncoming(Comes, Way);
  }
}

void thread(BasicBlock &Block, const Ways &Found) {
  ADGEN_COUNT(NumDispatches, Block.getName());
  MapVector<PHINode *, SmallVector<PHINode *>> Met;
  for (const auto &[To, From] : Found)
    leadOn(Block, *To, From.getArrayRef(), Met);
  SmallPtrSet<BasicBlock *, 4> Next(llvm::from_range, successors(&Block));
  for (BasicBlock *Each : Next)
    for (PHINode &Phi : Each->phis())
      Phi.removeIncomingValueIf([&](unsigned I) { return Phi.getIncomingBlock(I) == &Block; }, false);
  while (!isa<PHINode>(Block.back()))
    Block.back().eraseFromParent();
  new UnreachableInst(Block.getContext(), &Block);
  for (auto &[Phi, Places] : Met) {
    SSAUpdater Update;
    Update.Initialize(Phi->getType(), Phi->getName());
    for (PHINode *Each : Places)
      Update.AddAvailableValue(Each->getParent(), Each);
    for (Use &U : make_early_inc_range(Phi->uses()))
      if (cast<Instruction>(U.getUser())->getParent() != &Block)
        Update.RewriteUse(U);
  }
  for (PHINode &Phi : make_early_inc_range(Block.phis())) {
    Phi.replaceAllUsesWith(PoisonValue::get(Phi.getType()));
    Phi.eraseFromParent();
  }
  DeleteDeadBlock(&Block);
}

bool threadOne(Function &F) {
  DominatorTree DT(F);
  LoopInfo LI(DT);
  for (BasicBlock &Block : F) {
    std::optional<Dispatch> By;
    if (DT.isReachableFromEntry(&Block) && !LI.isLoopHeader(&Block))
      By = dispatchOf(Block);
    if (!By)
      continue;
    if (all_of(By->Asked->incoming_values(),
               [](const Use &U) { return isa<ConstantInt>(U) || isChoiceOfConstants(*U.get()); }) &&
        partWays(Block, *By->Asked))
      return true;
    if (Ways Found = waysThrough(Block, *By); !Found.empty() && !Found.count(&Block)) {
      thread(Block, Found);
      return true;
    }
  }
  return false;
}

} // namespace

ADGEN_DECLARE_PASS(ThreadDispatches);

PreservedAnalyses ThreadDispatches::run(Module &M, ModuleAnalysisManager &) {
  for (Function &F : M)
    if (F.getName().starts_with(BodyPrefix) && !F.isDeclaration())
      while (threadOne(F))
        ;
  return PreservedAnalyses::none();
}

} // namespace adgen
