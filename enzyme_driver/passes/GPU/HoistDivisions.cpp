// Divisions of integers leave loops in which they stay the same. LLVM leaves them where they are unless the loop
// reaches them in any case, for one by zero is undefined; in a reverse sweep, what places follow from (i / channels /
// heads) is computed again in every branch that needs it. Each is some 25 instructions on a GPU, which has none for it.
// Where the division has no result, it is by one, whose quotient nobody uses.
#include "Support/Pass.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/LoopIterator.h"
#include "llvm/Analysis/ValueTracking.h"

using namespace llvm;

namespace adgen {
namespace {

bool isDivision(const Instruction &I) { return I.isIntDivRem() && !isa<Constant>(I.getOperand(1)); }

class Hoister {
public:
  explicit Hoister(LoopInfo &LI) : LI(LI) {}

  bool run(Loop &L) {
    if (!L.getLoopPreheader())
      return false;
    bool Changed = false;
    LoopBlocksRPO Blocks(&L);
    Blocks.perform(&LI);
    for (BasicBlock *Block : Blocks)
      for (Instruction &I : make_early_inc_range(*Block))
        Changed |= isDivision(I) && hoist(cast<BinaryOperator>(I), L);
    return Changed;
  }

private:
  bool hoist(BinaryOperator &Division, Loop &L) {
    Instruction *Before = L.getLoopPreheader()->getTerminator();
    bool Moved = false;
    if (!L.makeLoopInvariant(Division.getOperand(0), Moved, Before) ||
        !L.makeLoopInvariant(Division.getOperand(1), Moved, Before))
      return Moved;
    if (Safe.insert(&Division).second) {
      IRBuilder<> B(Before);
      for (Use &Operand : Division.operands())
        Operand = frozen(Operand, L, B);
      Division.setOperand(1, divisorOf(Division, B));
    }
    Division.dropPoisonGeneratingFlags();
    Division.moveBefore(Before->getIterator());
    return true;
  }

  // One number in any case, the same for all divisions.
  Value *frozen(Value *V, const Loop &L, IRBuilder<> &B) {
    if (isGuaranteedNotToBeUndefOrPoison(V))
      return V;
    Value *&Known = Frozen[{V, &L}];
    return Known ? Known : Known = B.CreateFreeze(V);
  }

  // One where the quotient is none.
  static Value *divisorOf(const BinaryOperator &Division, IRBuilder<> &B) {
    Value *Divided = Division.getOperand(0), *By = Division.getOperand(1);
    Value *None = B.CreateICmpEQ(By, Constant::getNullValue(By->getType()));
    if (Division.getOpcode() == Instruction::SDiv || Division.getOpcode() == Instruction::SRem) {
      Value *Least = ConstantInt::get(By->getType(), APInt::getSignedMinValue(By->getType()->getIntegerBitWidth()));
      Value *MinusOne = B.CreateICmpEQ(By, Constant::getAllOnesValue(By->getType()));
      None = B.CreateOr(None, B.CreateAnd(MinusOne, B.CreateICmpEQ(Divided, Least)));
    }
    return B.CreateSelect(None, ConstantInt::get(By->getType(), 1), By, "divisor");
  }

  LoopInfo &LI;
  SmallPtrSet<const Instruction *, 16> Safe;
  DenseMap<std::pair<Value *, const Loop *>, Value *> Frozen;
};

} // namespace

ADGEN_DECLARE_PASS(HoistDivisions);

PreservedAnalyses HoistDivisions::run(Module &M, ModuleAnalysisManager &MAM) {
  auto &FAM = MAM.getResult<FunctionAnalysisManagerModuleProxy>(M).getManager();
  bool Changed = false;
  for (Function &F : M) {
    if (!F.hasFnAttribute(ActivityAttribute) || F.isDeclaration())
      continue;
    auto &LI = FAM.getResult<LoopAnalysis>(F);
    Hoister Out(LI);
    SmallVector<Loop *> Loops = LI.getLoopsInPreorder();
    for (Loop *L : reverse(Loops)) // the inner ones first
      Changed |= Out.run(*L);
  }
  return Changed ? PreservedAnalyses::none() : PreservedAnalyses::all();
}

} // namespace adgen
