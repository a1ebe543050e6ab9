// Sets of memory, each of which is there once and has a number: what many pointers lead to is written down one time,
// and two sets are united one time. Without it a module in which thousands of pointers lead to thousands of allocations
// takes minutes.
#pragma once

#include "Support/Adgen.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SetVector.h"

#include <deque>
#include <map>

namespace adgen {

class ObjectSets {
public:
  using Set = llvm::SmallSetVector<const llvm::Value *, 4>;
  using Number = unsigned;
  static constexpr Number Empty = 0;

  ObjectSets() : Known(1) {}
  ObjectSets(const ObjectSets &) = delete;
  ObjectSets(ObjectSets &&) = default;

  Number only(const llvm::Value *Memory);
  Number unite(Number A, Number B);
  Number unite(llvm::ArrayRef<Number> All);
  // The memory in a set, by numbers, in order.
  llvm::ArrayRef<unsigned> members(Number S) const { return Known[S].Members; }
  const llvm::Value *memory(unsigned Member) const { return Memories[Member]; }
  // Whether there is memory among it in which others than the program may have put something.
  bool isOfUsers(Number S) const { return Known[S].OfUsers; }
  // The set by itself, which stays where it is.
  const Set &operator[](Number S) const;

private:
  struct Interned {
    std::vector<unsigned> Members;
    bool OfUsers = false;
  };
  Number intern(std::vector<unsigned> Members);

  std::vector<const llvm::Value *> Memories;
  llvm::DenseMap<const llvm::Value *, unsigned> Members;
  std::deque<Interned> Known; // none of which moves
  llvm::DenseMap<llvm::ArrayRef<unsigned>, Number> Numbers;
  llvm::DenseMap<std::pair<Number, Number>, Number> United;
  mutable std::map<Number, Set> Written;
};

} // namespace adgen
