// What the passes over OpenMP share: the calls that clang makes of directives, and who this thread is.
#pragma once

#include "Support/Adgen.h"

#include "llvm/ADT/SetVector.h"

namespace adgen {

inline constexpr llvm::StringLiteral ForkName = "__kmpc_fork_call";
// Operands of a fork: a description of the place, the number of captured values, the function, the captured values.
inline constexpr unsigned ForkFunction = 2, ForkCaptured = 3;
inline constexpr unsigned RegionCaptured = 2; // where the captured values begin among the parameters of what is forked

// Of functions that call a region, through which tangents are carried, until those are forked.
inline constexpr llvm::StringLiteral ForkedPrefix = "adgen_forked_";

// Of functions adgen_counter_OPERATION_iBITS that stand for atomic operations on integers until Enzyme has run.
inline constexpr llvm::StringLiteral CounterPrefix = "adgen_counter_";

inline constexpr llvm::StringLiteral RegionRulePrefix = "adgen_rule_omp_"; // of the rules about parallel regions

// What the runtime gives a thread to accumulate into: a copy of a shadow, or the shadow itself.
inline constexpr llvm::StringLiteral OwnShadowName = "adgen_own_shadow";

// What a region overwrites of an array that others read (UndoLog): the rules' names without the type, the mark of loads
// that are repeated in the reverse sweep until Enzyme has run, and the attribute of a gradient's parameter that is put
// back in its reverse sweep.
inline constexpr llvm::StringLiteral OverwriteRule = "adgen_rule_overwrite_";
inline constexpr llvm::StringLiteral RestoredMark = "adgen.restored", RestoredAttribute = "adgen-restored";

// The function that a fork runs; null for other calls, and where its code is not there.
llvm::Function *startedBy(const llvm::CallBase &Call);
// The argument of the region that an argument of what is started becomes; null where it is used for anything else.
llvm::Argument *inRegion(llvm::Argument &Started);
// Every call of the function named, in an order that stays the same.
llvm::SmallVector<llvm::CallInst *> callsOf(llvm::Module &M, llvm::StringRef Name);
void eraseCalls(llvm::Module &M, llvm::StringRef Name);
// The functions that threads of a team may be in, and those of them that may have been called through a pointer, with
// what these call.
struct Teams {
  llvm::SmallSetVector<llvm::Function *, 16> All, ThroughPointers;
};
Teams teamsOf(llvm::Module &M);
// Of this thread in its team, and how many the team has, as integers of 32 bits.
llvm::Value *threadNumber(llvm::IRBuilder<> &B);
llvm::Value *threadCount(llvm::IRBuilder<> &B);

} // namespace adgen
