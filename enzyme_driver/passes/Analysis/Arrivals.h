// What depends on the order in which threads arrive: numbers that atomics hand out, such as places from a counter, and
// which thread gets which. Two launches agree on a result only if it is the same for every order.
#pragma once

#include "Analysis/ThreadFacts.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/IR/Instructions.h"

namespace adgen {

// The facts of a body, in which everything is inlined; `Queue` is a parameter whose array another launch has filled in
// the order of arrival.
class Arrivals {
public:
  explicit Arrivals(llvm::Function &Body, const llvm::Argument *Queue = nullptr);

  // A store, a copy or an atomic operation after which memory depends on the order: where is the parameter, variable or
  // allocation, null for what is not known.
  using Report = llvm::function_ref<void(llvm::Instruction &I, const llvm::Value *Where)>;
  void reportUnordered(Report Say) const;

private:
  using Values = llvm::SmallPtrSet<const llvm::Value *, 16>;
  using Look = llvm::function_ref<Facts(const llvm::Value *)>;
  struct Branch {
    const llvm::Value *Condition;
    llvm::SmallVector<const llvm::BasicBlock *> Between;
    llvm::SmallVector<const llvm::PHINode *> Joins;
  };
  struct Write;

  void findBranches(llvm::Function &Body);
  void findSources(llvm::Function &Body);
  void findReductions(llvm::Function &Body);
  bool step(llvm::Function &Body);
  Facts transfer(const llvm::Instruction &I, Look Of) const;
  Facts ofCall(const llvm::CallBase &Call, Look Of) const;
  Facts ofLoad(const llvm::Value &Address, Look Of) const;
  Facts ofOperands(const llvm::Instruction &I, Look Of) const;
  Facts ofShuffle(const llvm::CallBase &Call, Look Of) const;
  Facts of(const llvm::Value *V) const { return Known.lookup(V); }
  Facts without(const llvm::Value *V, const Values &Cut) const;
  Values slice(const llvm::Value *V, const Values &Cut) const;
  Values indicesFound(const Values &Slice) const;
  void cutAddress(const llvm::Value *V, Values &Cut) const;
  bool isOfAll(const llvm::Value *Sum) const;
  bool isSameForEveryOrder(const Write &W, Facts &Stored) const;
  Facts leftBy(const Write &W) const;
  std::optional<Write> writeOf(const llvm::Instruction &I) const;
  bool remember(const llvm::Value *Memory, const Facts &More);

  bool ReadsQueue; // whether what was found was there before the launch
  llvm::DenseMap<const llvm::Value *, Facts> Known;
  llvm::DenseMap<const llvm::Value *, Facts> Contents;  // of memory
  llvm::DenseMap<const llvm::BasicBlock *, Facts> Ways; // of the conditions under which a block runs
  llvm::DenseMap<const llvm::PHINode *, Facts> Chosen;
  llvm::SmallVector<Branch> Branches;
  llvm::MapVector<const llvm::Instruction *, unsigned> Sources;
  llvm::SmallVector<const llvm::Instruction *> Writes;
  Values Reduced;  // memory over which a loop makes sums
  Values Segments; // sums that each thread makes over as much as memory says
  // What is added up: by a loop, with the sum of each iteration, or of lanes.
  llvm::DenseMap<const llvm::Value *, const llvm::Instruction *> Sums;
};

} // namespace adgen
