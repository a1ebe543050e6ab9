// Tables in memory that a launch lends a gradient: the runtime knows how long arrays are, and gives each block so much
// dynamic shared memory that those which are short fit (lent.py). Who launches without has no tables.
#pragma once

#include "llvm/IR/IRBuilder.h"

namespace adgen {

constexpr size_t MostLent = 4; // tables: the lowest bits of how many bytes there are say which ones have memory

// Whether a gradient may be lent any: the dynamic shared memory is otherwise nobody's.
bool mayBeLent(const llvm::Function &Gradient);

// The memory in which the tables lie one behind the other.
llvm::GlobalVariable &lentMemory(llvm::Module &M);

class LentTable {
public:
  explicit LentTable(unsigned Number) : Number(Number) {}

  // None where the launch has lent it nothing, of so many tables that it might have lent some.
  llvm::Value *bytes(llvm::IRBuilder<> &B, unsigned Tables) const;
  llvm::Value *begin(llvm::IRBuilder<> &B) const;

private:
  static llvm::Value *bytesOfEach(llvm::IRBuilder<> &B, llvm::Value *All, unsigned Tables);

  unsigned Number;
};

} // namespace adgen
