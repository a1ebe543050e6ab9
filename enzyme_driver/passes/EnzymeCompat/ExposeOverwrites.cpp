// What an iteration of a loop reads and a later one overwrites, as in `a[i] = f(a[i + 1])`. Enzyme asks alias analysis
// whether a write overwrites what was read, and its answer is about one iteration: there the addresses differ. The
// reverse sweep would read what is not there any more. Such a load gets an address that cannot be compared. What was
// inlined from a function with `__restrict__` pointers says the same of one call: in a loop that calls it with other
// pointers each time, that is forgotten.
#include "Support/Guards.h"
#include "Support/Pass.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/Analysis/AliasAnalysis.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"

using namespace llvm;

namespace adgen {
namespace {

// Loops by the scopes that each of their iterations begins anew.
using ScopeLoops = DenseMap<const Metadata *, const Loop *>;

ScopeLoops scopesOfLoops(Function &F, const LoopInfo &LI) {
  ScopeLoops Found;
  for (Instruction &I : instructions(F))
    if (auto *Declaration = dyn_cast<NoAliasScopeDeclInst>(&I))
      if (const Loop *Within = LI.getLoopFor(I.getParent()))
        for (const MDOperand &Scope : Declaration->getScopeList()->operands())
          Found[Scope] = Within;
  return Found;
}

// Whether the iterations of this loop, and of those around it, all go through the same addresses.
bool isSameEachTime(const SCEV *Address, const Loop &Within, ScalarEvolution &SE) {
  return !SCEVExprContains(Address, [&](const SCEV *Part) {
    for (const Loop *L = &Within; L; L = L->getParentLoop()) {
      auto *Walk = dyn_cast<SCEVAddRecExpr>(Part);
      if ((Walk && Walk->getLoop() == L) || (isa<SCEVUnknown>(Part) && !SE.isLoopInvariant(Part, L)))
        return true;
    }
    return isa<SCEVCouldNotCompute>(Part);
  });
}

void forgetScopes(Function &F, FunctionAnalysisManager &Analyses) {
  const ScopeLoops Scopes = scopesOfLoops(F, Analyses.getResult<LoopAnalysis>(F));
  if (Scopes.empty())
    return;
  auto &SE = Analyses.getResult<ScalarEvolutionAnalysis>(F);
  for (Instruction &I : instructions(F)) {
    const Value *Address = getLoadStorePointerOperand(&I);
    auto Moves = [&](unsigned Kind) {
      const MDNode *Listed = I.getMetadata(Kind);
      return Listed && any_of(Listed->operands(), [&](const MDOperand &Scope) {
               const Loop *Within = Scopes.lookup(Scope);
               return Within && !(Address && isSameEachTime(SE.getSCEV(const_cast<Value *>(Address)), *Within, SE));
             });
    };
    if (Moves(LLVMContext::MD_alias_scope) || Moves(LLVMContext::MD_noalias)) {
      I.setMetadata(LLVMContext::MD_alias_scope, nullptr);
      I.setMetadata(LLVMContext::MD_noalias, nullptr);
    }
  }
}

const Loop *innermostAround(const Instruction &A, const Instruction &B, const LoopInfo &LI) {
  const Loop *Around = LI.getLoopFor(A.getParent());
  while (Around && !Around->contains(&B))
    Around = Around->getParentLoop();
  return Around;
}

// How far what is written lies from what is read, or null: scalar evolution ends the process where they recur in loops
// of which neither comes first.
const SCEV *distance(const SCEV *Read, const SCEV *Written, ScalarEvolution &SE, const DominatorTree &DT) {
  SmallVector<const BasicBlock *> Headers;
  bool Ordered = true;
  for (const SCEV *Address : {Read, Written})
    SCEVExprContains(Address, [&](const SCEV *Part) {
      if (auto *Walk = dyn_cast<SCEVAddRecExpr>(Part)) {
        const BasicBlock *Header = Walk->getLoop()->getHeader();
        Ordered &= all_of(Headers, [&](const BasicBlock *Other) {
          return DT.dominates(Header, Other) || DT.dominates(Other, Header);
        });
        Headers.push_back(Header);
      }
      return false;
    });
  const SCEV *Apart = Ordered ? SE.getMinusSCEV(Written, Read) : nullptr;
  return Apart && !isa<SCEVCouldNotCompute>(Apart) ? Apart : nullptr;
}

// Whether what is written stays on one side of what is read and goes away from it, iteration by iteration of all the
// loops around both.
bool goesAway(const SCEV *Read, const SCEV *Apart, const Loop *Around, ScalarEvolution &SE) {
  const bool Ahead = SE.isKnownPositive(Apart);
  if (!Ahead && !SE.isKnownNegative(Apart))
    return false;
  const SCEV *Back = nullptr; // how far the loops within can lead back
  for (const Loop *L = Around; L; L = L->getParentLoop()) {
    auto *Walk = dyn_cast<SCEVAddRecExpr>(Read);
    if (!Walk || Walk->getLoop() != L || !Walk->isAffine())
      return false;
    const SCEV *Step = Ahead ? Walk->getStepRecurrence(SE) : SE.getNegativeSCEV(Walk->getStepRecurrence(SE));
    if (!SE.isKnownPositive(Step) || (Back && !SE.isKnownNonNegative(SE.getMinusSCEV(Step, Back))))
      return false;
    if (L->getParentLoop()) {
      const SCEV *Count = SE.getSymbolicMaxBackedgeTakenCount(L);
      if (isa<SCEVCouldNotCompute>(Count))
        return false;
      const SCEV *Way = SE.getMulExpr(SE.getTruncateOrZeroExtend(Count, Step->getType()), Step);
      Back = Back ? SE.getAddExpr(Back, Way) : Way;
    }
    Read = Walk->getStart();
  }
  return true;
}

// The greatest number of which an address is a multiple, but for what is the same in all iterations of the loops; 0 if
// all of it is.
APInt strideOf(const SCEV *Address, const Loop *Outermost, ScalarEvolution &SE) {
  if (SE.isLoopInvariant(Address, Outermost))
    return APInt::getZero(64);
  if (auto *Walk = dyn_cast<SCEVAddRecExpr>(Address); Walk && Walk->isAffine())
    return APIntOps::GreatestCommonDivisor(strideOf(Walk->getStart(), Outermost, SE),
                                           SE.getConstantMultiple(Walk->getStepRecurrence(SE)).zextOrTrunc(64));
  if (auto *Sum = dyn_cast<SCEVAddExpr>(Address)) {
    APInt Common = APInt::getZero(64);
    for (const SCEV *Part : Sum->operands())
      Common = APIntOps::GreatestCommonDivisor(Common, strideOf(Part, Outermost, SE));
    return Common;
  }
  if (auto *Product = dyn_cast<SCEVMulExpr>(Address)) // which does not wrap around, being part of an address
    if (auto *Factor = dyn_cast<SCEVConstant>(Product->getOperand(0)))
      return Factor->getAPInt().abs().zextOrTrunc(64);
  return Address->getType()->isPointerTy() ? APInt(64, 1) : SE.getConstantMultiple(Address).zextOrTrunc(64);
}

// Whether what is written lies beside what is read in every element that the loops go through, as two members of a
// struct do.
bool liesBeside(const LoadInst &Load, const StoreInst &Store, const SCEV *Read, const SCEV *Apart, const Loop *Around,
                ScalarEvolution &SE) {
  auto *Constant = dyn_cast<SCEVConstant>(Apart);
  const APInt Stride = strideOf(Read, Around->getOutermostLoop(), SE);
  if (!Constant || Stride.ult(2))
    return false;
  const DataLayout &DL = Load.getDataLayout();
  const uint64_t Every = Stride.getZExtValue(),
                 Place =
                     uint64_t((Constant->getAPInt().getSExtValue() % int64_t(Every) + int64_t(Every)) % int64_t(Every));
  return Place >= DL.getTypeStoreSize(Load.getType()) &&
         Every - Place >= DL.getTypeStoreSize(Store.getValueOperand()->getType());
}

// The loads of a function that a later iteration overwrites, and no iteration itself.
class Overwritten {
public:
  Overwritten(Function &F, FunctionAnalysisManager &Analyses)
      : LI(Analyses.getResult<LoopAnalysis>(F)), DT(Analyses.getResult<DominatorTreeAnalysis>(F)),
        SE(Analyses.getResult<ScalarEvolutionAnalysis>(F)), Within(Analyses.getResult<AAManager>(F)),
        Across(Analyses.getResult<AAManager>(F)) {
    Across.enableCrossIterationMode();
    for (Instruction &I : instructions(F))
      if (const Loop *L = LI.getLoopFor(I.getParent())) {
        if (auto *Load = dyn_cast<LoadInst>(&I))
          Loads.push_back(Load);
        if (I.mayWriteToMemory() && !isa<AssumeInst, NoAliasScopeDeclInst>(I) && !I.isLifetimeStartOrEnd())
          Writers[L->getOutermostLoop()].push_back(&I);
      }
  }

