// Says of calls of the C library's mathematics which function of its vector library does the same for a whole register,
// so that loops with such calls can be vectorised. The option is how many bits a register has: 128 (SSE) or 256 (AVX2).
// The vector functions are off by up to four units in the last place, which is what CUDA allows its own in single
// precision.
#include "Analysis/LibraryMath.h"
#include "Support/Pass.h"

#include "llvm/IR/DerivedTypes.h"
#include "llvm/IR/VFABIDemangler.h"
#include "llvm/Transforms/Utils/ModuleUtils.h"

#define DEBUG_TYPE "adgen-vector-math"

using namespace llvm;

STATISTIC(NumCalls, "Number of calls of mathematics that have variants for vectors");

namespace adgen {
namespace {

// The library's names are those of x86's vector ABI: b for SSE, d for AVX2.
Function *declare(Function &Scalar, unsigned Lanes, char Registers) {
  Module &M = *Scalar.getParent();
  auto *Vector = FixedVectorType::get(Scalar.getReturnType(), Lanes);
  SmallVector<Type *> Parameters(Scalar.arg_size(), Vector);
  std::string Name =
      formatv("_ZGV{0}N{1}{2}_{3}", Registers, Lanes, std::string(Scalar.arg_size(), 'v'), Scalar.getName());
  auto *F = cast<Function>(M.getOrInsertFunction(Name, FunctionType::get(Vector, Parameters, false)).getCallee());
  F->setDoesNotThrow();
  F->setWillReturn();
  F->setDoesNotAccessMemory();
  appendToCompilerUsed(M, {F});
  return F;
}

void describe(Function &Scalar, unsigned Bits) {
  SmallVector<std::string, 2> Variants;
  for (auto [Width, Registers] : {std::pair(128u, 'b'), std::pair(256u, 'd')}) {
    if (Width > Bits)
      continue;
    unsigned Lanes = Width / Scalar.getReturnType()->getScalarSizeInBits();
    Function *Vector = declare(Scalar, Lanes, Registers);
    Variants.push_back(formatv("_ZGV_LLVM_N{0}{1}_{2}({3})", Lanes, std::string(Scalar.arg_size(), 'v'),
                               Scalar.getName(), Vector->getName()));
  }
  for (User *U : Scalar.users())
    if (auto *Call = dyn_cast<CallInst>(U); Call && Call->getCalledFunction() == &Scalar) {
      ADGEN_COUNT(NumCalls, *Call);
      VFABI::setVectorVariantNames(Call, Variants);
    }
}

} // namespace

ADGEN_DECLARE_PASS_WITH_OPTION(VectorMath);

PreservedAnalyses VectorMath::run(Module &M, ModuleAnalysisManager &) {
  unsigned Bits = 0;
  if (StringRef(Option).getAsInteger(10, Bits) || (Bits != 128 && Bits != 256))
    report_fatal_error("adgen-vector-math takes the bits of a register, 128 or 256");
  SmallVector<Function *> Found;
  for (Function &F : M)
    if (isLibraryMath(F))
      Found.push_back(&F);
  for (Function *F : Found)
    describe(*F, Bits);
  return PreservedAnalyses::none();
}

} // namespace adgen
