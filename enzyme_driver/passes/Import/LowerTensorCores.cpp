// What warps do with Tensor Cores (wmma, mma.sync), in bodies, becomes plain accesses to memory, a lane's own elements
// each, and products that have a rule (rules/tensor_cores.cu):
//   d = wmma.mma(a, b, c)   becomes   d = c + adgen_math_mma_SHAPE_TYPE({a, b})
// where the numbers of half precision are floats, in which their cotangents are added up. The kernel itself, and so the
// primal on the GPU, keeps the instructions. Which element is which lane's: Fragments.h. What is not understood stays,
// and is refused later by its place.
//
// Option: "rules", or "shuffles", where the product is written out instead, lanes asking each other for each element:
// what the witness of gradients carries its tangents through.
#include "Import/Fragments.h"
#include "Import/MathRules.h"
#include "Import/MatrixLoads.h"
#include "Import/OrderTiles.h"
#include "Support/Pass.h"
#include "Support/Threads.h"

#include "llvm/ADT/StringSwitch.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicsNVPTX.h"

using namespace llvm;

namespace adgen {
namespace {

using Values = SmallVector<Value *, 16>;

std::optional<Format> formatNamed(StringRef Name) {
  return StringSwitch<std::optional<Format>>(Name)
      .Cases({"f16", "f32"}, Format::Half)
      .Case("bf16", Format::Brain)
      .Case("tf32", Format::Tf32)
      .Case("f64", Format::Double)
      .Default(std::nullopt);
}

class Lowering {
public:
  Lowering(CallInst &Call, bool ByShuffles)
      : Call(Call), B(&Call), Context(Call.getContext()), ByShuffles(ByShuffles) {}

  // Replaces the call, unless it is not understood.
  void run() {
    StringRef Name = Call.getCalledFunction()->getName();
    Name.consume_front("llvm.nvvm.");
    SmallVector<StringRef> Words;
    Name.split(Words, '.');
    if (Words[0] == "wmma" && Words.size() > 4) {
      if (auto S = Shape::parse(Words[1]))
        lowerWmma(*S, ArrayRef(Words).drop_front(2));
    } else if (Words[0] == "mma" && Words.size() > 4) {
      if (auto S = Shape::parse(Words[1]))
        lowerMma(*S, ArrayRef(Words).drop_front(2));
    }
  }

private:
  // load.a.row.stride.f16, store.d.row.stride.f32, mma.row.col.f32.f32
  void lowerWmma(Shape S, ArrayRef<StringRef> Words) {
    if (Words[0] == "mma")
      return multiply(S, Words.drop_front(3), S.parts());
    bool Loads = Words[0] == "load", Named = Words.size() >= 5 && Words[3] == "stride";
    std::optional<Format> Of = Named ? formatNamed(Words[4]) : std::nullopt;
    std::optional<Operation> Op = Of ? Operation::make(*Of, S.K) : std::nullopt;
    if (!Op || (!Loads && Words[0] != "store"))
      return;
    bool ByRows = Words[2] == "row";
    Loads ? load(S, *Op,
                 Words[1] == "a"   ? Matrix::A
                 : Words[1] == "b" ? Matrix::B
                                   : Matrix::C,
                 ByRows)
          : store(S, *Op, ByRows);
  }

  // row.col.f32.f32, row.col.bf16
  void lowerMma(Shape S, ArrayRef<StringRef> Words) {
    if (Words[0] == "row" && Words[1] == "col" && (S.M == 16 ? S.N == 8 : S.M == 8 && S.N == 8 && S.K == 4))
      multiply(S, Words.drop_front(2), 1);
  }

  // An index of the lane, of 64 bits.
  Value *index(LaneIndex I) {
    if (!Lane)
      Lane = B.CreateZExt(B.CreateIntrinsic(B.getInt32Ty(), Intrinsic::nvvm_read_ptx_sreg_laneid, {}), B.getInt64Ty());
    Value *Sum = B.getInt64(I.C);
    if (I.G)
      Sum = B.CreateNUWAdd(B.CreateLShr(Lane, 2), Sum);
    if (I.T)
      Sum = B.CreateNUWAdd(B.CreateNUWMul(B.CreateAnd(Lane, 3), B.getInt64(I.T)), Sum);
    return Sum;
  }

