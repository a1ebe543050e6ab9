#include "Support/AliasScopes.h"

#include "llvm/IR/Function.h"
#include "llvm/IR/IRBuilder.h"

using namespace llvm;

namespace adgen {

static void add(Instruction &Access, unsigned Kind, ArrayRef<Metadata *> Those) {
  if (!Those.empty())
    Access.setMetadata(Kind, MDNode::concatenate(Access.getMetadata(Kind), MDNode::get(Access.getContext(), Those)));
}

void addScopes(Instruction &Access, ArrayRef<Metadata *> Here, ArrayRef<Metadata *> Elsewhere) {
  add(Access, LLVMContext::MD_alias_scope, Here);
  add(Access, LLVMContext::MD_noalias, Elsewhere);
}

void declareScopes(Function &F, ArrayRef<MDNode *> Scopes) {
  IRBuilder<> B(&*F.getEntryBlock().getFirstInsertionPt());
  for (MDNode *Scope : Scopes)
    B.CreateNoAliasScopeDeclaration(MDNode::get(F.getContext(), Scope));
}

} // namespace adgen
