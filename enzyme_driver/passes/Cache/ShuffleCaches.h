// What is asked of caches that shuffles may take the place of, and of the places where lanes meet.
#pragma once

#include "Support/Adgen.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/Instructions.h"

#include <optional>

namespace adgen {

bool isShuffle(const llvm::Instruction &I);

// The index by which an array is accessed; null where there are several, or none.
llvm::Value *indexOf(const llvm::Value *Pointer);

// All that is made of a cache's address, and what accesses it.
llvm::SmallSetVector<llvm::Instruction *, 16> usersOf(llvm::CallInst &Allocation);

// The mask of an instruction at which lanes wait for all others that the mask names.
const llvm::Value *maskOf(const llvm::Instruction &I);
bool isFullMask(const llvm::Value *Mask);

// The same number, but where nobody reads it.
const llvm::Value *onlyValueOf(const llvm::Value *V);

// An array with one number for each iteration of a loop.
struct Cache {
  llvm::CallInst *Allocation;
  llvm::StoreInst *Store;
  llvm::SmallVector<llvm::LoadInst *> Loads; // in iterations of the same number
  bool IsReadElsewhere = false;
};

// Caches by the loop that fills them and by the number of the iteration that reads them.
using Groups = llvm::MapVector<std::pair<llvm::PHINode *, llvm::Value *>, llvm::SmallVector<Cache>>;

Groups cachesIn(llvm::Function &F, const llvm::LoopInfo &Loops);

// Two ways from one branch that meet again at once.
struct Merge {
  llvm::BranchInst *Fork = nullptr;
  llvm::BasicBlock *Sides[2] = {}; // of what holds, and of what does not; null where nothing is between
  llvm::Value *Brought[2] = {};
};

std::optional<Merge> mergeOf(llvm::PHINode &Phi, const llvm::DominatorTree &Before);

} // namespace adgen
