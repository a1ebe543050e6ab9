// Runs Enzyme on a module from inside the executable that carries it. The executable loads this as a plugin and
// calls mlirGetPassPluginInfo; the work is done there and the process ends with its exit code:
//   0 done, 1 the input cannot be read, 2 the result is no valid IR, 3 the output cannot be written, 4 Enzyme reported
//   errors.
// Input and output come as ADGEN_WORKER_INPUT and ADGEN_WORKER_OUTPUT, because the executable owns the command line.
// ADGEN_WORKER_ONLY, where it is set, names the functions of Enzyme's (`__enzyme_autodiff_...`) whose calls are to be
// lowered, with commas between them; the others stay.
//
// This executable's LLVM is an older snapshot than the headers: intrinsic numbers differ, so nothing here may compare
// them.
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/DiagnosticPrinter.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Verifier.h"
#include "llvm/IRReader/IRReader.h"
#include "llvm/Pass.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"

#include <cstdlib>
#include <unistd.h>

using namespace llvm;

ModulePass *createEnzymePass(bool PostOpt); // exported by the executable

namespace {

enum Outcome { Done = 0, Unreadable = 1, Invalid = 2, Unwritable = 3, Reported = 4 };

struct Diagnostics : DiagnosticHandler {
  bool &Failed;
  explicit Diagnostics(bool &Failed) : Failed(Failed) {}

  bool handleDiagnostics(const DiagnosticInfo &Info) override {
    if (Info.getSeverity() == DS_Error) {
      Failed = true;
      DiagnosticPrinterRawOStream Printer(errs());
      errs() << "enzyme-error: ";
      Info.print(Printer);
      errs() << "\n";
    }
    return true;
  }
};

// Enzyme goes by what the name contains.
constexpr StringLiteral Asked = "__enzyme_", Later = "adgen_later_";

void rename(Module &M, StringRef From, StringRef To, ArrayRef<StringRef> But) {
  for (Function &F : M)
    if (StringRef Name = F.getName(); !is_contained(But, Name) && Name.starts_with(From))
      F.setName(To + Name.drop_front(From.size()).str());
}

Outcome run(const char *Input, const char *Output, const char *Only) {
  LLVMContext &Context = *new LLVMContext(); // leaves with the process
  bool Failed = false;
  SMDiagnostic Error;
  std::unique_ptr<Module> M = parseIRFile(Input, Error, Context);
  if (!M) {
    Error.print("adgen-worker", errs());
    return Unreadable;
  }
  Context.setDiagnosticHandler(std::make_unique<Diagnostics>(Failed));
  SmallVector<StringRef> Wanted;
  StringRef(Only ? Only : "").split(Wanted, ',', /*MaxSplit=*/-1, /*KeepEmpty=*/false);
  for (StringRef Name : Wanted)
    if (!M->getFunction(Name)) {
      errs() << "enzyme-error: nothing asks for " << Name << "\n";
      return Reported;
    }
  if (Only)
    rename(*M, Asked, Later, Wanted);
  createEnzymePass(/*PostOpt=*/false)->runOnModule(*M);
  if (Only)
    rename(*M, Later, Asked, Wanted);
  if (Failed)
    return Reported;
  if (verifyModule(*M, &errs()))
    return Invalid;
  std::error_code Problem;
  raw_fd_ostream OS(Output, Problem);
  if (Problem)
    return Unwritable;
  M->print(OS, nullptr);
  return Done;
}

struct PluginInfo {
  unsigned APIVersion;
  const char *Name, *Version;
  void (*Register)();
};

} // namespace

extern "C" PluginInfo mlirGetPassPluginInfo() {
  const char *Input = std::getenv("ADGEN_WORKER_INPUT"), *Output = std::getenv("ADGEN_WORKER_OUTPUT");
  if (!Input || !Output)
    _exit(Unreadable);
  Outcome Code = run(Input, Output, std::getenv("ADGEN_WORKER_ONLY"));
  errs().flush();
  _exit(Code);
}