  Value *address(Type *T, Value *Pointer, Value *Stride, const Element &E, bool ByRows) {
    Value *Row = index(E.Row), *Column = index(E.Column);
    Value *Long = B.CreateMul(ByRows ? Row : Column, B.CreateZExt(Stride, B.getInt64Ty()));
    return B.CreateGEP(T, Pointer, B.CreateAdd(Long, ByRows ? Column : Row));
  }

  Type *numberIn(Type *Register, Format Of) {
    if (Of == Format::Brain && Register->isIntegerTy())
      return Type::getBFloatTy(Context);
    return Register->isIntegerTy() ? B.getFloatTy() : Register->getScalarType();
  }

  // How many numbers a register of 32 or 64 bits has.
  unsigned countIn(Type *Register, Format Of) {
    return Register->getPrimitiveSizeInBits() / numberIn(Register, Of)->getPrimitiveSizeInBits();
  }

  void unpack(Value *Register, Format Of, Values &Numbers) {
    Type *T = numberIn(Register->getType(), Of);
    unsigned Count = countIn(Register->getType(), Of);
    if (Count == 1)
      return Numbers.push_back(B.CreateBitCast(Register, T));
    Value *Vector = B.CreateBitCast(Register, FixedVectorType::get(T, Count));
    for (unsigned I = 0; I < Count; ++I)
      Numbers.push_back(B.CreateExtractElement(Vector, I));
  }

  Value *pack(ArrayRef<Value *> Numbers, Type *Register) {
    if (Numbers.size() == 1)
      return B.CreateBitCast(Numbers[0], Register);
    Value *Vector = PoisonValue::get(FixedVectorType::get(Numbers[0]->getType(), Numbers.size()));
    for (auto [Index, Number] : enumerate(Numbers))
      Vector = B.CreateInsertElement(Vector, Number, Index);
    return B.CreateBitCast(Vector, Register);
  }

  SmallVector<Type *> registersOf(Type *Result) {
    auto *Struct = dyn_cast<StructType>(Result);
    return Struct ? SmallVector<Type *>(Struct->elements()) : SmallVector<Type *>{Result};
  }

  void replaceWith(ArrayRef<Value *> Registers) {
    Value *Result = Registers[0];
    if (isa<StructType>(Call.getType())) {
      Result = PoisonValue::get(Call.getType());
      for (auto [Index, Register] : enumerate(Registers))
        Result = B.CreateInsertValue(Result, Register, Index);
    }
    Call.replaceAllUsesWith(Result);
    Call.eraseFromParent();
  }

  void load(Shape S, const Operation &Op, Matrix Which, bool ByRows) {
    Values Registers;
    unsigned Index = 0;
    for (Type *Register : registersOf(Call.getType())) {
      Type *T = numberIn(Register, Op.Of);
      Values Numbers;
      for (unsigned I = 0; I < countIn(Register, Op.Of); ++I)
        Numbers.push_back(B.CreateLoad(
            T, address(T, Call.getArgOperand(0), Call.getArgOperand(1), S.element(Op, Which, Index++), ByRows)));
      Registers.push_back(pack(Numbers, Register));
    }
    replaceWith(Registers);
  }

  void store(Shape S, const Operation &Op, bool ByRows) {
    Values Numbers;
    unsigned Last = Call.arg_size() - 1;
    for (unsigned I = 1; I < Last; ++I)
      unpack(Call.getArgOperand(I), Op.Of, Numbers);
    for (auto [Index, Number] : enumerate(Numbers))
      B.CreateStore(Number, address(Number->getType(), Call.getArgOperand(0), Call.getArgOperand(Last),
                                    S.element(Op, Matrix::C, Index), ByRows));
    Call.eraseFromParent();
  }

  // The words name the types of D and C, or that of the factors. Each part takes its own elements of two matrices, and
  // the same of the third.
  void multiply(Shape S, ArrayRef<StringRef> Words, unsigned Parts) {
    bool Named = Words.size() == 1 || (Words.size() == 2 && formatNamed(Words[1]) == Format::Half);
    std::optional<Format> Of = Named ? formatNamed(Words[0]) : std::nullopt;
    std::optional<Operation> Op = Of ? Operation::make(*Of, S.K) : std::nullopt;
    if (!Op)
      return;
    bool SideBySide = S.isSideBySide();
    auto [InA, InB] = registers(S, *Op, Parts);
    if (InA + InB >= Call.arg_size())
      return;
    Values A, OfB, C, Results;
    for (auto [Index, Argument] : enumerate(Call.args()))
      unpack(Argument, Op->Of, Index < InA ? A : Index < InA + InB ? OfB : C);
    if (S.isTransposed())
      std::swap(A, OfB);
    for (unsigned Part = 0; Part < Parts; ++Part) {
      ArrayRef<Value *> Left = ArrayRef(A).slice(SideBySide ? 0 : Part * Op->inA(), Op->inA());
      ArrayRef<Value *> Right = ArrayRef(OfB).slice(SideBySide ? Part * Op->slots() : 0, Op->slots());
      Values Product = ByShuffles ? writtenOut(*Op, Left, Right) : byRule(*Op, Left, Right);
      for (auto [Index, P] : enumerate(Product))
        Results.push_back(B.CreateFAdd(P, wide(C[Part * Op->results() + Index])));
    }
    give(Results);
  }

