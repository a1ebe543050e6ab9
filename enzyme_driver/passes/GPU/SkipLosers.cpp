// Where each thread has selected a number of its own (RematerializeSelections) and threads then select among those, one
// thread has won: the cotangents of all others are zero, and they would compute what their own winner adds to memory,
// which is zero.
//   if (won) { reverse of the winner, from its cotangent c }   becomes   if (won && c != 0) { ... }
// It is asked that with cotangents of zero all that the branch adds to memory or hands on is zero, or is what is handed
// on without it. Infinities times a cotangent of zero are no longer what is not a number.
#include "Analysis/Accumulation.h"
#include "Analysis/Poles.h"
#include "Support/Iterations.h"
#include "Support/Pass.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/PatternMatch.h"

#define DEBUG_TYPE "adgen-skip-losers"

using namespace llvm;
using namespace llvm::PatternMatch;

STATISTIC(NumBranches, "Number of branches left out where their cotangents are zero");

namespace adgen {
namespace {

constexpr unsigned MostAsked = 4;
constexpr StringLiteral OfWinner = ".again"; // in the names of blocks that RematerializeSelections has copied

// A part of the reverse sweep that one branch leads to.
class Region {
public:
  Region(BasicBlock &From, BasicBlock &Begin, BasicBlock &Behind, const DominatorTree &DT)
      : From(From), Begin(Begin), Behind(Behind) {
    const BasicBlockEdge Edge(&From, &Begin);
    if (Edge.isSingleEdge())
      for (BasicBlock &Block : *From.getParent())
        if (DT.isReachableFromEntry(&Block) && DT.dominates(Edge, &Block))
          Blocks.insert(&Block);
  }

  bool contains(BasicBlock *Block) const { return Blocks.contains(Block); }
  ArrayRef<Value *> asked() const { return Asked.getArrayRef(); }

  // Whether nothing comes of it where all that is asked is zero.
  bool find() {
    if (none_of(Blocks,
                [](const BasicBlock *Block) { return isReverse(*Block) && Block->getName().contains(OfWinner); }))
      return false;
    for (const BasicBlock *Block : Blocks)
      for (const Instruction &I : *Block)
        for (Value *Operand : I.operands())
          if (isCotangent(Operand))
            Asked.insert(Operand);
    return !Asked.empty() && Asked.size() <= MostAsked && !isAlreadyAsked(*From.getTerminator()->getOperand(0)) &&
           all_of(Blocks, [&](BasicBlock *Block) {
             return leadsOn(*Block) && all_of(*Block, [&](Instruction &I) { return addsZero(I) && isLeftAs(I); });
           });
  }

private:
  // By an earlier run of this pass.
  bool isAlreadyAsked(const Value &Condition) const {
    Value *Cotangent;
    if (match(&Condition, m_FCmp(m_Value(Cotangent), m_AnyZeroFP())))
      return Asked.contains(Cotangent);
    auto *Both = dyn_cast<Instruction>(&Condition);
    return Both && (isa<BinaryOperator, SelectInst>(Both)) &&
           any_of(Both->operands(), [&](const Use &U) { return isAlreadyAsked(*U); });
  }

  // What has been taken from memory, or comes from several places, before the branch.
  bool isCotangent(Value *V) const {
    auto *I = dyn_cast<Instruction>(V);
    if (!I || !I->getType()->isFloatingPointTy() || contains(I->getParent()) || !isReverse(*I->getParent()))
      return false;
    auto *Update = dyn_cast<AtomicRMWInst>(I);
    return isa<PHINode>(I) || (Update && Update->getOperation() == AtomicRMWInst::Xchg);
  }

  bool leadsOn(BasicBlock &Block) const {
    return all_of(successors(&Block),
                  [&](BasicBlock *Next) { return Next == &Behind || (contains(Next) && Next != &Begin); });
  }

  bool addsZero(Instruction &I) {
    if (!I.mayHaveSideEffects())
      return !I.isVolatile() && !(isa<CallBase>(I) && cast<CallBase>(I).isConvergent());
    if (auto *Update = dyn_cast<AtomicRMWInst>(&I))
      return Update->getOperation() == AtomicRMWInst::FAdd && Update->use_empty() && isZero(Update->getValOperand());
    auto *Call = dyn_cast<CallBase>(&I);
    if (auto *Known = dyn_cast<IntrinsicInst>(&I); Known && Known->isAssumeLikeIntrinsic())
      return true;
    auto *Text = Call ? dyn_cast<InlineAsm>(Call->getCalledOperand()) : nullptr;
    return Text && StringRef(Text->getAsmString()).starts_with("red.global.add") &&
           all_of(drop_begin(Call->args()), [&](const Use &Each) { return isZero(Each.get()); });
  }

  // What comes behind sees what it would see without the branch.
  bool isLeftAs(Instruction &I) {
    return all_of(I.uses(), [&](const Use &U) {
      auto *User = cast<Instruction>(U.getUser());
      auto *Join = dyn_cast<PHINode>(User);
      if (contains(Join ? Join->getIncomingBlock(U) : User->getParent()) && (!Join || contains(Join->getParent())))
        return true;
      SmallPtrSet<const Value *, 8> Seen;
      return Join && Join->getParent() == &Behind && Join->getBasicBlockIndex(&From) >= 0 &&
             isSame(U.get(), Join->getIncomingValueForBlock(&From), Seen);
    });
  }

