// The last look at device code: no call of Enzyme and no undefined function is left. Prints what the driver records, as JSON:
//   {"kernels": {"SYMBOL": {"dynamic_shared": bool, "static_shared_bytes": int, "tape": bool, "tape_by_scalars": bool}}, "heap": bool}
#include "Passes.h"

#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace adgen {

static bool isProvidedByTheDevice(const Function &F) {
  return F.isIntrinsic() || is_contained({"malloc", "free", "vprintf", "__assertfail"}, F.getName());
}

static bool usesDynamicShared(const Function &Gradient) {
  return any_of(sharedNames(Gradient), [&](StringRef Name) {
    const GlobalVariable *Array = Gradient.getParent()->getNamedGlobal(Name);
    return Array && Array->isDeclaration();
  });
}

// Static shared memory of the gradient: the arrays and their shadows.
static int64_t staticSharedBytes(const Function &Gradient) {
  const Module &M = *Gradient.getParent();
  int64_t Bytes = 0;
  for (StringRef Name : sharedNames(Gradient))
    if (const GlobalVariable *Array = M.getNamedGlobal(Name); Array && !Array->isDeclaration())
      Bytes += 2 * M.getDataLayout().getTypeAllocSize(Array->getValueType());
  return Bytes;
}

// Whether what measures the tape reads no array.
static bool isTapeKnownByScalars(const Function &Gradient) {
  return Gradient.getFnAttribute(TapeAttribute).getValueAsString() == TapeByScalars;
}

PreservedAnalyses VerifyDevice::run(Module &M, ModuleAnalysisManager &) {
  json::Object Kernels;
  for (Function &F : M) {
    StringRef Symbol = F.getName();
    if (F.isDeclaration() && !F.use_empty() && !isProvidedByTheDevice(F)) {
      const auto *Call = dyn_cast<Instruction>(*F.user_begin());
      refuse(nullptr, Call ? Call->getDebugLoc() : DebugLoc(),
             ("the gradient needs '" + Symbol + "', which does not exist on the GPU").str(),
             "define the function in the file, or avoid it");
    }
    if (F.hasFnAttribute(ActivityAttribute) && isKernel(F) && Symbol.consume_back(GradientSuffix))
      Kernels[Symbol] = json::Object{{"dynamic_shared", usesDynamicShared(F)}, {"static_shared_bytes", staticSharedBytes(F)},
                                   {"tape", F.hasFnAttribute(TapeAttribute)}, {"tape_by_scalars", isTapeKnownByScalars(F)}};
  }
  json::Object Report{{"kernels", std::move(Kernels)}, {"heap", M.getNamedGlobal("adgen_heap_exhausted") != nullptr}};
  outs() << formatv("{0}", json::Value(std::move(Report))) << "\n";
  return PreservedAnalyses::all();
}

} // namespace adgen
