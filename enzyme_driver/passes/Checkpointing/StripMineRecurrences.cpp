// Loops that carry numbers of floating point from step to step do several steps in one iteration. Enzyme keeps what is
// carried once an iteration and computes what lies between again in the reverse sweep, so that one value is kept in a
// segment and not one in every step. What is left over at the end is done in shorter segments, then in single steps.
#include "Support/Pass.h"
#include "Support/Unrolling.h"

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/IR/IntrinsicInst.h"

#define DEBUG_TYPE "adgen-strip-mine-recurrences"

using namespace llvm;

STATISTIC(NumSegmented, "Number of loops that take several steps at once");

namespace adgen {
namespace {

constexpr unsigned LongestSegment = 16;
constexpr unsigned MostOperations = 128; // in a segment: the reverse sweep holds their results in registers
constexpr unsigned OfFunction = 4;       // of a function of mathematics, such as an exponential
constexpr unsigned Shorter = 4;          // the next segment for what is left over

// Whether the derivative of an instruction depends on a value that it uses. That of a sum does not.
bool derivativeNeeds(const Instruction &I, const Value *Used) {
  switch (I.getOpcode()) {
  case Instruction::FAdd:
  case Instruction::FSub:
  case Instruction::FNeg:
  case Instruction::FPExt:
  case Instruction::FPTrunc:
  case Instruction::FCmp:
  case Instruction::Select:
  case Instruction::PHI:
    return false;
  case Instruction::Call: {
    Intrinsic::ID Called = cast<CallInst>(I).getIntrinsicID();
    bool AddsOnly = (Called == Intrinsic::fma || Called == Intrinsic::fmuladd) && I.getOperand(0) != Used &&
                    I.getOperand(1) != Used;
    return !AddsOnly;
  }
  default:
    return true;
  }
}

bool isKept(const Loop &L, PHINode &Carried) {
  SmallVector<Instruction *> Reached{&Carried};
  SmallPtrSet<Instruction *, 16> Seen{&Carried};
  while (!Reached.empty()) {
    Instruction *From = Reached.pop_back_val();
    for (User *U : From->users()) {
      auto *I = cast<Instruction>(U);
      if (!L.contains(I))
        continue;
      if (derivativeNeeds(*I, From))
        return true;
      if (Seen.insert(I).second)
        Reached.push_back(I);
    }
  }
  return false;
}

// The operations of floating point in a step; none where it does more than compute.
unsigned operations(const BasicBlock &Step) {
  unsigned Count = 0;
  for (const Instruction &I : Step) {
    if (I.mayHaveSideEffects() || I.isVolatile())
      return 0;
    if (I.getType()->isFPOrFPVectorTy() && !isa<PHINode>(I))
      Count += isa<CallInst>(I) && !isa<IntrinsicInst>(I) ? OfFunction : 1;
  }
  return Count;
}

// How many steps become one iteration; fewer than two where the loop is to stay.
unsigned segmentLength(const Loop &L, ScalarEvolution &SE) {
  BasicBlock *Step = L.getHeader();
  bool Straight = L.getNumBlocks() == 1 && L.getExitingBlock() == Step;
  bool Outermost = !L.getParentLoop(); // what is left over may not run, and inside another loop Enzyme was seen to lose
                                       // track of its length
  if (!Straight || !Outermost || !SE.hasLoopInvariantBackedgeTakenCount(&L))
    return 0;
  if (none_of(Step->phis(), [&](PHINode &Phi) { return Phi.getType()->isFloatingPointTy() && isKept(L, Phi); }))
    return 0;
  unsigned Operations = operations(*Step);
  unsigned Length = Operations ? std::min(LongestSegment, bit_floor(MostOperations / Operations)) : 0;
  unsigned MostSteps = SE.getSmallConstantMaxTripCount(&L);
  return MostSteps && MostSteps <= Length ? 0 : Length;
}

void segmentAll(Function &F, FunctionAnalysisManager &FAM) {
  Unroller Unroll(F, FAM);
  for (Loop *L : Unroll.Loops.getLoopsInPreorder())
    if (unsigned Length = segmentLength(*L, Unroll.SE); Length > 1) {
      ADGEN_COUNT(NumSegmented, *L);
      Unroll.prepare(*L);
      for (Loop *Rest = L; Rest && Length > 1; Length /= Shorter)
        Rest = Unroll.unroll(*Rest, Length);
    }
  FAM.invalidate(F, PreservedAnalyses::none());
}

} // namespace

ADGEN_DECLARE_PASS(StripMineRecurrences);

PreservedAnalyses StripMineRecurrences::run(Module &M, ModuleAnalysisManager &MAM) {
  auto &FAM = MAM.getResult<FunctionAnalysisManagerModuleProxy>(M).getManager();
  for (Function &F : M)
    if (F.getName().starts_with(BodyPrefix) && !F.isDeclaration())
      segmentAll(F, FAM);
  return PreservedAnalyses::none();
}

} // namespace adgen
