// Choices between two numbers by comparing them with each other.
#pragma once

#include "Support/Adgen.h"

#include <optional>

namespace adgen {

enum class Extreme { None, Largest, Smallest };

// The larger or the smaller one of two; which of equal ones, null where that is not known.
struct ChoiceOfTwo {
  llvm::Value *A, *B;
  Extreme Kind;
  llvm::Value *OfEqual = nullptr;
};

std::optional<ChoiceOfTwo> choiceOf(llvm::Value &V);

enum class Order { Smaller, Equal, Larger };

// What a condition says where A is larger than B, equal, or smaller; none where it depends on something else.
std::optional<bool> saysOf(const llvm::Value &Condition, const llvm::Value &A, const llvm::Value &B, Order Is);

} // namespace adgen
