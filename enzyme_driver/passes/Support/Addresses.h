// Integers that are addresses.
#pragma once

#include "llvm/IR/Value.h"

namespace adgen {

// What Enzyme takes for a pointer: how far two are apart is none, nor what was masked, shifted or divided.
bool isAddress(llvm::Value &Number);

} // namespace adgen
