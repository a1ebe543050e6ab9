// Whether the reverse sweep needs a number: a sum hands its cotangent on without asking what it was.
#pragma once

#include "Analysis/SharedConstants.h"

namespace adgen {

// Of the operand. A product with something that has no derivative is linear.
bool isLinear(const llvm::Instruction &I, const llvm::Value *Operand, const Constants &Known);
// Whether anything but stores and what is linear needs the value.
bool isNeeded(const llvm::Value &First, const Constants &Known);

} // namespace adgen
