// Before Enzyme: names to it the libdevice functions that it has a rule for (attribute enzyme_math) and takes their
// bodies away, which are linked again afterwards, as they were. Others have rules of our own (LowerMathToRules), or are
// inlined and differentiated through their bodies. After Enzyme: all mathematics stays calls for a while.
#include "Support/Pass.h"

using namespace llvm;

namespace adgen {
namespace {

constexpr StringLiteral WithRule[] = {"sin",   "cos", "tan",  "atan",  "sinh",  "cosh", "tanh", "exp", "exp2",
                                      "expm1", "log", "log2", "log10", "log1p", "sqrt", "erf",  "erfc"};

// Fast forms differ from the exact function only in accuracy: they have its derivative.
constexpr StringLiteral Fast[] = {"fast_sinf", "fast_cosf",  "fast_tanf",  "fast_expf",
                                  "fast_logf", "fast_log2f", "fast_log10f"};

StringRef mathName(StringRef Name) {
  if (!Name.consume_front("__nv_"))
    return "";
  if (is_contained(Fast, Name))
    return Name.drop_front(StringRef("fast_").size());
  StringRef Base = Name;
  if (is_contained(WithRule, Base))
    return Name;
  return Base.consume_back("f") && is_contained(WithRule, Base) ? Name : "";
}

bool hasPointers(const Function &F) {
  return any_of(F.args(), [](const Argument &A) { return A.getType()->isPointerTy(); });
}

void setPure(Function &F) {
  F.setDoesNotThrow();
  F.setWillReturn();
  if (!hasPointers(F))
    F.setDoesNotAccessMemory();
}

} // namespace

ADGEN_DECLARE_PASS(MarkMath);

PreservedAnalyses MarkMath::run(Module &M, ModuleAnalysisManager &) {
  for (Function &F : M) {
    StringRef Name = mathName(F.getName());
    F.removeFnAttr(MathAttribute); // Enzyme's cosh, in a gradient of tanh, has that of tanh
    if (Name.empty())
      continue;
    F.deleteBody();
    F.removeFnAttr(Attribute::AlwaysInline);
    F.addFnAttr(MathAttribute, Name);
    setPure(F);
  }
  return PreservedAnalyses::none();
}

ADGEN_DECLARE_PASS(DeferMathInlining);

// The optimisations see in calls that mathematics touches no memory, and the host calls its own library instead.
PreservedAnalyses DeferMathInlining::run(Module &M, ModuleAnalysisManager &) {
  for (Function &F : M) {
    if (F.isDeclaration() || !(F.getName().starts_with("__nv_") || F.getName().starts_with(MathPrefix)))
      continue;
    F.removeFnAttr(Attribute::AlwaysInline);
    F.addFnAttr(Attribute::NoInline);
    F.addFnAttr(MathAttribute, F.getName());
    F.setNotConvergent(); // clang takes any code of the device for what lanes do together
    setPure(F);
  }
  return PreservedAnalyses::none();
}

ADGEN_DECLARE_PASS(InlineMath);

// When nothing is left to do that has to see mathematics as calls, it is inlined like everything else; but what
// libdevice keeps apart itself stays one function: a sine of a huge number takes more instructions than all others
// together.
PreservedAnalyses InlineMath::run(Module &M, ModuleAnalysisManager &) {
  for (Function &F : M) {
    F.removeFnAttr(MathAttribute);
    if (F.getName().starts_with("__internal_") && F.hasFnAttribute(Attribute::NoInline))
      F.addFnAttr(ApartAttribute);
  }
  markForInlining(M);
  return PreservedAnalyses::none();
}

} // namespace adgen
