// Enzyme keeps some values once an iteration although they stay the same: what a loop left behind that another loop
// needs, for one. Every access to a cache carries the cache's own invariant.group, so the value that a cache is filled
// with is known; where that is one value, computed outside of all loops, the reverse sweep takes it from a variable,
// and the cache goes.
#include "Support/Iterations.h"
#include "Support/Pass.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Analysis/CycleAnalysis.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/Transforms/Utils/PromoteMemToReg.h"

using namespace llvm;

namespace adgen {
namespace {

// The accesses of one cache.
struct Accesses {
  SmallVector<StoreInst *, 2> Stores;
  SmallVector<LoadInst *, 4> Loads;
};
using Caches = MapVector<MDNode *, Accesses>;

bool isPlace(const Value *V) {
  while (auto *Address = dyn_cast<GetElementPtrInst>(V))
    V = Address->getPointerOperand();
  auto *I = dyn_cast<Instruction>(V);
  if (!I)
    return false;
  return isa<LoadInst>(I) ? I->hasMetadata(LLVMContext::MD_invariant_group) : I->hasMetadata(CacheAllocation);
}

Caches cachesOf(Function &F) {
  Caches Found;
  for (Instruction &I : instructions(F))
    if (MDNode *Group = I.getMetadata(LLVMContext::MD_invariant_group)) {
      if (auto *Store = dyn_cast<StoreInst>(&I))
        Found[Group].Stores.push_back(Store);
      else if (auto *Load = dyn_cast<LoadInst>(&I))
        Found[Group].Loads.push_back(Load);
    }
  return Found;
}

// A cache that is filled in one function and read in another is left alone.
bool isLocal(const Function &F, const Accesses &Cache, const DenseMap<MDNode *, const Function *> &Owner,
             MDNode *Group) {
  return Owner.lookup(Group) == &F && !Cache.Stores.empty();
}

// The only value that the cache ever holds, if that is computed at most once.
Value *onlyValue(const Accesses &Cache, const CycleInfo &Cycles) {
  Value *Only = Cache.Stores.front()->getValueOperand();
  for (StoreInst *Store : Cache.Stores)
    if (Store->getValueOperand() != Only || Store->isVolatile() || !isPlace(Store->getPointerOperand()))
      return nullptr;
  for (LoadInst *Load : Cache.Loads)
    if (Load->getType() != Only->getType() || Load->isVolatile())
      return nullptr;
  auto *I = dyn_cast<Instruction>(Only);
  bool Varies = I && (I->isTerminator() || I->hasMetadata(CacheAllocation) || Cycles.getCycle(I->getParent()));
  return Varies ? nullptr : Only;
}

// The reverse sweep is not dominated by the value: a variable holds it, which then becomes phis.
void keepInVariable(Function &F, const Accesses &Cache, Value *Only, DominatorTree &DT) {
  if (auto *I = dyn_cast<Instruction>(Only)) {
    IRBuilder<> Entry(&F.getEntryBlock(), F.getEntryBlock().getFirstInsertionPt());
    auto *Variable = Entry.CreateAlloca(Only->getType(), nullptr, "kept");
    auto After = I->getInsertionPointAfterDef();
    new StoreInst(Only, Variable, *After);
    for (LoadInst *Load : Cache.Loads)
      Load->replaceAllUsesWith(new LoadInst(Load->getType(), Variable, "", Load->getIterator()));
    PromoteMemToReg({Variable}, DT);
  } else {
    for (LoadInst *Load : Cache.Loads)
      Load->replaceAllUsesWith(Only);
  }
  for (LoadInst *Load : Cache.Loads)
    Load->eraseFromParent();
  for (StoreInst *Store : Cache.Stores)
    Store->eraseFromParent();
}

// What is left of a cache that nobody reads: its address in phis and computations, and its release.
class Remains {
public:
  // False where the address is used for anything else.
  bool collect(Value *Address) {
    Parts.insert(Address);
    for (unsigned I = 0; I < Parts.size(); ++I)
      for (User *U : Parts[I]->users()) {
        if (!isPart(*U))
          return false;
        Parts.insert(U);
      }
    return all_of(Parts, [&](Value *Part) {
      auto *Phi = dyn_cast<PHINode>(Part);
      return !Phi || all_of(Phi->incoming_values(), [&](Value *In) { return isa<Constant>(In) || Parts.contains(In); });
    });
  }

