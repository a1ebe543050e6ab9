// Calls of the rules by which threads choose one of the values that they bring (RaiseAtomicChoices).
#pragma once

#include "Support/Adgen.h"

namespace adgen {

// adgen_rule_choose_HOW_TYPE(place, brought).
inline bool isChoice(const llvm::Instruction &I) {
  auto *Call = llvm::dyn_cast<llvm::CallInst>(&I);
  llvm::StringRef Name = Call && Call->getCalledFunction() ? Call->getCalledFunction()->getName() : "";
  return Name.consume_front(RulePrefix) && Name.starts_with(ChoicePrefix);
}

} // namespace adgen
