// What all iterations of a loop over threads add to one element is summed up in a register,
//   for (...) element += term(i);   becomes   for (...) sum += term(i); element += sum;
// although other elements to which the loop adds may be the same one: additions may change places with each other. Nothing else in the loop may
// see the element, and it is added to in each iteration. The loop can then be vectorised.
#include "Passes.h"

#include "llvm/Analysis/AliasAnalysis.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/MemoryLocation.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/PatternMatch.h"

using namespace llvm;
using namespace llvm::PatternMatch;

namespace adgen {
namespace {

struct Addition {
  LoadInst *Old;
  BinaryOperator *Sum;
  StoreInst *New;
};

std::optional<Addition> additionOf(StoreInst &New, const Loop &L, const DominatorTree &DT) {
  auto *Sum = dyn_cast<BinaryOperator>(New.getValueOperand());
  if (!Sum || Sum->getOpcode() != Instruction::FAdd || !Sum->hasAllowReassoc() || !Sum->hasNoSignedZeros() || !Sum->hasOneUse() ||
      !New.isSimple() || !L.contains(Sum) || !DT.dominates(New.getParent(), L.getLoopLatch()))
    return std::nullopt;
  for (Value *Operand : Sum->operands())
    if (auto *Old = dyn_cast<LoadInst>(Operand); Old && Old->getPointerOperand() == New.getPointerOperand() && Old->isSimple() &&
                                                 Old->hasOneUse() && Old->getParent() == New.getParent())
      return Addition{Old, Sum, &New};
  return std::nullopt;
}

class Sums {
public:
  Sums(Loop &L, AAResults &AA, const DominatorTree &DT) : L(L), AA(AA) {
    for (BasicBlock *Block : L.blocks())
      for (Instruction &I : *Block)
        if (auto *Store = dyn_cast<StoreInst>(&I))
          if (std::optional<Addition> Found = additionOf(*Store, L, DT)) {
            Additions.push_back(*Found);
            Ours.insert({Found->Old, Found->New});
          }
  }

  bool make() {
    bool Changed = false;
    for (const Addition &Each : Additions)
      if (bool Moved = false; L.makeLoopInvariant(Each.New->getPointerOperand(), Moved) && !isSeen(Each)) {
        sumUp(Each);
        Changed = true;
      }
    return Changed;
  }

private:
  bool isSeen(const Addition &Each) const {
    MemoryLocation Element = MemoryLocation::get(Each.New);
    for (BasicBlock *Block : L.blocks())
      for (Instruction &I : *Block)
        if (!Ours.contains(&I) && !I.hasMetadata(LLVMContext::MD_invariant_load) && isModOrRefSet(AA.getModRefInfo(&I, Element)))
          return true;
    return false;
  }

  void sumUp(const Addition &Each) {
    auto [Old, Sum, New] = Each;
    Type *T = Sum->getType();
    IRBuilder<> B(&L.getHeader()->front());
    PHINode *SoFar = B.CreatePHI(T, 2, "sum");
    SoFar->addIncoming(ConstantFP::getNegativeZero(T), L.getLoopPreheader());
    SoFar->addIncoming(Sum, L.getLoopLatch());
    Sum->replaceUsesOfWith(Old, SoFar);
    BasicBlock *Exit = L.getUniqueExitBlock();
    B.SetInsertPoint(&Exit->front());
    PHINode *All = B.CreatePHI(T, 1, "all");
    All->addIncoming(Sum, L.getLoopLatch());
    B.SetInsertPoint(Exit->getFirstInsertionPt());
    auto *Before = cast<LoadInst>(Old->clone());
    B.Insert(Before);
    Value *After = B.CreateFAddFMF(Before, All, Sum);
    B.Insert(New->clone())->setOperand(0, After);
    Ours.erase(New);
    New->eraseFromParent();
    Ours.erase(Old);
    Old->eraseFromParent();
  }

  Loop &L;
  AAResults &AA;
  SmallVector<Addition> Additions;
  SmallPtrSet<const Instruction *, 8> Ours;
};

bool isSimple(const Loop &L) {
  BasicBlock *Exit = L.getUniqueExitBlock();
  return L.isInnermost() && L.getLoopPreheader() && L.getLoopLatch() && L.getExitingBlock() == L.getLoopLatch() && Exit &&
         Exit->getSinglePredecessor();
}

} // namespace

PreservedAnalyses SumThreads::run(Module &M, ModuleAnalysisManager &MAM) {
  auto &FAM = MAM.getResult<FunctionAnalysisManagerModuleProxy>(M).getManager();
  bool Changed = false;
  for (Function &F : M) {
    if (F.isDeclaration())
      continue;
    auto &AA = FAM.getResult<AAManager>(F);
    auto &DT = FAM.getResult<DominatorTreeAnalysis>(F);
    for (Loop *L : FAM.getResult<LoopAnalysis>(F).getLoopsInPreorder())
      if (isSimple(*L))
        Changed |= Sums(*L, AA, DT).make();
  }
  return Changed ? PreservedAnalyses::none() : PreservedAnalyses::all();
}

} // namespace adgen
