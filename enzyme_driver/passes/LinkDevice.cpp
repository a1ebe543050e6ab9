// Links from each bitcode file of the option ("path;path") what the module refers to, as internal functions.
#include "Passes.h"

#include "llvm/IRReader/IRReader.h"
#include "llvm/Linker/Linker.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Transforms/IPO/Internalize.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace adgen {

void linkFile(Module &M, StringRef Path) {
  SMDiagnostic Error;
  std::unique_ptr<Module> Library = getLazyIRFileModule(Path, Error, M.getContext());
  if (!Library) {
    Error.print("adgen-link", errs());
    exit(1);
  }
  Library->setDataLayout(M.getDataLayout());
  Library->setTargetTriple(M.getTargetTriple());
  auto Internalize = [](Module &Destination, const StringSet<> &Linked) {
    internalizeModule(Destination, [&](const GlobalValue &Value) {
      return !Value.hasName() || !Linked.contains(Value.getName());
    });
  };
  if (Linker::linkModules(M, std::move(Library), Linker::LinkOnlyNeeded, Internalize))
    exit(1);
}

PreservedAnalyses LinkDevice::run(Module &M, ModuleAnalysisManager &) {
  SmallVector<StringRef> Paths;
  StringRef(Option).split(Paths, ';', -1, /*KeepEmpty=*/false);
  for (StringRef Path : Paths)
    linkFile(M, Path);
  return PreservedAnalyses::none();
}

} // namespace adgen
