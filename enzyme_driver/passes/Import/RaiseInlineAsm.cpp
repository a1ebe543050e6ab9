// Inline PTX becomes instructions: CUDA's headers write half and bfloat16 that way, loads with hints for the caches,
// atomics in a scope, and CUB its shuffles; people write approximate functions and reads of registers. What is not
// understood as a whole stays assembly, which is refused later by its place.
#include "Support/Pass.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Intrinsics.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/IR/PatternMatch.h"

using namespace llvm;
using namespace llvm::PatternMatch;

namespace adgen {
namespace {

// The statements of the text; braces around them are scopes and mean nothing, those inside are vectors.
SmallVector<StringRef> statementsOf(StringRef Text) {
  SmallVector<StringRef> Found;
  while (true) {
    Text = Text.ltrim(" \t\r\n;{}");
    if (Text.empty())
      return Found;
    auto [Next, Rest] = Text.split(';');
    Found.push_back(Next.trim());
    Text = Rest;
  }
}

// Operands between commas that are not in a vector.
SmallVector<StringRef> operandsOf(StringRef Text) {
  SmallVector<StringRef> Found;
  unsigned Depth = 0;
  size_t Begin = 0;
  for (size_t I = 0; I <= Text.size(); ++I) {
    char C = I < Text.size() ? Text[I] : ',';
    Depth += C == '{';
    Depth -= C == '}';
    if (C != ',' || Depth)
      continue;
    Found.push_back(Text.slice(Begin, I).trim());
    Begin = I + 1;
  }
  return Found;
}

class Translation {
public:
  explicit Translation(CallInst &Call) : Call(Call), B(&Call), Context(Call.getContext()) {}

  // Replaces the call, unless something is not understood.
  void run() {
    Instruction *Before = Call.getPrevNode();
    Value *Result = nullptr;
    if (translateAll() && (Call.getType()->isVoidTy() || (Result = result()))) {
      if (Result)
        Call.replaceAllUsesWith(Result);
      Call.eraseFromParent();
      return;
    }
    while (Call.getPrevNode() != Before) // what was made in vain
      Call.getPrevNode()->eraseFromParent();
  }

private:
  bool translateAll() {
    auto *Assembly = cast<InlineAsm>(Call.getCalledOperand());
    SmallVector<StringRef> Statements = statementsOf(Assembly->getAsmString());
    return !Statements.empty() && bindOperands(*Assembly) &&
           all_of(Statements, [&](StringRef S) { return translate(S); });
  }

  bool bindOperands(const InlineAsm &Assembly) {
    unsigned Argument = 0, Number = 0;
    for (const InlineAsm::ConstraintInfo &Info : Assembly.ParseConstraints()) {
      if (Info.Type == InlineAsm::isClobber && Info.Codes.size() == 1 && Info.Codes.front() == "{memory}")
        continue;
      if (Info.Type == InlineAsm::isClobber || Info.isIndirect)
        return false;
      std::string Name = "$" + std::to_string(Number++);
      if (Info.Type == InlineAsm::isOutput) {
        Outputs.push_back(Name);
        continue;
      }
      Value *Given = Call.getArgOperand(Argument++);
      Registers[Name] = Given;
      StringRef Code = Info.Codes.empty() ? "" : StringRef(Info.Codes.front());
      if (!Code.empty() && isDigit(Code.front()))
        Registers[("$" + Code).str()] = Given;
    }
    return true;
  }

  Value *result() {
    Type *T = Call.getType();
    if (Outputs.size() == 1)
      return Registers.lookup(Outputs[0]) ? as(Registers[Outputs[0]], T) : nullptr;
    auto *Struct = dyn_cast<StructType>(T);
    if (!Struct || Outputs.empty())
      return nullptr;
    Value *All = PoisonValue::get(T);
    for (auto [Index, Name] : enumerate(Outputs)) {
      Value *One = Registers.lookup(Name);
      One = One ? as(One, Struct->getElementType(Index)) : nullptr;
      if (!One)
        return nullptr;
      All = B.CreateInsertValue(All, One, Index);
    }
    return All;
  }

  // The same bits as another type; null where there are not as many.
  Value *as(Value *V, Type *T) {
    if (V->getType() == T)
      return V;
    if (V->getType()->isIntegerTy(1) && T->isIntegerTy())
      return B.CreateZExt(V, T);
    if (V->getType()->isPointerTy() || T->isPointerTy() ||
        V->getType()->getPrimitiveSizeInBits() != T->getPrimitiveSizeInBits())
      return nullptr;
    if (auto *Cast = dyn_cast<BitCastInst>(V); Cast && Cast->getSrcTy() == T)
      return Cast->getOperand(0);
    if (Value *Upper = T->isFloatTy() ? upperHalf(V) : nullptr)
      return B.CreateFPExt(as(Upper, Type::getBFloatTy(Context)), T);
    return B.CreateBitCast(V, T);
  }

