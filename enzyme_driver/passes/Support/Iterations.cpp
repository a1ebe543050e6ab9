#include "Support/Iterations.h"

using namespace llvm;

namespace adgen {

bool isReverse(const BasicBlock &Block) { return Block.getName().starts_with("invert"); }

bool isOfGradient(const Function &F) {
  return F.getName().starts_with(ReversePrefix) || F.getName().ends_with((GradientSuffix + "_call").str());
}

} // namespace adgen
