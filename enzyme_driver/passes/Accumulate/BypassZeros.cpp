// In the reverse sweep. What the primal did not use on one of its ways, such as a candidate that it dismissed, has a
// cotangent of zero there; but that way meets the others, and zeros are computed with and added:
//   used: c = ...; goto both;   not used: c = 0; goto both;   both: a[i] += c * x; ...
// A way on which blocks add nothing but zeros, and hand on zeros or what they were given, leads past them. Infinities
// times a cotangent of zero are no longer what is not a number.
#include "Analysis/Accumulation.h"
#include "Analysis/Poles.h"
#include "Support/Iterations.h"
#include "Support/Pass.h"

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/PatternMatch.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/SSAUpdater.h"

#define DEBUG_TYPE "adgen-bypass-zeros"

using namespace llvm;
using namespace llvm::PatternMatch;

STATISTIC(NumWays, "Number of ways that lead past additions of zeros");

namespace adgen {
namespace {

constexpr unsigned MostBlocks = 8;
constexpr unsigned MostCopies = 4; // of what is needed behind the blocks and is no cotangent

bool isZero(const Value *V) { return V && match(V, m_AnyZeroFP()); }

// What is known of numbers on the way from a decision through blocks that follow each other.
class Zeros {
public:
  explicit Zeros(const BranchInst &Decision, bool Holds) : Condition(Decision.getCondition()), Holds(Holds) {}

  void enter(BasicBlock &Block, BasicBlock &From) {
    for (Instruction &I : Block) {
      auto *Phi = dyn_cast<PHINode>(&I);
      Known[&I] = Phi ? of(Phi->getIncomingValueForBlock(&From)) : evaluated(I);
    }
  }

  // Null where nothing is known; what was computed before the blocks is itself.
  Value *of(Value *V) const {
    if (auto Found = Known.find(V); Found != Known.end())
      return Found->second;
    auto *Choice = dyn_cast<SelectInst>(V);
    return Choice && Choice->getCondition() == Condition ? of(chosen(*Choice)) : V;
  }

private:
  Value *chosen(SelectInst &Choice) const { return Holds ? Choice.getTrueValue() : Choice.getFalseValue(); }

  Value *evaluated(Instruction &I) const {
    auto Is = [&](unsigned Operand) { return of(I.getOperand(Operand)); };
    auto Zero = [&](unsigned Operand) { return isZero(Is(Operand)); };
    auto ZeroIf = [&](bool Follows) { return Follows ? Constant::getNullValue(I.getType()) : nullptr; };
    if (isFma(I))
      return Zero(0) || Zero(1) ? Is(2) : nullptr;
    switch (I.getOpcode()) {
    case Instruction::FMul:
      return ZeroIf(Zero(0) || Zero(1));
    case Instruction::FAdd:
      return Zero(0) ? Is(1) : Zero(1) ? Is(0) : nullptr;
    case Instruction::FSub:
      return Zero(1) ? Is(0) : nullptr;
    case Instruction::FDiv:
    case Instruction::FNeg:
    case Instruction::FPExt:
    case Instruction::FPTrunc:
    case Instruction::Freeze:
      return ZeroIf(Zero(0));
    case Instruction::Select:
      if (I.getOperand(0) == Condition)
        return of(chosen(cast<SelectInst>(I)));
      return ZeroIf(Zero(1) && Zero(2));
    default:
      return nullptr;
    }
  }

  const Value *Condition;
  bool Holds;
  DenseMap<const Value *, Value *> Known;
};

class Bypass {
public:
  Bypass(BranchInst &Decision, unsigned Side, LoopInfo &Loops)
      : From(*Decision.getParent()), First(*Decision.getSuccessor(Side)), Loops(Loops), L(Loops.getLoopFor(&From)),
        Known(Decision, Side == 0) {}

  bool find() {
    if (First.getUniquePredecessor())
      return false;
    walk();
    for (; !Blocks.empty(); Blocks.pop_back())
      if (adds(*Blocks.back()) && canHandOn())
        return true;
    return false;
  }

