// Barriers at which threads arrive and wait apart (mbarrier: cuda::barrier, cuda::pipeline) become barriers of the
// whole block where threads wait, in bodies, if all of them come there: each has then arrived. What counts arrivals, or
// bytes that a copy has brought, goes. Where only some threads wait (producers and consumers), the kernel is refused.
#include "Analysis/Cooperates.h"
#include "Analysis/Uniformity.h"
#include "Support/Adgen.h"
#include "Support/Pass.h"

#include "llvm/Analysis/InstructionSimplify.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/IR/PatternMatch.h"
#include "llvm/Transforms/Utils/Local.h"

using namespace llvm;

namespace adgen {
namespace {

class SplitBarriers {
public:
  explicit SplitBarriers(Function &Body) : Body(Body) {}

  bool run() {
    SmallVector<CallInst *> Calls;
    for (Instruction &I : instructions(Body))
      if (auto *Call = dyn_cast<CallInst>(&I); Call && (countsArrivals(*Call) || isOfSome(*Call)))
        Calls.push_back(Call);
    if (Calls.empty())
      return false;
    settleSpaces();
    for (CallInst *Call : Calls)
      replace(*Call);
    foldBranches();
    refuseWhereSomeWait();
    return true;
  }

private:
  static StringRef textOf(const CallInst &Call) {
    auto *Assembly = dyn_cast<InlineAsm>(Call.getCalledOperand());
    return Assembly ? StringRef(Assembly->getAsmString()) : "";
  }

  // Of the block: of a cluster's, threads of other blocks arrive. A copy of many bytes names a barrier only.
  static bool countsArrivals(const CallInst &Call) {
    StringRef Text = textOf(Call);
    return Text.contains("mbarrier.") && !Text.contains("mapa.") && !Text.contains("cp.async.bulk") &&
           !Text.contains("::cluster") && !Text.contains(".cluster.");
  }

  // A barrier that has a number, but for that of the grid, or says how many threads it waits for.
  static bool isOfSome(const CallInst &Call) {
    StringRef Text = textOf(Call).ltrim(" \t\r\n{");
    bool Waits = any_of(ArrayRef<StringRef>{"bar.sync", "bar.cta.sync", "barrier.sync", "barrier.cta.sync"},
                        [&](StringRef Name) { return Text.starts_with(Name); });
    if (Waits)
      return Call.getType()->isVoidTy() && Text.rtrim(" \t\r\n;}").find(';') == StringRef::npos;
    if (is_contained({Intrinsic::nvvm_barrier_cta_sync_aligned_all, Intrinsic::nvvm_barrier_cta_sync_all},
                     Call.getIntrinsicID()))
      return !match(Call.getArgOperand(0), PatternMatch::m_Zero()) && !isGridBarrier(Call);
    return is_contained({Intrinsic::nvvm_barrier_cta_sync_aligned_count, Intrinsic::nvvm_barrier_cta_sync_count},
                        Call.getIntrinsicID());
  }

  // The library asks whether the barrier is in shared memory, else it counts by atomics.
  void settleSpaces() {
    SmallVector<std::pair<IntrinsicInst *, bool>> Known;
    for (Instruction &I : instructions(Body))
      if (auto *Asked = dyn_cast<IntrinsicInst>(&I);
          Asked && is_contained({Intrinsic::nvvm_isspacep_shared, Intrinsic::nvvm_isspacep_shared_cluster},
                                Asked->getIntrinsicID()))
        if (isShared(*Asked->getArgOperand(0)))
          Known.push_back({Asked, true});
    for (auto [Asked, Answer] : Known) {
      replaceAndRecursivelySimplify(Asked, ConstantInt::getBool(Asked->getType(), Answer));
      if (Asked->getParent())
        Asked->eraseFromParent();
    }
  }

  static bool isShared(const Value &Pointer) { return isSharedMemory(*getUnderlyingObject(&Pointer, /*MaxLookup=*/0)); }

  void replace(CallInst &Call) {
    bool Waits = isOfSome(Call) || textOf(Call).contains("_wait");
    if (Waits) {
      IRBuilder<> B(&Call);
      CallInst *Barrier = B.CreateIntrinsic(Intrinsic::nvvm_barrier_cta_sync_aligned_all, {B.getInt32(0)});
      Barrier->addFnAttr(Attribute::Convergent);
      Barriers.push_back(Barrier);
    }
    Type *T = Call.getType();
    if (!T->isVoidTy())
      replaceAndRecursivelySimplify(&Call,
                                    Waits && T->isIntegerTy() ? ConstantInt::get(T, 1) : Constant::getNullValue(T));
    Call.eraseFromParent();
  }

  // Nobody asks twice.
  void foldBranches() {
    for (BasicBlock &Block : Body)
      ConstantFoldTerminator(&Block, /*DeleteDeadConditions=*/true);
    removeUnreachableBlocks(Body);
  }

  void refuseWhereSomeWait() {
    SmallVector<CallInst *> Left;
    for (WeakVH &Barrier : Barriers)
      if (auto *Call = dyn_cast_or_null<CallInst>(Barrier))
        Left.push_back(Call);
    Uniformity Same(Body, kindInBody);
    auto Apart = find_if(Left, [&](CallInst *Call) { return Same.isDivergent(Call->getParent()); });
    if (Apart == Left.end())
      return;
    Function *Entry = Body.getParent()->getFunction(Body.getName().drop_front(BodyPrefix.size()));
    refuse(Entry, (*Apart)->getDebugLoc(),
           "cannot differentiate a barrier (cuda::barrier, cuda::pipeline, bar.sync) at which only some threads of a "
           "block wait",
           "let all threads of the block wait at it, or use __syncthreads(): producers and consumers in warps of their "
           "own have no gradient");
  }

  Function &Body;
  SmallVector<WeakVH> Barriers;
};

} // namespace

ADGEN_DECLARE_PASS(JoinSplitBarriers);

PreservedAnalyses JoinSplitBarriers::run(Module &M, ModuleAnalysisManager &) {
  bool Changed = false;
  for (Function &F : M)
    if (!F.isDeclaration() && F.getName().starts_with(BodyPrefix))
      Changed |= SplitBarriers(F).run();
  return Changed ? PreservedAnalyses::none() : PreservedAnalyses::all();
}

} // namespace adgen
