// Copies what a number needs of its iteration: in the order of the code, or with the way to it where that decides.
#include "Checkpointing/KeptIterations.h"

#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/Transforms/Utils/Cloning.h"

using namespace llvm;

namespace adgen {
namespace {

// The copy of a block leads to those of its successors that are on the way.
void goOn(BasicBlock &Block, BasicBlock &Copy, const SmallSetVector<BasicBlock *, 8> &Way) {
  SmallVector<BasicBlock *> Inside;
  for (BasicBlock *Next : successors(&Block))
    if (Way.contains(Next))
      Inside.push_back(Next);
  if (Inside.size() == 1)
    BranchInst::Create(Inside[0], &Copy);
  else
    Block.getTerminator()->clone()->insertInto(&Copy, Copy.end());
}

} // namespace

void KeptIterations::findSteps() {
  for (PHINode &Phi : L.getHeader()->phis()) {
    auto *S = SE.isSCEVable(Phi.getType()) ? dyn_cast<SCEVAddRecExpr>(SE.getSCEV(&Phi)) : nullptr;
    if (!S || S->getLoop() != &L || !S->isAffine())
      continue;
    Instruction *At = Entering.getTerminator();
    const SCEV *Step = S->getStepRecurrence(SE);
    Steps[&Phi] = {Phi.getIncomingValueForBlock(&Entering), Expander.expandCodeFor(Step, Step->getType(), At)};
  }
}

Value *KeptIterations::inIteration(IRBuilder<> &B, PHINode &Phi, Value *Number) const {
  auto [First, Step] = Steps.lookup(&Phi);
  Value *Way = B.CreateZExtOrTrunc(Number, Step->getType());
  if (!isa<ConstantInt>(Step) || !cast<ConstantInt>(Step)->isOne())
    Way = B.CreateMul(Way, Step);
  if (Phi.getType()->isPointerTy())
    return B.CreateGEP(B.getInt8Ty(), First, Way);
  return isa<Constant>(First) && cast<Constant>(First)->isNullValue() ? Way : B.CreateAdd(First, Way);
}

std::pair<Value *, BasicBlock *> KeptIterations::copy(Value *Source, Value *Iteration, BasicBlock &At,
                                                      ValueToValueMapTy &Map) const {
  auto *Last = dyn_cast<Instruction>(Source);
  if (!Last || !L.contains(Last))
    return {isa<UndefValue>(Source) ? Constant::getNullValue(Source->getType()) : Source, &At};
  const KeptPlaces::Needs &Needs = Kept.needsOf(Source);
  IRBuilder<> B(&At);
  for (PHINode &Phi : L.getHeader()->phis())
    if (Needs.Values.contains(&Phi) && !Map.count(&Phi))
      Map[&Phi] = inIteration(B, Phi, Iteration);
  if (Needs.NeedsChoices)
    return copyWay(*Last, Needs, At, Map);
  copyInOrder(*Last, Needs, At, Map);
  return {Map[Last], &At};
}

// Without choices: operands first.
void KeptIterations::copyInOrder(Instruction &I, const KeptPlaces::Needs &Needs, BasicBlock &To,
                                 ValueToValueMapTy &Map) const {
  if (Map.count(&I))
    return;
  for (Value *Operand : I.operands())
    if (auto *Part = dyn_cast<Instruction>(Operand); Part && Needs.Values.contains(Part))
      copyInOrder(*Part, Needs, To, Map);
  Instruction *Again = I.clone();
  Again->insertInto(&To, To.end());
  RemapInstruction(Again, Map, RF_NoModuleLevelChanges | RF_IgnoreMissingLocals);
  Map[&I] = Again;
}

std::pair<Value *, BasicBlock *> KeptIterations::copyWay(Instruction &Last, const KeptPlaces::Needs &Needs,
                                                         BasicBlock &At, const ValueToValueMapTy &Known) const {
  ValueToValueMapTy Map;
  for (PHINode &Phi : L.getHeader()->phis())
    if (Needs.Values.contains(&Phi))
      Map[&Phi] = Known.lookup(&Phi);
  Function &F = *L.getHeader()->getParent();
  auto Way = Kept.wayTo(*Last.getParent());
  SmallVector<BasicBlock *> Copies;
  for (BasicBlock *Block : Way) {
    Copies.push_back(BasicBlock::Create(F.getContext(), Block->getName() + ".again", &F, L.getHeader()));
    Map[Block] = Copies.back();
  }
  for (auto [Block, Copy] : zip(Way, Copies)) {
    for (Instruction &I : *Block)
      if (Needs.Values.contains(&I) && !Map.count(&I)) {
        Instruction *Again = I.clone();
        Again->insertInto(Copy, Copy->end());
        Map[&I] = Again;
      }
    if (Block != Last.getParent())
      goOn(*Block, *Copy, Way);
  }
  remapInstructionsInBlocks(Copies, Map);
  BranchInst::Create(cast<BasicBlock>(static_cast<Value *>(Map[L.getHeader()])), &At);
  return {Map[&Last], Copies[0]};
}

} // namespace adgen
