#include "Analysis/Undo.h"

#include "llvm/Transforms/Utils/ModuleUtils.h"

using namespace llvm;

namespace adgen {

Undo declareUndo(Module &M, StringRef Name, ArrayRef<Type *> Operands, Type *Kept) {
  LLVMContext &C = M.getContext();
  Type *Pointer = PointerType::getUnqual(C), *Void = Type::getVoidTy(C);
  SmallVector<Type *> Primal{Pointer}, Derivative{Pointer, Pointer};
  append_range(Primal, Operands);
  for (Type *Operand : Operands)
    Derivative.append(2, Operand);
  std::string Full = (UndoPrefix + Name).str();
  bool IsNew = !M.getFunction(Full);
  auto Declare = [&](const Twine &Part, Type *Result, ArrayRef<Type *> Types) {
    auto *F =
        cast<Function>(M.getOrInsertFunction((Full + Part).str(), FunctionType::get(Result, Types, false)).getCallee());
    F->setDoesNotThrow();
    F->addFnAttr(Attribute::NoInline);
    return F;
  };
  Undo Made{Declare("", Void, Primal), Declare("_augmented", Kept ? Kept : Void, Derivative), nullptr, IsNew};
  Made.Primal->setMemoryEffects(MemoryEffects::argMemOnly());
  for (Argument &A : Made.Primal->args())
    if (A.getType()->isPointerTy())
      A.addAttr(Attribute::getWithCaptureInfo(C, CaptureInfo::none()));
  if (Kept)
    Derivative.push_back(Kept);
  Made.Reverse = Declare("_reverse", Void, Derivative);
  if (!IsNew)
    return Made;
  for (auto [Kind, Function] : {std::pair("enzyme_augment", Made.Augmented), {"enzyme_gradient", Made.Reverse}}) {
    BasicBlock::Create(C, "entry", Function);
    appendToCompilerUsed(M, {Function}); // metadata alone does not keep it
    Made.Primal->setMetadata(Kind, MDTuple::get(C, {ValueAsMetadata::get(Function)}));
  }
  if (!Kept)
    ReturnInst::Create(C, &Made.Augmented->getEntryBlock());
  return Made;
}

void definePrimalsOfUndos(Module &M) {
  for (Function &F : M)
    if (F.isDeclaration() && F.getName().starts_with(UndoPrefix))
      ReturnInst::Create(M.getContext(), BasicBlock::Create(M.getContext(), "entry", &F));
}

} // namespace adgen
