// Links from each bitcode file of the option ("path;path") what the module refers to, as internal functions.
#include "Support/Pass.h"

#include "llvm/IRReader/IRReader.h"
#include "llvm/Linker/Linker.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Transforms/IPO/Internalize.h"

using namespace llvm;

namespace adgen {

static void forgetProcessor(Module &Library) {
  for (Function &F : Library) {
    F.removeFnAttr("target-cpu");
    F.removeFnAttr("target-features");
  }
}

void linkFile(Module &M, StringRef Path) {
  SMDiagnostic Error;
  std::unique_ptr<Module> Library = getLazyIRFileModule(Path, Error, M.getContext());
  if (!Library) {
    Error.print("adgen-link-libraries", errs());
    exit(1);
  }
  Library->setDataLayout(M.getDataLayout());
  if (Library->getTargetTriple().getArch() != M.getTargetTriple().getArch())
    forgetProcessor(*Library);
  Library->setTargetTriple(M.getTargetTriple());
  auto Internalize = [](Module &Destination, const StringSet<> &Linked) {
    internalizeModule(Destination,
                      [&](const GlobalValue &Value) { return !Value.hasName() || !Linked.contains(Value.getName()); });
  };
  if (Linker::linkModules(M, std::move(Library), Linker::LinkOnlyNeeded, Internalize))
    exit(1);
}

ADGEN_DECLARE_PASS_WITH_OPTION(LinkLibraries);

PreservedAnalyses LinkLibraries::run(Module &M, ModuleAnalysisManager &) {
  SmallVector<StringRef> Paths;
  StringRef(Option).split(Paths, ';', -1, /*KeepEmpty=*/false);
  for (StringRef Path : Paths)
    linkFile(M, Path);
  return PreservedAnalyses::none();
}

} // namespace adgen
