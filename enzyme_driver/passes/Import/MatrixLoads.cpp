#include "Import/MatrixLoads.h"
#include "Import/Addresses.h"
#include "Import/MathRules.h"

#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicsNVPTX.h"

using namespace llvm;

namespace adgen {
namespace {

StringRef calledName(const Instruction &I) {
  auto *Call = dyn_cast<CallInst>(&I);
  return Call && Call->getCalledFunction() ? Call->getCalledFunction()->getName() : "";
}

// Of the numbers of 16 bits that the function multiplies; null where there are none, or of both formats.
Type *formatIn(Function &Body) {
  bool Half = false, Brain = false;
  for (Instruction &I : instructions(Body)) {
    StringRef Name = calledName(I);
    bool Product =
        Name.starts_with("llvm.nvvm.mma.") || (Name.starts_with("llvm.nvvm.wmma.") && Name.contains(".mma."));
    Brain |= Product && Name.contains("bf16");
    Half |= Product && !Name.contains("bf16") && !Name.contains("tf32") && !Name.contains("f64");
  }
  LLVMContext &Context = Body.getContext();
  return Half == Brain ? nullptr : Half ? Type::getHalfTy(Context) : Type::getBFloatTy(Context);
}

class MatrixLoad {
public:
  MatrixLoad(CallInst &Call, Type *T, bool ByShuffles) : Call(Call), B(&Call), T(T), ByShuffles(ByShuffles) {}

  void run() {
    StringRef Name = Call.getCalledFunction()->getName();
    auto *Struct = dyn_cast<StructType>(Call.getType());
    bool Known = Name.contains(".m8n8.") && Name.contains(".b16") && findArray();
    if (!Known)
      return;
    Transposed = Name.contains(".trans");
    Lane = B.CreateIntrinsic(B.getInt32Ty(), Intrinsic::nvvm_read_ptx_sreg_laneid, {});
    Value *Result = Struct ? static_cast<Value *>(PoisonValue::get(Struct)) : matrix(0);
    for (unsigned I = 0; Struct && I < Struct->getNumElements(); ++I)
      Result = B.CreateInsertValue(Result, matrix(I), I);
    Call.replaceAllUsesWith(Result);
    Call.eraseFromParent();
  }

private:
  // Where this lane's row begins in which array.
  bool findArray() {
    Value *Pointer = pointerBehind(B, Call.getArgOperand(0));
    if (!Pointer)
      return false;
    Pointer = withoutSpace(B, Pointer);
    Array = getUnderlyingObject(Pointer, /*MaxLookup=*/0);
    if (!isa<Argument, GlobalVariable>(Array))
      return false;
    Array = withoutSpace(B, Array);
    Type *Word = B.getInt64Ty();
    Offset = B.CreateTrunc(B.CreateSub(B.CreatePtrToInt(Pointer, Word), B.CreatePtrToInt(Array, Word)), B.getInt32Ty());
    return true;
  }

  // What lane 4 g + t gets of a matrix whose rows begin where the lanes from 8 * Number on say: the elements 2 t and
  // 2 t + 1 of row g, or of column g. Those of a row are one word in memory, so that matrices are read by rows and
  // transposed by the lanes; the witness reads columns.
  Value *matrix(unsigned Number) {
    Value *G = B.CreateLShr(Lane, 2), *Twice = B.CreateShl(B.CreateAnd(Lane, 3), 1);
    bool ByColumns = Transposed && ByShuffles;
    Value *First = ByColumns ? pointerTo(Number, Twice, G) : pointerTo(Number, G, Twice);
    Value *Second =
        ByColumns ? pointerTo(Number, B.CreateAdd(Twice, B.getInt32(1)), G) : B.CreateConstInBoundsGEP1_64(T, First, 1);
    // Rows begin at multiples of 16 bytes, as the instruction asks for.
    Value *Pair = PoisonValue::get(FixedVectorType::get(T, 2));
    Pair = B.CreateInsertElement(Pair, B.CreateAlignedLoad(T, First, Align(ByColumns ? 2 : 4)), uint64_t(0));
    Pair = B.CreateInsertElement(Pair, B.CreateAlignedLoad(T, Second, Align(2)), uint64_t(1));
    return B.CreateBitCast(Transposed && !ByColumns ? transposed(Pair) : Pair, B.getInt32Ty());
  }

  Value *transposed(Value *Pair) {
    StringRef Name = T->isHalfTy() ? "mma_transposed_f16" : "mma_transposed_bf16";
    Function *Rule = declareMathRule(*Call.getModule(), Name, Pair->getType(), Pair->getType());
    Rule->setConvergent();
    Rule->addFnAttr("enzyme_shouldrecompute"); // rather than keep what is read from shared memory again
    CallInst *Made = B.CreateCall(Rule, {Pair});
    Made->addFnAttr(Attribute::Convergent);
    return Made;
  }

  Value *pointerTo(unsigned Number, Value *Row, Value *Column) {
    Value *At = B.CreateAdd(offsetOf(B.CreateAdd(Row, B.getInt32(8 * Number))), B.CreateShl(Column, 1));
    return B.CreateGEP(B.getInt8Ty(), Array, B.CreateSExt(At, B.getInt64Ty()));
  }

  Value *offsetOf(Value *From) {
    CallInst *Asked =
        B.CreateIntrinsic(Intrinsic::nvvm_shfl_sync_idx_i32, {B.getInt32(~0u), Offset, From, B.getInt32(31)});
    Asked->addFnAttr(Attribute::Convergent);
    return Asked;
  }

  CallInst &Call;
  IRBuilder<> B;
  Type *T;
  bool ByShuffles, Transposed = false;
  Value *Array = nullptr, *Offset = nullptr, *Lane = nullptr;
};

} // namespace

void lowerMatrixLoads(Function &Body, bool ByShuffles) {
  SmallVector<CallInst *> Loads;
  for (Instruction &I : instructions(Body))
    if (calledName(I).starts_with("llvm.nvvm.ldmatrix."))
      Loads.push_back(cast<CallInst>(&I));
  Type *T = Loads.empty() ? nullptr : formatIn(Body);
  if (T)
    for (CallInst *Load : Loads)
      MatrixLoad(*Load, T, ByShuffles).run();
}

} // namespace adgen