  // What `{0, x}` was made of: the bits of a bfloat16 in front of zeros are those of the same number as a float.
  static Value *upperHalf(Value *V) {
    Constant *Lower = nullptr;
    Value *Upper = nullptr;
    bool Made = match(V, m_BitCast(m_InsertElt(m_Constant(Lower), m_Value(Upper), m_One()))) &&
                Upper->getType()->isIntegerTy(16);
    return Made && match(Lower->getAggregateElement(0u), m_Zero()) ? Upper : nullptr;
  }

  Type *typeNamed(StringRef Name) {
    Type *Half = B.getHalfTy(), *Brain = Type::getBFloatTy(Context);
    return StringSwitch<Type *>(Name)
        .Case("f16", Half)
        .Case("bf16", Brain)
        .Case("f16x2", FixedVectorType::get(Half, 2))
        .Case("bf16x2", FixedVectorType::get(Brain, 2))
        .Case("f32", B.getFloatTy())
        .Case("f64", B.getDoubleTy())
        .Cases({"b16", "u16", "s16"}, B.getInt16Ty())
        .Cases({"b32", "u32", "s32"}, B.getInt32Ty())
        .Cases({"b64", "u64", "s64"}, B.getInt64Ty())
        .Case("pred", B.getInt1Ty())
        .Default(nullptr);
  }

  Value *constant(StringRef Text, Type *T) {
    uint64_t Bits = 0;
    unsigned Size = T->getPrimitiveSizeInBits();
    StringRef Hex = Text;
    if (T->isFPOrFPVectorTy() &&
        (Hex.consume_front("0f") || Hex.consume_front("0F") || Hex.consume_front("0d") || Hex.consume_front("0D"))) {
      if (Hex.getAsInteger(16, Bits))
        return nullptr;
      return as(B.getIntN(Size, Bits), T);
    }
    if (T->isFloatingPointTy() && Text.contains('.'))
      return ConstantFP::get(T, Text);
    StringRef Number = Text.rtrim("U");
    bool Negative = Number.consume_front("-");
    if (Number.empty() || !isDigit(Number.front()) || Number.getAsInteger(0, Bits))
      return nullptr;
    return as(B.getIntN(Size, Negative ? -Bits : Bits), T);
  }

  Value *special(StringRef Name, Type *T) {
    std::string Intrinsic = ("llvm.nvvm.read.ptx.sreg." + Name).str();
    std::replace(Intrinsic.begin(), Intrinsic.end(), '_', '.');
    Intrinsic::ID Id = Intrinsic::lookupIntrinsicID(Intrinsic);
    if (Id == Intrinsic::not_intrinsic)
      return nullptr;
    CallInst *Read = B.CreateCall(Intrinsic::getOrInsertDeclaration(Call.getModule(), Id), {});
    return as(Read, T);
  }

  // An operand as a value of that type.
  Value *read(StringRef Operand, Type *T) {
    if (Operand.consume_front("{")) {
      SmallVector<StringRef> Parts = operandsOf(Operand.rtrim("}"));
      unsigned Size = T->getPrimitiveSizeInBits() / std::max<size_t>(Parts.size(), 1);
      Value *Whole = PoisonValue::get(FixedVectorType::get(B.getIntNTy(Size), Parts.size()));
      for (auto [Index, Part] : enumerate(Parts)) {
        Value *V = read(Part, B.getIntNTy(Size));
        if (!V)
          return nullptr;
        Whole = B.CreateInsertElement(Whole, V, Index);
      }
      return as(Whole, T);
    }
    if (Operand == "WARP_SZ")
      return as(B.getInt32(32), T);
    if (Operand.consume_front("%"))
      return special(Operand, T);
    if (Value *V = Registers.lookup(Operand))
      return as(V, T);
    return constant(Operand, T);
  }

  bool write(StringRef Operand, Value *V) {
    if (!V)
      return false;
    if (!Operand.consume_front("{")) {
      Registers[Operand] = V;
      return !Operand.empty();
    }
    SmallVector<StringRef> Parts = operandsOf(Operand.rtrim("}"));
    unsigned Size = V->getType()->getPrimitiveSizeInBits() / std::max<size_t>(Parts.size(), 1);
    Value *Vector = Size ? as(V, FixedVectorType::get(B.getIntNTy(Size), Parts.size())) : nullptr;
    for (auto [Index, Part] : enumerate(Parts))
      if (!Vector || !write(Part, B.CreateExtractElement(Vector, Index)))
        return false;
    return true;
  }

