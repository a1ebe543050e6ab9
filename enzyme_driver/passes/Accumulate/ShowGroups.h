// Brings a gradient into the form in which groups of accumulations are seen (AccumulationGroups).
#pragma once

#include "llvm/IR/PassManager.h"

namespace adgen {

void showGroups(llvm::Function &F, llvm::FunctionAnalysisManager &FAM);

} // namespace adgen
