// What RematerializeSelections leaves of a loop whose winner is reversed behind it.
#pragma once

#include "Support/Adgen.h"

#include "llvm/Analysis/LoopInfo.h"

namespace adgen {

// Makes a function without derivative of a loop that selects and has no other effect; of its values, all of which leave
// it through phis, none may have a derivative. False where the loop stays.
bool outlineInactive(llvm::Loop &L);

} // namespace adgen
