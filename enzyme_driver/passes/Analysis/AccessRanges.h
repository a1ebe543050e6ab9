// Which part of a shadow the threads of one block of a kernel accumulate into.
#pragma once

#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/IR/IRBuilder.h"

#include <optional>

namespace adgen {

// Both ends are numbers of 64 bits; the end belongs to it.
struct Interval {
  llvm::Value *Begin, *End;
};

// Writes code that computes between which bytes, from where its argument begins, a function accesses memory. Numbers
// are taken to be exact, and `valid` says whether they are.
class AccessRange {
public:
  // `known` gives where an argument of the function lies in all calls that count, or nothing.
  AccessRange(llvm::IRBuilder<> &B, llvm::ScalarEvolution &Evolution,
              llvm::function_ref<std::optional<Interval>(const llvm::Argument &)> Known)
      : B(B), Evolution(Evolution), Known(Known), Valid(B.getTrue()) {}

  // Of an access to memory that an argument points to; nothing where the place follows from what is read.
  std::optional<Interval> of(const llvm::Instruction &Access, llvm::Value *Pointer);
  Interval both(Interval A, Interval C);
  llvm::Value *valid() const { return Valid; }

private:
  std::optional<Interval> of(const llvm::SCEV *S);
  std::optional<Interval> compute(const llvm::SCEV *S);
  std::optional<Interval> ofUnknown(llvm::Value *V);
  std::optional<Interval> ofRecurrence(const llvm::SCEVAddRecExpr &Recurrence);
  std::optional<Interval> ofQuotient(const llvm::SCEVUDivExpr &Quotient);
  std::optional<Interval> ofChoice(const llvm::SCEVNAryExpr &Choice);
  Interval sum(Interval A, Interval C);
  Interval product(Interval A, Interval C);
  llvm::Value *checked(llvm::Intrinsic::ID Operation, llvm::Value *A, llvm::Value *C);
  Interval signedIn(Interval I, const llvm::SCEV *S);
  Interval unsignedIn(Interval I, const llvm::SCEV *S);
  void require(llvm::Value *Condition) { Valid = B.CreateAnd(Valid, Condition); }

  llvm::IRBuilder<> &B;
  llvm::ScalarEvolution &Evolution;
  llvm::function_ref<std::optional<Interval>(const llvm::Argument &)> Known;
  llvm::Value *Valid;
  llvm::DenseMap<const llvm::SCEV *, std::optional<Interval>> Found;
};

} // namespace adgen
