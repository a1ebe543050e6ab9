#pragma once

#include "Support/Adgen.h"
#include "Support/Threads.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/IR/DerivedTypes.h"
#include "llvm/IR/Module.h"

namespace adgen {

// The shared memory through which threads hand each other values. They have all read what one cluster has handed over
// when they come to the next one, which uses the memory again.
class Exchange {
public:
  static constexpr uint64_t VectorBytes = 16; // what a thread reads at once

  explicit Exchange(llvm::Function &F) : F(F), M(*F.getParent()), Room(roomInShared(F)) {}

  // For the values of one type in a cluster's threads, of which it has several; null where there is no room. What is
  // kept has a place of its own.
  llvm::GlobalVariable *place(llvm::Type *T, uint64_t Threads, unsigned Number, bool Kept) {
    auto *Values = llvm::ArrayType::get(T, Threads);
    llvm::GlobalVariable *Own = nullptr, *&Place = Kept ? Own : Used[{Values, Number}];
    if (!Place)
      Place = create(Values);
    return Place;
  }

  // Whether the kernel's own arrays are known to leave room.
  bool isKnown() const { return Room; }

private:
  llvm::GlobalVariable *create(llvm::ArrayType *Values) {
    uint64_t More = M.getDataLayout().getTypeAllocSize(Values);
    if (More > Room)
      return nullptr;
    Room -= More;
    llvm::GlobalVariable *Place = createExchange(F, Values);
    Place->setAlignment(llvm::Align(VectorBytes));
    return Place;
  }

  llvm::Function &F;
  llvm::Module &M;
  uint64_t Room;
  llvm::DenseMap<std::pair<llvm::Type *, unsigned>, llvm::GlobalVariable *> Used;
};

} // namespace adgen
