// Operands of inline PTX: registers, constants, special registers, vectors and addresses.
#include "Import/PtxTranslation.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/IR/Intrinsics.h"
#include "llvm/IR/PatternMatch.h"

using namespace llvm;
using namespace llvm::PatternMatch;

namespace adgen {

SmallVector<StringRef> PtxTranslation::operandsOf(StringRef Text) {
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

bool PtxTranslation::bindOperands(const InlineAsm &Assembly) {
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

Value *PtxTranslation::result() {
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

Value *PtxTranslation::as(Value *V, Type *T) {
  if (V->getType() == T)
    return V;
  if (V->getType()->isIntegerTy(1) && T->isIntegerTy())
    return B.CreateZExt(V, T);
  if (V->getType()->isIntegerTy(32) && T->isIntegerTy(8)) // the register of a byte, as it was extended
    return B.CreateTrunc(V, T);
  if (V->getType()->isPointerTy() || T->isPointerTy() ||
      V->getType()->getPrimitiveSizeInBits() != T->getPrimitiveSizeInBits())
    return nullptr;
  if (auto *Cast = dyn_cast<BitCastInst>(V); Cast && Cast->getSrcTy() == T)
    return Cast->getOperand(0);
  if (Value *Upper = T->isFloatTy() ? upperHalf(V) : nullptr)
    return B.CreateFPExt(as(Upper, Type::getBFloatTy(Context)), T);
  return B.CreateBitCast(V, T);
}

Value *PtxTranslation::upperHalf(Value *V) {
  Constant *Lower = nullptr;
  Value *Upper = nullptr;
  bool Made =
      match(V, m_BitCast(m_InsertElt(m_Constant(Lower), m_Value(Upper), m_One()))) && Upper->getType()->isIntegerTy(16);
  return Made && match(Lower->getAggregateElement(0u), m_Zero()) ? Upper : nullptr;
}

Type *PtxTranslation::typeNamed(StringRef Name) {
  Type *Half = B.getHalfTy(), *Brain = Type::getBFloatTy(Context);
  return StringSwitch<Type *>(Name)
      .Case("f16", Half)
      .Case("bf16", Brain)
      .Case("f16x2", FixedVectorType::get(Half, 2))
      .Case("bf16x2", FixedVectorType::get(Brain, 2))
      .Case("f32", B.getFloatTy())
      .Case("f64", B.getDoubleTy())
      .Cases({"u8", "s8"}, B.getInt8Ty())
      .Cases({"b16", "u16", "s16"}, B.getInt16Ty())
      .Cases({"b32", "u32", "s32"}, B.getInt32Ty())
      .Cases({"b64", "u64", "s64"}, B.getInt64Ty())
      .Case("pred", B.getInt1Ty())
      .Default(nullptr);
}

Value *PtxTranslation::constant(StringRef Text, Type *T) {
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

Value *PtxTranslation::special(StringRef Name, Type *T) {
  std::string Intrinsic = ("llvm.nvvm.read.ptx.sreg." + Name).str();
  std::replace(Intrinsic.begin(), Intrinsic.end(), '_', '.');
  Intrinsic::ID Id = Intrinsic::lookupIntrinsicID(Intrinsic);
  if (Id == Intrinsic::not_intrinsic)
    return nullptr;
  CallInst *Read = B.CreateCall(Intrinsic::getOrInsertDeclaration(Call.getModule(), Id), {});
  return as(Read, T);
}

Value *PtxTranslation::read(StringRef Operand, Type *T) {
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
  if (Value *V = Registers.lookup(Operand)) // the text may declare one as %r
    return as(V, T);
  if (Operand.consume_front("%"))
    return special(Operand, T);
  return constant(Operand, T);
}

bool PtxTranslation::write(StringRef Operand, Value *V) {
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

std::pair<Value *, uint64_t> PtxTranslation::placeIn(StringRef Operand) {
  if (!Operand.consume_front("[") || !Operand.consume_back("]"))
    return {};
  auto [Name, Text] = Operand.split('+');
  uint64_t Offset = 0;
  if (!Text.empty() && Text.trim().getAsInteger(0, Offset))
    return {};
  return {Registers.lookup(Name.trim()), Offset};
}

Value *PtxTranslation::address(StringRef Operand) {
  auto [Base, Offset] = placeIn(Operand);
  if (!Base || !Base->getType()->isPointerTy())
    return nullptr;
  return Offset ? B.CreateConstGEP1_64(B.getInt8Ty(), Base, Offset) : Base;
}

Value *PtxTranslation::element(Value *Pointer, Type *T, unsigned Index) {
  return Index ? B.CreateConstGEP1_64(T, Pointer, Index) : Pointer;
}

SmallVector<StringRef> PtxTranslation::listed(StringRef List) {
  return List.consume_front("{") && List.consume_back("}") ? operandsOf(List) : SmallVector<StringRef>{List};
}

SmallVector<StringRef> PtxTranslation::partsOf(StringRef Operand) {
  return Operand.consume_front("{") ? operandsOf(Operand.rtrim("}")) : SmallVector<StringRef>{Operand};
}

Value *PtxTranslation::sharedAddress(StringRef Operand) {
  auto [Number, Offset] = placeIn(Operand);
  if (!Number || !Number->getType()->isIntegerTy())
    return nullptr;
  return B.CreateIntToPtr(B.CreateAdd(Number, ConstantInt::get(Number->getType(), Offset)), B.getPtrTy(3));
}

} // namespace adgen
