#include "Import/MathRules.h"

#include "llvm/Support/raw_ostream.h"
#include "llvm/Transforms/Utils/ModuleUtils.h"

using namespace llvm;

namespace adgen {

Function *declarePure(Module &M, const Twine &Name, Type *Result, ArrayRef<Type *> Parameters) {
  auto *Type = FunctionType::get(Result, Parameters, false);
  auto *F = cast<Function>(M.getOrInsertFunction(Name.str(), Type).getCallee());
  F->setDoesNotThrow();
  F->setWillReturn();
  F->setDoesNotAccessMemory();
  return F;
}

// One struct for all rules with such arguments: calls keep the type of the definition that is linked, and can be
// inlined. It has a name, as in the rule's own module.
static StructType *cotangentsOf(Type *Arguments) {
  std::string Name;
  raw_string_ostream(Name) << "adgen.cotangents." << *Arguments;
  StructType *Known = StructType::getTypeByName(Arguments->getContext(), Name);
  return Known ? Known : StructType::create({Arguments}, Name);
}

// The function itself serves as its augmented form: it has no tape.
Function *declareMathRule(Module &M, StringRef Name, Type *Result, Type *Arguments) {
  LLVMContext &Context = M.getContext();
  std::string Full = (MathPrefix + Name).str();
  if (Function *F = M.getFunction(Full))
    return F;
  Function *F = declarePure(M, Full, Result, {Arguments});
  Function *Reverse = declarePure(M, Full + "_reverse", cotangentsOf(Arguments), {Arguments, Result});
  appendToCompilerUsed(M, {F, Reverse}); // metadata alone does not keep them
  F->setMetadata("enzyme_augment", MDTuple::get(Context, {ValueAsMetadata::get(F)}));
  F->setMetadata("enzyme_gradient", MDTuple::get(Context, {ValueAsMetadata::get(Reverse)}));
  return F;
}

} // namespace adgen