  bool translate(StringRef Statement) {
    if (Statement.starts_with(".reg"))
      return true;
    StringRef Condition;
    if (Statement.consume_front("@")) {
      std::tie(Condition, Statement) = Statement.split(' ');
      Statement = Statement.ltrim();
    }
    auto [Code, Rest] = Statement.split(' ');
    if (size_t Tab = Code.find('\t'); Tab != StringRef::npos)
      std::tie(Code, Rest) = Statement.split('\t');
    SmallVector<StringRef> Words;
    Code.trim().split(Words, '.');
    SmallVector<StringRef> Operands = operandsOf(Rest);
    if (Condition.empty() &&
        is_contained({"nanosleep", "prefetch", "prefetchu"}, Words[0])) // advice, which changes no value
      return true;
    if (Condition.empty() && (Words[0] == "fence" || Words[0] == "membar"))
      return fenced(Words);
    if (Condition.empty() && (Words[0] == "bar" || Words[0] == "barrier"))
      return waited(Words, Operands);
    if (Operands.size() < 2 || Words.size() < 2)
      return false;
    if (is_contained({"ld", "st", "atom", "red"}, Words[0]))
      return Condition.empty() && accessed(Words, Operands);
    if (Words[0] == "shfl")
      return Condition.empty() && shuffled(Words, Operands);
    if (Words[0] == "mma" || Words[0] == "ldmatrix")
      return Condition.empty() && ofTensorCores(Words, Operands);
    bool Directed = any_of(Words, [](StringRef W) { return is_contained({"rz", "rm", "rp", "volatile"}, W); });
    if (Directed && Words[0] != "cvt")
      return false;
    Type *T = typeNamed(Words.back());
    Value *New = T ? value(Words, Operands, T) : nullptr;
    New = New ? clamped(Words, New) : nullptr;
    return New && write(Operands[0], Condition.empty() ? New : chosen(Condition, New, Operands[0]));
  }

  // `sat` makes zero of what is no number, `relu` keeps it.
  Value *clamped(ArrayRef<StringRef> Words, Value *X) {
    Type *T = X->getType();
    bool Saturates = is_contained(Words, "sat"), Rectifies = is_contained(Words, "relu");
    if (!Saturates && !Rectifies)
      return X;
    if (!T->isFPOrFPVectorTy())
      return nullptr;
    Constant *Zero = ConstantFP::get(T, 0.0);
    if (Rectifies)
      return B.CreateSelect(B.CreateFCmpOLT(X, Zero), Zero, X);
    Value *Positive = B.CreateSelect(B.CreateFCmpOGT(X, Zero), X, Zero);
    Constant *One = ConstantFP::get(T, 1.0);
    return B.CreateSelect(B.CreateFCmpOLT(Positive, One), Positive, One);
  }

  bool fenced(ArrayRef<StringRef> Words) {
    bool Known = Words[0] == "membar" || (Words.size() == 3 && (Words[1] == "sc" || Words[1] == "acq_rel"));
    if (Known)
      B.CreateFence(AtomicOrdering::SequentiallyConsistent);
    return Known;
  }

  // Of all threads of the block, whatever its number is, or of the lanes of a mask.
  bool waited(ArrayRef<StringRef> Words, ArrayRef<StringRef> Operands) {
    bool OfWarp = is_contained(Words, "warp");
    bool Known =
        all_of(Words.drop_front(), [](StringRef W) { return is_contained({"sync", "aligned", "cta", "warp"}, W); });
    Value *Operand =
        Known && is_contained(Words, "sync") && Operands.size() == 1 ? read(Operands[0], B.getInt32Ty()) : nullptr;
    if (!Operand || (!OfWarp && !isa<ConstantInt>(Operand)))
      return false;
    bool Aligned = Words[0] == "bar" || is_contained(Words, "aligned");
    B.CreateIntrinsic(OfWarp    ? Intrinsic::nvvm_bar_warp_sync
                      : Aligned ? Intrinsic::nvvm_barrier_cta_sync_aligned_all
                                : Intrinsic::nvvm_barrier_cta_sync_all,
                      {OfWarp ? Operand : B.getInt32(0)});
    return true;
  }

  // Where the condition does not hold, the register keeps what it has.
  Value *chosen(StringRef Condition, Value *New, StringRef Register) {
    bool Negative = Condition.consume_front("!");
    Value *P = read(Condition, B.getInt1Ty()),
          *Old = Registers.lookup(Register) ? read(Register, New->getType()) : nullptr;
    if (!P || !Old)
      return nullptr;
    return Negative ? B.CreateSelect(P, Old, New) : B.CreateSelect(P, New, Old);
  }

  // "[$1]" or "[$1+16]" as a pointer.
  Value *address(StringRef Operand) {
    if (!Operand.consume_front("[") || !Operand.consume_back("]"))
      return nullptr;
    auto [Name, Text] = Operand.split('+');
    uint64_t Offset = 0;
    Value *Base = Registers.lookup(Name.trim());
    if (!Base || !Base->getType()->isPointerTy() || (!Text.empty() && Text.trim().getAsInteger(0, Offset)))
      return nullptr;
    return Offset ? B.CreateConstGEP1_64(B.getInt8Ty(), Base, Offset) : Base;
  }

