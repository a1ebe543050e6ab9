// Loads from memory that the whole entry only reads, while its gradient runs.
#pragma once

#include "Analysis/UnderlyingObjects.h"

#include "llvm/IR/Instructions.h"

namespace adgen {

class UnchangedMemory {
public:
  // The prefix says of which entries: bodies or gradients.
  UnchangedMemory(const UnderlyingObjects &Memory, llvm::StringRef Prefix) : Memory(Memory), Prefix(Prefix) {}

  bool isReadBy(const llvm::LoadInst &Load);

private:
  // What an entry writes to, of arrays that pointers in structs by value lead to.
  struct Targets {
    bool Unknown = false;
    llvm::SmallVector<MemberArray> Members;
  };

  bool isParameter(const llvm::Value *Object) const;
  bool stays(const llvm::Value *Object);
  bool knowsWrites(const llvm::Function &Entry);
  bool isInStruct(const llvm::LoadInst &Load);
  const Targets &writtenIn(const llvm::Function &F);

  const UnderlyingObjects &Memory;
  llvm::StringRef Prefix;
  llvm::DenseMap<const llvm::Function *, bool> Entries; // whether it is known where they write
  llvm::DenseMap<const llvm::Function *, Targets> Written;
};

} // namespace adgen
