// The members of structs that clang names at accesses (tbaa), where nothing else says what memory holds.
#pragma once

#include "Analysis/Layout.h"

namespace adgen {

// Numbers, integers and pointers that make up the bytes from a pointer on, at their places in them, by the structs of
// which the same function reads or writes members in that memory; none where they leave a byte out.
std::optional<llvm::SmallVector<Leaf>> namedMembers(const llvm::Value &Pointer, uint64_t Bytes,
                                                    const llvm::Function &Body);

} // namespace adgen
