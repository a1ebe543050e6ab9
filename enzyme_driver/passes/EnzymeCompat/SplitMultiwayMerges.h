// Ways that meet two by two.
#pragma once

#include "llvm/IR/PassManager.h"

namespace adgen {

// What adgen-split-multiway-merges does, for a pass that changes where ways meet.
void splitMultiwayMerges(llvm::Function &F, llvm::FunctionAnalysisManager &FAM);

} // namespace adgen
