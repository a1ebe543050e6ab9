// Addresses that are the same sum, added up in another order.
#pragma once

#include "llvm/IR/PassManager.h"

namespace adgen {

// What the reversal reads again is read by the address that the iteration has read it by: where one of two sums was
// moved out of a loop in part, nothing else shows that they are equal. True if an address was replaced.
bool mergeAddresses(llvm::Function &F, llvm::FunctionAnalysisManager &FAM);

} // namespace adgen
