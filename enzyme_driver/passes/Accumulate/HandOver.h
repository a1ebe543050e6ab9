// Accumulations that are handed over to a function of the device rules.
#pragma once

#include "llvm/IR/IRBuilder.h"

namespace adgen {

// Calls a rule that lanes of a warp have to come to together.
llvm::CallInst *callTogether(llvm::IRBuilder<> &B, llvm::StringRef Name, llvm::Type *Result,
                             llvm::ArrayRef<llvm::Value *> Arguments);

// Additions of one type, which must be as many as the rule's name says: `Lanes` are those that may have their elements
// in common ("warp", "row", "column"), of which the `Active` ones are here and the `Alike` ones have them. With
// `Alone`, nobody else adds to them. The additions themselves stay.
void handOver(llvm::IRBuilder<> &B, llvm::StringRef Lanes, llvm::ArrayRef<llvm::AtomicRMWInst *> Members,
              llvm::Value *Active, llvm::Value *Alike, llvm::Value *Alone);

// So many of these are handed over at once.
size_t mostAtOnce(llvm::ArrayRef<llvm::AtomicRMWInst *> Members);

} // namespace adgen
