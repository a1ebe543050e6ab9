// Carries a number type (NumberType.h) through functions: of each function that is reached one is made that takes a
// shadow for every argument and returns a shadow beside its result.
//   {T, T} adgen_dual_of_F(arguments..., shadows...)
// Every value of floating point has a shadow of its type. That of a pointer leads to the shadows of what the pointer
// leads to, at the same places; a pointer that is its own shadow leads to memory without shadows. Integers have shadows
// too, because they may hold the bits of numbers: whatever only moves bits moves the shadow's bits alike, and where
// arithmetic would lose some that are not zero, that is noted. Memory that holds no pointer's shadow (null) where the
// primal has a pointer: the pointer is its own.
#pragma once

#include "Oracle/NumberType.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"

#include <map>

namespace adgen {

class ShadowModule {
public:
  ShadowModule(llvm::Module &M, NumberType &Numbers) : M(M), Numbers(Numbers) {}

  // The function that carries shadows; its code is written by `finish`.
  llvm::Function *carrying(llvm::Function &F);
  // Writes the code of all functions that were asked for, and of those that they ask for.
  void finish();
  // The shadow of a constant.
  llvm::Constant *shadowOf(llvm::Constant *C);
  // Says that a function (one made here) cannot be carried over. The first reason counts.
  void refuse(llvm::Function &In, const llvm::DebugLoc &Where, const llvm::Twine &Reason);
  struct Refusal {
    llvm::DebugLoc Where;
    std::string Reason;
  };
  // Why what is reached from a function cannot be; null where it can.
  const Refusal *refusalOf(llvm::Function &From) const;
  // The place where notes are made: a number for each kind.
  llvm::Constant *notes();
  // {T, T} exchange: what one atomic operation does to a number and its shadow together, holding the lock of the
  // module.
  llvm::Function *lockedOperation(llvm::AtomicRMWInst::BinOp Op, llvm::Type *T);
  llvm::Function *lockedSwap(llvm::Type *T);
  // Mutable variables that were given shadows here, which must be zero when an entry begins.
  llvm::ArrayRef<llvm::GlobalVariable *> ownShadows() const { return Own; }

  llvm::Module &M;
  NumberType &Numbers;

private:
  llvm::Constant *shadowOfGlobal(llvm::GlobalVariable &Global);
  bool leadsAnywhere(const llvm::Constant *C) const;
  llvm::GlobalVariable *lock();
  llvm::Function *beginLocked(llvm::StringRef Name, llvm::Type *T, llvm::ArrayRef<llvm::Type *> Types,
                              llvm::function_ref<llvm::Value *(llvm::IRBuilder<> &, llvm::Function &)> Inside);

  llvm::DenseMap<llvm::Function *, llvm::Function *> Carrying;
  llvm::DenseMap<llvm::GlobalVariable *, llvm::Constant *> Globals;
  llvm::SmallVector<std::pair<llvm::Function *, llvm::Function *>> Unwritten;
  llvm::SmallVector<llvm::GlobalVariable *> Own;
  std::map<const llvm::Function *, Refusal> Refused;
};

// The shadow of a value without one: zero, and of a pointer itself.
llvm::Value *inactive(llvm::IRBuilder<> &B, llvm::Value *V);
bool isZeroShadow(const llvm::Value *Shadow);
// Whether a value of the type has a shadow at all.
bool hasShadow(const llvm::Type *T);

// Writes the code of `To` (empty), which carries shadows through `From`.
void carryThrough(ShadowModule &Module, llvm::Function &From, llvm::Function &To);

} // namespace adgen
