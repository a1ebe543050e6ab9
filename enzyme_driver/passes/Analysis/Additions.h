// What a loop adds to memory without atomics.
#pragma once

#include "Support/Adgen.h"

#include "llvm/ADT/SmallPtrSet.h"

namespace llvm {
class DominatorTree;
class Loop;
} // namespace llvm

namespace adgen {

struct Addition {
  llvm::LoadInst *Old;
  llvm::BinaryOperator *Sum;
  llvm::StoreInst *New;

  llvm::Value *term() const { return Sum->getOperand(Sum->getOperand(0) == Old); }
};

// Those of each iteration that may change places with others.
class Additions {
public:
  Additions(const llvm::Loop &L, const llvm::DominatorTree &DT);

  llvm::SmallVector<Addition>::const_iterator begin() const { return All.begin(); }
  llvm::SmallVector<Addition>::const_iterator end() const { return All.end(); }
  // Whether an instruction is the load or the store of one.
  bool have(const llvm::Instruction &I) const { return Accesses.contains(&I); }
  void erase(const Addition &Each); // its load and store

private:
  llvm::SmallVector<Addition> All;
  llvm::SmallPtrSet<const llvm::Instruction *, 8> Accesses;
};

} // namespace adgen