  Value *element(Value *Pointer, Type *T, unsigned Index) {
    return Index ? B.CreateConstGEP1_64(T, Pointer, Index) : Pointer;
  }

  // In global memory, by one thread at once: shared memory is known by numbers, and what happens later is no access.
  static bool isPlainAccess(ArrayRef<StringRef> Words) {
    bool Atomic = Words[0] == "atom" || Words[0] == "red";
    return all_of(Words.drop_front().drop_back(), [&](StringRef Word) {
      return is_contained({"global", "ca", "cg", "cs", "lu", "cv", "wb", "wt", "nc", "weak", "relaxed", "acquire",
                           "release", "acq_rel", "volatile", "cta", "gpu", "sys"},
                          Word) ||
             Word.starts_with("L1::") || Word.starts_with("L2::") || is_contained({"v2", "v4"}, Word) ||
             (Atomic && is_contained({"add", "min", "max", "and", "or", "xor", "exch", "inc", "dec", "noftz"}, Word));
    });
  }

  bool accessed(ArrayRef<StringRef> Words, ArrayRef<StringRef> Operands) {
    StringRef Code = Words[0];
    Type *T = typeNamed(Words.back());
    bool First = Code == "st" || Code == "red";
    Value *Pointer = T && isPlainAccess(Words) ? address(Operands[First ? 0 : 1]) : nullptr;
    if (!Pointer)
      return false;
    if (Code == "atom" || Code == "red")
      return atomics(Words, Operands.drop_front(First ? 1 : 2), Pointer, T, First ? StringRef() : Operands[0]);
    SmallVector<StringRef> Registers = listed(Operands[First ? 1 : 0]);
    bool Volatile = is_contained(Words, "volatile");
    for (auto [Index, Register] : enumerate(Registers)) {
      Value *At = element(Pointer, T, Index);
      Align Natural(T->getPrimitiveSizeInBits() / 8);
      if (!First) {
        write(Register, B.CreateAlignedLoad(T, At, Natural, Volatile));
        continue;
      }
      Value *Stored = read(Register, T);
      if (!Stored)
        return false;
      B.CreateAlignedStore(Stored, At, Natural, Volatile);
    }
    return true;
  }

  // "$0", or "{$0, $1}".
  static SmallVector<StringRef> listed(StringRef List) {
    return List.consume_front("{") && List.consume_back("}") ? operandsOf(List) : SmallVector<StringRef>{List};
  }

  // Each element of a vector on its own, as the hardware has it.
  bool atomics(ArrayRef<StringRef> Words, ArrayRef<StringRef> Operands, Value *Pointer, Type *T, StringRef Results) {
    SmallVector<StringRef> Values = Operands.size() == 1 ? listed(Operands[0]) : SmallVector<StringRef>();
    SmallVector<StringRef> Olds = Results.empty() ? SmallVector<StringRef>(Values.size(), "_") : listed(Results);
    return !Values.empty() && Values.size() == Olds.size() && all_of(enumerate(zip(Values, Olds)), [&](auto Each) {
      auto [V, Old] = Each.value();
      return atomic(Words, V, element(Pointer, T, Each.index()), T, Old);
    });
  }

  bool atomic(ArrayRef<StringRef> Words, StringRef Given, Value *Pointer, Type *T, StringRef Result) {
    using RMW = AtomicRMWInst;
    bool Floating = T->isFPOrFPVectorTy(), Signed = Words.back().starts_with("s");
    RMW::BinOp Op = RMW::BAD_BINOP;
    for (StringRef Word : Words.drop_front())
      Op = Op != RMW::BAD_BINOP ? Op
                                : StringSwitch<RMW::BinOp>(Word)
                                      .Case("add", Floating ? RMW::FAdd : RMW::Add)
                                      .Case("min", Floating ? RMW::FMin
                                                   : Signed ? RMW::Min
                                                            : RMW::UMin)
                                      .Case("max", Floating ? RMW::FMax
                                                   : Signed ? RMW::Max
                                                            : RMW::UMax)
                                      .Case("and", RMW::And)
                                      .Case("or", RMW::Or)
                                      .Case("xor", RMW::Xor)
                                      .Case("exch", RMW::Xchg)
                                      .Case("inc", RMW::UIncWrap)
                                      .Case("dec", RMW::UDecWrap)
                                      .Default(RMW::BAD_BINOP);
    Value *Operand = Op != RMW::BAD_BINOP ? read(Given, T) : nullptr;
    if (!Operand)
      return false;
    bool Orders = any_of(Words, [](StringRef W) { return is_contained({"acquire", "release", "acq_rel", "sc"}, W); });
    AtomicOrdering Order = Orders ? AtomicOrdering::SequentiallyConsistent : AtomicOrdering::Monotonic;
    auto One = [&](Value *At, Value *V) { return B.CreateAtomicRMW(Op, At, V, {}, Order); };
    auto *Pair = dyn_cast<FixedVectorType>(T);
    if (!Pair)
      return write(Result, One(Pointer, Operand));
    Value *Old = PoisonValue::get(T); // each number on its own, as the hardware has it
    for (unsigned I = 0; I < Pair->getNumElements(); ++I)
      Old = B.CreateInsertElement(
          Old, One(element(Pointer, Pair->getElementType(), I), B.CreateExtractElement(Operand, I)), I);
    return write(Result, Old);
  }

