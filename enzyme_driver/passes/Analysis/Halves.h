// What computes with the bits of numbers of 16 bits, told by what it gives: a class of one's own may shift, round and
// mask as it likes.
#pragma once

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/IR/Constants.h"

namespace adgen {

// Kinds as those of a Leaf: f is half, b is bfloat16.
constexpr char HalfKinds[] = {'b', 'f'};
llvm::Type *halfType(llvm::LLVMContext &Context, char Kind);

// What is made of a constant; null where that is not known.
using Computation = llvm::function_ref<llvm::Constant *(llvm::Constant *)>;

// Whether the float is made that 16 bits stand for; 0 for neither kind.
char kindWidened(llvm::LLVMContext &Context, Computation Widen);

enum class Rounding { None, Some, ToNearest };

// Whether the 16 bits are those of a float, rounded in some way; to the nearest as an fptrunc does it.
Rounding roundingTo(llvm::LLVMContext &Context, char Kind, Computation Round);

} // namespace adgen
