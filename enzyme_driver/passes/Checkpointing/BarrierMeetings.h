// Which barriers all threads of a block meet.
#pragma once

#include "Analysis/UnchangedMemory.h"
#include "Support/Adgen.h"

#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/PostDominators.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/PassManager.h"

namespace adgen {

class BarrierMeetings {
public:
  BarrierMeetings(llvm::Function &Body, llvm::FunctionAnalysisManager &FAM, UnchangedMemory &Unchanged);

  // No branch that threads may take differently decides, directly or through others, whether the block is reached.
  bool all(llvm::BasicBlock &Block) const;

  // Whether the value depends on what it was in the iteration before: else Enzyme may compute it again from that
  // iteration, instead of keeping it.
  bool isRecurrence(const llvm::Instruction &I) const;
  bool isLoopBehind(const llvm::Instruction &Load, const llvm::CallInst &Barrier) const;

private:
  // What a block's threads all get is, while the analysis runs, an instruction that it does not take for different in
  // threads; what is read from memory that stays as it is, one that is the same where the address is.
  llvm::SmallVector<std::pair<llvm::Instruction *, llvm::Instruction *>>
  standInForWhatIsSame(UnchangedMemory &Unchanged);
  static bool hasBits(llvm::Type &T) { return T.isPointerTy() || T.isIntOrIntVectorTy() || T.isFPOrFPVectorTy(); }

  // Of as many bits as are loaded.
  static llvm::Value *addressAsNumber(llvm::LoadInst &Load);
  static bool isOfIntegers(const llvm::CallInst &Call);
  static bool isSameInBlock(const llvm::CallInst &Call);
  bool readsWarpNumber() const;
  bool decides(llvm::BasicBlock &Branch, llvm::BasicBlock &Reached) const;
  llvm::Function &Body;
  llvm::LoopInfo &Loops;
  llvm::PostDominatorTree &After;
  llvm::SmallPtrSet<llvm::BasicBlock *, 8> Divergent;
  bool Known = false;
};

} // namespace adgen
