// Calls that keep Enzyme from what it would do, and that nothing runs: functions without a body, or with one that does
// nothing, which leave after Enzyme (StripGuards).
#pragma once

#include "Support/Adgen.h"

#include "llvm/IR/Instructions.h"

namespace adgen {

// Enzyme cannot see through the condition, and so leaves alone what depends on it.
llvm::CallInst *hidden(llvm::Value *Condition, llvm::BasicBlock::iterator Before);

// The comparison is a call, whose result nothing that is known of the numbers tells; it is deleted.
void hide(llvm::FCmpInst &Question);

// Everything that uses the value gets it by way of a call that Enzyme can neither see through nor repeat, so that it
// keeps the value.
void hold(llvm::Value &V, llvm::BasicBlock::iterator At);
// The same by way of a local variable that a call may write, for all that Enzyme sees: so the reverse sweep does not
// find the value out to hand back its cotangent.
void holdInVariable(llvm::Value &V, llvm::BasicBlock::iterator At);
bool isHeld(const llvm::Value *V);

// Calls the same function by a name that has no derivative.
void callAside(llvm::CallBase &Call);
// Calls the same function, which has a derivative of ours, by a name of which Enzyme does not keep the result.
void callAgain(llvm::CallBase &Call);
// Uses the number, and hands back zero for it.
void use(llvm::IRBuilder<> &B, llvm::Value &Number);

// A function that does nothing: its calls only hold a value, or a block, in its place.
llvm::FunctionCallee declarePin(llvm::Module &M, llvm::StringRef Name, llvm::ArrayRef<llvm::Type *> Parameters = {});
bool isPin(const llvm::CallBase &Call);

// The value, which has the derivative of the other number in place of its own.
llvm::Value *withDerivativeOf(llvm::IRBuilder<> &B, llvm::Value &V, llvm::Value &Other);

void stripGuards(llvm::Module &M);

} // namespace adgen
