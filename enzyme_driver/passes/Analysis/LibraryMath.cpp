#include "Analysis/LibraryMath.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/DerivedTypes.h"

using namespace llvm;

namespace adgen {

constexpr StringLiteral OfOne[] = {"acos",  "acosh", "asin", "asinh", "atan",  "atanh", "cbrt",  "cos",
                                   "cosh",  "erf",   "erfc", "exp",   "exp10", "exp2",  "expm1", "log",
                                   "log10", "log1p", "log2", "sin",   "sinh",  "tan",   "tanh"};
constexpr StringLiteral OfTwo[] = {"atan2", "hypot", "pow"};

bool isLibraryMath(const Function &F) {
  Type *Number = F.getReturnType();
  StringRef Name = F.getName();
  bool IsFloat = Number->isFloatTy() && Name.consume_back("f");
  if (!F.isDeclaration() || !(IsFloat || Number->isDoubleTy()))
    return false;
  bool Known = F.arg_size() == 1 ? is_contained(OfOne, Name) : F.arg_size() == 2 && is_contained(OfTwo, Name);
  return Known && all_of(F.getFunctionType()->params(), [&](Type *T) { return T == Number; });
}

} // namespace adgen
