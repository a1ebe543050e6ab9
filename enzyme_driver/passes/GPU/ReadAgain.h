// What a kernel can compute again from the launch's registers and from inputs that nobody writes.
#pragma once

#include "llvm/IR/IRBuilder.h"

namespace adgen {

// The registers of 32 bits that a value takes; none for a condition, which has a register of its own.
unsigned words(const llvm::Type &T, const llvm::DataLayout &Layout);

// Whether it is a register of the launch, such as the thread's number.
bool isRegister(const llvm::Instruction &I);

// Whether it reads what nobody writes as long as the kernel runs.
bool isOfInput(const llvm::Instruction &I);

// Whether it costs no more than an addition.
bool isCheap(const llvm::Instruction &I);

// Whether it is an address, or a number that addresses are made of.
bool canBeHidden(const llvm::Type &T);

// The same number, of which nobody knows that; where it can be hidden.
llvm::Value *hidden(llvm::IRBuilder<> &B, llvm::Value &V);

} // namespace adgen