  // shfl.sync.down.b32 result|inside, value, lane or offset, control, mask
  bool shuffled(ArrayRef<StringRef> Words, ArrayRef<StringRef> Operands) {
    if (Words.size() != 4 || Words[1] != "sync" || Operands.size() != 5)
      return false;
    StringRef Mode = Words[2];
    Value *V = Registers.lookup(Operands[1]);
    if (!V || V->getType()->getPrimitiveSizeInBits() != 32)
      return false;
    if (!V->getType()->isFloatTy())
      V = as(V, B.getInt32Ty());
    Value *Other[] = {read(Operands[4], B.getInt32Ty()), read(Operands[2], B.getInt32Ty()),
                      read(Operands[3], B.getInt32Ty())};
    std::string Name = ("llvm.nvvm.shfl.sync." + Mode + (V->getType()->isFloatTy() ? ".f32" : ".i32")).str();
    Intrinsic::ID Id = Intrinsic::lookupIntrinsicID(Name);
    if (Id == Intrinsic::not_intrinsic || is_contained(Other, nullptr))
      return false;
    Function *Shuffle = Intrinsic::getOrInsertDeclaration(Call.getModule(), Id);
    auto [Result, Inside] = Operands[0].split('|');
    CallInst *Moved = B.CreateCall(Shuffle, {Other[0], V, Other[1], Other[2]});
    Moved->addFnAttr(Attribute::Convergent);
    return write(Result, Moved) && (Inside.empty() || write(Inside, isInside(Mode, Other[1], Other[2])));
  }

  // mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {d, ...}, {a, ...}, {b, ...}, {c, ...}
  // ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {d, ...}, [address]
  bool ofTensorCores(ArrayRef<StringRef> Words, ArrayRef<StringRef> Operands) {
    std::string Name = Words[0] == "mma" ? nameOfProduct(Words) : nameOfMatrixLoad(Words);
    Intrinsic::ID Id = Name.empty() ? Intrinsic::not_intrinsic : Intrinsic::lookupIntrinsicID(Name);
    if (Id == Intrinsic::not_intrinsic)
      return false;
    bool Loads = Words[0] == "ldmatrix";
    Function *F = Loads ? Intrinsic::getOrInsertDeclaration(Call.getModule(), Id, {B.getPtrTy(3)})
                        : Intrinsic::getOrInsertDeclaration(Call.getModule(), Id);
    SmallVector<Value *> Given;
    for (StringRef Operand : Operands.drop_front())
      for (StringRef Part : partsOf(Operand)) {
        if (Given.size() == F->arg_size())
          return false;
        Type *T = F->getArg(Given.size())->getType();
        Given.push_back(Loads ? sharedAddress(Part) : read(Part, T));
        if (!Given.back())
          return false;
      }
    if (Given.size() != F->arg_size())
      return false;
    CallInst *Done = B.CreateCall(F, Given);
    Done->addFnAttr(Attribute::Convergent);
    SmallVector<StringRef> Results = partsOf(Operands[0]);
    auto *Struct = dyn_cast<StructType>(Done->getType());
    if (Results.size() != (Struct ? Struct->getNumElements() : 1))
      return false;
    return all_of(enumerate(Results), [&](auto Each) {
      return write(Each.value(), Struct ? B.CreateExtractValue(Done, Each.index()) : static_cast<Value *>(Done));
    });
  }

  static SmallVector<StringRef> partsOf(StringRef Operand) {
    return Operand.consume_front("{") ? operandsOf(Operand.rtrim("}")) : SmallVector<StringRef>{Operand};
  }

  // LLVM names the types of D and C where the factors are of half, else that of the factors.
  static std::string nameOfProduct(ArrayRef<StringRef> Words) {
    if (Words.size() != 10 || Words[1] != "sync" || Words[2] != "aligned" || Words[7] != Words[8])
      return "";
    std::string Types = Words[7] == "f16" ? (Words[6] + "." + Words[9]).str() : Words[7].str();
    return ("llvm.nvvm.mma." + Words[3] + "." + Words[4] + "." + Words[5] + "." + Types).str();
  }

