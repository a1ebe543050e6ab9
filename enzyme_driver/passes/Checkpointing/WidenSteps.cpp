// The step of a pointer that a loop moves on, p += row * n + i, is computed with as many bits as the pointer has, while
// it is the user's: that his numbers do not overflow is forgotten once sums are regrouped, and without it nobody knows
// that steps of so many bits are an induction, by which the pointer follows from the iteration.
#include "Support/Pass.h"

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Operator.h"
#include "llvm/IR/PatternMatch.h"

#define DEBUG_TYPE "adgen-widen-steps"

using namespace llvm;
using namespace llvm::PatternMatch;

STATISTIC(NumSteps, "Number of steps of pointers that are computed with all bits");

namespace adgen {
namespace {

constexpr unsigned MostInEachOther = 8; // operations

class Widener {
public:
  explicit Widener(const Loop &L) : L(L) {}

  bool run() {
    bool Changed = false;
    for (PHINode &Pointer : L.getHeader()->phis())
      for (Value *Next : Pointer.incoming_values())
        for (auto *Step = dyn_cast<GetElementPtrInst>(Next); Step && L.contains(Step);
             Step = dyn_cast<GetElementPtrInst>(Step->getPointerOperand()))
          Changed |= widen(*Step);
    return Changed;
  }

private:
  bool widen(GetElementPtrInst &Step) {
    auto *Extended = Step.getNumIndices() == 1 ? dyn_cast<SExtInst>(Step.getOperand(1)) : nullptr;
    if (!Extended || !isWidened(*Extended->getOperand(0)))
      return false;
    IRBuilder<> B(&Step);
    Step.setOperand(1, wide(B, *Extended->getOperand(0), *Extended->getType(), 0));
    return true;
  }

  // Sums, differences and products that change with the iteration and do not overflow.
  bool isWidened(const Value &V) const {
    auto *I = dyn_cast<OverflowingBinaryOperator>(&V);
    return I && I->hasNoSignedWrap() && I->getOpcode() != Instruction::Shl && !L.isLoopInvariant(&V);
  }

  Value *wide(IRBuilder<> &B, Value &V, Type &T, unsigned Depth) {
    if (!isWidened(V) || Depth == MostInEachOther)
      return B.CreateSExt(&V, &T);
    auto &I = cast<BinaryOperator>(V);
    if (I.getOpcode() == Instruction::Add)
      return wideSum(B, I, T, Depth);
    Value *Left = wide(B, *I.getOperand(0), T, Depth + 1), *Right = wide(B, *I.getOperand(1), T, Depth + 1);
    return withoutOverflow(B.CreateBinOp(I.getOpcode(), Left, Right));
  }

  Value *wideSum(IRBuilder<> &B, BinaryOperator &Sum, Type &T, unsigned Depth) {
    SmallVector<Value *> Addends;
    collectAddends(Sum, Addends);
    joinDigits(Addends);
    Value *Wide = nullptr;
    for (Value *Each : Addends) {
      Value *Part = wide(B, *Each, T, Depth + 1);
      Wide = Wide ? withoutOverflow(B.CreateAdd(Wide, Part)) : Part;
    }
    return Wide;
  }

  void collectAddends(Value &V, SmallVectorImpl<Value *> &Addends) const {
    if (isWidened(V) && cast<Operator>(V).getOpcode() == Instruction::Add && Addends.size() < MostInEachOther) {
      collectAddends(*cast<User>(V).getOperand(0), Addends);
      collectAddends(*cast<User>(V).getOperand(1), Addends);
    } else {
      Addends.push_back(&V);
    }
  }

  // A number in two digits, x / n * n + x % n, is that number.
  static void joinDigits(SmallVectorImpl<Value *> &Addends) {
    for (Value *&Low : Addends) {
      Value *X, *N;
      if (!match(Low, m_SRem(m_Value(X), m_Value(N))))
        continue;
      auto *High = find_if(Addends, [&](Value *Each) {
        return match(Each, m_c_Mul(m_SDiv(m_Specific(X), m_Specific(N)), m_Specific(N)));
      });
      if (High == Addends.end())
        continue;
      Low = X;
      Addends.erase(High);
      return;
    }
  }

  static Value *withoutOverflow(Value *V) {
    if (auto *Operation = dyn_cast<BinaryOperator>(V))
      Operation->setHasNoSignedWrap();
    return V;
  }

  const Loop &L;
};

} // namespace

ADGEN_DECLARE_PASS(WidenSteps);

PreservedAnalyses WidenSteps::run(Module &M, ModuleAnalysisManager &MAM) {
  auto &FAM = MAM.getResult<FunctionAnalysisManagerModuleProxy>(M).getManager();
  for (Function &F : M)
    if (F.getName().starts_with(BodyPrefix) && !F.isDeclaration())
      for (const Loop *L : FAM.getResult<LoopAnalysis>(F).getLoopsInPreorder())
        if (Widener(*L).run())
          ADGEN_COUNT(NumSteps, *L);
  return PreservedAnalyses::none();
}

} // namespace adgen
