// Brings the functions that carry tangents through gradients (the file of the option, see AdoptGradients) into the
// module of the gradients, as adgen_second_SYMBOL, with what they call. Mathematics stays to be linked with that of
// everything else.
#include "Support/Derivative.h"
#include "Support/Pass.h"

#include "llvm/IRReader/IRReader.h"
#include "llvm/Linker/Linker.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Transforms/Utils/ModuleUtils.h"

using namespace llvm;

namespace adgen {
namespace {

bool isLibrary(const Function &F) {
  StringRef Name = F.getName();
  return Name.starts_with("__nv_") ||
         (Name.consume_front(MathPrefix) && !Name.starts_with("user_") &&
          !Name.rtrim(".0123456789").ends_with("_forward")); // a number: where both modules have rules
}

// What is the other module's, or comes from libraries, is only declared.
void keepSeconds(Module &M) {
  if (GlobalVariable *Used = M.getNamedGlobal("llvm.compiler.used"))
    Used->eraseFromParent();
  for (Function &F : M) {
    if (F.isDeclaration())
      continue;
    StringRef Name = F.getName();
    if (Name.consume_front(TangentPrefix)) {
      F.setName(SecondPrefix + Name);
    } else if (isLibrary(F) || !F.hasLocalLinkage()) {
      F.deleteBody();
      F.setComdat(nullptr);
      F.setLinkage(GlobalValue::ExternalLinkage);
    }
  }
}

// What is as large as a shared array, for its cotangents.
void createCotangents(Module &M) {
  for (Function &F : M) {
    if (!F.getName().starts_with(SecondPrefix))
      continue;
    for (StringRef Name : sharedNames(F)) {
      StringRef Of = Name;
      if (!Of.consume_front(CotangentsPrefix) || M.getNamedGlobal(Name))
        continue;
      GlobalVariable &Array = *M.getNamedGlobal(Of);
      auto *Made = new GlobalVariable(M, Array.getValueType(), false, GlobalValue::ExternalLinkage,
                                      UndefValue::get(Array.getValueType()), Name, nullptr, GlobalValue::NotThreadLocal,
                                      Array.getAddressSpace());
      Made->setAlignment(Array.getAlign());
      appendToCompilerUsed(M, {Made});
    }
  }
}

} // namespace

ADGEN_DECLARE_PASS_WITH_OPTION(LinkSeconds);

PreservedAnalyses LinkSeconds::run(Module &M, ModuleAnalysisManager &) {
  SMDiagnostic Error;
  std::unique_ptr<Module> Seconds = parseIRFile(Option, Error, M.getContext());
  if (!Seconds) {
    Error.print("adgen-link-seconds", errs());
    exit(1);
  }
  keepSeconds(*Seconds);
  if (Linker::linkModules(M, std::move(Seconds)))
    exit(1);
  createCotangents(M);
  return PreservedAnalyses::none();
}

} // namespace adgen
