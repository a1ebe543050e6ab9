// Which values of a function that Enzyme has made for forward mode carry tangents or lead to them, found by how they
// are used: what is loaded behind the shadow of a pointer, what is computed with a tangent, memory into which a tangent
// is stored, memory whose address is handed over as a shadow. Everything else is the primal's; a pointer of the primal
// that stands for a shadow says that there is none.
#pragma once

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/InstrTypes.h"

namespace adgen {

// One bit for each member of a value that is a struct or an array, and bit 0 for any other.
using Members = uint64_t;
constexpr unsigned LargestCall = 64; // so many arguments there may be, as their shadows are told by such bits
Members allMembers(llvm::Type *T);

class ShadowValues {
public:
  // `OfResult` says which members of what a call returns are shadows, if these arguments are.
  using Results = llvm::function_ref<Members(llvm::CallBase &, Members)>;
  ShadowValues(llvm::Function &F, Members Arguments, Results OfResult);

  Members of(const llvm::Value *V) const { return Known.lookup(V); }
  bool isShadow(const llvm::Value *V) const { return Known.lookup(V) != 0; }
  Members ofResult() const { return Result; }

  // The arguments of a call that are shadows, or stand where the callee has one.
  Members ofArguments(const llvm::CallBase &Call) const;

private:
  void sweep(Results OfResult);
  Members derived(llvm::Instruction &I, Results OfResult) const;
  struct Uses;
  bool isUndecided(const llvm::Value *V) const;
  void noteOther(Uses &Found, const llvm::Value *Other) const;
  void noteUse(Uses &Found, const llvm::Use &U) const;
  Uses usesOf(llvm::Instruction &Own) const;
  bool decideMemory(bool Unsure);

  llvm::Function &F;
  llvm::DenseMap<const llvm::Value *, Members> Known;
  llvm::DenseSet<const llvm::Value *> Primals; // memory that is known to be the primal's
  Members Result = 0;
};

} // namespace adgen
