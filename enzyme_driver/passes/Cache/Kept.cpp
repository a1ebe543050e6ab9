#include "Cache/Kept.h"

using namespace llvm;

namespace adgen {

KeptMemory::KeptMemory(Module &M) {
  LLVMContext &C = M.getContext();
  auto *Pointer = PointerType::getUnqual(C);
  Type *Void = Type::getVoidTy(C);
  Keep = M.getOrInsertFunction("adgen_kept_alloc", Pointer, Type::getInt64Ty(C));
  Free = M.getOrInsertFunction("adgen_kept_free", Void, Pointer);
  Mark = M.getOrInsertFunction("adgen_kept_mark", Pointer);
  Release = M.getOrInsertFunction("adgen_kept_release", Void, Pointer);
  for (FunctionCallee Each : {Keep, Free, Mark, Release}) {
    auto *F = cast<Function>(Each.getCallee());
    F->setDoesNotThrow();
    F->setWillReturn();
  }
  auto *Allocates = cast<Function>(Keep.getCallee()), *Frees = cast<Function>(Free.getCallee());
  for (Function *F : {Allocates, Frees})
    F->addFnAttr("alloc-family", "adgen_kept");
  Allocates->setReturnDoesNotAlias();
  Allocates->addFnAttr(Attribute::getWithAllocSizeArgs(C, 0, std::nullopt));
  Allocates->addFnAttr(
      Attribute::get(C, Attribute::AllocKind, uint64_t(AllocFnKind::Alloc | AllocFnKind::Uninitialized)));
  Frees->addFnAttr(Attribute::get(C, Attribute::AllocKind, uint64_t(AllocFnKind::Free)));
  Frees->addParamAttr(0, Attribute::AllocatedPointer);
}

} // namespace adgen
