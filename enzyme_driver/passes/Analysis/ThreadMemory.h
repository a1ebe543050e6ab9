// Which memory a thread of a team alone knows of, also that which it finds again in its reverse sweep: it has allocated
// it in a region, and the address lies nowhere but in other memory of its own and in the record that Enzyme keeps for
// each thread between the sweeps.
#pragma once

#include "Analysis/UnderlyingObjects.h"

#include "llvm/IR/Instructions.h"

namespace adgen {

class ThreadMemory {
public:
  using Set = UnderlyingObjects::Set;

  ThreadMemory(llvm::Module &M, llvm::ArrayRef<const llvm::Function *> Part);
  // Such memory, where the address leads to nothing else.
  Set ownOf(const llvm::Value *Address) const;
  // Whether the addresses of this memory lie in records alone.
  bool isKeptOnly(const Set &Own) const;

private:
  void findRecords();
  void findOwn(llvm::ArrayRef<const llvm::Function *> OfTeams);
  void addKept(const llvm::ExtractValueInst &Member, Set &Found, unsigned Depth) const;
  void addObjects(const llvm::Value *Address, Set &Found, unsigned Depth) const;

  llvm::ArrayRef<const llvm::Function *> Part;
  UnderlyingObjects Memory;
  // The arrays that have a record for each thread, with the forward sweeps that return one.
  llvm::MapVector<const llvm::Value *, llvm::SmallSetVector<const llvm::Function *, 2>> Records;
  llvm::SmallPtrSet<const llvm::Value *, 16> Own, HeldElsewhere;
};

} // namespace adgen
