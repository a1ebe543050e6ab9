// Copies of functions in which certain calls are replaced, for callers that want them so. What leads to no such call
// stays as it is.
#pragma once

#include "llvm/ADT/DenseMap.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/InstrTypes.h"

#include <functional>
#include <string>

namespace adgen {

class ReroutedCopies {
public:
  using Question = std::function<bool(const llvm::Instruction &)>;
  using Replacement = std::function<void(llvm::CallBase &)>;

  // Copies are called after their originals, behind the prefix.
  ReroutedCopies(llvm::StringRef Prefix, Question IsWanted, Replacement Replace)
      : Prefix(Prefix), IsWanted(std::move(IsWanted)), Replace(std::move(Replace)) {}

  // The copy; the function itself where it leads to no such call.
  llvm::Function *of(llvm::Function &F);

private:
  bool leadsToWanted(llvm::Function &F) const;

  std::string Prefix;
  Question IsWanted;
  Replacement Replace;
  llvm::DenseMap<llvm::Function *, llvm::Function *> Made;
};

} // namespace adgen
