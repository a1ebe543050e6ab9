// What threads ask of their place in x, where that is only their column among all blocks, ctaid.x * ntid.x + tid.x. A
// file may write a number for the width of a block.
#pragma once

#include "Support/Adgen.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/IR/IRBuilder.h"

namespace adgen {

class Columns {
public:
  // Of a function of one thread, whose indices begin with that argument.
  Columns(llvm::Function &Thread, unsigned First);

  // Whether several blocks beside each other, of that width, are to their threads as one that is as wide as all of
  // them.
  llvm::Value *allowWideBlocks(llvm::IRBuilder<> &B, llvm::Value *Width) const;

private:
  using Values = llvm::SmallSetVector<llvm::Value *, 4>;
  static bool areUses(const Values &Of, llvm::function_ref<bool(llvm::User &)> Are);
  bool isBegin(llvm::User &U);
  bool addsThread(llvm::User &U) const;
  Values Threads, Widths;
  llvm::SmallSetVector<uint64_t, 2> Numbers; // that stand for the width
  bool AreAll;
};

} // namespace adgen
