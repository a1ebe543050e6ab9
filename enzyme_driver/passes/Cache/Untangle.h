// Finds again in a gradient what Enzyme computes anew in the reverse sweep, where the forward sweep's values are still
// at hand.
#pragma once

#include "llvm/IR/Function.h"
#include "llvm/IR/PassManager.h"

namespace adgen {

// The gradients that are not longer than that: cleaning one up takes long.
llvm::SmallVector<llvm::Function *> gradientsUpTo(llvm::Module &M, unsigned MostInstructions);

// Whether there are two loops of which neither is in the other, as a sweep and its reversal are.
bool hasLoopsBesideEachOther(llvm::Function &F, llvm::FunctionAnalysisManager &FAM);

// Instructions of a gradient whose sweeps over one loop are looked at together.
inline constexpr unsigned MostWithSweeps = 6000;

// Changes a copy of the gradient, which takes the gradient's place if it is worth it.
bool replaceByCopy(llvm::Function &F, llvm::FunctionAnalysisManager &FAM,
                   llvm::function_ref<bool(llvm::Function &)> IsWorth);

// One value for what is computed twice, and loops in simple form; as long as it gets shorter, because what goes in one
// round lets more go in the next.
void clean(llvm::Function &F, llvm::FunctionAnalysisManager &FAM);

// Where a condition is decided more than once in an iteration, because the reversal decides it again, all from the
// first decision to the last is there twice, once for each way: each recomputation then stands behind what it computes
// again, and goes; so does what is read again by an address that was added up in another order. True if something was
// separated or merged: separated is what is worth it, of the blocks that would be there twice, up to the first time
// that did not help.
bool separateDecisions(
    llvm::Function &F, llvm::FunctionAnalysisManager &FAM,
    llvm::function_ref<bool(llvm::ArrayRef<llvm::BasicBlock *>)> IsWorth =
        [](llvm::ArrayRef<llvm::BasicBlock *>) { return true; },
    llvm::function_ref<bool()> Helped = [] { return true; });

// What Enzyme keeps and nothing reads is no longer kept.
void dropUnread(llvm::Function &F);

} // namespace adgen
