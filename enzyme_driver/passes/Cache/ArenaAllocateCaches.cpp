// On the host: what the gradient of a kernel keeps for its reverse sweep comes from memory of the runtime
// (host_runtime/kept.cpp), which takes everything back when the thread of the grid ends, or its block where threads
// wait for each other. Enzyme forgets to free some of what it keeps, on paths that leave loops early; and the next
// thread finds the memory in the cache. In C++, where the user's code may allocate too, that is done with what Enzyme
// has marked as its own and gives back in the same function; what else its derivatives allocate comes from blocks that
// stay for later gradients (host_runtime/large.cpp).
#include "Analysis/Cooperates.h"
#include "Analysis/EnzymeCaches.h"
#include "Cache/Kept.h"
#include "Support/Allocations.h"
#include "Support/Pass.h"

#include "llvm/ADT/MapVector.h"

#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"

using namespace llvm;

namespace adgen {
namespace {

bool calls(const Instruction &I, StringRef Name) {
  auto *Call = dyn_cast<CallInst>(&I);
  return Call && Call->getCalledFunction() && Call->getCalledFunction()->getName() == Name;
}

bool callsAny(const Function &F, ArrayRef<StringRef> Names) {
  return any_of(instructions(F),
                [&](const Instruction &I) { return any_of(Names, [&](StringRef Name) { return calls(I, Name); }); });
}

// Whether a function that is called has anything to do with the heap: what it allocates may be freed by its caller.
bool sharesTheHeap(const Function &F) {
  return any_of(instructions(F), [](const Instruction &I) {
    auto *Call = dyn_cast<CallBase>(&I);
    const Function *Callee = Call ? Call->getCalledFunction() : nullptr;
    return Call && (!Callee ? !Call->isInlineAsm()
                            : !Callee->isDeclaration() && callsAny(*Callee, {"malloc", "free", "realloc"}));
  });
}

// Unless the kernel itself uses the heap, or memory is allocated in one function and freed in another.
bool isOurs(const Function &Gradient) {
  const Function *Body =
      Gradient.getParent()->getFunction((BodyPrefix + Gradient.getName().drop_front(GradientPrefix.size())).str());
  return Body && !callsAny(*Body, {"malloc", "free"}) && !callsAny(Gradient, {"realloc"}) && !sharesTheHeap(Gradient);
}

// Whether anything in it comes from the runtime now.
bool redirect(Function &F, const KeptMemory &R) {
  bool Any = false;
  for (Instruction &I : instructions(F))
    if (calls(I, "malloc") || calls(I, "free")) {
      Any |= calls(I, "malloc");
      cast<CallInst>(I).setCalledFunction(calls(I, "malloc") ? R.Keep : R.Free);
    }
  return Any;
}

// The calls that take and give back the memory of one cache.
struct Cache {
  SmallVector<CallInst *> Allocations, Releases;
  bool IsPlain = true; // not one that grows

  void add(Instruction &I, StringRef Name, SmallVector<CallInst *> &Calls) {
    if (calls(I, Name))
      Calls.push_back(cast<CallInst>(&I));
    else
      IsPlain &= isa<MemSetInst>(I);
  }
};

// Whether anything in it comes from the runtime now.
bool redirectCaches(Function &F, const KeptMemory &R) {
  MapVector<MDNode *, Cache> Caches;
  for (Instruction &I : instructions(F)) {
    if (MDNode *Group = I.getMetadata(CacheAllocation))
      Caches[Group].add(I, "malloc", Caches[Group].Allocations);
    if (MDNode *Group = I.getMetadata(CacheRelease))
      Caches[Group].add(I, "free", Caches[Group].Releases);
  }
  const bool Grows =
      callsAny(F, {"realloc"}); // which Enzyme does not mark, and whose release may be in one group with others
  bool Any = false;
  for (auto &[Group, Of] : Caches) {
    if (!Of.IsPlain || Of.Allocations.empty() || Of.Releases.empty() ||
        (Grows && Of.Allocations.size() + Of.Releases.size() > 2))
      continue;
    Any = true;
    for (CallInst *Call : Of.Allocations)
      Call->setCalledFunction(R.Keep);
    for (CallInst *Call : Of.Releases)
      Call->setCalledFunction(R.Free);
  }
  return Any;
}

void releaseAtTheEnd(Function &F, const KeptMemory &R) {
  IRBuilder<> B(&*F.getEntryBlock().getFirstNonPHIOrDbgOrAlloca());
  Value *Mark = B.CreateCall(R.Mark, {}, "mark");
  for (BasicBlock &Block : F)
    if (auto *Return = dyn_cast<ReturnInst>(Block.getTerminator())) {
      B.SetInsertPoint(Return);
      B.CreateCall(R.Release, Mark);
    }
}

// The runtime's functions for large blocks, which may be used for all that malloc, realloc, free, new and delete are.
struct LargeBlocks {
  FunctionCallee Allocate, Enlarge, Free, Delete;

