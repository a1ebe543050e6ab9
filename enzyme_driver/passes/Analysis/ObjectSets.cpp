#include "Analysis/ObjectSets.h"

#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/GlobalVariable.h"

using namespace llvm;

namespace adgen {

static bool isOfUser(const Value *Memory) { return !Memory || isa<Argument, GlobalVariable>(Memory); }

ObjectSets::Number ObjectSets::intern(std::vector<unsigned> Of) {
  if (auto Found = Numbers.find(Of); Found != Numbers.end())
    return Found->second;
  bool OfUsers = any_of(Of, [&](unsigned Member) { return isOfUser(Memories[Member]); });
  Known.push_back({std::move(Of), OfUsers});
  return Numbers[Known.back().Members] = Known.size() - 1;
}

ObjectSets::Number ObjectSets::only(const Value *Memory) {
  auto [Found, New] = Members.try_emplace(Memory, Memories.size());
  if (New)
    Memories.push_back(Memory);
  return intern({Found->second});
}

ObjectSets::Number ObjectSets::unite(Number A, Number B) {
  if (A == B || B == Empty)
    return A;
  if (A == Empty)
    return B;
  auto [Found, New] = United.try_emplace(std::minmax(A, B), Empty);
  if (!New)
    return Found->second;
  std::vector<unsigned> Both;
  std::set_union(members(A).begin(), members(A).end(), members(B).begin(), members(B).end(), std::back_inserter(Both));
  return Found->second = intern(std::move(Both));
}

ObjectSets::Number ObjectSets::unite(ArrayRef<Number> All) {
  SmallVector<Number> Different(All);
  sort(Different);
  Different.erase(llvm::unique(Different), Different.end());
  if (Different.size() <= 2)
    return Different.empty() ? Empty : unite(Different.front(), Different.back());
  BitVector Within(Memories.size());
  for (Number S : Different)
    for (unsigned Member : members(S))
      Within.set(Member);
  return intern(std::vector<unsigned>(Within.set_bits_begin(), Within.set_bits_end()));
}

const ObjectSets::Set &ObjectSets::operator[](Number S) const {
  auto [Found, New] = Written.try_emplace(S);
  if (New)
    for (unsigned Member : members(S))
      Found->second.insert(memory(Member));
  return Found->second;
}

} // namespace adgen
