// Declares a pass, in its own file and in Plugin.cpp: a new pass has no other file compiled again.
#pragma once

#include "Support/Adgen.h"

#define ADGEN_PASS_RUN llvm::PreservedAnalyses run(llvm::Module &M, llvm::ModuleAnalysisManager &)

#define ADGEN_DECLARE_PASS(CLASS)                                                                                      \
  struct CLASS : llvm::PassInfoMixin<CLASS> {                                                                          \
    ADGEN_PASS_RUN;                                                                                                    \
  }
// One that takes an option, the text between < and > behind its name.
#define ADGEN_DECLARE_PASS_WITH_OPTION(CLASS)                                                                          \
  struct CLASS : llvm::PassInfoMixin<CLASS> {                                                                          \
    std::string Option;                                                                                                \
    explicit CLASS(llvm::StringRef Option) : Option(Option.str()) {}                                                   \
    ADGEN_PASS_RUN;                                                                                                    \
  }
