// Drops debug information once every message that needs it has been made.
#include "Support/Pass.h"

#include "llvm/IR/DebugInfo.h"

using namespace llvm;

namespace adgen {

ADGEN_DECLARE_PASS(StripDebug);

PreservedAnalyses StripDebug::run(Module &M, ModuleAnalysisManager &) {
  StripDebugInfo(M);
  return PreservedAnalyses::none();
}

} // namespace adgen
