// Registers the passes of Passes.def with opt: -load-pass-plugin=libadgen-passes.so -passes='adgen-...'.
#include "Support/HoldConditionalLoads.h"
#include "Support/Pass.h"

#include "llvm/Passes/PassBuilder.h"
#include "llvm/Plugins/PassPlugin.h"

using namespace llvm;

namespace adgen {

#define ADGEN_DECLARE_Plain ADGEN_DECLARE_PASS
#define ADGEN_DECLARE_Option ADGEN_DECLARE_PASS_WITH_OPTION
#define ADGEN_PASS(CLASS, NAME, TAKES, FOLDER, NEED, SUMMARY) ADGEN_DECLARE_##TAKES(CLASS);
#include "Passes.def"
#undef ADGEN_PASS

namespace {

enum Need { Optional, Required };

// Keeps the name of the pass's class, by which LLVM's -print-after knows it.
template <class Pass, Need How> struct Registered : Pass {
  using Pass::Pass;
  static bool isRequired() { return How == Required; }
};

template <class Pass> bool addPlain(StringRef Name, StringRef Wanted, ModulePassManager &MPM) {
  if (Name != Wanted)
    return false;
  MPM.addPass(Pass());
  return true;
}

// "wanted<option>" or "wanted" alone.
template <class Pass> bool addOption(StringRef Name, StringRef Wanted, ModulePassManager &MPM) {
  if (!Name.consume_front(Wanted))
    return false;
  if (!Name.empty() && !(Name.consume_front("<") && Name.consume_back(">")))
    return false;
  MPM.addPass(Pass(Name));
  return true;
}

bool parse(StringRef Name, ModulePassManager &MPM, ArrayRef<PassBuilder::PipelineElement>) {
#define ADGEN_PASS(CLASS, NAME, TAKES, FOLDER, NEED, SUMMARY)                                                          \
  if (add##TAKES<Registered<CLASS, NEED>>(Name, NAME, MPM))                                                            \
    return true;
#include "Passes.def"
#undef ADGEN_PASS
  return false;
}

void nameClasses(PassInstrumentationCallbacks &Callbacks) {
#define ADGEN_PASS(CLASS, NAME, TAKES, FOLDER, NEED, SUMMARY) Callbacks.addClassToPassName(CLASS::name(), NAME);
#include "Passes.def"
#undef ADGEN_PASS
}

} // namespace
} // namespace adgen

extern "C" LLVM_ATTRIBUTE_WEAK PassPluginLibraryInfo llvmGetPassPluginInfo() {
  return {LLVM_PLUGIN_API_VERSION, "adgen", "1", [](PassBuilder &PB) {
            PB.registerPipelineParsingCallback(adgen::parse);
            PB.registerVectorizerStartEPCallback(
                [](FunctionPassManager &FPM, OptimizationLevel) { FPM.addPass(adgen::HoldConditionalLoads()); });
            if (PassInstrumentationCallbacks *Callbacks = PB.getPassInstrumentationCallbacks())
              adgen::nameClasses(*Callbacks);
          }};
}
