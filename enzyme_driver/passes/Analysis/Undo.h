// Calls in a body that do nothing, and whose derivatives change a variable of the thread in the reverse sweep: so what
// is read of it there is what was read in the forward sweep.
#pragma once

#include "Support/Adgen.h"

namespace adgen {

inline constexpr llvm::StringLiteral UndoPrefix = "adgen_undo_"; // of the functions of such calls

// The functions of such a call. The primal takes the variable, then operands, and has no body before Enzyme has run,
// which would see that it does nothing. Of the other two, each argument is there twice, and the caller writes the code
// where they are new. What the augmented function returns (void: nothing) is the last argument of the reverse one.
struct Undo {
  llvm::Function *Primal, *Augmented, *Reverse;
  bool IsNew;
};

Undo declareUndo(llvm::Module &M, llvm::StringRef Name, llvm::ArrayRef<llvm::Type *> Operands,
                 llvm::Type *Kept = nullptr);

// After Enzyme.
void definePrimalsOfUndos(llvm::Module &M);

} // namespace adgen
