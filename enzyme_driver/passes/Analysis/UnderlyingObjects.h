// Which memory a pointer may lead to: the arguments of the entries, what was allocated, and global variables. It
// follows pointers through local variables, captured addresses and forks, over the whole module and regardless of the
// order in which it runs. Members of a struct are told apart where it is known at which place of its memory a pointer
// lies.
#pragma once

#include "Analysis/ObjectSets.h"
#include "Support/Adgen.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

namespace adgen {

class UnderlyingObjects {
public:
  using Set = ObjectSets::Set;

  explicit UnderlyingObjects(llvm::Module &M);
  // Only of these functions, which call and are called by no others.
  UnderlyingObjects(llvm::Module &M, llvm::ArrayRef<const llvm::Function *> Part);
  // The memory that a pointer may lead to. Null stands for memory of which nothing is known.
  const Set &of(const llvm::Value *Pointer) const { return Sets[pointees(Pointer)]; }
  // All memory that something may write to; null is among it where that is not known.
  const Set &written() const { return Sets[Written]; }
  // Whether memory of which nothing is known may be this, as code that is not followed may have a pointer to it.
  bool escapes(const llvm::Value *Memory) const { return Sets[Escaped].contains(Memory); }
  // What memory may hold the addresses of, where nobody has put anything there that is not followed.
  const Set &heldBy(const llvm::Value *Memory) const { return Sets[contentsOf(Sets.only(Memory), -1)]; }
  // Calls it with all memory that holds addresses, and the memory that these lead to.
  void forEachHolder(llvm::function_ref<void(const llvm::Value *, const Set &)> Do) const;
  // The memory that the instruction itself may write to.
  Set writtenBy(const llvm::Instruction &I) const { return Sets[changedBy(I)]; }

private:
  using Number = ObjectSets::Number;
  struct Content {
    Number Anywhere = ObjectSets::Empty; // at all places together
    llvm::SmallMapVector<int64_t, Number, 4> At;
  };

  void follow(llvm::ArrayRef<const llvm::Function *> Part);
  void follow(const llvm::Instruction &I);
  void followCall(const llvm::CallBase &Call);
  void handOver(const llvm::Function &Callee, unsigned First, const llvm::CallBase &Call, unsigned Operand);
  Number pointees(const llvm::Value *Pointer) const { return Pointees.lookup(Pointer); }
  Number leads(const llvm::Value *Address) const;
  Number escapingBy(const llvm::Instruction &I) const;
  Number changedBy(const llvm::Instruction &I) const;
  int64_t placeOf(const llvm::Value *Address, const llvm::Type *Accessed) const;
  void hold(Number Memory, int64_t Place, Number Held);
  Number contentsOf(Number Memory, int64_t Place) const;
  Number readFrom(Number Memory, int64_t Place) const;
  void add(const llvm::Value *To, Number From);
  void addUnknown(const llvm::Value *To) { add(To, Sets.only(nullptr)); }
  void letEscape(llvm::ArrayRef<const llvm::Function *> Part);

  mutable ObjectSets Sets;
  llvm::DenseMap<const llvm::Value *, Number> Pointees; // of values
  llvm::MapVector<unsigned, Content> Contents;          // of memory
  llvm::DenseSet<std::tuple<Number, int64_t, Number>> Stored;
  mutable llvm::DenseMap<std::pair<Number, int64_t>, std::pair<unsigned, Number>>
      Read;                                  // and at which state of Contents
  unsigned State = 0;                        // how often Contents have changed
  llvm::DenseSet<const llvm::Value *> Inner; // parameters that may be handed an address inside of an object
  Number Written = ObjectSets::Empty, Escaped = ObjectSets::Empty;
  bool Changed = true;
};

// The functions of a module with bodies, those together that call or start one another: what one entry does with memory
// says nothing about the others.
std::vector<std::vector<const llvm::Function *>> connectedFunctions(const llvm::Module &M);

} // namespace adgen
