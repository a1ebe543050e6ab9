// What a gradient keeps for its reverse sweep, and how much of it there is.
#pragma once

#include "Support/Adgen.h"

#include "llvm/ADT/EquivalenceClasses.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/IR/IntrinsicInst.h"

namespace adgen {

constexpr uint64_t TapeGranule = 8; // bytes

// Everything in a gradient that holds, or is reached through, a place on the tape.
class TapeUse {
public:
  llvm::SmallVector<llvm::CallInst *> Releases;
  llvm::SmallVector<llvm::MemIntrinsic *> Copies; // and what fills memory
  llvm::SetVector<llvm::Value *> Places;
  llvm::SmallVector<llvm::Instruction *> Accesses;

  // False where the values are not all understood; then nothing may be changed.
  bool collect(llvm::Function &F);
  bool isPlace(llvm::Value *V) const; // or nothing at all
  // How often what the place's block keeps is a place again.
  unsigned depthOf(llvm::Value *Place) const;

private:
  bool follow();
  bool visit(llvm::Instruction &I, llvm::Value *Place);
  bool access(llvm::Instruction &I, llvm::Type *T);
  bool keepsPlaces(llvm::Value *Address);
  void keep(llvm::Value *Address, llvm::Value *Place);
  void join(llvm::Value *A, llvm::Value *B);
  bool sourcesAreKnown() const;

  llvm::SmallPtrSet<llvm::Value *, 8> Keepers;       // where places are kept
  llvm::EquivalenceClasses<llvm::Value *> Blocks;    // places that may be of one allocation
  llvm::DenseMap<llvm::Value *, llvm::Value *> Kept; // by the leader of an allocation, a place that it holds
};

// The next free place on a thread's tape, a number of bytes, in a variable of the function's own.
llvm::AllocaInst *createTapeCursor(llvm::Function &F);

// Advances the cursor by as many granules as hold the bytes; where they begin and where they end.
std::pair<llvm::Value *, llvm::Value *> takeOfTape(llvm::IRBuilder<> &B, llvm::AllocaInst *Cursor, llvm::Value *Bytes);

// A function adgen_tape_SYMBOL, and what decides about the size: the value of TapeAttribute.
struct TapeMeasure {
  llvm::Function *F;
  llvm::StringRef SizeFrom;
};

// Nothing where the size cannot be known before the gradient runs.
std::optional<TapeMeasure> measureTape(llvm::Function &Gradient, const TapeUse &Use,
                                       llvm::FunctionAnalysisManager &FAM);

} // namespace adgen