  explicit LargeBlocks(Module &M) {
    LLVMContext &C = M.getContext();
    auto *Pointer = PointerType::getUnqual(C);
    Type *Int64 = Type::getInt64Ty(C);
    Allocate = M.getOrInsertFunction("adgen_large_alloc", Pointer, Int64);
    Enlarge = M.getOrInsertFunction("adgen_large_realloc", Pointer, Pointer, Int64);
    Free = M.getOrInsertFunction("adgen_large_free", Type::getVoidTy(C), Pointer);
    Delete = M.getOrInsertFunction("adgen_large_delete", Type::getVoidTy(C), Pointer);
    for (FunctionCallee Each : {Allocate, Enlarge, Free, Delete}) {
      auto *F = cast<Function>(Each.getCallee());
      F->setDoesNotThrow();
      F->setWillReturn();
      F->addFnAttr("alloc-family", "adgen_large");
    }
    auto *Allocates = cast<Function>(Allocate.getCallee());
    Allocates->setReturnDoesNotAlias();
    Allocates->addFnAttr(Attribute::getWithAllocSizeArgs(C, 0, std::nullopt));
  }
};

// Enzyme names the shadow of what is allocated "NAME'mi", and gives it back itself.
bool allocatesShadow(const Instruction &I) {
  return (calls(I, "_Znwm") || calls(I, "_Znam") || calls(I, "malloc")) && I.getName().contains("'mi");
}

// What `new` has allocated may be given back by the address alone, unless that is aligned in a way of its own.
bool deletes(const Instruction &I) {
  auto *Call = dyn_cast<CallInst>(&I);
  const Function *Callee = Call ? Call->getCalledFunction() : nullptr;
  return Callee && isRelease(*Callee) && Callee->getName() != "free" && !Callee->getName().contains("align_val_t");
}

bool isSweep(const Function &F) {
  return any_of(ArrayRef<StringRef>{GradientPrefix, ForwardSweepPrefix, ReversePrefix},
                [&](StringRef Prefix) { return F.getName().starts_with(Prefix); });
}

// Tangents along many directions take as many times the memory.
bool carriesTangents(const Function &F) {
  return F.getName().starts_with(DirectionsPrefix) || F.getName().starts_with("fwd" + ReversePrefix.str());
}

// Of what a sweep allocates it is not known which function frees it, so all of them can.
void useLargeBlocks(Module &M) {
  const LargeBlocks R(M);
  for (Function &F : M)
    for (Instruction &I : make_early_inc_range(instructions(F)))
      if ((isSweep(F) && calls(I, "malloc")) || ((isSweep(F) || carriesTangents(F)) && allocatesShadow(I))) {
        cast<CallInst>(I).setCalledFunction(R.Allocate);
      } else if (calls(I, "realloc")) {
        cast<CallInst>(I).setCalledFunction(R.Enlarge);
      } else if (calls(I, "free")) {
        cast<CallInst>(I).setCalledFunction(R.Free);
      } else if (deletes(I)) {
        IRBuilder<>(&I).CreateCall(R.Delete, I.getOperand(0));
        I.eraseFromParent();
      }
}

} // namespace

ADGEN_DECLARE_PASS(ArenaAllocateCaches);

PreservedAnalyses ArenaAllocateCaches::run(Module &M, ModuleAnalysisManager &) {
  const KeptMemory R(M);
  for (Function &F : M) {
    bool IsKernel = F.hasFnAttribute(SharedAttribute);
    if (F.getName().starts_with(GradientPrefix) && IsKernel && isOurs(F) && redirect(F, R) && !cooperates(F))
      releaseAtTheEnd(F, R);
    else if (!IsKernel && !F.isDeclaration() && redirectCaches(F, R))
      releaseAtTheEnd(F, R);
  }
  if (none_of(M, [](const Function &F) { return F.hasFnAttribute(SharedAttribute); })) // C++
    useLargeBlocks(M);
  return PreservedAnalyses::none();
}

} // namespace adgen
