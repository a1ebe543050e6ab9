// Drops debug information once every message that needs it has been made.
#include "Passes.h"

#include "llvm/IR/DebugInfo.h"

using namespace llvm;

namespace adgen {

PreservedAnalyses StripDebug::run(Module &M, ModuleAnalysisManager &) {
  StripDebugInfo(M);
  return PreservedAnalyses::none();
}

} // namespace adgen
