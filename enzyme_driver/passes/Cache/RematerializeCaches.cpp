// In gradients of C++ on the host, of which both sweeps are in one function. Enzyme decides for each number by itself
// whether it is kept, also where a few operations lead from numbers that are kept anyway to another one:
//   kept1[i] = u; kept2[i] = a - b * u;   ...   kept2[i]    becomes    kept1[i] = u;   ...   a - b * kept1[i]
// Both are stored in one block at the same place of their caches, so that an element of one says of which iteration an
// element of the other is.
#include "Analysis/EnzymeCaches.h"
#include "Support/Iterations.h"
#include "Support/Pass.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"

#define DEBUG_TYPE "adgen-rematerialize-caches"

using namespace llvm;

STATISTIC(NumCaches, "Number of caches computed again");

namespace adgen {
namespace {

constexpr unsigned MostOperations = 4; // in the place of a store and a load

// Whether two addresses are at the same place of two caches: one as the other, but for where the memory begins.
bool areAtSamePlace(const Value *One, const Value *Other) {
  auto *A = dyn_cast<GetElementPtrInst>(One), *B = dyn_cast<GetElementPtrInst>(Other);
  if (!A || !B)
    return !A && !B;
  return A->getSourceElementType() == B->getSourceElementType() && equal(A->indices(), B->indices()) &&
         areAtSamePlace(A->getPointerOperand(), B->getPointerOperand());
}

bool isCheap(const Instruction &I) {
  unsigned Code = I.getOpcode();
  auto *Call = dyn_cast<IntrinsicInst>(&I);
  bool IsMultiplyAdd =
      Call && (Call->getIntrinsicID() == Intrinsic::fmuladd || Call->getIntrinsicID() == Intrinsic::fma);
  return Code == Instruction::FAdd || Code == Instruction::FSub || Code == Instruction::FMul ||
         Code == Instruction::FNeg || IsMultiplyAdd || isa<GetElementPtrInst, FPExtInst, FPTruncInst>(I);
}

bool isRead(const Instruction &I) {
  auto *Load = dyn_cast<LoadInst>(&I);
  return Load && Load->isSimple() && Load->hasMetadata(LLVMContext::MD_invariant_load);
}

class Recomputer {
public:
  Recomputer(Function &F, const DominatorTree &DT, const LoopInfo &LI) : DT(DT), LI(LI) {
    for (Instruction &I : instructions(F))
      if (auto *Call = dyn_cast<CallInst>(&I); isCacheAllocation(Call) && Call->getType()->isPointerTy())
        if (EnzymeCache Found(*Call); Found.collect(LI))
          Caches.push_back(std::move(Found));
  }

  bool run() {
    bool Changed = false;
    for (EnzymeCache &Each : Caches)
      if (canGo(Each)) {
        ADGEN_COUNT(NumCaches, *Each.Memory);
        for (LoadInst *Load : Each.Loads)
          replace(*Load, Each);
        remove(Each);
        Changed = true;
      }
    return Changed;
  }

private:
  bool canGo(const EnzymeCache &C) {
    if (C.Loads.empty() || Sources.contains(&C) || !C.Store->getValueOperand()->getType()->isFloatingPointTy())
      return false;
    SmallPtrSet<const EnzymeCache *, 4> Used;
    for (LoadInst *Load : C.Loads) {
      unsigned Count = 0;
      if (!follows(*C.Store->getValueOperand(), C, *Load, Count, Used))
        return false;
    }
    Sources.insert_range(Used);
    return true;
  }

  // Whether the number is the same at the load as where it was kept, or can be computed there from what is kept beside
  // it.
  bool follows(Value &V, const EnzymeCache &C, const LoadInst &At, unsigned &Count,
               SmallPtrSetImpl<const EnzymeCache *> &Used) {
    if (isSame(V, C, At))
      return true;
    auto &I = cast<Instruction>(V);
    if (const EnzymeCache *Source = keptBeside(I, C, At)) {
      Used.insert(Source);
      return true;
    }
    bool Again = isRead(I) || (isCheap(I) && ++Count <= MostOperations);
    auto Known = [&](Value *Operand) { return isa<Function>(Operand) || follows(*Operand, C, At, Count, Used); };
    return Again && all_of(I.operands(), Known);
  }

