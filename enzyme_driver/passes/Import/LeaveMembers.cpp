// What is indexed from the address of a member, (&v.x)[k], is any of the members beside it, as vectors of graphics and
// of CUDA are indexed. For clang the access stays one of that member, so that LLVM takes it for distinct from the
// others: what was stored there is dropped or forwarded past it. Such an access is said to be of its type alone.
#include "Support/Pass.h"

#include "llvm/IR/InstIterator.h"
#include "llvm/IR/MDBuilder.h"

using namespace llvm;

namespace adgen {
namespace {

// Where the last member begins of the type that a tag names; behind it lies no other.
uint64_t lastMember(const MDNode &Type) {
  unsigned Count = Type.getNumOperands();
  auto *Offset = Count < 3 ? nullptr : mdconst::dyn_extract<ConstantInt>(Type.getOperand(Count - 1));
  return Offset ? Offset->getZExtValue() : 0;
}

// By an index of something smaller than an object of that type.
bool leavesMember(const Value *Pointer, const MDNode &Type, const DataLayout &Layout) {
  while (true) {
    Pointer = Pointer->stripPointerCasts();
    auto *Address = dyn_cast<GEPOperator>(Pointer);
    if (!Address)
      return false;
    auto *First = dyn_cast<Constant>(Address->getOperand(1));
    if (!First || !First->isNullValue())
      return Layout.getTypeAllocSize(Address->getSourceElementType()) <= lastMember(Type);
    Pointer = Address->getPointerOperand();
  }
}

// In the form "object, accessed, offset" that clang writes by default.
void forget(Instruction &I, const Value &Pointer) {
  const MDNode *Tag = I.getMetadata(LLVMContext::MD_tbaa);
  if (!Tag || Tag->getNumOperands() < 3 || !isa<MDNode>(Tag->getOperand(0)))
    return;
  auto *Object = cast<MDNode>(Tag->getOperand(0)), *Accessed = cast<MDNode>(Tag->getOperand(1));
  if (Object != Accessed && leavesMember(&Pointer, *Object, I.getDataLayout()))
    I.setMetadata(LLVMContext::MD_tbaa, MDBuilder(I.getContext()).createTBAAStructTagNode(Accessed, Accessed, 0));
}

} // namespace

ADGEN_DECLARE_PASS(LeaveMembers);

PreservedAnalyses LeaveMembers::run(Module &M, ModuleAnalysisManager &) {
  for (Function &F : M)
    for (Instruction &I : instructions(F))
      if (const Value *Pointer = getLoadStorePointerOperand(&I))
        forget(I, *Pointer);
  return PreservedAnalyses::none();
}

} // namespace adgen
