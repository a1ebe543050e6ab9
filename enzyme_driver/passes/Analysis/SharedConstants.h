// Which shared arrays are constants to the differentiation (FindSharedConstants), and which values are.
#pragma once

#include "Support/Adgen.h"

#include "llvm/ADT/SmallPtrSet.h"

namespace adgen {

// Function attribute of a body: the numbers of its shared arrays that are constants, "0:2".
inline constexpr llvm::StringLiteral SharedConstantsAttribute = "adgen-shared-constants";

// Whether a number of floating point is computed from constants alone. `IsConstant` is asked about what is not
// computed: arguments, what is loaded, results of calls.
bool isMadeOf(const llvm::Value *Number, llvm::function_ref<bool(const llvm::Value &)> IsConstant);

class Constants {
public:
  // The shared arrays that the body's attribute names are constants.
  Constants(const llvm::Function &Body, llvm::ArrayRef<Activity> Activities);
  // These arrays are.
  Constants(llvm::ArrayRef<const llvm::Argument *> Arrays, llvm::ArrayRef<Activity> Activities)
      : Activities(Activities), Arrays(Arrays.begin(), Arrays.end()) {}

  bool isArray(const llvm::Argument *A) const { return Arrays.contains(A); }
  // Whether a number of floating point depends on nothing that has a derivative.
  bool isConstant(const llvm::Value *V) const;

private:
  bool isLoadOfConstant(const llvm::LoadInst &Load) const;

  llvm::SmallVector<Activity> Activities;
  llvm::SmallPtrSet<const llvm::Argument *, 4> Arrays;
};

// The activities of a body's parameters; none where no gradient is asked for.
llvm::SmallVector<Activity> knownActivities(const llvm::Function &Body);

} // namespace adgen
