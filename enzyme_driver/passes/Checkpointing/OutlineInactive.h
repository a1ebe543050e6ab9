// What RematerializeSelections leaves of a loop whose winner is reversed behind it.
#pragma once

#include "Support/Adgen.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/Analysis/LoopInfo.h"

namespace adgen {

// What is seen behind a loop that has become a function: instead of each phi.
using SeenBehind = llvm::SmallDenseMap<llvm::PHINode *, llvm::Value *>;

// Whether the loop, whose kept numbers are marked, writes to nothing but these variables, and nothing with a
// derivative.
bool canBeOutlined(llvm::Loop &L, const llvm::SmallSetVector<const llvm::AllocaInst *, 8> &Written);
SeenBehind outline(llvm::Loop &L, const llvm::SmallSetVector<const llvm::AllocaInst *, 8> &Written);
// Makes a function without derivative of a loop that selects and has no other effect; of its values, all of which leave
// it through phis, none may have a derivative. False where the loop stays.
bool outlineInactive(llvm::Loop &L);

} // namespace adgen
