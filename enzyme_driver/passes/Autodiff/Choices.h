// Choices between two numbers by comparing them with each other.
#pragma once

#include "Support/Adgen.h"

#include <optional>

namespace adgen {

enum class Extreme { None, Largest, Smallest };

// The larger or the smaller one of two; of equal ones either.
struct ChoiceOfTwo {
  llvm::Value *A, *B;
  Extreme Kind;
};

std::optional<ChoiceOfTwo> choiceOf(llvm::Value &V);

// What a condition says where A is larger than B, or smaller; none where it depends on something else.
std::optional<bool> saysOf(const llvm::Value &Condition, const llvm::Value &A, const llvm::Value &B, bool Larger);

} // namespace adgen
