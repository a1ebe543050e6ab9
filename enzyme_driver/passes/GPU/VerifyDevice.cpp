// The last look at device code: no call of Enzyme and no undefined function is left. Prints what the driver records, as
// JSON:
//   {"kernels": {"SYMBOL": {"dynamic_shared": bool, "static_shared_bytes": int, "dynamic_shadow_bytes": how many of
//                           these are dynamic all the same, "heap": bool, "tape_size_from": see Adgen.h, or null,
//                           "batch": whether there is a kernel for many launches,
//                           "lent": for which shadows a launch may lend tables, and how many times as large,
//                           "unwritten": the positions of the arguments behind which nothing is written}},
//    "tangents": the same, "seconds": the same, "cooperative": the kernels whose blocks wait for each other}
#include "Analysis/UnderlyingObjects.h"
#include "GPU/BatchKernels.h"
#include "GPU/ShadowLayout.h"
#include "Support/Derivative.h"
#include "Support/DynamicShared.h"
#include "Support/Lent.h"
#include "Support/Pass.h"

#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace adgen {

static bool isProvidedByTheDevice(const Function &F) {
  return F.isIntrinsic() || is_contained({"malloc", "free", "vprintf", "__assertfail"}, F.getName());
}

static bool usesDynamicShared(const Function &Derivative) {
  return any_of(sharedNames(Derivative), [&](StringRef Name) {
    const GlobalVariable *Array = Derivative.getParent()->getNamedGlobal(Name);
    return Array && isDynamicShared(*Array);
  });
}

// Whether threads of the gradient hand each other values there.
static bool isExchangeOf(const GlobalVariable &Array, const Function &Derivative) {
  StringRef Name = Array.getName(), Symbol = Derivative.getName();
  return Symbol.consume_back(GradientSuffix) && Name.consume_front(ExchangePrefix) && Name.consume_front(Symbol) &&
         (Name.empty() || Name.starts_with("."));
}

// Static shared memory of the derivative: the arrays and their shadows, and what threads hand each other.
static int64_t staticSharedBytes(const Function &Derivative) {
  const Module &M = *Derivative.getParent();
  int64_t Bytes = 0;
  for (StringRef Name : sharedNames(Derivative)) {
    const GlobalVariable *Array = M.getNamedGlobal(Name);
    if (!Array && Name.consume_front(CotangentsPrefix)) // in dynamic shared memory
      Array = M.getNamedGlobal(Name);
    if (Array && !Array->isDeclaration()) {
      uint64_t Its = M.getDataLayout().getTypeAllocSize(Array->getValueType());
      Bytes += Its + shadowBytes(Its);
    }
  }
  for (const GlobalVariable &Array : M.globals())
    if (isExchangeOf(Array, Derivative))
      Bytes += M.getDataLayout().getTypeAllocSize(Array.getValueType());
  return Bytes;
}

static int64_t dynamicShadowBytes(const Function &Derivative) {
  return int64_t(Derivative.getFnAttributeAsParsedInteger(MovedShadowsAttribute));
}

static bool usesHeap(const Function &Kernel) {
  return firstReached(Kernel, [](const Instruction &I) { return isCallOf(I, "malloc"); });
}

// What decides about the size of the kernel's tape; null where it has none.
static json::Value tapeSizeFrom(const Function &Kernel) {
  if (!Kernel.hasFnAttribute(TapeAttribute))
    return nullptr;
  return Kernel.getFnAttribute(TapeAttribute).getValueAsString();
}

// The same kernel for launches that lend it tables; null where there is none.
static const Function *lentVariant(const Function &Kernel) {
  StringRef Symbol = Kernel.getName();
  return Symbol.consume_back(GradientSuffix) ? Kernel.getParent()->getFunction((Symbol + LentSuffix).str()) : nullptr;
}

static json::Array lent(const Function &Kernel) {
  json::Array Found;
  SmallVector<StringRef> Tables;
  Kernel.getFnAttribute(LentAttribute).getValueAsString().split(Tables, ',', -1, /*KeepEmpty=*/false);
  for (StringRef Table : Tables) {
    auto [Shadow, Widening] = Table.split(':');
    int64_t Number = 0, Times = 0;
    Shadow.getAsInteger(10, Number), Widening.getAsInteger(10, Times);
    Found.push_back(json::Object{{"shadow", Number}, {"widening", Times}});
  }
  return Found;
}

static json::Array unwritten(const Function &Kernel, const UnderlyingObjects &Memory) {
  json::Array Found;
  for (const Argument &A : Kernel.args())
    if (A.getType()->isPointerTy() && !Memory.written().contains(nullptr) && !Memory.written().contains(&A))
      Found.push_back(A.getArgNo());
  return Found;
}

static json::Object factsOf(const Function &Kernel, const UnderlyingObjects &Memory) {
  const Function *Lent = lentVariant(Kernel);
  return json::Object{{"dynamic_shared", usesDynamicShared(Kernel)},
                      {"static_shared_bytes", std::max(staticSharedBytes(Kernel), Lent ? staticSharedBytes(*Lent) : 0)},
                      {"dynamic_shadow_bytes", dynamicShadowBytes(Kernel)},
                      {"heap", usesHeap(Kernel)},
                      {"tape_size_from", tapeSizeFrom(Kernel)},
                      {"lent", Lent ? lent(*Lent) : json::Array()},
                      {"unwritten", unwritten(Kernel, Memory)},
                      {"batch", Kernel.getParent()->getFunction((Kernel.getName() + BatchSuffix).str()) != nullptr}};
}

// Whether its blocks wait for each other, so that the driver has to be told so at a launch.
static bool waitsForGrid(const Function &Kernel) {
  return firstReached(Kernel, [](const Instruction &I) { return isCallOf(I, "llvm.nvvm.read.ptx.sreg.envreg2"); });
}

ADGEN_DECLARE_PASS(VerifyDevice);

PreservedAnalyses VerifyDevice::run(Module &M, ModuleAnalysisManager &) {
  const UnderlyingObjects Memory(M);
  json::Object Kernels, Tangents, Seconds;
  json::Array Cooperative;
  for (Function &F : M) {
    StringRef Symbol = F.getName();
    if (F.isDeclaration() && !F.use_empty() && !isProvidedByTheDevice(F)) {
      const auto *Call = dyn_cast<Instruction>(*F.user_begin());
      refuse(nullptr, Call ? Call->getDebugLoc() : DebugLoc(),
             ("the gradient needs '" + Symbol + "', which does not exist on the GPU").str(),
             "define the function in the file, or avoid it");
    }
    if (isKernel(F) && !F.isDeclaration() && waitsForGrid(F))
      Cooperative.push_back(Symbol);
    if (F.hasFnAttribute(ActivityAttribute) && isKernel(F) && Symbol.consume_back(GradientSuffix))
      Kernels[Symbol] = factsOf(F, Memory);
    else if (F.hasFnAttribute(TangentActivityAttribute) && isKernel(F) && Symbol.consume_back(TangentSuffix))
      Tangents[Symbol] = factsOf(F, Memory);
    else if (F.hasFnAttribute(TangentActivityAttribute) && isKernel(F) && Symbol.consume_back(SecondSuffix))
      Seconds[Symbol] = factsOf(F, Memory);
  }
  json::Object Report{{"kernels", std::move(Kernels)},
                      {"tangents", std::move(Tangents)},
                      {"seconds", std::move(Seconds)},
                      {"cooperative", std::move(Cooperative)}};
  outs() << formatv("{0}", json::Value(std::move(Report))) << "\n";
  return PreservedAnalyses::all();
}

} // namespace adgen
