// What an iteration computes in memory of its own (a local array whose life begins there, or an allocation), Enzyme
// computes again before it reverses the iteration. A number that is read from there and carried into the next iteration
// it takes for as easy to find again, and reads the memory of another iteration for it, or what one store of several
// has left: the gradient is wrong. So a loop carries such numbers on by a call that Enzyme cannot repeat, and keeps
// them.
#include "Support/Guards.h"
#include "Support/LeftValues.h"
#include "Support/Pass.h"

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IntrinsicInst.h"

using namespace llvm;

namespace adgen {
namespace {

constexpr unsigned MostBits = 64;

bool canBeHeld(const Type &T) {
  return T.isFloatTy() || T.isDoubleTy() || (T.isIntegerTy() && T.getIntegerBitWidth() <= MostBits);
}

// Whether each iteration of the loop has this memory anew.
bool isMadeIn(const Loop &L, const Value *Memory) {
  if (auto *Made = dyn_cast<CallBase>(Memory))
    return L.contains(Made) && Made->returnDoesNotAlias();
  auto *Variable = dyn_cast<AllocaInst>(Memory);
  return Variable && any_of(Variable->users(), [&](const User *U) {
           auto *Marker = dyn_cast<LifetimeIntrinsic>(U);
           return Marker && Marker->getIntrinsicID() == Intrinsic::lifetime_start && L.contains(Marker);
         });
}

bool readsMemoryOf(const Instruction &I, const Loop &L) {
  return I.mayReadFromMemory() && any_of(I.operands(), [&](const Use &Operand) {
           SmallVector<const Value *> Objects;
           if (Operand->getType()->isPointerTy())
             getUnderlyingObjects(Operand.get(), Objects);
           return any_of(Objects, [&](const Value *Memory) { return isMadeIn(L, Memory); });
         });
}

// Of a merge, also what decides from where it is reached.
void addConditions(const PHINode &Merge, const Loop &L, const DominatorTree &DT, SmallVectorImpl<const Value *> &Next) {
  const BasicBlock *Fork = DT.getNode(Merge.getParent())->getIDom()->getBlock();
  for (const BasicBlock *Block : L.blocks())
    if (DT.dominates(Fork, Block) && !DT.dominates(Merge.getParent(), Block))
      append_range(Next, Block->getTerminator()->operands());
}

// Whether memory of the iteration itself is read for a number that the loop carries into the next one.
bool comesFromOwnMemory(const Instruction &Carried, const Loop &L, const DominatorTree &DT) {
  SmallVector<const Value *> Next{&Carried};
  SmallPtrSet<const Value *, 16> Seen;
  while (!Next.empty()) {
    auto *I = dyn_cast<Instruction>(Next.pop_back_val());
    if (!I || !L.contains(I) || !Seen.insert(I).second)
      continue;
    if (readsMemoryOf(*I, L))
      return true;
    auto *Merge = dyn_cast<PHINode>(I);
    if (Merge && Merge->getParent() == L.getHeader())
      continue; // of the iteration before
    append_range(Next, I->operands());
    if (Merge)
      addConditions(*Merge, L, DT, Next);
  }
  return false;
}

// What is stored in local memory may be read from there.
bool isLinear(const User &Of) {
  if (auto *Store = dyn_cast<StoreInst>(&Of))
    return isa<Argument>(getUnderlyingObject(Store->getPointerOperand(), /*MaxLookup=*/0));
  if (isa<PHINode, SelectInst, FPExtInst, FPTruncInst, UnaryOperator>(Of))
    return true;
  auto *Sum = dyn_cast<BinaryOperator>(&Of);
  return Sum && (Sum->getOpcode() == Instruction::FAdd || Sum->getOpcode() == Instruction::FSub);
}

// Whether nothing but sums are made of it: then no derivative asks for it.
bool isOnlySummed(const Instruction &Number) {
  SmallVector<const Instruction *> Next{&Number};
  SmallPtrSet<const Instruction *, 16> Seen;
  while (!Next.empty()) {
    const Instruction *I = Next.pop_back_val();
    if (!Seen.insert(I).second)
      continue;
    if (!I->getType()->isFloatingPointTy() || !all_of(I->users(), [](const User *U) { return isLinear(*U); }))
      return false;
    for (const User *U : I->users())
      if (!isa<StoreInst>(U))
        Next.push_back(cast<Instruction>(U));
  }
  return true;
}

// Each of these behind where it is computed.
void holdCarried(const Loop &L, const DominatorTree &DT) {
  const BasicBlock *Latch = L.getLoopLatch();
  if (!Latch)
    return;
  for (PHINode &Phi : L.getHeader()->phis()) {
    auto *Carried = dyn_cast<Instruction>(Phi.getIncomingValueForBlock(Latch));
    if (!Carried || isHeld(Carried) || !canBeHeld(*Carried->getType()) || isOnlySummed(Phi) ||
        !comesFromOwnMemory(*Carried, L, DT))
      continue;
    if (auto Behind = Carried->getInsertionPointAfterDef())
      hold(*Carried, *Behind);
  }
}

// What the loop leaves behind, where it does: in the reverse sweep of a loop around it, the memory is another
// iteration's.
void holdLeft(const Loop &L, const DominatorTree &DT, const LoopInfo &LI) {
  SmallVector<Instruction *> Leaving;
  for (const BasicBlock *Block : L.blocks())
    for (const Instruction &I : *Block)
      if (canBeHeld(*I.getType()) && isUsedBehind(I, L, LI) && comesFromOwnMemory(I, L, DT))
        Leaving.push_back(const_cast<Instruction *>(&I));
  for (Instruction *I : Leaving)
    for (PHINode *Phi : phisBehind(*I, DT, LI))
      if (!L.contains(Phi))
        hold(*Phi, Phi->getParent()->getFirstInsertionPt());
}

} // namespace

ADGEN_DECLARE_PASS(HoldCarriedValues);

PreservedAnalyses HoldCarriedValues::run(Module &M, ModuleAnalysisManager &MAM) {
  auto &Analyses = MAM.getResult<FunctionAnalysisManagerModuleProxy>(M).getManager();
  for (Function &F : M) {
    if (F.isDeclaration() || isKernel(F))
      continue;
    const auto &DT = Analyses.getResult<DominatorTreeAnalysis>(F);
    const auto &LI = Analyses.getResult<LoopAnalysis>(F);
    for (const Loop *L : LI.getLoopsInPreorder()) {
      holdCarried(*L, DT);
      holdLeft(*L, DT, LI);
    }
  }
  return PreservedAnalyses::none();
}

} // namespace adgen
