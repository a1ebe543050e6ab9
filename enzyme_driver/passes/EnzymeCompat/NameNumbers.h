// Types of numbers that Enzyme sees.
#pragma once

#include "llvm/IR/Instructions.h"

namespace adgen {

// A number that is only copied shows no type but clang's, which the optimiser drops from copies of structs: where the
// same memory holds something else in another object, Enzyme would take it for that, and lose its derivative. A name of
// our own says nothing to alias analysis.
void nameNumber(llvm::Instruction &I);

// What is loaded by __ldg has no name of clang's. Where it is known that the memory holds integers, Enzyme is to know
// it, too: an index that is computed with might else be the bits of a number.
void nameInteger(llvm::LoadInst &Load);

} // namespace adgen