  // Sums that loops carry round are what they begin with, where nothing else is added.
  bool isSame(Value *V, Value *Without, SmallPtrSetImpl<const Value *> &Seen) {
    if (V == Without || (match(Without, m_AnyZeroFP()) && isZero(V)))
      return true;
    auto *I = dyn_cast<Instruction>(V);
    if (!I || !contains(I->getParent()))
      return false;
    if (!Seen.insert(I).second)
      return true;
    auto Same = [&](unsigned Operand) { return isSame(I->getOperand(Operand), Without, Seen); };
    switch (I->getOpcode()) {
    case Instruction::FAdd:
      return isZero(I->getOperand(1)) ? Same(0) : isZero(I->getOperand(0)) && Same(1);
    case Instruction::FSub:
      return isZero(I->getOperand(1)) && Same(0);
    case Instruction::PHI:
      return all_of(cast<PHINode>(I)->incoming_values(), [&](const Use &Each) { return isSame(Each, Without, Seen); });
    default:
      return false;
    }
  }

  // Where all that is asked is zero. What depends on itself is not taken to be.
  bool isZero(Value *V) {
    if (match(V, m_AnyZeroFP()) || Asked.contains(V))
      return true;
    auto *I = dyn_cast<Instruction>(V);
    if (!I || !contains(I->getParent()))
      return false;
    auto [Known, IsNew] = Found.try_emplace(I, false);
    if (!IsNew)
      return Known->second;
    bool Is = followsAsZero(*I);
    Found[I] = Is;
    return Is;
  }

  bool followsAsZero(Instruction &I) {
    auto Is = [&](unsigned Operand) { return isZero(I.getOperand(Operand)); };
    if (isFma(I))
      return (Is(0) || Is(1)) && Is(2);
    switch (I.getOpcode()) {
    case Instruction::FMul:
      return Is(0) || Is(1);
    case Instruction::FAdd:
    case Instruction::FSub:
      return Is(0) && Is(1);
    case Instruction::FDiv:
    case Instruction::FNeg:
    case Instruction::FPExt:
    case Instruction::FPTrunc:
      return Is(0);
    case Instruction::Select:
      return Is(1) && Is(2);
    case Instruction::PHI:
      return all_of(cast<PHINode>(I).incoming_values(), [&](const Use &Each) { return isZero(Each.get()); });
    default:
      return false;
    }
  }

  BasicBlock &From, &Begin, &Behind;
  SmallSetVector<BasicBlock *, 16> Blocks;
  SmallSetVector<Value *, 8> Asked;
  DenseMap<Instruction *, bool> Found;
};

void ask(BranchInst &Branch, bool IsElse, ArrayRef<Value *> Cotangents) {
  ADGEN_COUNT(NumBranches, Branch);
  IRBuilder<> B(&Branch);
  Value *Any = nullptr;
  for (Value *Each : Cotangents) {
    Value *Some = B.CreateFCmpUNE(Each, Constant::getNullValue(Each->getType()));
    Any = Any ? B.CreateOr(Any, Some) : Some;
  }
  Value *Condition = Branch.getCondition();
  Branch.setCondition(IsElse ? B.CreateOr(Condition, B.CreateNot(Any)) : B.CreateAnd(Condition, Any));
}

bool isGradient(const Function &F) {
  return isKernel(F) ? F.getName().ends_with(GradientSuffix)
                     : F.hasFnAttribute(ActivityAttribute) && !F.isDeclaration();
}

bool skipIn(Function &F, const DominatorTree &DT) {
  std::vector<Region> Skipped;
  for (BasicBlock *Block : depth_first(&F)) {
    auto *Branch = dyn_cast<BranchInst>(Block->getTerminator());
    if (!Branch || Branch->isUnconditional() || !isReverse(*Block) ||
        any_of(Skipped, [&](const Region &Each) { return Each.contains(Block); }))
      continue;
    for (bool IsElse : {false, true}) {
      Region Part(*Block, *Branch->getSuccessor(IsElse), *Branch->getSuccessor(!IsElse), DT);
      if (!Part.find())
        continue;
      ask(*Branch, IsElse, Part.asked());
      Skipped.push_back(std::move(Part));
      break;
    }
  }
  return !Skipped.empty();
}

} // namespace

ADGEN_DECLARE_PASS(SkipLosers);

PreservedAnalyses SkipLosers::run(Module &M, ModuleAnalysisManager &MAM) {
  auto &FAM = MAM.getResult<FunctionAnalysisManagerModuleProxy>(M).getManager();
  bool Changed = false;
  for (Function &F : M)
    if (isGradient(F))
      Changed |= skipIn(F, FAM.getResult<DominatorTreeAnalysis>(F));
  return Changed ? PreservedAnalyses::none() : PreservedAnalyses::all();
}

} // namespace adgen
