// Of an atomic counter that tells which block is the last, where blocks meet before any reads what others have written
// (adgen-meet-at-tickets).
#pragma once

#include "llvm/ADT/StringRef.h"

namespace adgen {

inline constexpr llvm::StringLiteral TicketMetadata = "adgen.ticket";

} // namespace adgen
