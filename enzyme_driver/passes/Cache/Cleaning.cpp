#include "Cache/Cleaning.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/Hashing.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/Transforms/InstCombine/InstCombine.h"
#include "llvm/Transforms/Scalar/ADCE.h"
#include "llvm/Transforms/Scalar/CorrelatedValuePropagation.h"
#include "llvm/Transforms/Scalar/DeadStoreElimination.h"
#include "llvm/Transforms/Scalar/EarlyCSE.h"
#include "llvm/Transforms/Scalar/GVN.h"
#include "llvm/Transforms/Scalar/LICM.h"
#include "llvm/Transforms/Scalar/LoopDeletion.h"
#include "llvm/Transforms/Scalar/LoopPassManager.h"
#include "llvm/Transforms/Scalar/SCCP.h"
#include "llvm/Transforms/Scalar/SROA.h"
#include "llvm/Transforms/Scalar/SimplifyCFG.h"
#include "llvm/Transforms/Utils/LCSSA.h"
#include "llvm/Transforms/Utils/LoopSimplify.h"

using namespace llvm;

namespace adgen {
namespace {

// What an instruction is besides its operands.
hash_code kindOf(const Instruction &I) {
  hash_code Kind = hash_combine(I.getOpcode(), I.getType(), I.getRawSubclassOptionalData());
  if (auto *Compare = dyn_cast<CmpInst>(&I))
    return hash_combine(Kind, Compare->getPredicate());
  if (auto *Element = dyn_cast<GetElementPtrInst>(&I))
    return hash_combine(Kind, Element->getSourceElementType());
  if (auto *Variable = dyn_cast<AllocaInst>(&I))
    return hash_combine(Kind, Variable->getAllocatedType(), Variable->getAlign().value());
  if (auto *Load = dyn_cast<LoadInst>(&I))
    return hash_combine(Kind, Load->getAlign().value(), Load->isVolatile(), Load->getOrdering());
  if (auto *Store = dyn_cast<StoreInst>(&I))
    return hash_combine(Kind, Store->getAlign().value(), Store->isVolatile(), Store->getOrdering());
  if (auto *Update = dyn_cast<AtomicRMWInst>(&I))
    return hash_combine(Kind, Update->getOperation(), Update->getAlign().value());
  if (auto *Call = dyn_cast<CallBase>(&I))
    return hash_combine(Kind, Call->getAttributes().getRawPointer());
  if (auto *Part = dyn_cast<ExtractValueInst>(&I))
    return hash_combine(Kind, hash_combine_range(Part->idx_begin(), Part->idx_end()));
  if (auto *Part = dyn_cast<InsertValueInst>(&I))
    return hash_combine(Kind, hash_combine_range(Part->idx_begin(), Part->idx_end()));
  if (auto *Shuffle = dyn_cast<ShuffleVectorInst>(&I))
    return hash_combine(Kind, hash_combine_range(Shuffle->getShuffleMask()));
  return Kind;
}

hash_code metadataOf(const Instruction &I) {
  SmallVector<std::pair<unsigned, MDNode *>> All;
  I.getAllMetadata(All);
  return hash_combine_range(All);
}

} // namespace

uint64_t looksOf(const Function &F) {
  DenseMap<const Value *, unsigned> Numbers;
  auto Number = [&](const Value *V) { Numbers.try_emplace(V, Numbers.size()); };
  for (const Argument &A : F.args())
    Number(&A);
  for (const BasicBlock &Block : F) {
    Number(&Block);
    for (const Instruction &I : Block)
      Number(&I);
  }
  hash_code Looks = hash_value(Numbers.size());
  auto Add = [&](const Value *V) {
    auto Found = Numbers.find(V);
    Looks = Found == Numbers.end() ? hash_combine(Looks, V) : hash_combine(Looks, Found->second);
  };
  for (const BasicBlock &Block : F) {
    Add(&Block);
    for (const Instruction &I : Block) {
      Looks = hash_combine(Looks, kindOf(I));
      for (const Value *Operand : I.operands())
        Add(Operand);
      if (auto *Phi = dyn_cast<PHINode>(&I))
        for (const BasicBlock *From : Phi->blocks())
          Add(From);
      if (I.hasMetadata())
        Looks = hash_combine(Looks, metadataOf(I));
    }
  }
  return Looks;
}

// Which passes leave the function as it is, by their place and by what it looks like, and what the last one has got.
struct Cleaning::Known {
  DenseSet<std::pair<unsigned, uint64_t>> Unchanged;
  std::pair<unsigned, uint64_t> Last;
  unsigned Passes = 0;
};

namespace {

template <class Pass, class Known> struct UnlessKnown : PassInfoMixin<UnlessKnown<Pass, Known>> {
  UnlessKnown(Pass P, Known &Seen) : P(std::move(P)), Seen(&Seen), Place(++Seen.Passes) {}

  PreservedAnalyses run(Function &F, FunctionAnalysisManager &FAM) {
    uint64_t Looks = looksOf(F);
    if (Seen->Last.second == Looks)
      Seen->Unchanged.insert(Seen->Last);
    if (Seen->Unchanged.contains({Place, Looks}))
      return PreservedAnalyses::all();
    Seen->Last = {Place, Looks};
    return P.run(F, FAM);
  }

  Pass P;
  Known *Seen;
  unsigned Place;
};

} // namespace

Cleaning::Cleaning() : Seen(std::make_unique<Known>()) {
  auto Add = [&](auto Pass) { Passes.addPass(UnlessKnown<decltype(Pass), Known>(std::move(Pass), *Seen)); };
  Add(SROAPass(SROAOptions::ModifyCFG));
  Add(EarlyCSEPass(/*UseMemorySSA=*/true));
  Add(InstCombinePass());
  Add(CorrelatedValuePropagationPass());
  Add(SCCPPass()); // zeros that loops carry around
  Add(SimplifyCFGPass());
  // Again where the ways are apart now: of several equal loads in a loop GVN would make values that the loop carries.
  Add(EarlyCSEPass(/*UseMemorySSA=*/true));
  Add(GVNPass(GVNOptions().setPRE(false).setLoadPRE(false)));
  Add(DSEPass());
  Add(ADCEPass());
  Add(LoopSimplifyPass());
  Add(LCSSAPass());
  Add(createFunctionToLoopPassAdaptor(LICMPass(LICMOptions()), /*UseMemorySSA=*/true));
  Add(createFunctionToLoopPassAdaptor(LoopDeletionPass()));
  Add(SimplifyCFGPass());
  Add(LoopSimplifyPass());
}

Cleaning::~Cleaning() = default;

void Cleaning::run(Function &F, FunctionAnalysisManager &FAM) { FAM.invalidate(F, Passes.run(F, FAM)); }

} // namespace adgen
