// Cycles that are entered at several places, before LLVM's FixIrreducible gives them one entry.
#pragma once

namespace llvm {
class Function;
}

namespace adgen {

// Edges that FixIrreducible gets wrong have a block of their own afterwards: where a block leads to two entries of a
// cycle it is in, or an entry to itself, it leads one of the edges to the new entry, and takes the numbers that phis
// have for the other edge along, too (LLVM 22). Whether there were any.
bool splitEntryEdges(llvm::Function &F);

} // namespace adgen