  // How many registers of A and of B the call has: of half, wmma always has eight.
  std::pair<unsigned, unsigned> registers(Shape S, const Operation &Op, unsigned Parts) {
    if (Op.Of == Format::Half && Call.getCalledFunction()->getName().contains("wmma"))
      return {8, 8};
    unsigned Numbers = Op.isPaired() ? 2 : 1, A = Op.inA(), OfB = Op.slots();
    if (Parts == 2)
      (S.isSideBySide() ? OfB : A) *= Parts;
    if (S.isTransposed())
      std::swap(A, OfB);
    return {A / Numbers, OfB / Numbers};
  }

  Type *wideType(const Operation &Op) { return Op.Of == Format::Double ? B.getDoubleTy() : B.getFloatTy(); }
  Value *wide(Value *Number) {
    return Number->getType()->isDoubleTy() ? Number : B.CreateFPExt(Number, B.getFloatTy());
  }

  void give(ArrayRef<Value *> Results) {
    Values Registers;
    unsigned Index = 0;
    for (Type *Register : registersOf(Call.getType())) {
      Values Numbers;
      for (unsigned I = 0; I < countIn(Register, Format::Half); ++I) {
        Value *Result = Results[Index++];
        Type *T = Register->getScalarType();
        Numbers.push_back(T == Result->getType() ? Result : B.CreateFPTrunc(Result, T));
      }
      Registers.push_back(pack(Numbers, Register));
    }
    replaceWith(Registers);
  }

  Values byRule(const Operation &Op, ArrayRef<Value *> A, ArrayRef<Value *> OfB) {
    Type *T = wideType(Op);
    Value *Factors = PoisonValue::get(FixedVectorType::get(T, A.size() + OfB.size()));
    unsigned At = 0;
    for (ArrayRef<Value *> Numbers : {A, OfB})
      for (Value *Number : Numbers)
        Factors = B.CreateInsertElement(Factors, wide(Number), At++);
    Function *Rule = declareMathRule(*Call.getModule(), ("mma_" + Op.name()).str(),
                                     FixedVectorType::get(T, Op.results()), Factors->getType());
    Rule->setConvergent();
    CallInst *Product = B.CreateCall(Rule, {Factors});
    Product->addFnAttr(Attribute::Convergent);
    Values Elements;
    for (unsigned I = 0; I < Op.results(); ++I)
      Elements.push_back(B.CreateExtractElement(Product, I));
    return Elements;
  }

  // Element (row g + 8 r, column 2 t + c) is the sum over lanes k of a quad and over slots.
  Values writtenOut(const Operation &Op, ArrayRef<Value *> A, ArrayRef<Value *> OfB) {
    Value *Me = B.CreateIntrinsic(B.getInt32Ty(), Intrinsic::nvvm_read_ptx_sreg_laneid, {});
    Value *First = B.CreateAnd(Me, ~3), *T = B.CreateShl(B.CreateAnd(Me, 3), 3);
    Values Sums;
    for (unsigned I = 0; I < Op.results(); ++I)
      Sums.push_back(ConstantFP::get(wideType(Op), 0.0));
    for (unsigned K = 0; K < 4; ++K)
      for (unsigned S = 0; S < Op.slots(); ++S) {
        Value *Beside[] = {fromLane(wide(OfB[S]), B.CreateAdd(T, B.getInt32(K))),
                           fromLane(wide(OfB[S]), B.CreateAdd(T, B.getInt32(K + 4)))};
        for (unsigned R = 0; R < Op.rows(); ++R) {
          Value *Left = fromLane(wide(A[Op.indexInA(R, S)]), B.CreateOr(First, K));
          for (unsigned C : {0, 1})
            Sums[2 * R + C] = B.CreateFAdd(Sums[2 * R + C], B.CreateFMul(Left, Beside[C]));
        }
      }
    return Sums;
  }

