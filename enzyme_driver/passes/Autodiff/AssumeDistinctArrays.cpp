// Says by alias scopes what the runtime has checked before it calls a gradient: the arrays that parameters and the
// pointers in structs by value lead to do not overlap if one of them is written, and no shadow overlaps anything. Only
// a
// `__restrict__` of the user's says so otherwise, and the pointers in a struct cannot have one. What a pointer leads to
// that was loaded from an array is not known, and may be any of them; shared memory and what Enzyme keeps are apart
// from arrays, not in themselves. The struct itself is a copy that nobody else has.
#include "Analysis/ArrayRoots.h"
#include "Support/AliasScopes.h"
#include "Support/Pass.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/MDBuilder.h"

#include <map>

#define DEBUG_TYPE "adgen-assume-distinct-arrays"

using namespace llvm;

STATISTIC(NumAccesses, "Number of accesses told apart");

namespace adgen {
namespace {

const Value *pointerOf(const Instruction &I) {
  if (const Value *Pointer = getLoadStorePointerOperand(&I))
    return Pointer;
  return isa<AtomicRMWInst, AtomicCmpXchgInst>(I) ? I.getOperand(0) : nullptr;
}

class Scopes {
public:
  explicit Scopes(Function &F) : F(F), Roots(F) {}

  void run() {
    for (Argument &A : F.args())
      if (Roots.isStruct(A))
        A.addAttr(Attribute::NoAlias);
    for (Instruction &I : instructions(F))
      if (const Value *Pointer = pointerOf(I))
        if (auto Led = Roots.of(*Pointer))
          Accesses.push_back({&I, *Led});
    for (const auto &[Access, Led] : Accesses)
      for (const ArrayRoot &Root : Led)
        if (MDNode *&Scope = Of[Root]; !Scope)
          Scope = newScope();
    if (Of.size() < 2)
      return;
    declareScopes(F, to_vector(make_second_range(Of)));
    for (const auto &[Access, Led] : Accesses) {
      SmallVector<Metadata *> Here, Elsewhere;
      for (auto &[Root, Scope] : Of)
        (is_contained(Led, Root) ? Here : Elsewhere).push_back(Scope);
      ADGEN_COUNT(NumAccesses, *Access);
      addScopes(*Access, Here, Elsewhere);
    }
  }

private:
  MDNode *newScope() {
    MDBuilder B(F.getContext());
    if (!Domain)
      Domain = B.createAnonymousAliasScopeDomain("distinct arrays");
    return B.createAnonymousAliasScope(Domain);
  }

  Function &F;
  ArrayRoots Roots;
  MDNode *Domain = nullptr;
  MapVector<ArrayRoot, MDNode *, std::map<ArrayRoot, unsigned>> Of;
  SmallVector<std::pair<Instruction *, SmallVector<ArrayRoot, 2>>> Accesses;
};

} // namespace

ADGEN_DECLARE_PASS(AssumeDistinctArrays);

PreservedAnalyses AssumeDistinctArrays::run(Module &M, ModuleAnalysisManager &) {
  for (Function &F : M)
    if (!F.isDeclaration() && F.hasFnAttribute(ActivityAttribute) && F.getName().starts_with(GradientPrefix))
      Scopes(F).run();
  return PreservedAnalyses::none();
}

} // namespace adgen
