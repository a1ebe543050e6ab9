// In gradients of C++ on the host, of which both sweeps are in one function. Enzyme decides for each number by itself
// whether it is kept, also where a few operations lead from numbers that are kept anyway to another one:
//   kept1[i] = u; kept2[i] = a - b * u;   ...   kept2[i]    becomes    kept1[i] = u;   ...   a - b * kept1[i]
// Both are stored in one block at the same place of their caches, so that an element of one says of which iteration an
// element of the other is.
#include "Support/Iterations.h"
#include "Support/Pass.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"

using namespace llvm;

namespace adgen {
namespace {

constexpr unsigned MostOperations = 4; // in the place of a store and a load

struct Cache {
  CallInst *Memory;
  StoreInst *Store = nullptr;
  SmallVector<LoadInst *> Loads;
  SmallVector<CallInst *> Releases;
  SmallVector<Instruction *> Addresses; // in an order in which operands come first
  SmallSetVector<Instruction *, 4>
      Begins; // where the memory begins: what allocates it, or that on the ways that come from there

  explicit Cache(CallInst &Memory) : Memory(&Memory) {}

  // Whether one store fills it and all else are loads. What one iteration hands to the next may be the memory of the
  // one before.
  bool collect(const LoopInfo &LI) {
    Begins.insert(Memory);
    SmallVector<Instruction *> Pointers{Memory};
    while (!Pointers.empty()) {
      Instruction *Pointer = Pointers.pop_back_val();
      for (User *U : Pointer->users()) {
        auto *I = cast<Instruction>(U);
        auto *Kept = dyn_cast<StoreInst>(I);
        auto *Load = dyn_cast<LoadInst>(I);
        if (isa<GetElementPtrInst>(I)) {
          Pointers.push_back(I);
          Addresses.push_back(I);
        } else if (auto *Phi = dyn_cast<PHINode>(I);
                   Phi && Begins.contains(Pointer) && isOnlyBegin(*Phi) && !LI.isLoopHeader(Phi->getParent())) {
          if (Begins.insert(Phi))
            Pointers.push_back(Phi);
        } else if (Kept && Kept->isSimple() && Kept->getValueOperand() != Pointer && !Store)
          Store = Kept;
        else if (Load && Load->isSimple())
          Loads.push_back(Load);
        else if (isa<CallInst>(I) && I->hasMetadata(CacheRelease))
          Releases.push_back(cast<CallInst>(I));
        else
          return false;
      }
    }
    return Store &&
           all_of(Loads, [&](LoadInst *Load) { return Load->getType() == Store->getValueOperand()->getType(); });
  }

  Instruction *beginIn(const BasicBlock &Block) const {
    auto Found = find_if(Begins, [&](const Instruction *Begin) { return Begin->getParent() == &Block; });
    return Found == Begins.end() ? nullptr : *Found;
  }

  // Whether the other one is known wherever this one is.
  bool isAccompaniedBy(const Cache &Other) const {
    return all_of(Begins, [&](const Instruction *Begin) {
      auto *Phi = dyn_cast<PHINode>(Begin);
      Instruction *Its = Other.beginIn(*Begin->getParent());
      if (!Phi || !Its)
        return Its != nullptr;
      return isa<PHINode>(Its) && all_of(Phi->blocks(), [&](const BasicBlock *From) {
               auto *Mine = dyn_cast<Instruction>(Phi->getIncomingValueForBlock(From));
               return !Mine || cast<PHINode>(Its)->getIncomingValueForBlock(From) == Other.beginIn(*Mine->getParent());
             });
    });
  }

private:
  bool isOnlyBegin(const PHINode &Phi) const {
    return all_of(Phi.incoming_values(), [&](const Value *Each) {
      return isa<UndefValue>(Each) || Each == &Phi ||
             (isa<Instruction>(Each) && Begins.contains(cast<Instruction>(Each)));
    });
  }
};

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
      if (auto *Call = dyn_cast<CallInst>(&I);
          Call && Call->hasMetadata(CacheAllocation) && Call->getType()->isPointerTy())
        if (Cache Found(*Call); Found.collect(LI))
          Caches.push_back(std::move(Found));
  }

