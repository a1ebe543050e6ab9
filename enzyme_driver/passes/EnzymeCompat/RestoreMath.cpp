// Enzyme writes derivatives with the host's names (cosf, coshf) and LLVM's intrinsics (llvm.cos.f32). A GPU has
// neither: both become calls of libdevice, which is linked again afterwards. What may be approximate (flag afn) becomes
// NVVM's approximate instruction again where there is one.
#include "Support/Pass.h"

#include "llvm/ADT/StringSwitch.h"

using namespace llvm;

namespace adgen {
namespace {

// libdevice's name of an intrinsic without type suffix; empty where the NVPTX back end lowers it itself.
StringRef deviceName(StringRef Intrinsic) {
  return StringSwitch<StringRef>(Intrinsic)
      .Cases({"sin", "cos", "tan", "asin", "acos", "atan", "atan2", "sinh", "cosh", "tanh"}, Intrinsic)
      .Cases({"exp", "exp2", "exp10", "log", "log2", "log10", "pow", "powi", "ldexp"}, Intrinsic)
      .Default("");
}

// NVVM's approximate form of an intrinsic on float; empty where there is none.
StringRef approximateName(const CallInst &Call, StringRef Name) {
  if (!Call.hasApproxFunc() || !Call.getType()->isFloatTy())
    return "";
  return StringSwitch<StringRef>(Name)
      .Case("sin", "llvm.nvvm.sin.approx.f")
      .Case("cos", "llvm.nvvm.cos.approx.f")
      .Case("exp2", "llvm.nvvm.ex2.approx.f32")
      .Case("log2", "llvm.nvvm.lg2.approx.f")
      .Default("");
}

std::string suffixed(StringRef Name, const Type *T) { return ("__nv_" + Name + (T->isFloatTy() ? "f" : "")).str(); }

void callDevice(CallInst &Call, const std::string &Name) {
  Module &M = *Call.getModule();
  FunctionCallee Callee = M.getOrInsertFunction(Name, Call.getFunctionType());
  auto *New = CallInst::Create(Callee, SmallVector<Value *>(Call.args()), "", Call.getIterator());
  New->setDebugLoc(Call.getDebugLoc());
  New->takeName(&Call);
  Call.replaceAllUsesWith(New);
  Call.eraseFromParent();
}

void replaceIntrinsic(Function &F, StringRef Name) {
  if (Name.empty())
    return;
  for (User *U : make_early_inc_range(F.users()))
    if (auto *Call = dyn_cast<CallInst>(U)) {
      StringRef Approximate = approximateName(*Call, Name);
      callDevice(*Call, Approximate.empty() ? suffixed(Name, Call->getType()) : Approximate.str());
    }
}

constexpr StringLiteral HostNames[] = {
    "sin",      "cos",   "tan",   "asin",  "acos",  "atan",  "atan2", "sinh",  "cosh",  "tanh",   "asinh",
    "acosh",    "atanh", "exp",   "exp2",  "exp10", "expm1", "log",   "log2",  "log10", "log1p",  "pow",
    "sqrt",     "cbrt",  "hypot", "erf",   "erfc",  "fabs",  "fmod",  "fmin",  "fmax",  "lgamma", "tgamma",
    "j0",       "j1",    "y0",    "y1",    "jn",    "yn",    "floor", "ceil",  "trunc", "round",  "rint",
    "copysign", "ldexp", "powi",  "sinpi", "cospi", "rsqrt", "logb",  "scalbn"};

bool isHostMath(const Function &F) {
  StringRef Base = F.getName();
  if (is_contained(HostNames, Base))
    return true;
  return Base.consume_back("f") && is_contained(HostNames, Base);
}

} // namespace

ADGEN_DECLARE_PASS(RestoreMath);

PreservedAnalyses RestoreMath::run(Module &M, ModuleAnalysisManager &) {
  for (Function &F : make_early_inc_range(M)) {
    if (!F.isDeclaration())
      continue;
    StringRef Name = F.getName();
    if (Name.consume_front("llvm."))
      replaceIntrinsic(F, deviceName(Name.split('.').first));
    else if (isHostMath(F))
      for (User *U : make_early_inc_range(F.users()))
        if (auto *Call = dyn_cast<CallInst>(U))
          callDevice(*Call, ("__nv_" + F.getName()).str());
  }
  return PreservedAnalyses::none();
}

} // namespace adgen
