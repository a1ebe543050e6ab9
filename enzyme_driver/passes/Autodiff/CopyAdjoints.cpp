// Where memory is copied as a whole (memcpy, memmove), Enzyme adds the cotangent of the copy to that of the original by
// a function of its own, `__enzyme_memcpyadd_…`, with plain additions also where threads meet, and in the wrong order
// where the two overlap. Enzyme takes a function of that name that is there already: ours are there first, and become
// loops once it has run.
#include "Support/OpenMP.h"
#include "Support/Pass.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/TargetParser/Triple.h"
#include "llvm/Transforms/Utils/Cloning.h"

using namespace llvm;

namespace adgen {
namespace {

constexpr StringLiteral EnzymePrefix = "__enzyme_memcpyadd_", AdjointPrefix = "adgen_copy_adjoint_";
constexpr uint64_t LargestAlignment = 16; // that Enzyme sees, and so has in a name

// Enzyme's names of the types of numbers.
SmallVector<std::pair<StringRef, Type *>> numbers(LLVMContext &C) {
  return {{"half", Type::getHalfTy(C)},
          {"bf16", Type::getBFloatTy(C)},
          {"float", Type::getFloatTy(C)},
          {"double", Type::getDoubleTy(C)},
          {"x87d", Type::getX86_FP80Ty(C)}};
}

FunctionCallee adjointOf(Module &M, StringRef Number) {
  LLVMContext &C = M.getContext();
  Type *Pointer = PointerType::getUnqual(C);
  return M.getOrInsertFunction((AdjointPrefix + Number).str(), Type::getVoidTy(C), Pointer, Pointer,
                               Type::getInt64Ty(C));
}

void define(Module &M, StringRef Number, uint64_t To, uint64_t From) {
  FunctionCallee Adjoint = adjointOf(M, Number);
  std::string Name = (EnzymePrefix + Number + "da" + Twine(To) + "sa" + Twine(From)).str();
  Function *F = Function::Create(Adjoint.getFunctionType(), GlobalValue::InternalLinkage, Name, M);
  IRBuilder<> B(BasicBlock::Create(M.getContext(), "entry", F));
  B.CreateCall(Adjoint, {F->getArg(0), F->getArg(1), F->getArg(2)});
  B.CreateRetVoid();
}

// Asks Enzyme for no alignment that there is no function for. To enlarge memory is to copy it.
bool limitAlignments(Module &M) {
  Function *Enlarge = M.getFunction("realloc");
  bool Any = Enlarge && !Enlarge->use_empty();
  for (Function &F : M)
    for (Instruction &I : instructions(F))
      if (auto *Copy = dyn_cast<MemTransferInst>(&I)) {
        Any = true;
        if (Copy->getDestAlign().valueOrOne() > LargestAlignment)
          Copy->setDestAlignment(Align(LargestAlignment));
        if (Copy->getSourceAlign().valueOrOne() > LargestAlignment)
          Copy->setSourceAlignment(Align(LargestAlignment));
      }
  return Any;
}

// The loop over the copied elements, from the first to the last or back.
void addLoop(Function &F, Type *Number, bool Shared, bool Backwards, BasicBlock *Before, BasicBlock *After) {
  Value *Copy = F.getArg(0), *Original = F.getArg(1), *Count = F.getArg(2);
  BasicBlock *Body = BasicBlock::Create(F.getContext(), Backwards ? "back" : "forth", &F);
  IRBuilder<> B(Body);
  PHINode *Done = B.CreatePHI(B.getInt64Ty(), 2, "done");
  Value *Next = B.CreateNUWAdd(Done, B.getInt64(1), "next");
  Value *Index = Backwards ? B.CreateSub(Count, Next, "index") : Done;
  Value *From = B.CreateInBoundsGEP(Number, Copy, Index), *Into = B.CreateInBoundsGEP(Number, Original, Index);
  Align Alignment = F.getDataLayout().getABITypeAlign(Number);
  Value *Cotangent = B.CreateAlignedLoad(Number, From, Alignment, "cotangent");
  B.CreateAlignedStore(Constant::getNullValue(Number), From, Alignment);
  if (Shared)
    B.CreateAtomicRMW(AtomicRMWInst::FAdd, Into, Cotangent, Alignment, AtomicOrdering::Monotonic);
  else
    B.CreateAlignedStore(B.CreateFAdd(B.CreateAlignedLoad(Number, Into, Alignment), Cotangent), Into, Alignment);
  B.CreateCondBr(B.CreateICmpEQ(Next, Count), After, Body);
  Done->addIncoming(B.getInt64(0), Before);
  Done->addIncoming(Next, Body);
}

// What copies to a higher address is undone from the first element on, so that no cotangent is taken twice where the
// two overlap.
Function *adjointBody(Module &M, StringRef Name, Type *Number, bool Shared) {
  LLVMContext &C = M.getContext();
  Function *F = Function::Create(adjointOf(M, Name).getFunctionType(), GlobalValue::InternalLinkage,
                                 AdjointPrefix + Name + "_body", M);
  BasicBlock *Entry = BasicBlock::Create(C, "entry", F), *Some = BasicBlock::Create(C, "some", F),
             *None = BasicBlock::Create(C, "none", F);
  addLoop(*F, Number, Shared, false, Some, None);
  BasicBlock *Forth = &F->back();
  addLoop(*F, Number, Shared, true, Some, None);
  BasicBlock *Back = &F->back();
  IRBuilder<> B(Entry);
  B.CreateCondBr(B.CreateIsNull(F->getArg(2)), None, Some);
  B.SetInsertPoint(Some);
  B.CreateCondBr(B.CreateICmpULT(F->getArg(0), F->getArg(1)), Back, Forth);
  B.SetInsertPoint(None);
  B.CreateRetVoid();
  return F;
}

void expand(CallInst &Call, StringRef Name, Type *Number, bool Shared) {
  Function *Body = adjointBody(*Call.getModule(), Name, Number, Shared);
  Call.setCalledFunction(Body);
  InlineFunctionInfo Info;
  InlineFunction(Call, Info);
  Body->eraseFromParent();
}

bool isLocal(Value *Pointer) { return isa<AllocaInst>(getUnderlyingObject(Pointer)); }

} // namespace

ADGEN_DECLARE_PASS(DeclareCopyAdjoints);

PreservedAnalyses DeclareCopyAdjoints::run(Module &M, ModuleAnalysisManager &) {
  if (!limitAlignments(M))
    return PreservedAnalyses::all();
  for (auto [Name, Type] : numbers(M.getContext()))
    for (uint64_t To = 1; To <= LargestAlignment; To *= 2)
      for (uint64_t From = 1; From <= LargestAlignment; From *= 2)
        define(M, Name, To, From);
  return PreservedAnalyses::none();
}

ADGEN_DECLARE_PASS(ExpandCopyAdjoints);

PreservedAnalyses ExpandCopyAdjoints::run(Module &M, ModuleAnalysisManager &) {
  for (Function &F : make_early_inc_range(M))
    if (F.getName().starts_with(EnzymePrefix)) {
      for (User *U : make_early_inc_range(F.users())) {
        InlineFunctionInfo Info;
        InlineFunction(cast<CallBase>(*U), Info);
      }
      if (none_of(instructions(F), [](const Instruction &I) {
            auto *Call = dyn_cast<CallInst>(&I);
            return Call && Call->getCalledFunction() && Call->getCalledFunction()->getName().starts_with(AdjointPrefix);
          }))
        report_fatal_error("adgen-expand-copy-adjoints: Enzyme has made " + F.getName());
      F.eraseFromParent();
    }
  bool Device = Triple(M.getTargetTriple()).isNVPTX();
  const auto Parallel = teamsOf(M).All;
  for (auto [Name, Number] : numbers(M.getContext()))
    if (Function *F = M.getFunction((AdjointPrefix + Name).str())) {
      for (CallInst *Call : callsOf(M, F->getName())) {
        bool Shared = (Device || Parallel.contains(Call->getFunction())) && !isLocal(Call->getArgOperand(1));
        expand(*Call, Name, Number, Shared);
      }
      F->eraseFromParent();
    }
  return PreservedAnalyses::none();
}

} // namespace adgen