  void make() {
    BasicBlock *Last = Blocks.back(), *Behind = nextOf(*Last);
    auto *Way = BasicBlock::Create(From.getContext(), First.getName() + ".bypassed", From.getParent(), &First);
    if (!Behind)
      adopt(*(Behind = Last->splitBasicBlock(decisionOf(*Last), Last->getName() + ".decides")));
    First.removePredecessor(&From, /*KeepOneInputPHIs=*/true);
    From.getTerminator()->replaceSuccessorWith(&First, Way);
    End = BranchInst::Create(Behind, Way);
    adopt(*Way);
    for (PHINode &Phi : Behind->phis())
      Phi.addIncoming(made(Phi.getIncomingValueForBlock(Last)), Way);
    for (BasicBlock *Block : Blocks)
      for (Instruction &I : *Block)
        handOn(I, *Way);
    for (BasicBlock *Block : Blocks)
      MergeBlockIntoPredecessor(Block, nullptr, &Loops);
  }

private:
  void walk() {
    BasicBlock *Before = &From;
    for (BasicBlock *Block = &First; Block && Blocks.size() < MostBlocks && isPassable(*Block);
         Before = Block, Block = nextOf(*Block)) {
      Known.enter(*Block, *Before);
      if (any_of(*Block, [&](Instruction &I) { return hasEffect(I); }))
        return;
      Blocks.push_back(Block);
    }
  }

  bool isPassable(const BasicBlock &Block) const {
    return Loops.getLoopFor(&Block) == L && !(L && L->getHeader() == &Block) && &Block != &From && isReverse(Block);
  }

  // Null where there is a decision, or where the loop is left or turns.
  BasicBlock *nextOf(BasicBlock &Block) const {
    BasicBlock *Next = Block.getSingleSuccessor();
    return Next && Loops.getLoopFor(Next) == L && !(L && L->getHeader() == Next) &&
                   !is_contained(predecessors(Next), &From)
               ? Next
               : nullptr;
  }

  // Which is not that zeros are added.
  bool hasEffect(Instruction &I) const {
    if (AtomicRMWInst *Atomic = asAccumulation(I))
      return !isZero(Known.of(Atomic->getValOperand()));
    auto *Call = dyn_cast<CallBase>(&I);
    return !isa<AssumeInst>(I) && (I.mayHaveSideEffects() || I.isVolatile() || (Call && Call->isConvergent()));
  }

  static bool adds(BasicBlock &Block) {
    return any_of(Block, [](Instruction &I) { return asAccumulation(I) != nullptr; });
  }

  // With what is computed for it alone.
  BasicBlock::iterator decisionOf(BasicBlock &Last) const {
    Instruction *Decision = Last.getTerminator();
    auto *Branch = dyn_cast<BranchInst>(Decision);
    auto *Asked = Branch && Branch->isConditional() ? dyn_cast<CmpInst>(Branch->getCondition()) : nullptr;
    bool Moves = Asked && Asked->getParent() == &Last && Asked->hasOneUse() &&
                 none_of(Asked->operands(), [&](const Use &Operand) { return isIn(Operand.get()); });
    if (Moves)
      Asked->moveBefore(Decision->getIterator());
    return (Moves ? Asked : Decision)->getIterator();
  }

  bool isIn(const Value *V) const {
    auto *I = dyn_cast<Instruction>(V);
    return I && is_contained(Blocks, I->getParent());
  }

  // Whether what is used behind the blocks is known, or is little to compute again.
  bool canHandOn() {
    Copies.clear();
    return all_of(Blocks, [&](BasicBlock *Block) {
      return all_of(*Block, [&](Instruction &I) {
        return none_of(I.uses(), [&](const Use &U) { return isBehind(U); }) || canMake(&I);
      });
    });
  }