  void erase() {
    for (Value *Part : Parts)
      if (!Part->getType()->isVoidTy())
        Part->replaceAllUsesWith(PoisonValue::get(Part->getType()));
    for (Value *Part : Parts)
      cast<Instruction>(Part)->eraseFromParent();
  }

private:
  SetVector<Value *> Parts;

  static bool isPart(const User &U) {
    return isa<PHINode, GetElementPtrInst>(U) || (isa<CallInst>(U) && cast<CallInst>(U).hasMetadata(CacheRelease));
  }
};

// Whether what is stored is the address of a cache, and nobody accesses that cache by it.
bool holdsUnread(const StoreInst *Store) {
  auto *Held = dyn_cast<Instruction>(Store->getValueOperand());
  return Held && Held->hasMetadata(CacheAllocation) && all_of(Held->users(), [&](const User *U) {
           return U == Store || (isa<GetElementPtrInst>(U) && U->use_empty());
         });
}

// Caches that hold nothing but caches that nobody reads are not read either.
bool eraseUnread(Accesses &Outer) {
  SmallVector<Remains> Read;
  for (LoadInst *Load : Outer.Loads)
    if (!Read.emplace_back().collect(Load))
      return false;
  if (!all_of(Outer.Stores, holdsUnread))
    return false;
  SmallVector<Value *> Inner;
  for (StoreInst *Store : Outer.Stores)
    Inner.push_back(Store->getValueOperand());
  for (Remains &Of : Read)
    Of.erase();
  for (StoreInst *Store : Outer.Stores)
    Store->eraseFromParent();
  for (Value *Held : Inner) {
    Remains Of;
    if (Of.collect(Held))
      Of.erase();
  }
  return true;
}

void eraseUnread(Function &F, Caches &Nested) {
  for (bool Changed = true; Changed;) {
    Changed = false;
    for (auto Cache = Nested.begin(); Cache != Nested.end(); ++Cache)
      if (eraseUnread(Cache->second)) {
        Nested.erase(Cache);
        Changed = true;
        break;
      }
  }
  SmallVector<Instruction *> Allocations;
  for (Instruction &I : instructions(F))
    if (I.hasMetadata(CacheAllocation) && isa<CallInst>(I))
      Allocations.push_back(&I);
  for (Instruction *I : Allocations) {
    Remains Of;
    if (Of.collect(I))
      Of.erase();
  }
}

void keepOnce(Function &F, const DenseMap<MDNode *, const Function *> &Owner) {
  DominatorTree DT(F);
  CycleInfo Cycles;
  Cycles.compute(F);
  Caches Nested;
  bool Changed = false;
  for (auto &[Group, Cache] : cachesOf(F)) {
    if (!isLocal(F, Cache, Owner, Group))
      continue;
    if (Value *Only = onlyValue(Cache, Cycles)) {
      keepInVariable(F, Cache, Only, DT);
      Changed = true;
    } else if (Cache.Stores.front()->getValueOperand()->getType()->isPointerTy()) {
      Nested[Group] = Cache;
    }
  }
  if (Changed)
    eraseUnread(F, Nested);
}

} // namespace

ADGEN_DECLARE_PASS(HoistInvariantCaches);

PreservedAnalyses HoistInvariantCaches::run(Module &M, ModuleAnalysisManager &) {
  DenseMap<MDNode *, const Function *> Owner; // null where there are two
  for (Function &F : M)
    for (Instruction &I : instructions(F))
      if (MDNode *Group = I.getMetadata(LLVMContext::MD_invariant_group))
        if (auto [Place, New] = Owner.try_emplace(Group, &F); !New && Place->second != &F)
          Place->second = nullptr;
  for (Function &F : M)
    if (!F.isDeclaration())
      keepOnce(F, Owner);
  return PreservedAnalyses::none();
}

} // namespace adgen
