// What a loop hands on to its next run in the loop around by nothing but phis, and what goes the same ways beside it.
#pragma once

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Instructions.h"

namespace adgen {

class HandedOn {
public:
  HandedOn(const llvm::Loop &Inner, llvm::StringRef Name) : Inner(Inner), Outer(*Inner.getParentLoop()), Name(Name) {}

  // Whether phis behind the inner loop make it of these alone.
  bool isMadeOf(llvm::Value &V, llvm::ArrayRef<const llvm::Value *> Known) const;

  // What goes beside a number; of a phi that is made of such numbers, one that is made of what goes beside them.
  void pair(llvm::Value &V, llvm::Value &Twin) { Twins[&V] = &Twin; }
  llvm::Value &twin(llvm::Value &V);
  llvm::ArrayRef<std::pair<llvm::Value *, llvm::Value *>> all() const { return Twins.getArrayRef(); }

private:
  const llvm::Loop &Inner, &Outer;
  llvm::StringRef Name;
  llvm::MapVector<llvm::Value *, llvm::Value *> Twins;
};

// A comparison in a conjunction that holds, or in a disjunction that does not; null if there is none.
llvm::Use *findComparison(llvm::Use &Condition, bool Holds, llvm::function_ref<bool(llvm::FCmpInst &)> Is);

// Of `through < least` and `!(through >= least)` only the second is true of a number that is none.
bool isAlike(llvm::CmpInst::Predicate One, llvm::CmpInst::Predicate Other, bool AnyOrder);

} // namespace adgen