  SmallVector<LoadInst *> loads() {
    SmallVector<LoadInst *> Found;
    for (LoadInst *Load : Loads)
      if (any_of(Writers[LI.getLoopFor(Load->getParent())->getOutermostLoop()],
                 [&](Instruction *Writer) { return later(*Load, *Writer); }))
        Found.push_back(Load);
    return Found;
  }

private:
  bool later(LoadInst &Load, Instruction &Writer) {
    const MemoryLocation Location = MemoryLocation::get(&Load);
    if (!isModSet(Across.getModRefInfo(&Writer, Location)))
      return false;
    auto *Store = dyn_cast<StoreInst>(&Writer);
    if (!Store)
      return !isModSet(Within.getModRefInfo(&Writer, Location));
    const SCEV *Read = SE.getSCEV(Load.getPointerOperand());
    const SCEV *Apart = distance(Read, SE.getSCEV(Store->getPointerOperand()), SE, DT);
    // Enzyme counts all loops in one way first, and compares more addresses then.
    bool Differ = (Apart && SE.isKnownNonZero(Apart)) || !isModSet(Within.getModRefInfo(&Writer, Location));
    const Loop *Around = innermostAround(Load, Writer, LI);
    return Differ &&
           !(Apart && (goesAway(Read, Apart, Around, SE) || liesBeside(Load, *Store, Read, Apart, Around, SE)));
  }

