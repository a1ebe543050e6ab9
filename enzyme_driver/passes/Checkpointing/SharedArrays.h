// The shared arrays of a body, and what writes to them.
#pragma once

#include "Support/Adgen.h"

#include "llvm/IR/Instructions.h"

namespace adgen {

bool isBlockBarrier(const llvm::Instruction &I);

// Where threads may wait for each other in another way: what they write before it is seen behind it.
bool isOtherMeeting(const llvm::Instruction &I);

// One shared array, or all dynamic ones, which are one region.
struct SharedArray {
  llvm::Argument *Pointer = nullptr;
  llvm::GlobalVariable *Memory = nullptr;
  uint64_t Bytes = 0; // 0: known to the launch only
};

class SharedArrays {
public:
  explicit SharedArrays(llvm::Function &Body);
  bool empty() const { return Arrays.empty(); }
  // The argument that stands for the memory behind the pointer, if that is one array for sure.
  llvm::Argument *find(const llvm::Value *Pointer) const;
  uint64_t bytes(const llvm::Argument *A) const { return array(A).Bytes; }
  // Whether the array is known to be whole words, which it is then aligned to.
  bool inWords(const llvm::Argument *A) const;
  bool mayWrite(const llvm::Instruction &I, const llvm::Argument *A) const;

private:
  bool mayBe(const llvm::Value *Pointer, const llvm::Argument *A) const;
  const SharedArray &array(const llvm::Argument *A) const;
  llvm::SmallVector<SharedArray> Arrays;
  llvm::DenseMap<const llvm::Argument *, llvm::Argument *> Objects;
  llvm::Argument *Region = nullptr;
};

} // namespace adgen
