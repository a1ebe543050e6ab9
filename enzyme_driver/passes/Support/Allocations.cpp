#include "Support/Allocations.h"

using namespace llvm;

namespace adgen {

bool isAllocation(const Function &F) {
  StringRef Name = F.getName();
  return Name == "malloc" || Name.starts_with("_Znwm") || Name.starts_with("_Znam");
}

bool isRelease(const Function &F) {
  StringRef Name = F.getName();
  return Name == "free" || Name.starts_with("_ZdlPv") || Name.starts_with("_ZdaPv");
}

bool isRelease(const CallBase &Call) {
  const Function *Callee = Call.getCalledFunction();
  return Callee && isRelease(*Callee);
}

StringRef releaseFor(const CallBase &Call) {
  const Function *Callee = Call.getCalledFunction();
  StringRef Name = Callee ? Callee->getName() : "";
  return Name == "malloc" ? "free" : Name == "_Znwm" ? "_ZdlPv" : Name == "_Znam" ? "_ZdaPv" : "";
}

} // namespace adgen