  static std::string nameOfMatrixLoad(ArrayRef<StringRef> Words) {
    bool Known = Words.size() > 5 && Words[1] == "sync" && Words[2] == "aligned" && Words[3] == "m8n8" &&
                 Words.back() == "b16" && is_contained(Words, "shared");
    std::string Transposed = is_contained(Words, "trans") ? ".trans" : "";
    return Known ? ("llvm.nvvm.ldmatrix.sync.aligned.m8n8." + Words[4] + Transposed + ".b16").str() : "";
  }

  // "[$4]" or "[$4+16]", where the register has a number.
  Value *sharedAddress(StringRef Operand) {
    if (!Operand.consume_front("[") || !Operand.consume_back("]"))
      return nullptr;
    auto [Name, Text] = Operand.split('+');
    uint64_t Offset = 0;
    Value *Number = Registers.lookup(Name.trim());
    if (!Number || !Number->getType()->isIntegerTy() || (!Text.empty() && Text.trim().getAsInteger(0, Offset)))
      return nullptr;
    return B.CreateIntToPtr(B.CreateAdd(Number, ConstantInt::get(Number->getType(), Offset)), B.getPtrTy(3));
  }

  // Whether the lane that the value comes from is in the segment, as the PTX manual defines it.
  Value *isInside(StringRef Mode, Value *Offset, Value *Control) {
    Value *Lane = special("laneid", B.getInt32Ty()), *By = B.CreateAnd(Offset, 31), *Clamp = B.CreateAnd(Control, 31);
    Value *Segment = B.CreateAnd(B.CreateLShr(Control, 8), 31);
    Value *First = B.CreateAnd(Lane, Segment), *Last = B.CreateOr(First, B.CreateAnd(Clamp, B.CreateNot(Segment)));
    if (Mode == "up")
      return B.CreateICmpSGE(B.CreateSub(Lane, By), Last);
    Value *From = Mode == "down"   ? B.CreateAdd(Lane, By)
                  : Mode == "bfly" ? B.CreateXor(Lane, By)
                                   : B.CreateOr(First, B.CreateAnd(By, B.CreateNot(Segment)));
    return B.CreateICmpSLE(From, Last);
  }

  Value *value(ArrayRef<StringRef> Words, ArrayRef<StringRef> Operands, Type *T) {
    StringRef Code = Words[0];
    if (Code == "cvt")
      return converted(Words, Operands);
    if (Code == "selp" && Operands.size() == 4) {
      Value *X = read(Operands[1], T), *Y = read(Operands[2], T), *P = read(Operands[3], B.getInt1Ty());
      return X && Y && P ? B.CreateSelect(P, X, Y) : nullptr;
    }
    SmallVector<Value *> X;
    for (StringRef Operand : Operands.drop_front()) {
      X.push_back(read(Operand, T));
      if (!X.back())
        return nullptr;
    }
    if (Code == "mov" && X.size() == 1)
      return X[0];
    if ((Code == "setp" || Code == "set") && X.size() == 2)
      return compared(Words, X);
    return T->isFPOrFPVectorTy() ? floating(Words, X, T) : integral(Words, X);
  }

  Value *compared(ArrayRef<StringRef> Words, ArrayRef<Value *> X) {
    auto Float = StringSwitch<CmpInst::Predicate>(Words[1])
                     .Case("lt", CmpInst::FCMP_OLT)
                     .Case("le", CmpInst::FCMP_OLE)
                     .Case("gt", CmpInst::FCMP_OGT)
                     .Case("ge", CmpInst::FCMP_OGE)
                     .Case("eq", CmpInst::FCMP_OEQ)
                     .Case("ne", CmpInst::FCMP_ONE)
                     .Case("ltu", CmpInst::FCMP_ULT)
                     .Case("leu", CmpInst::FCMP_ULE)
                     .Case("gtu", CmpInst::FCMP_UGT)
                     .Case("geu", CmpInst::FCMP_UGE)
                     .Case("equ", CmpInst::FCMP_UEQ)
                     .Case("neu", CmpInst::FCMP_UNE)
                     .Default(CmpInst::BAD_FCMP_PREDICATE);
    bool Signed = Words.back().starts_with("s");
    auto Integer = StringSwitch<CmpInst::Predicate>(Words[1])
                       .Case("lt", Signed ? CmpInst::ICMP_SLT : CmpInst::ICMP_ULT)
                       .Case("le", Signed ? CmpInst::ICMP_SLE : CmpInst::ICMP_ULE)
                       .Case("gt", Signed ? CmpInst::ICMP_SGT : CmpInst::ICMP_UGT)
                       .Case("ge", Signed ? CmpInst::ICMP_SGE : CmpInst::ICMP_UGE)
                       .Case("eq", CmpInst::ICMP_EQ)
                       .Case("ne", CmpInst::ICMP_NE)
                       .Default(CmpInst::BAD_ICMP_PREDICATE);
    Type *T = X[0]->getType();
    bool IsFloat = T->isFPOrFPVectorTy();
    CmpInst::Predicate P = IsFloat ? Float : Integer;
    if (P == CmpInst::BAD_FCMP_PREDICATE || P == CmpInst::BAD_ICMP_PREDICATE ||
        (T->isVectorTy() && (!IsFloat || Words[0] == "setp")))
      return nullptr;
    Value *Truth = IsFloat ? B.CreateFCmp(P, X[0], X[1]) : B.CreateICmp(P, X[0], X[1]);
    if (Words[0] == "setp")
      return Truth;
    Type *To = Words.size() > 2 ? typeNamed(Words[Words.size() - 2]) : nullptr;
    if (To && To->isFPOrFPVectorTy())
      return T->isVectorTy() == To->isVectorTy() ? B.CreateUIToFP(Truth, To) : nullptr;
    if (!To)
      return nullptr;
    Type *Mask = T->isVectorTy() ? VectorType::get(B.getIntNTy(T->getScalarSizeInBits()), cast<VectorType>(T)) : To;
    return as(B.CreateSExt(Truth, Mask), To);
  }

