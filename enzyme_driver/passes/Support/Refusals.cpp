#include "Support/Adgen.h"

#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace adgen {

static void print(const Function *Entry, StringRef File, unsigned Line, unsigned Column, StringRef Reason,
                  StringRef Hint) {
  json::Object Refusal{{"entry", Entry ? symbolOf(*Entry) : ""},
                       {"file", File},
                       {"line", int64_t(Line)},
                       {"column", int64_t(Column)},
                       {"reason", Reason},
                       {"hint", Hint}};
  if (Entry && carriesTangents(*Entry)) // the gradient may do all the same
    Refusal["mode"] = Entry->getName().starts_with(DirectionsPrefix) ? "directions" : "forward";
  errs() << "adgen-refusal: " << json::Value(std::move(Refusal)) << "\n";
}

static std::string pathOf(const DIFile *File) {
  if (!File)
    return "";
  if (File->getFilename().starts_with("/"))
    return File->getFilename().str();
  return (File->getDirectory() + "/" + File->getFilename()).str();
}

// What was inlined is blamed on the line of the user's own file.
static const DILocation *blamed(const DebugLoc &Where) {
  const DILocation *Place = Where.get();
  while (const DILocation *Caller = Place ? Place->getInlinedAt() : nullptr)
    Place = Caller;
  return Place;
}

std::string placeOf(const DebugLoc &Where) {
  const DILocation *Place = blamed(Where);
  return Place ? (Twine(Place->getLine()) + ":" + pathOf(Place->getFile())).str() : "0:";
}

void refuse(const Function *Entry, const DebugLoc &Where, StringRef Reason, StringRef Hint) {
  const DILocation *Place = blamed(Where);
  if (!Place)
    return refuse(Entry, Reason, Hint);
  print(Entry, pathOf(Place->getFile()), Place->getLine(), Place->getColumn(), Reason, Hint);
}

void refuse(const Function *Entry, StringRef Reason, StringRef Hint) {
  const DISubprogram *Program = Entry ? Entry->getSubprogram() : nullptr;
  print(Entry, Program ? pathOf(Program->getFile()) : "", Program ? Program->getLine() : 0, 0, Reason, Hint);
}

} // namespace adgen
