// Types of numbers that Enzyme sees.
#pragma once

#include "llvm/IR/Instruction.h"

namespace adgen {

// A number that is only copied shows no type but clang's, which the optimiser drops from copies of structs: where the
// same memory holds something else in another object, Enzyme would take it for that, and lose its derivative. A name of
// our own says nothing to alias analysis.
void nameNumber(llvm::Instruction &I);

} // namespace adgen
