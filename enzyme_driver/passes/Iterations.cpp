#include "Iterations.h"

using namespace llvm;

namespace adgen {

bool isRelease(const Function &F) {
  StringRef Name = F.getName();
  return Name == "free" || Name.starts_with("_ZdlPv") || Name.starts_with("_ZdaPv");
}

} // namespace adgen