  Value *converted(ArrayRef<StringRef> Words, ArrayRef<StringRef> Operands) {
    StringRef ToName = Words[Words.size() - 2], FromName = Words.back();
    Type *To = typeNamed(ToName), *From = typeNamed(FromName);
    auto Rounds = [&](StringRef How) { return is_contained(Words, How); };
    if (!To || !From || Rounds("sat") || Rounds("relu"))
      return nullptr;
    if (auto *Pair = dyn_cast<FixedVectorType>(To); Pair && From->isFloatTy() && Operands.size() == 3 && Rounds("rn")) {
      Value *High = read(Operands[1], From), *Low = read(Operands[2], From);
      Value *Both = High && Low
                        ? B.CreateInsertElement(PoisonValue::get(FixedVectorType::get(From, 2)), Low, uint64_t(0))
                        : nullptr;
      return Both ? B.CreateFPTrunc(B.CreateInsertElement(Both, High, 1), To) : nullptr;
    }
    Value *X = Operands.size() == 2 ? read(Operands[1], From) : nullptr;
    if (!X || To->isVectorTy() || From->isVectorTy())
      return nullptr;
    bool Exact = !Rounds("rz") && !Rounds("rm") && !Rounds("rp");
    unsigned Narrow = To->getScalarSizeInBits(), Wide = From->getScalarSizeInBits();
    Intrinsic::ID Rounding = Rounds("rni")   ? Intrinsic::rint
                             : Rounds("rmi") ? Intrinsic::floor
                             : Rounds("rpi") ? Intrinsic::ceil
                             : Rounds("rzi") ? Intrinsic::trunc
                                             : Intrinsic::not_intrinsic;
    if (To == From && To->isFloatingPointTy() && Rounding != Intrinsic::not_intrinsic)
      return B.CreateUnaryIntrinsic(Rounding, X);
    if (To->isFloatingPointTy() && From->isFloatingPointTy())
      return Narrow > Wide ? B.CreateFPExt(X, To) : Narrow < Wide && Exact ? B.CreateFPTrunc(X, To) : nullptr;
    if (To->isFloatingPointTy())
      return Exact ? (FromName.starts_with("s") ? B.CreateSIToFP(X, To) : B.CreateUIToFP(X, To)) : nullptr;
    if (From->isIntegerTy())
      return FromName.starts_with("s") ? B.CreateSExtOrTrunc(X, To) : B.CreateZExtOrTrunc(X, To);
    if (Rounding == Intrinsic::not_intrinsic)
      return nullptr;
    Intrinsic::ID Saturate = ToName.starts_with("s") ? Intrinsic::fptosi_sat : Intrinsic::fptoui_sat;
    return B.CreateIntrinsic(Saturate, {To, From}, {B.CreateUnaryIntrinsic(Rounding, X)});
  }

