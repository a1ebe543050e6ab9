// Which memory a pointer may lead to: the arguments of the entries, what was allocated, and global variables. It
// follows pointers through local variables, captured addresses and forks, over the whole module and regardless of the
// order in which it runs. Members of a struct are told apart where it is known at which place of its memory a pointer
// lies.
#pragma once

#include "Support/Adgen.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

namespace adgen {

class UnderlyingObjects {
public:
  using Set = llvm::SmallSetVector<const llvm::Value *, 4>;

  explicit UnderlyingObjects(llvm::Module &M);
  // Only of these functions, which call and are called by no others.
  UnderlyingObjects(llvm::Module &M, llvm::ArrayRef<const llvm::Function *> Part);
  // The memory that a pointer may lead to. Null stands for memory of which nothing is known.
  const Set &of(const llvm::Value *Pointer) const;
  // All memory that something may write to; null is among it where that is not known.
  const Set &written() const { return Written; }
  // Whether memory of which nothing is known may be this, as code that is not followed may have a pointer to it.
  bool escapes(const llvm::Value *Memory) const { return Escaped.contains(Memory); }
  // The memory that the instruction itself may write to.
  Set writtenBy(const llvm::Instruction &I) const;

private:
  void follow(llvm::ArrayRef<const llvm::Function *> Part);
  void follow(const llvm::Instruction &I);
  void followCall(const llvm::CallBase &Call);
  void handOver(const llvm::Function &Callee, unsigned First, const llvm::CallBase &Call, unsigned Operand);
  void insertOf(const llvm::Value *Address, Set &Into) const;
  void letEscape(const llvm::Instruction &I);
  int64_t placeOf(const llvm::Value *Address, const llvm::Type *Accessed) const;
  void hold(const llvm::Value *Memory, int64_t Place, const Set &Held);
  Set contentsOf(const llvm::Value *Memory, int64_t Place) const;
  void add(Set &To, const Set &From);
  void addOf(const llvm::Value *To, const llvm::Value *From);

  llvm::DenseMap<const llvm::Value *, Set> Pointees;                                   // of values
  llvm::DenseMap<const llvm::Value *, llvm::SmallMapVector<int64_t, Set, 4>> Contents; // of memory, by the place in it
  llvm::DenseSet<const llvm::Value *> Inner; // parameters that may be handed an address inside of an object
  Set Written, Escaped;
  bool Changed = true;
};

// The functions of a module with bodies, those together that call or start one another: what one entry does with memory
// says nothing about the others.
std::vector<std::vector<const llvm::Function *>> connectedFunctions(const llvm::Module &M);

} // namespace adgen
