// The last look at what Enzyme has made: where a pointer to an array that is const goes through a variable that also holds pointers to
// active ones, Enzyme takes the array for its own shadow, and the gradient would add derivatives to it. Such an entry is refused.
#include "Origins.h"
#include "Passes.h"

using namespace llvm;

namespace adgen {

static void verify(const Function &Gradient, const Function &Body, const Origins &Memory) {
  for (auto [Index, A] : enumerate(activitiesOf(Gradient))) {
    const Argument *Primal = Body.getArg(Index);
    if (A != Activity::Const || Memory.written().contains(Primal) || !Memory.written().contains(Gradient.getArg(Index)))
      continue;
    std::string Name = Primal->getName().str();
    return refuse(&Body, "the derivative with respect to '" + Name + "', which is const, would be added to '" + Name + "' itself",
                  "leave activity[\"" + Name + "\"] out, or hand the pointer on without a variable that other pointers are put in too");
  }
}

PreservedAnalyses VerifyConstants::run(Module &M, ModuleAnalysisManager &) {
  const Origins Memory(M);
  for (const Function &Gradient : M) {
    StringRef Symbol = Gradient.getName();
    if (!Symbol.consume_front(GradientPrefix) || Gradient.isDeclaration())
      continue;
    if (const Function *Body = M.getFunction((BodyPrefix + Symbol).str()))
      verify(Gradient, *Body, Memory);
  }
  return PreservedAnalyses::all();
}

} // namespace adgen