  bool isBehind(const Use &U) const {
    auto *User = cast<Instruction>(U.getUser());
    auto *Phi = dyn_cast<PHINode>(User);
    const BasicBlock *Where = Phi ? Phi->getIncomingBlock(U) : User->getParent(), *Last = Blocks.back();
    return !is_contained(Blocks, Where) || (Where == Last && (User->isTerminator() || (Phi && !isPassed(*Phi))));
  }

  bool isPassed(const PHINode &Phi) const { return is_contained(Blocks, Phi.getParent()); }

  bool canMake(Value *V) {
    auto *I = dyn_cast<Instruction>(V);
    if (!isIn(V) || Known.of(V) || is_contained(Copies, I))
      return true;
    if (isa<PHINode>(I) || I->mayReadOrWriteMemory() || isa<CallBase>(I) || Copies.size() == MostCopies)
      return false;
    Copies.push_back(I);
    return all_of(I->operands(), [&](const Use &Operand) { return canMake(Operand.get()); });
  }

  // The number on the way, in its block.
  Value *made(Value *V) {
    auto *I = dyn_cast<Instruction>(V);
    if (!I || !is_contained(Copies, I))
      return Known.of(V);
    if (Value *Copy = Made.lookup(I))
      return Copy;
    Instruction *Copy = I->clone();
    for (Use &Operand : Copy->operands())
      Operand.set(made(Operand.get()));
    Copy->insertBefore(End->getIterator());
    return Made[I] = Copy;
  }

  void handOn(Instruction &I, BasicBlock &Way) {
    SmallVector<Use *> Behind;
    for (Use &U : I.uses()) {
      auto *Phi = dyn_cast<PHINode>(U.getUser());
      if (!is_contained(Blocks, Phi ? Phi->getIncomingBlock(U) : cast<Instruction>(U.getUser())->getParent()))
        Behind.push_back(&U);
    }
    if (Behind.empty())
      return;
    SSAUpdater Updater;
    Updater.Initialize(I.getType(), I.getName());
    Updater.AddAvailableValue(I.getParent(), &I);
    Updater.AddAvailableValue(&Way, made(&I));
    for (Use *U : Behind)
      Updater.RewriteUse(*U);
  }

  void adopt(BasicBlock &Block) {
    if (L)
      L->addBasicBlockToLoop(&Block, Loops);
  }

  BasicBlock &From, &First;
  LoopInfo &Loops;
  Loop *L;
  Zeros Known;
  SmallVector<BasicBlock *> Blocks;
  SmallVector<Instruction *> Copies;
  DenseMap<Instruction *, Value *> Made;
  BranchInst *End = nullptr;
};

bool bypassIn(Function &F, LoopInfo &Loops) {
  SmallVector<BranchInst *> Decisions;
  for (BasicBlock &Block : F)
    if (auto *Branch = dyn_cast<BranchInst>(Block.getTerminator());
        Branch && Branch->isConditional() && isReverse(Block) && Loops.getLoopFor(&Block))
      Decisions.push_back(Branch);
  bool Changed = false;
  for (BranchInst *Decision : Decisions)
    for (unsigned Side : {0, 1})
      if (Bypass Found(*Decision, Side, Loops); Found.find()) {
        ADGEN_COUNT(NumWays, F.getName());
        Found.make();
        Changed = true;
      }
  return Changed;
}

} // namespace

ADGEN_DECLARE_PASS(BypassZeros);

PreservedAnalyses BypassZeros::run(Module &M, ModuleAnalysisManager &MAM) {
  auto &FAM = MAM.getResult<FunctionAnalysisManagerModuleProxy>(M).getManager();
  bool Changed = false;
  for (Function &F : M)
    if (F.hasFnAttribute(ActivityAttribute) && !F.isDeclaration())
      Changed |= bypassIn(F, FAM.getResult<LoopAnalysis>(F));
  return Changed ? PreservedAnalyses::none() : PreservedAnalyses::all();
}

} // namespace adgen
