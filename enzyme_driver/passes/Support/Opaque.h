// Conditions that Enzyme cannot see through, so that it leaves alone what depends on them. StripGuards takes them away.
#pragma once

#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"

namespace adgen {

inline constexpr llvm::StringLiteral OpaqueName = "adgen_opaque";

// The same condition, behind a call of a function without a body.
inline llvm::CallInst *hidden(llvm::Value *Condition, llvm::BasicBlock::iterator Before) {
  using namespace llvm;
  Module &M = *Before->getModule();
  Type *Bool = Type::getInt1Ty(M.getContext());
  auto *F = cast<Function>(M.getOrInsertFunction(OpaqueName, Bool, Bool).getCallee());
  F->setDoesNotAccessMemory();
  F->setDoesNotThrow();
  F->setWillReturn();
  F->addFnAttr(Attribute::Speculatable);
  F->addFnAttr(Attribute::NoFree);
  F->addFnAttr(Attribute::NoSync);
  F->addFnAttr("enzyme_inactive");
  return CallInst::Create(F, {Condition}, "guard", Before);
}

} // namespace adgen
