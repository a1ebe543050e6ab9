// Before threads choose by atomics, people ask whether there is any point in it, as far as one can see:
//   if (value > *place) choose(place, value)
// In a derivative, which knows from its begin on what remains, that would hold for nobody, and the thread whose value
// it is would not choose. The choice is the same without the question, which goes.
#include "Import/AtomicChoices.h"
#include "Import/SwapLoop.h"

#include "llvm/IR/InstIterator.h"
#include "llvm/Transforms/Utils/Local.h"

#define DEBUG_TYPE "adgen-drop-choice-guards"

using namespace llvm;

STATISTIC(NumGuards, "Number of questions before a choice that were dropped");

namespace adgen {
namespace {

class Guard {
public:
  explicit Guard(CallInst &Choice) : Choice(Choice), Inside(*Choice.getParent()) {}

  bool drop() {
    BasicBlock *Above = Inside.getSinglePredecessor(), *Behind = Inside.getSingleSuccessor();
    auto *Branch = Above ? dyn_cast<BranchInst>(Above->getTerminator()) : nullptr;
    if (!Behind || !Branch || !Branch->isConditional() || !choosesAlone() || !sameBehind(*Above, *Behind))
      return false;
    bool Holds = Branch->getSuccessor(0) == &Inside;
    if (Branch->getSuccessor(Holds) != Behind || !asksFor(Branch->getCondition(), Holds))
      return false;
    Value *Condition = Branch->getCondition();
    Behind->removePredecessor(Above);
    IRBuilder<>(Branch).CreateBr(&Inside);
    Branch->eraseFromParent();
    Seen->setVolatile(false);
    Seen->setAtomic(AtomicOrdering::NotAtomic);
    RecursivelyDeleteTriviallyDeadInstructions(Condition);
    ADGEN_COUNT(NumGuards, Choice);
    return true;
  }

private:
  bool choosesAlone() {
    return all_of(Inside, [&](Instruction &I) {
      auto *Store = dyn_cast<StoreInst>(&I);
      if (Store && Store->getPointerOperand() == Choice.getArgOperand(1))
        Brought = Store->getValueOperand();
      return (Store && Store->getPointerOperand() == Choice.getArgOperand(1)) || &I == &Choice ||
             !I.mayHaveSideEffects();
    });
  }

  static bool sameBehind(BasicBlock &Above, BasicBlock &Behind) {
    return Behind.phis().empty() || all_of(Behind.phis(), [&](PHINode &Phi) { return Phi.hasConstantValue(); });
  }

  // Whether the condition, or what it is not, says that the value brought is better than what is there.
  bool asksFor(Value *Condition, bool Holds) {
    auto *Test = dyn_cast<FCmpInst>(Condition);
    if (!Test || !Brought)
      return false;
    bool First = Test->getOperand(0) == Brought;
    Seen = dyn_cast<LoadInst>(bitsOf(Test->getOperand(First)));
    if ((!First && Test->getOperand(1) != Brought) || !Seen ||
        Seen->getPointerOperand()->stripPointerCasts() != Choice.getArgOperand(0)->stripPointerCasts())
      return false;
    CmpInst::Predicate Asked = Holds ? Test->getPredicate() : Test->getInversePredicate();
    if (!First)
      Asked = CmpInst::getSwappedPredicate(Asked);
    bool Greater = is_contained({CmpInst::FCMP_OGT, CmpInst::FCMP_OGE, CmpInst::FCMP_UGT, CmpInst::FCMP_UGE}, Asked);
    bool Less = is_contained({CmpInst::FCMP_OLT, CmpInst::FCMP_OLE, CmpInst::FCMP_ULT, CmpInst::FCMP_ULE}, Asked);
    bool Largest = Choice.getCalledFunction()->getName().contains("max");
    return Largest ? Greater : Less;
  }

  CallInst &Choice;
  BasicBlock &Inside;
  Value *Brought = nullptr;
  LoadInst *Seen = nullptr;
};

} // namespace

ADGEN_DECLARE_PASS(DropChoiceGuards);

PreservedAnalyses DropChoiceGuards::run(Module &M, ModuleAnalysisManager &) {
  SmallVector<CallInst *> Choices;
  for (Function &F : M)
    if (F.getName().starts_with(BodyPrefix))
      for (Instruction &I : instructions(F))
        if (isChoice(I))
          Choices.push_back(cast<CallInst>(&I));
  bool Changed = false;
  for (CallInst *Choice : Choices)
    Changed |= Guard(*Choice).drop();
  return Changed ? PreservedAnalyses::none() : PreservedAnalyses::all();
}

} // namespace adgen