  // What is computed in a loop is so only if the cache is made and read in the same iteration.
  bool isSame(const Value &V, const EnzymeCache &C, const LoadInst &At) const {
    auto *I = dyn_cast<Instruction>(&V);
    if (!I)
      return true;
    const Loop *Within = LI.getLoopFor(I->getParent());
    return DT.dominates(I, &At) && (!Within || (Within->contains(C.Memory) && Within->contains(&At)));
  }

  const EnzymeCache *keptBeside(const Instruction &I, const EnzymeCache &C, const LoadInst &At) const {
    auto Is = [&](const EnzymeCache &Other) {
      return &Other != &C && Other.Store && Other.Store->getValueOperand() == &I &&
             Other.Store->getParent() == C.Store->getParent() && Other.Memory->getParent() == C.Memory->getParent() &&
             C.isAccompaniedBy(Other) && areReleasedTogether(C, Other, At) &&
             areAtSamePlace(C.Store->getPointerOperand(), Other.Store->getPointerOperand());
    };
    auto Found = find_if(Caches, Is);
    return Found == Caches.end() ? nullptr : &*Found;
  }

  // Whether the other one is still there where this one is read.
  static bool areReleasedTogether(const EnzymeCache &C, const EnzymeCache &Other, const LoadInst &At) {
    return all_of(Other.Releases, [&](const CallInst *Release) {
      return Release->getParent() != At.getParent() &&
             any_of(C.Releases, [&](const CallInst *Own) { return Own->getParent() == Release->getParent(); });
    });
  }

  void replace(LoadInst &Load, const EnzymeCache &C) {
    Load.replaceAllUsesWith(rebuilt(*C.Store->getValueOperand(), C, Load));
  }

  Value *rebuilt(Value &V, const EnzymeCache &C, LoadInst &At) {
    auto *I = dyn_cast<Instruction>(&V);
    if (!I || isSame(V, C, At))
      return &V;
    IRBuilder<> B(&At);
    if (const EnzymeCache *Source = keptBeside(*I, C, At))
      return B.CreateLoad(I->getType(), rebased(At.getPointerOperand(), *Source, B));
    Instruction *Copy = I->clone();
    for (Use &Operand : Copy->operands())
      if (!isa<Function>(Operand))
        Operand.set(rebuilt(*Operand, C, At));
    Copy->insertBefore(At.getIterator());
    return Copy;
  }

  // The address in another cache.
  static Value *rebased(Value *Address, const EnzymeCache &To, IRBuilder<> &B) {
    auto *Element = dyn_cast<GetElementPtrInst>(Address);
    if (!Element)
      return To.beginIn(*cast<Instruction>(Address)->getParent());
    Instruction *Copy = Element->clone();
    Copy->setOperand(0, rebased(Element->getPointerOperand(), To, B));
    return B.Insert(Copy);
  }

  static void remove(EnzymeCache &C) {
    for (LoadInst *Load : C.Loads)
      Load->eraseFromParent();
    C.Store->eraseFromParent();
    C.Store = nullptr;
    for (CallInst *Release : C.Releases)
      Release->eraseFromParent();
    for (Instruction *Address : reverse(C.Addresses))
      Address->eraseFromParent();
    for (Instruction *Begin : reverse(C.Begins)) {
      Begin->replaceAllUsesWith(PoisonValue::get(Begin->getType())); // of each other
      Begin->eraseFromParent();
    }
  }

  const DominatorTree &DT;
  const LoopInfo &LI;
  std::vector<EnzymeCache> Caches;
  SmallPtrSet<const EnzymeCache *, 8> Sources;
};

} // namespace

ADGEN_DECLARE_PASS(RematerializeCaches);

PreservedAnalyses RematerializeCaches::run(Module &M, ModuleAnalysisManager &MAM) {
  auto &FAM = MAM.getResult<FunctionAnalysisManagerModuleProxy>(M).getManager();
  bool Changed = false;
  for (Function &F : M)
    if (!F.isDeclaration() && isOfGradient(F))
      Changed |= Recomputer(F, FAM.getResult<DominatorTreeAnalysis>(F), FAM.getResult<LoopAnalysis>(F)).run();
  return Changed ? PreservedAnalyses::none() : PreservedAnalyses::all();
}

} // namespace adgen