  bool run() {
    bool Changed = false;
    for (Cache &Each : Caches)
      if (canGo(Each)) {
        for (LoadInst *Load : Each.Loads)
          replace(*Load, Each);
        remove(Each);
        Changed = true;
      }
    return Changed;
  }

private:
  bool canGo(const Cache &C) {
    if (C.Loads.empty() || Sources.contains(&C) || !C.Store->getValueOperand()->getType()->isFloatingPointTy())
      return false;
    SmallPtrSet<const Cache *, 4> Used;
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
  bool follows(Value &V, const Cache &C, const LoadInst &At, unsigned &Count, SmallPtrSetImpl<const Cache *> &Used) {
    if (isSame(V, C, At))
      return true;
    auto &I = cast<Instruction>(V);
    if (const Cache *Source = keptBeside(I, C, At)) {
      Used.insert(Source);
      return true;
    }
    bool Again = isRead(I) || (isCheap(I) && ++Count <= MostOperations);
    auto Known = [&](Value *Operand) { return isa<Function>(Operand) || follows(*Operand, C, At, Count, Used); };
    return Again && all_of(I.operands(), Known);
  }

  // What is computed in a loop is so only if the cache is made and read in the same iteration.
  bool isSame(const Value &V, const Cache &C, const LoadInst &At) const {
    auto *I = dyn_cast<Instruction>(&V);
    if (!I)
      return true;
    const Loop *Within = LI.getLoopFor(I->getParent());
    return DT.dominates(I, &At) && (!Within || (Within->contains(C.Memory) && Within->contains(&At)));
  }

  const Cache *keptBeside(const Instruction &I, const Cache &C, const LoadInst &At) const {
    auto Is = [&](const Cache &Other) {
      return &Other != &C && Other.Store && Other.Store->getValueOperand() == &I &&
             Other.Store->getParent() == C.Store->getParent() && Other.Memory->getParent() == C.Memory->getParent() &&
             C.isAccompaniedBy(Other) && areReleasedTogether(C, Other, At) &&
             areAtSamePlace(C.Store->getPointerOperand(), Other.Store->getPointerOperand());
    };
    auto Found = find_if(Caches, Is);
    return Found == Caches.end() ? nullptr : &*Found;
  }

  // Whether the other one is still there where this one is read.
  static bool areReleasedTogether(const Cache &C, const Cache &Other, const LoadInst &At) {
    return all_of(Other.Releases, [&](const CallInst *Release) {
      return Release->getParent() != At.getParent() &&
             any_of(C.Releases, [&](const CallInst *Own) { return Own->getParent() == Release->getParent(); });
    });
  }

  void replace(LoadInst &Load, const Cache &C) {
    Load.replaceAllUsesWith(rebuilt(*C.Store->getValueOperand(), C, Load));
  }

  Value *rebuilt(Value &V, const Cache &C, LoadInst &At) {
    auto *I = dyn_cast<Instruction>(&V);
    if (!I || isSame(V, C, At))
      return &V;
    IRBuilder<> B(&At);
    if (const Cache *Source = keptBeside(*I, C, At))
      return B.CreateLoad(I->getType(), rebased(At.getPointerOperand(), *Source, B));
    Instruction *Copy = I->clone();
    for (Use &Operand : Copy->operands())
      if (!isa<Function>(Operand))
        Operand.set(rebuilt(*Operand, C, At));
    Copy->insertBefore(At.getIterator());
    return Copy;
  }

  // The address in another cache.
  static Value *rebased(Value *Address, const Cache &To, IRBuilder<> &B) {
    auto *Element = dyn_cast<GetElementPtrInst>(Address);
    if (!Element)
      return To.beginIn(*cast<Instruction>(Address)->getParent());
    Instruction *Copy = Element->clone();
    Copy->setOperand(0, rebased(Element->getPointerOperand(), To, B));
    return B.Insert(Copy);
  }

  static void remove(Cache &C) {
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
  std::vector<Cache> Caches;
  SmallPtrSet<const Cache *, 8> Sources;
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