  Value *fromLane(Value *Number, Value *From) {
    Type *T = Number->getType();
    auto Ask = [&](Value *Word, Intrinsic::ID Id) {
      CallInst *Asked = B.CreateIntrinsic(Id, {B.getInt32(~0u), Word, From, B.getInt32(31)});
      Asked->addFnAttr(Attribute::Convergent);
      return Asked;
    };
    if (T->isFloatTy())
      return Ask(Number, Intrinsic::nvvm_shfl_sync_idx_f32);
    Value *Bits = B.CreateBitCast(Number, B.getInt64Ty());
    Value *Low = Ask(B.CreateTrunc(Bits, B.getInt32Ty()), Intrinsic::nvvm_shfl_sync_idx_i32);
    Value *High = Ask(B.CreateTrunc(B.CreateLShr(Bits, 32), B.getInt32Ty()), Intrinsic::nvvm_shfl_sync_idx_i32);
    Value *Both = B.CreateOr(B.CreateZExt(Low, B.getInt64Ty()), B.CreateShl(B.CreateZExt(High, B.getInt64Ty()), 32));
    return B.CreateBitCast(Both, T);
  }

  CallInst &Call;
  IRBuilder<> B;
  LLVMContext &Context;
  bool ByShuffles;
  Value *Lane = nullptr;
};

// wmma::__float_to_tf32, which CUDA's headers write as assembly.
bool roundsToTf32(const CallInst &Call) {
  auto *Assembly = dyn_cast<InlineAsm>(Call.getCalledOperand());
  return Assembly && StringRef(Assembly->getAsmString()).contains("cvt.rna.tf32.f32") && Call.arg_size() == 1 &&
         Call.getType()->getPrimitiveSizeInBits() == 32 && Call.getArgOperand(0)->getType()->isFloatTy();
}

// The derivative is that of no rounding: what is added has none.
void round(CallInst &Call) {
  IRBuilder<> B(&Call);
  Type *T = B.getFloatTy();
  Function *Residual = declarePure(*Call.getModule(), MathPrefix + "tf32_residual", T, {T});
  Residual->addFnAttr("enzyme_inactive");
  Residual->addFnAttr("enzyme_shouldrecompute"); // rather than keep what is read from shared memory again
  Value *X = Call.getArgOperand(0);
  Call.replaceAllUsesWith(B.CreateBitCast(B.CreateFAdd(X, B.CreateCall(Residual, {X})), Call.getType()));
  Call.eraseFromParent();
}

bool isOfTensorCores(const CallInst &Call) {
  const Function *Callee = Call.getCalledFunction();
  return Callee &&
         (Callee->getName().starts_with("llvm.nvvm.wmma.") || Callee->getName().starts_with("llvm.nvvm.mma."));
}

// What the rules are made of came with sm_80.
bool isForOlderGpu(const Function &Body) {
  const unsigned Gpu = gpuOf(Body);
  return Gpu && Gpu < 80;
}

void lower(Function &Body, bool ByShuffles) {
  auto Found = find_if(instructions(Body), [](const Instruction &I) {
    auto *Call = dyn_cast<CallInst>(&I);
    return Call && isOfTensorCores(*Call);
  });
  if (!ByShuffles && Found != inst_end(Body) && isForOlderGpu(Body))
    return refuse(&Body, Found->getDebugLoc(), "cannot differentiate a Tensor Core operation for a GPU before sm_80",
                  "compile for a later one (--arch sm_80)");
  orderTiles(Body);
  lowerMatrixLoads(Body, ByShuffles);
  for (Instruction &I : make_early_inc_range(instructions(Body))) {
    auto *Call = dyn_cast<CallInst>(&I);
    if (!Call)
      continue;
    if (roundsToTf32(*Call))
      round(*Call);
    else if (isOfTensorCores(*Call))
      Lowering(*Call, ByShuffles).run();
  }
}

} // namespace

ADGEN_DECLARE_PASS_WITH_OPTION(LowerTensorCores);

PreservedAnalyses LowerTensorCores::run(Module &M, ModuleAnalysisManager &) {
  for (Function &F : M)
    if (F.getName().starts_with(BodyPrefix))
      lower(F, Option == "shuffles");
  return PreservedAnalyses::none();
}

} // namespace adgen
