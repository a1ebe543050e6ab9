// Tables in memory that a launch lends a gradient: the runtime knows how long arrays are, and gives each block so much
// dynamic shared memory that those which are short fit (lent.py). Who launches without has no tables.
#pragma once

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/PassManager.h"

namespace adgen {

constexpr size_t MostLent = 4; // tables: the lowest bits of how many bytes there are say which ones have memory

// Whether a gradient may be lent any: the dynamic shared memory is otherwise nobody's. Not where it has a tape.
bool mayBeLent(const llvm::Function &Gradient);

// The same gradient for launches that lend it memory, with a name of its own; and its end, with that of what its block
// has in shared memory, where there is nothing to lend.
llvm::Function &cloneToLend(llvm::Function &Gradient);
void eraseUnlent(llvm::Function &Clone, llvm::FunctionAnalysisManager &FAM);

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
