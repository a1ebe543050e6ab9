// Of an atomic counter that tells which block is the last, where blocks meet before any reads what others have written
// (adgen-meet-at-tickets).
#pragma once

#include "llvm/ADT/StringRef.h"
#include "llvm/IR/Instructions.h"

namespace adgen {

inline constexpr llvm::StringLiteral TicketMetadata = "adgen.ticket";

bool isCounter(llvm::AtomicRMWInst::BinOp How);

// Whether nothing is done with the number that comes before the one that is counted but that it is compared, also by
// those to whom a shared variable hands it: a place in an array is more than that.
bool isOnlyAsked(const llvm::AtomicRMWInst &Counter);

} // namespace adgen
