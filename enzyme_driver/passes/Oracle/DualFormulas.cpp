// Which functions of mathematics have a formula for their tangents in rules/duals.cu, or in DualNumbers.cpp.
#include "Oracle/DualNumbers.h"

#include "llvm/ADT/StringSwitch.h"

using namespace llvm;

namespace adgen {
namespace {

constexpr StringLiteral Named[] = {
    "sin",       "cos",      "tan",     "asin",       "acos",          "atan",          "sinh",      "cosh",
    "tanh",      "asinh",    "acosh",   "atanh",      "sinpi",         "cospi",         "tanpi",     "exp",
    "exp2",      "exp10",    "expm1",   "log",        "log2",          "log10",         "log1p",     "sqrt",
    "rsqrt",     "cbrt",     "rcbrt",   "pow",        "powi",          "erf",           "erfc",      "erfcx",
    "erfinv",    "erfcinv",  "normcdf", "normcdfinv", "lgamma",        "tgamma",        "j0",        "j1",
    "jn",        "y0",       "y1",      "yn",         "cyl_bessel_i0", "cyl_bessel_i1", "atan2",     "hypot",
    "rhypot",    "norm3d",   "rnorm3d", "norm4d",     "rnorm4d",       "fmod",          "remainder", "fdim",
    "copysign",  "fabs",     "fmax",    "fmin",       "fma",           "ldexp",         "scalbn",    "scalbln",
    "nextafter", "saturate", "sincos",  "frexp",      "modf",          "remquo",        "floor",     "ceil",
    "trunc",     "round",    "rint",    "nearbyint",  "roundeven",     "logb"};

// Whose results are numbers without a derivative are among those above; these are integers.
constexpr StringLiteral OfIntegers[] = {"ilogb",     "llrint",  "llround", "lrint",   "lround",  "isnan",   "isinf",
                                        "isfinited", "finitef", "signbit", "__isnan", "__isinf", "__finite"};

// Without the suffix of float, or of long double.
StringRef withoutType(StringRef Name) {
  if (is_contained(Named, Name) || is_contained(OfIntegers, Name))
    return Name;
  StringRef Base = Name;
  if ((Base.consume_back("f") || (Base = Name).consume_back("l") || (Base = Name).consume_back("d")) &&
      (is_contained(Named, Base) || is_contained(OfIntegers, Base)))
    return Base;
  return "";
}

// libdevice's own words for what has another name in the C library.
StringRef ofLibdevice(StringRef Name) {
  StringRef Other =
      StringSwitch<StringRef>(Name)
          .Case("saturatef", "saturate")
          .Cases({"frsqrt_rn"}, "rsqrt")
          .Cases({"fsqrt_rn", "fsqrt_rz", "fsqrt_rd", "fsqrt_ru", "dsqrt_rn", "dsqrt_rz", "dsqrt_rd", "dsqrt_ru"},
                 "sqrt")
          .Default("");
  if (!Other.empty())
    return Other;
  Name.consume_front("fast_");
  return withoutType(Name);
}

// Of an intrinsic of LLVM: "llvm.sin.f32", "llvm.nvvm.tanh.approx.f32".
StringRef ofIntrinsic(StringRef Name) {
  Name.consume_front("llvm.");
  bool Nvidia = Name.consume_front("nvvm.");
  StringRef Operation = Name.split('.').first;
  if (Nvidia)
    return StringSwitch<StringRef>(Operation)
        .Case("tanh", "tanh")
        .Case("ex2", "exp2")
        .Case("lg2", "log2")
        .Cases({"sin"}, "sin")
        .Cases({"cos"}, "cos")
        .Case("rsqrt", "rsqrt")
        .Default("");
  return is_contained(Named, Operation) ? Operation : "";
}

} // namespace

StringRef dualFormula(const Function &F) {
  StringRef Name = F.getName();
  if (F.isIntrinsic())
    return ofIntrinsic(Name);
  if (Name.consume_front("__nv_"))
    return ofLibdevice(Name);
  return F.isDeclaration() ? withoutType(Name) : "";
}

} // namespace adgen
