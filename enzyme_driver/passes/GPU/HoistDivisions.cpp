// Integer divisions by what is not known before the launch, as where a thread works out its row and column from one
// number, take some twenty instructions each. Enzyme computes addresses again wherever it needs them, so they end in
// branches within loops, which LLVM does not move them out of: the divisor might be zero where nobody divides. On a GPU
// that is no reason: here they move in front of the loops in which they stay the same, with a divisor that is one where
// it would be none.
#include "GPU/Divisions.h"
#include "Support/Adgen.h"
#include "Support/Pass.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/Transforms/Utils/LoopSimplify.h"

#define DEBUG_TYPE "adgen-hoist-divisions"

using namespace llvm;

STATISTIC(NumHoisted, "Number of divisions that moved out of loops");

namespace adgen {
namespace {

constexpr unsigned MostSteps = 16; // of a division's operands

class Hoister {
public:
  Hoister(DominatorTree &DT, LoopInfo &LI) : DT(DT), LI(LI) {}

  bool run(Function &F) {
    SmallVector<Instruction *> Divisions;
    for (BasicBlock *Block : ReversePostOrderTraversal<Function *>(&F))
      for (Instruction &I : *Block)
        if (isDivision(I) && LI.getLoopFor(Block))
          Divisions.push_back(&I);
    for (Instruction *Division : Divisions)
      if (Loop *L = outermost(*Division)) {
        ADGEN_COUNT(NumHoisted, *Division);
        moveOut(*Division, *L);
      }
    return !Divisions.empty();
  }

private:
  // The largest loop in which it stays the same; null where there is none.
  Loop *outermost(Instruction &Division) const {
    Loop *Found = nullptr;
    for (Loop *L = LI.getLoopFor(Division.getParent()); L; L = L->getParentLoop()) {
      unsigned Steps = 0;
      if (!staysTheSame(Division, *L, Steps))
        break;
      Found = L;
    }
    return Found;
  }

  static bool staysTheSame(const Value &V, const Loop &L, unsigned &Steps) {
    auto *I = dyn_cast<Instruction>(&V);
    if (!I || !L.contains(I))
      return true;
    bool IsComputed = isa<BinaryOperator, CastInst, CmpInst, SelectInst>(I);
    return ++Steps <= MostSteps && IsComputed && (isDivision(*I) || isSafeToSpeculativelyExecute(I)) &&
           all_of(I->operands(), [&](const Use &U) { return staysTheSame(*U, L, Steps); });
  }

  Value *moveOut(Instruction &I, Loop &L) {
    for (Use &U : I.operands())
      if (auto *Operand = dyn_cast<Instruction>(U); Operand && L.contains(Operand))
        U = moveOut(*Operand, L);
    BasicBlock *Before = L.getLoopPreheader();
    if (!Before)
      Before = InsertPreheaderForLoop(&L, &DT, &LI, nullptr, /*PreserveLCSSA=*/false);
    if (Instruction *Same = findIn(*Before, I)) {
      I.replaceAllUsesWith(Same);
      I.eraseFromParent();
      return Same;
    }
    I.moveBefore(Before->getTerminator()->getIterator());
    I.dropUBImplyingAttrsAndMetadata();
    Moved[Before].push_back({&I, isDivision(I) ? I.getOperand(1) : nullptr});
    if (isDivision(I)) {
      Dividends[&I] = I.getOperand(0);
      guardDivision(I);
    }
    return &I;
  }

  // What has moved there before and computes the same.
  Instruction *findIn(BasicBlock &Before, const Instruction &I) const {
    auto At = Moved.find(&Before);
    if (At == Moved.end())
      return nullptr;
    for (auto [Earlier, Divisor] : At->second)
      if (Divisor ? Earlier->getOpcode() == I.getOpcode() && Divisor == I.getOperand(1) &&
                        Dividends.lookup(Earlier) == I.getOperand(0)
                  : Earlier->isIdenticalTo(&I))
        return Earlier;
    return nullptr;
  }

  DominatorTree &DT;
  LoopInfo &LI;
  DenseMap<BasicBlock *, SmallVector<std::pair<Instruction *, Value *>>> Moved; // divisions with their divisors
  DenseMap<const Instruction *, Value *> Dividends;
};

} // namespace

ADGEN_DECLARE_PASS(HoistDivisions);

PreservedAnalyses HoistDivisions::run(Module &M, ModuleAnalysisManager &MAM) {
  auto &FAM = MAM.getResult<FunctionAnalysisManagerModuleProxy>(M).getManager();
  for (Function &F : M)
    if (isKernel(F) && F.getName().ends_with(GradientSuffix) &&
        Hoister(FAM.getResult<DominatorTreeAnalysis>(F), FAM.getResult<LoopAnalysis>(F)).run(F))
      FAM.invalidate(F, PreservedAnalyses::none());
  return PreservedAnalyses::none();
}

} // namespace adgen
