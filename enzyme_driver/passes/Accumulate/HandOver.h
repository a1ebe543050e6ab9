// Accumulations that are handed over to a function of the device rules.
#pragma once

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/IR/IRBuilder.h"

namespace adgen {

// An accumulation that runs in blocks of unusual extents only: what it would cost in registers, all blocks would pay.
inline constexpr llvm::StringLiteral SeldomMark = "adgen.seldom";

// An accumulation of a lane into one of the elements that all warps have in common.
inline constexpr llvm::StringLiteral LanesMark = "adgen.lanes";

// An accumulation into an element of shared memory that only the own warp adds to, the same one in all of its lanes.
inline constexpr llvm::StringLiteral WarpsOwnMark = "adgen.warps.own";

// An accumulation into an element of a small table that the block has in shared memory.
inline constexpr llvm::StringLiteral TableMark = "adgen.table";

// Calls a rule that lanes of a warp have to come to together.
llvm::CallInst *callTogether(llvm::IRBuilder<> &B, llvm::StringRef Name, llvm::Type *Result,
                             llvm::ArrayRef<llvm::Value *> Arguments);

// The active lanes that have the same number or pointer as this one; where not all have it, none but itself unless
// `InParts`.
llvm::Value *alikeLanes(llvm::IRBuilder<> &B, llvm::Value *Active, llvm::Value *V, bool InParts);

// The same for a number that so many lanes side by side mostly have in common.
llvm::Value *alikeNeighbours(llvm::IRBuilder<> &B, llvm::Value *Active, llvm::Value *V, unsigned Lanes);

// The same for the lanes of a column of the block.
llvm::Value *alikeInColumn(llvm::IRBuilder<> &B, llvm::Value *Active, llvm::Value *V);

// Whether all active lanes have the same number or pointer.
llvm::Value *areAlike(llvm::IRBuilder<> &B, llvm::Value *Active, llvm::Value *V);

// Additions of one type, in as many calls as they need, which take their place: `Lanes` are those that may have their
// elements in common ("warp", "row", "column"), of which the `Active` ones are here and the `Alike` ones have them.
// `Alone` says of what goes into one call whether nobody else adds to it.
void handOver(llvm::IRBuilder<> &B, llvm::StringRef Lanes, llvm::ArrayRef<llvm::AtomicRMWInst *> Members,
              llvm::Value *Active, llvm::Value *Alike,
              llvm::function_ref<llvm::Value *(llvm::ArrayRef<llvm::AtomicRMWInst *>)> Alone);

// That from which the address of its element is a constant away.
const llvm::Value *baseOf(const llvm::AtomicRMWInst &Accumulation);
// The constant, in bytes.
int64_t distanceOf(const llvm::AtomicRMWInst &Accumulation);

} // namespace adgen