  Value *floating(ArrayRef<StringRef> Words, ArrayRef<Value *> X, Type *T) {
    StringRef Code = Words[0];
    bool Approximate = is_contained(Words, "approx") || is_contained(Words, "full");
    FastMathFlags Flags;
    Flags.setApproxFunc(Approximate);
    Flags.setAllowReciprocal(Approximate);
    B.setFastMathFlags(Flags);
    if (X.size() == 1)
      return unary(Code, X[0], T);
    if (X.size() == 3 && (Code == "fma" || Code == "mad"))
      return B.CreateIntrinsic(Intrinsic::fma, {T}, {X[0], X[1], X[2]});
    if (X.size() != 2)
      return nullptr;
    bool KeepsNaN = is_contained(Words, "NaN");
    return Code == "add"   ? B.CreateFAdd(X[0], X[1])
           : Code == "sub" ? B.CreateFSub(X[0], X[1])
           : Code == "mul" ? B.CreateFMul(X[0], X[1])
           : Code == "div" ? B.CreateFDiv(X[0], X[1])
           : Code == "min" ? B.CreateBinaryIntrinsic(KeepsNaN ? Intrinsic::minimum : Intrinsic::minnum, X[0], X[1])
           : Code == "max" ? B.CreateBinaryIntrinsic(KeepsNaN ? Intrinsic::maximum : Intrinsic::maxnum, X[0], X[1])
                           : nullptr;
  }

  Value *unary(StringRef Code, Value *X, Type *T) {
    Constant *One = ConstantFP::get(T, 1.0);
    auto Id = StringSwitch<Intrinsic::ID>(Code)
                  .Case("abs", Intrinsic::fabs)
                  .Case("sqrt", Intrinsic::sqrt)
                  .Case("ex2", Intrinsic::exp2)
                  .Case("lg2", Intrinsic::log2)
                  .Case("sin", Intrinsic::sin)
                  .Case("cos", Intrinsic::cos)
                  .Default(Intrinsic::not_intrinsic);
    if (Code == "neg")
      return B.CreateFNeg(X);
    if (Code == "tanh")
      return tangent(X, T);
    if (Code == "rcp")
      return B.CreateFDiv(One, X);
    if (Code == "rsqrt")
      return B.CreateFDiv(One, B.CreateUnaryIntrinsic(Intrinsic::sqrt, X));
    if (Id == Intrinsic::not_intrinsic)
      return nullptr;
    bool InHalf = T->getScalarSizeInBits() == 16 && Id != Intrinsic::fabs && Id != Intrinsic::sqrt;
    if (InHalf) // as precise as the instruction, in single precision
      return B.CreateFPTrunc(B.CreateUnaryIntrinsic(Id, B.CreateFPExt(X, T->getWithNewType(B.getFloatTy()))), T);
    return B.CreateUnaryIntrinsic(Id, X);
  }

  // The hyperbolic one, libdevice's, which has a rule.
  Value *tangent(Value *X, Type *T) {
    if (auto *Vector = dyn_cast<FixedVectorType>(T)) {
      Value *All = PoisonValue::get(T);
      for (unsigned I = 0; I < Vector->getNumElements(); ++I)
        All = B.CreateInsertElement(All, tangent(B.CreateExtractElement(X, I), Vector->getElementType()), I);
      return All;
    }
    FunctionCallee Tanh = Call.getModule()->getOrInsertFunction("__nv_tanhf", B.getFloatTy(), B.getFloatTy());
    Value *Wide = T->isFloatTy() ? X : B.CreateFPExt(X, B.getFloatTy());
    Value *Result = B.CreateCall(Tanh, {Wide});
    return T->isFloatTy() ? Result : B.CreateFPTrunc(Result, T);
  }

  Value *integral(ArrayRef<StringRef> Words, ArrayRef<Value *> X) {
    StringRef Code = Words[0];
    if (X.size() == 1)
      return Code == "not" ? B.CreateNot(X[0]) : Code == "neg" ? B.CreateNeg(X[0]) : nullptr;
    bool Low = is_contained(Words, "lo");
    if (X.size() == 3)
      return Code == "mad" && Low ? B.CreateAdd(B.CreateMul(X[0], X[1]), X[2]) : nullptr;
    if (X.size() != 2 || is_contained(Words, "cc"))
      return nullptr;
    return Code == "add"          ? B.CreateAdd(X[0], X[1])
           : Code == "sub"        ? B.CreateSub(X[0], X[1])
           : Code == "mul" && Low ? B.CreateMul(X[0], X[1])
           : Code == "and"        ? B.CreateAnd(X[0], X[1])
           : Code == "or"         ? B.CreateOr(X[0], X[1])
           : Code == "xor"        ? B.CreateXor(X[0], X[1])
                                  : nullptr;
  }

  CallInst &Call;
  IRBuilder<> B;
  LLVMContext &Context;
  StringMap<Value *> Registers;
  SmallVector<std::string> Outputs;
};

} // namespace

ADGEN_DECLARE_PASS(RaiseInlineAsm);

PreservedAnalyses RaiseInlineAsm::run(Module &M, ModuleAnalysisManager &) {
  for (Function &F : M)
    for (Instruction &I : make_early_inc_range(instructions(F)))
      if (auto *Call = dyn_cast<CallInst>(&I); Call && Call->isInlineAsm())
        Translation(*Call).run();
  return PreservedAnalyses::none();
}

} // namespace adgen
