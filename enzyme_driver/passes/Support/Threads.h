// What the threads of a kernel read of their launch, the shared memory in which they hand each other values, and loops
// in which they share out what there is to do.
#pragma once

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/Twine.h"
#include "llvm/IR/IRBuilder.h"

namespace adgen {

// A register of the GPU, by the intrinsic that reads it.
llvm::Value *readRegister(llvm::IRBuilder<> &B, llvm::Intrinsic::ID Id);
// The lanes of the warp that are here.
llvm::Value *activeLanes(llvm::IRBuilder<> &B);

// How many threads a block has along each axis.
struct BlockExtents {
  explicit BlockExtents(llvm::IRBuilder<> &B);
  llvm::Value *X, *Y, *Z;
};
// A thread's number in its block, and how many threads that has.
llvm::Value *threadInBlock(llvm::IRBuilder<> &B);
llvm::Value *threadsOfBlock(llvm::IRBuilder<> &B);

// How many threads a block has at most, as the user's __launch_bounds__ says; 0 where they do not.
uint64_t mostThreads(const llvm::Function &Gradient);

// A shared array of a gradient's own.
llvm::GlobalVariable *createExchange(llvm::Function &Gradient, llvm::Type *T, const llvm::Twine &Suffix = "");

// for (index = First; index < Count; index += Step), numbers of 32 bits that do not wrap. `Name` is what each one is
// of.
void forStrided(llvm::Instruction &Before, llvm::Value *First, llvm::Value *Step, llvm::Value *Count,
                llvm::StringRef Name, llvm::function_ref<void(llvm::IRBuilder<> &, llvm::Value *)> Body);

// The number in the name of the GPU that a function is for, 90 of sm_90; 0 where it says none.
unsigned gpuOf(const llvm::Function &F);

} // namespace adgen
