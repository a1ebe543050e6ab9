// Which of a gradient's arguments memory belongs to: an array that a parameter or a pointer in a struct by value leads
// to, or the shadow of one. The runtime checks that two of them do not overlap, unless both are only read.
#pragma once

#include "Support/Adgen.h"

#include <optional>

namespace adgen {

// A parameter or its shadow, and where in the struct that it stands for the array's pointer lies; or memory of a kind.
struct ArrayRoot {
  enum Kind : int64_t { SharedArrays, SharedShadows, Caches }; // without an argument
  static constexpr int64_t Itself = -1;                        // the struct
  const llvm::Argument *Of;
  int64_t Held;

  bool operator==(const ArrayRoot &Other) const { return Of == Other.Of && Held == Other.Held; }
  bool operator<(const ArrayRoot &Other) const { return std::tie(Of, Held) < std::tie(Other.Of, Other.Held); }
};

class ArrayRoots {
public:
  // Of a gradient, which is one function.
  explicit ArrayRoots(const llvm::Function &Gradient);
  // What stands for a copy of a struct, or of its shadow, whose pointers nobody changes.
  bool isStruct(const llvm::Argument &A) const { return Kinds[A.getArgNo()] == Kind::Struct; }
  // Whether it is the shadow of an array.
  bool isShadow(const ArrayRoot &Root) const {
    return Root.Of && Root.Held >= 0 &&
           (Root.Of->hasAttribute(ShadowAttribute) || (isStruct(*Root.Of) && Root.Of->getArgNo() >= Parameters));
  }
  // Of all that the pointer may lead to; nothing where that is not all known.
  std::optional<llvm::SmallVector<ArrayRoot, 2>> of(const llvm::Value &Pointer) const;

private:
  enum class Kind { Array, Struct, Shared, Unknown };
  std::optional<ArrayRoot> ofObject(const llvm::Value &Object) const;

  const llvm::Function &F;
  llvm::SmallVector<Kind> Kinds; // of arguments
  unsigned Parameters;           // of the primal
};

// Shadows of arrays with which a gradient does nothing but accumulate into them.
class AccumulatedShadows {
public:
  explicit AccumulatedShadows(llvm::Function &Gradient);
  // Whether the pointer leads to such shadows alone.
  bool contain(const llvm::Value &Pointer) const;

private:
  void meet(const llvm::Value &Pointer);

  ArrayRoots Roots;
  llvm::SmallVector<ArrayRoot> Others; // with which more is done
  bool MayBeAny = false;               // something unknown may be done with any of them
};

} // namespace adgen
