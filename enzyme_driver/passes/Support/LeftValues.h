// What loops leave behind, whether they are in LCSSA form or not.
#pragma once

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"

namespace llvm {
class DominatorTree;
class Instruction;
class Loop;
class LoopInfo;
class PHINode;
class ScalarEvolution;
} // namespace llvm

namespace adgen {

// Whether anything outside of the loop uses the instruction; a phi at an exit does. That a loop around carries it on
// does not count.
bool isUsedBehind(const llvm::Instruction &I, const llvm::Loop &L, const llvm::LoopInfo &LI);

// The phis by which the instruction leaves its loop, and those around it: new ones, and those that stand at the exits
// already. Then nothing else uses it there. Those of which nothing is used but what is kept of them are none of these.
llvm::SmallVector<llvm::PHINode *> phisBehind(llvm::Instruction &I, const llvm::DominatorTree &DT,
                                              const llvm::LoopInfo &LI, llvm::ScalarEvolution *SE = nullptr);

// Those of which it is asked are kept: integers pass through a call, numbers through a variable. Not addresses, which
// Enzyme would take for numbers then.
void holdBehind(llvm::Instruction &I, const llvm::DominatorTree &DT, const llvm::LoopInfo &LI,
                llvm::function_ref<bool(llvm::PHINode &)> Asks, llvm::ScalarEvolution *SE = nullptr);

} // namespace adgen
