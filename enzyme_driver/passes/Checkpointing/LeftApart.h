// What loops leave behind, apart from what they carry.
#pragma once

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/Instructions.h"

namespace adgen {

// Of a number that an iteration has multiplied before it stops, `through *= 1 - alpha; done = through < least`, what is
// left behind becomes a number of its own, which the loops only hand on. The other one stays what the last iteration
// began with, so that it never comes near zero, and can be divided in every iteration. The first way of `Decides` is
// the one on which a thread stops.
void leaveApart(llvm::Loop &L, llvm::BranchInst &Decides, llvm::DominatorTree &DT, llvm::LoopInfo &LI);

} // namespace adgen
