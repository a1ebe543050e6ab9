// What is kept by Enzyme because it passes through a call.
#pragma once

#include "Support/Adgen.h"

namespace adgen {

// adgen_hold_TYPE(value), which Enzyme can neither see through nor repeat; StripGuards takes the calls away.
llvm::Function *holdOf(llvm::Module &M, llvm::Type *T);
// What Enzyme is to take a number for, in its words: a zero, or one that is only handed on, does not show it.
llvm::StringRef typeInWords(const llvm::Type *T);
// Everything that uses the value gets it by way of a call.
void hold(llvm::Value &V, llvm::BasicBlock::iterator At);
// The same by way of a local variable that a call may write, for all that Enzyme sees: so the reverse sweep does not
// find the value out to hand back its cotangent.
void holdInVariable(llvm::Value &V, llvm::BasicBlock::iterator At);

} // namespace adgen
