// In C++: text that a function writes (std::cout << x, std::ostringstream, fputs) has no derivative. What libstdc++
// does for output is left to it and counts as inactive: clang shows the bodies of what is compiled in libstdc++, and
// Enzyme stops in them. What only headers have stays a function of its own.
#include "Support/Pass.h"

using namespace llvm;

namespace adgen {
namespace {

constexpr StringLiteral Members[] = {"_ZNSo",
                                     "_ZNKSo", // std::ostream
                                     "_ZNSt8ios_base",
                                     "_ZNKSt8ios_base",
                                     "_ZNSt9basic_ios",
                                     "_ZNKSt9basic_ios",
                                     "_ZNSt6locale",
                                     "_ZNKSt6locale",
                                     "_ZNSt5ctypeIcE",
                                     "_ZNKSt5ctypeIcE",
                                     "_ZNSt14basic_ofstream",
                                     "_ZNKSt14basic_ofstream",
                                     "_ZNSt7__cxx1119basic_ostringstream",
                                     "_ZNKSt7__cxx1119basic_ostringstream",
                                     "_ZSt16__ostream_insert",
                                     "_ZSt4endlI",
                                     "_ZSt4endsI",
                                     "_ZSt5flushI"};

constexpr StringLiteral OfC[] = {"printf", "fprintf", "puts",   "fputs", "putchar", "putc",
                                 "fputc",  "fwrite",  "fflush", "fopen", "fclose",  "perror"};

constexpr StringLiteral Streams[] = {"_ZSt4cout", "_ZSt4cerr", "_ZSt4clog"};

bool writesText(StringRef Name) {
  return is_contained(OfC, Name) || any_of(Members, [&](StringRef Member) { return Name.starts_with(Member); }) ||
         (Name.starts_with("_ZStls") && Name.contains("basic_ostream"));
}

} // namespace

ADGEN_DECLARE_PASS(MarkIOInactive);

PreservedAnalyses MarkIOInactive::run(Module &M, ModuleAnalysisManager &) {
  for (Function &F : M) {
    if (!writesText(F.getName()))
      continue;
    if (F.hasAvailableExternallyLinkage())
      F.deleteBody();
    if (!F.isDeclaration()) {
      F.removeFnAttr(Attribute::AlwaysInline);
      F.addFnAttr(Attribute::NoInline);
      F.addFnAttr(ApartAttribute);
    }
    F.addFnAttr("enzyme_inactive");
  }
  for (StringRef Name : Streams)
    if (GlobalVariable *Stream = M.getNamedGlobal(Name))
      Stream->setMetadata("enzyme_inactive", MDNode::get(M.getContext(), {}));
  return PreservedAnalyses::none();
}

} // namespace adgen