  LoopInfo &LI;
  DominatorTree &DT;
  ScalarEvolution &SE;
  BatchAAResults Within, Across;
  SmallVector<LoadInst *> Loads;
  DenseMap<const Loop *, SmallVector<Instruction *>> Writers; // by outermost loop
};

// The same address with a way to it that nothing sees through: the indices, or an offset of zero where all of them are
// constant.
Value *incomparable(Value *Address, IRBuilder<> &B, Value *Zero) {
  auto *At = dyn_cast<GetElementPtrInst>(Address);
  if (!At)
    return nullptr;
  Value *From = incomparable(At->getPointerOperand(), B, Zero);
  if (!From && At->hasAllConstantIndices())
    return nullptr;
  auto *Copy = cast<GetElementPtrInst>(At->clone());
  if (From)
    Copy->setOperand(0, From);
  for (Use &Index : Copy->indices())
    if (!isa<Constant>(Index) && Index->getType()->isIntegerTy())
      Index.set(B.CreateXor(Index, B.CreateZExtOrTrunc(Zero, Index->getType())));
  return B.Insert(Copy);
}

void hide(ArrayRef<LoadInst *> Loads) {
  if (Loads.empty())
    return;
  BasicBlock &Entry = Loads.front()->getFunction()->getEntryBlock();
  auto Place = Entry.getFirstNonPHIOrDbgOrAlloca();
  Value *Zero = hidden(ConstantInt::getFalse(Entry.getContext()), Place), *Other = hidden(Zero, Place);
  for (LoadInst *Load : Loads) {
    IRBuilder<> B(Load);
    Value *Address = incomparable(Load->getPointerOperand(), B, Zero);
    if (!Address) {
      Value *Offset = B.CreateXor(B.CreateZExt(Zero, B.getInt64Ty()), B.CreateSExt(Other, B.getInt64Ty()));
      Address = B.CreateGEP(B.getInt8Ty(), Load->getPointerOperand(), Offset);
    }
    Load->setOperand(0, Address);
  }
}

} // namespace

ADGEN_DECLARE_PASS(ExposeOverwrites);

PreservedAnalyses ExposeOverwrites::run(Module &M, ModuleAnalysisManager &MAM) {
  auto &Analyses = MAM.getResult<FunctionAnalysisManagerModuleProxy>(M).getManager();
  for (Function &F : M)
    if (!F.isDeclaration() && !isKernel(F)) { // which Enzyme does not see
      forgetScopes(F, Analyses);
      hide(Overwritten(F, Analyses).loads());
    }
  return PreservedAnalyses::none();
}

} // namespace adgen
