// `extern __shared__` memory, whose bytes each launch gives.
#pragma once

#include "Support/Adgen.h"

namespace adgen {

inline bool isDynamicShared(const llvm::GlobalVariable &Array) {
  return isSharedMemory(Array) && Array.isDeclaration();
}

} // namespace adgen
