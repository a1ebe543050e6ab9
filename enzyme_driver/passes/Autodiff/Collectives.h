// How what threads do together becomes calls of rules: for the passes that do it.
#pragma once

#include "Support/Adgen.h"

#include "llvm/IR/Instructions.h"

namespace adgen {

// Calls the rule of that name before an instruction; see LowerCollectivesToRules.cpp for the anchor.
void insertRule(llvm::Instruction &Before, llvm::StringRef Rule, llvm::Value *Anchor,
                llvm::ArrayRef<llvm::Value *> Operands);

llvm::SmallVector<llvm::Type *> typesOf(llvm::ArrayRef<llvm::Value *> Operands);

bool isIntegerShuffle(llvm::StringRef Name);

// The rule of a shuffle of floating point, such as "shfl_down_f32"; empty for anything else. Shuffles of double are
// calls of the functions of clang's headers, which Select keeps whole: inside they are shuffles of integers.
std::string shuffleRule(llvm::CallInst &Call, llvm::StringRef Name);

// What lanes receive by that rule's call, of what each sends; behind the store, the call and the load it is made of.
llvm::Value *shuffled(llvm::IRBuilder<> &B, llvm::Value *Sent, llvm::StringRef Rule,
                      llvm::ArrayRef<llvm::Value *> Operands);

// Enzyme does not know a lane's number and its masks.
void markInteger(llvm::CallInst &Call);

// An intrinsic that carries no derivative is called by another name until Enzyme has run, which has no rule for it. A
// barrier is one of memory, too: nothing may be moved across it.
void hide(llvm::CallInst &Call, bool IsBarrier = false);

// Has such a shuffle become calls of that rule.
void replaceShuffle(llvm::CallInst &Call, llvm::StringRef Rule);

// Both halves of a double that are shuffled one after the other are one shuffle of the double, as people wrote it
// before there was one.
void joinHalves(llvm::BasicBlock &Block);

// Where a block is one warp, all of whose lanes wait for each other, they are the block: what passes know of barriers
// holds for these, too.
void waitAsBlock(llvm::Function &Body);

// Has lanes of a warp meet where they exchange values through volatile shared memory; without an anchor, without a
// rule.
void keepLockstep(llvm::Function &Body, llvm::Value *Anchor);

// Where lanes do so, a switch that tells how a loop was left has no other ways than its cases: else lanes would seem to
// return there.
void closeSwitches(llvm::Function &Body);

// Before that, while masks of lanes are the user's: barriers of the warp where all lanes come that have not returned.
// Asks whether all lanes that come to the end of a block go on the same way.
void meetAll(llvm::Function &Body, llvm::function_ref<bool(const llvm::BasicBlock &)> IsTogether);

// Has lanes meet before they ask which of them are there, where all threads of the block do: the primal's lanes are
// together where nothing has parted them, those of a gradient or a witness come one by one from what it calls.
void meetBeforeAsking(llvm::Function &Body);

// Has what follows the first question which lanes take part twice: for all lanes of the mask, and for fewer.
void splitByParticipants(llvm::Function &F);

} // namespace adgen
