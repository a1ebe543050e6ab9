// Declares a pass, in its own file and in Plugin.cpp: a new pass has no other file compiled again.
#pragma once

#include "Support/Adgen.h"

#include "llvm/ADT/Statistic.h"
#include "llvm/Config/abi-breaking.h"
#include "llvm/Support/Debug.h"
#include "llvm/Support/raw_ostream.h"

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

// Counts something that a pass has done, and says to what: `adgen pipeline FILE --stats` and `--debug-only PASS` show
// it. Both are LLVM's own and need one that was built with assertions, which alone has what LLVM_DEBUG calls.
#if LLVM_ENABLE_ABI_BREAKING_CHECKS
#define ADGEN_COUNT(COUNTER, WHAT)                                                                                     \
  do {                                                                                                                 \
    ++COUNTER;                                                                                                         \
    LLVM_DEBUG(llvm::dbgs() << DEBUG_TYPE ": " << COUNTER.getDesc() << ": " << WHAT << "\n");                          \
  } while (false)
#else
#define ADGEN_COUNT(COUNTER, WHAT) ++COUNTER
#endif
