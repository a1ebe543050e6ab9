// What an integer of 32 bits stands for that may be floating point: found by following its bits through registers and
// memory.
#pragma once

#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"

namespace adgen {

enum class Bits {
  Integers, // nothing with a derivative
  Float,    // all of one float
  Halves,   // of two numbers of 16 bits, or of one of them in a part
  Brains,   // the same of bfloat16
  Parts     // of something else, such as half of a double, or not known
};

// What `Moved` hands on from the value `Source`: a derivative needs floating point both where it comes from and where
// it goes.
Bits bitsMoved(llvm::Value &Source, llvm::Instruction &Moved);
// What an atomic operation of integers leaves in memory.
Bits bitsLeft(llvm::Instruction &Atomic);
// Whether a number is rounded by adding a large constant and taking it away again, or the bits of that are taken.
bool isRounding(llvm::Instruction &I);
// Hides where a number is rounded by adding a large constant and taking it away again.
void hideRoundings(llvm::Function &F);
// Hides addresses that are joined to one integer, from which no pointer is made again.
void hideAddresses(llvm::Function &F);
// What gives the bits of a number, or the number itself, without a derivative, until Enzyme has run.
llvm::FunctionCallee hiddenFrom(llvm::Module &M, llvm::Type *Number, llvm::Type *As);
// What HideFloatBits has hidden from Enzyme is a conversion again.
void showBits(llvm::Module &M);

} // namespace adgen
