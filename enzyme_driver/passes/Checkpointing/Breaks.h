// A loop that is left by a `break` and by its counter: the same loop with one exit behind its latch, to which the break
// leads, and a flag that says of an iteration whether it has broken.
#pragma once

#include "Support/Adgen.h"

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/Instructions.h"

#include <optional>

namespace adgen {

struct Break {
  llvm::BranchInst *From;
  llvm::PHINode *Flag;    // at the exit: true by way of the break alone
  llvm::ICmpInst *Counts; // at the latch
};

std::optional<Break> breakOf(const llvm::Loop &L);

// To the latch's end, as that of its last iteration.
void joinBreak(llvm::Loop &L, const Break &Of, llvm::DominatorTree &DT, llvm::LoopInfo &LI);

// Makes a break of a loop that is left by its counter and by this condition alone, where nothing tells behind the loop
// which it was, one that leads to the end of its last iteration. Whether there is one.
bool joinBreakBy(llvm::Loop &L, llvm::function_ref<bool(const llvm::Value &)> Decides, llvm::DominatorTree &DT,
                 llvm::LoopInfo &LI);

} // namespace adgen
