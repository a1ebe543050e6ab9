// Makes beside each gradient SYMBOL__gradient and each carrier of tangents SYMBOL__tangent a kernel
// SYMBOL__gradient__batch (__tangent__batch) that does many launches of it at once: those of a Jacobian's directions,
// and of the steps of a chain. A launch is one of `inner` of an outer index. Behind its own parameters the kernel has
// the extent x of one launch's grid (i32), `inner` (i32), and for each pointer two i64, the bytes by which it advances
// with the outer and the inner index. The blocks of the launches lie side by side along x.
//
// Left out are kernels with a tape, which walk over the grid themselves, and those that call functions that ask for
// their block.
#include "GPU/BatchKernels.h"
#include "Support/Pass.h"
#include "Support/Threads.h"

#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/Transforms/Utils/Cloning.h"

using namespace llvm;

namespace adgen {
namespace {

bool asksForBlock(const Instruction &I) {
  const auto *Call = dyn_cast<IntrinsicInst>(&I);
  return Call && is_contained({Intrinsic::nvvm_read_ptx_sreg_ctaid_x, Intrinsic::nvvm_read_ptx_sreg_nctaid_x},
                              Call->getIntrinsicID());
}

bool canBeBatched(const Function &Kernel) {
  if (Kernel.hasFnAttribute(TapeAttribute))
    return false;
  return none_of(instructions(Kernel), [](const Instruction &I) {
    const auto *Call = dyn_cast<CallBase>(&I);
    const Function *Callee = Call ? Call->getCalledFunction() : nullptr;
    return Call && !Call->isInlineAsm() &&
           (!Callee || (!Callee->isDeclaration() && firstReached(*Callee, asksForBlock)));
  });
}

class Batch {
public:
  explicit Batch(Function &Single) : Single(Single), B(Single.getContext()) {}

  void build() {
    create();
    B.SetInsertPoint(&Many->getEntryBlock(), Many->getEntryBlock().getFirstNonPHIOrDbgOrAlloca());
    Value *Extent = Many->getArg(Single.arg_size()), *Inner = Many->getArg(Single.arg_size() + 1);
    Value *Block = readRegister(B, Intrinsic::nvvm_read_ptx_sreg_ctaid_x);
    auto *First = cast<Instruction>(Block);
    Value *Launch = B.CreateUDiv(Block, Extent), *Place = B.CreateSub(Block, B.CreateMul(Launch, Extent));
    Value *Outer = B.CreateUDiv(Launch, Inner);
    Value *Index = B.CreateZExt(B.CreateSub(Launch, B.CreateMul(Outer, Inner)), B.getInt64Ty());
    advancePointers(B.CreateZExt(Outer, B.getInt64Ty()), Index);
    replaceQuestions(First, Place, Extent);
  }

private:
  void create() {
    SmallVector<Type *> Types(Single.getFunctionType()->params());
    Types.append(2, B.getInt32Ty());
    for (Argument &A : Single.args())
      if (isAdvanced(A))
        Types.append(2, B.getInt64Ty());
    Many = Function::Create(FunctionType::get(B.getVoidTy(), Types, false), Single.getLinkage(),
                            Single.getName() + BatchSuffix, Single.getParent());
    ValueToValueMapTy Map;
    for (auto [From, To] : zip(Single.args(), Many->args()))
      Map[&From] = &To;
    SmallVector<ReturnInst *> Returns;
    CloneFunctionInto(Many, &Single, Map, CloneFunctionChangeType::LocalChangesOnly, Returns);
    Many->setCallingConv(Single.getCallingConv());
  }

  static bool isAdvanced(const Argument &A) { return A.getType()->isPointerTy() && !A.hasByValAttr(); }

  void advancePointers(Value *Outer, Value *Inner) {
    unsigned Next = Single.arg_size() + 2;
    for (Argument &A : Single.args()) {
      if (!isAdvanced(A))
        continue;
      Argument *Pointer = Many->getArg(A.getArgNo());
      for (Attribute::AttrKind Kind :
           {Attribute::Dereferenceable, Attribute::DereferenceableOrNull, Attribute::NonNull})
        Pointer->removeAttr(Kind);
      Value *Bytes = B.CreateAdd(B.CreateMul(Outer, Many->getArg(Next)), B.CreateMul(Inner, Many->getArg(Next + 1)));
      auto *Own = cast<Instruction>(B.CreateGEP(B.getInt8Ty(), Pointer, Bytes));
      Pointer->replaceUsesWithIf(Own, [&](Use &U) { return U.getUser() != Own; });
      Next += 2;
    }
  }

  void replaceQuestions(Instruction *Keep, Value *Place, Value *Extent) {
    for (Instruction &I : make_early_inc_range(instructions(Many))) {
      if (!asksForBlock(I) || &I == Keep)
        continue;
      bool IsPlace = cast<IntrinsicInst>(I).getIntrinsicID() == Intrinsic::nvvm_read_ptx_sreg_ctaid_x;
      I.replaceAllUsesWith(IsPlace ? Place : Extent);
      I.eraseFromParent();
    }
  }

  Function &Single, *Many = nullptr;
  IRBuilder<> B;
};

} // namespace

ADGEN_DECLARE_PASS(BatchKernels);

PreservedAnalyses BatchKernels::run(Module &M, ModuleAnalysisManager &) {
  SmallVector<Function *> Kernels;
  for (Function &F : M)
    if (isKernel(F) && (F.getName().ends_with(GradientSuffix) || F.getName().ends_with(TangentSuffix)) &&
        canBeBatched(F))
      Kernels.push_back(&F);
  for (Function *Kernel : Kernels)
    Batch(*Kernel).build();
  return Kernels.empty() ? PreservedAnalyses::all() : PreservedAnalyses::none();
}

} // namespace adgen
