#include "Analysis/Bits.h"
#include "Autodiff/Collectives.h"

#include "llvm/ADT/StringSwitch.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/IR/PatternMatch.h"

using namespace llvm;
using namespace llvm::PatternMatch;

namespace adgen {
namespace {

// The last operand of the PTX instruction: given, or made from the width as clang's headers do.
Value *controlOperand(IRBuilder<> &B, CallInst &Call, StringRef Rule) {
  if (Call.getCalledFunction()->isIntrinsic())
    return Call.getArgOperand(3);
  Value *Segment = B.CreateShl(B.CreateSub(B.getInt32(32), Call.getArgOperand(3)), 8);
  return Rule.contains("_up_") ? Segment : B.CreateOr(Segment, 31);
}

} // namespace

// Values go through memory, so that the rule has the form of all others: pointers with shadows.
Value *shuffled(IRBuilder<> &B, Value *Sent, StringRef Rule, ArrayRef<Value *> Operands) {
  Function &Body = *B.GetInsertBlock()->getParent();
  IRBuilder<> Start(&*Body.getEntryBlock().getFirstInsertionPt());
  Value *Out = Start.CreateAlloca(Sent->getType(), nullptr, "received");
  Value *In = Start.CreateAlloca(Sent->getType(), nullptr, "sent");
  B.CreateStore(Sent, In);
  CallInst *Call = B.CreateCall(declareRule(*Body.getParent(), Rule, 2, typesOf(Operands)),
                                {Out, In, Operands[0], Operands[1], Operands[2]});
  Call->addFnAttr(Attribute::Convergent);
  return B.CreateLoad(Sent->getType(), Out);
}

namespace {

bool usesUpperHalf(const CallInst &Word) {
  return any_of(Word.users(), [](const User *U) {
    auto IsLower = [](const User *Taken) {
      auto *Element = dyn_cast<ExtractElementInst>(Taken);
      return Element && match(Element->getIndexOperand(), m_Zero());
    };
    const bool Lower = isa<TruncInst>(U)
                           ? U->getType()->isIntegerTy(16)
                           : isa<BitCastInst>(U) && U->getType()->isVectorTy() && all_of(U->users(), IsLower);
    return !Lower;
  });
}

// Numbers of bfloat16 are shuffled as floats, which hold them.
void replaceShuffleOfBrains(CallInst &Call, StringRef Rule) {
  IRBuilder<> B(&Call);
  Value *Operands[] = {Call.getArgOperand(0), Call.getArgOperand(2), controlOperand(B, Call, Rule)};
  auto *Pair = FixedVectorType::get(B.getBFloatTy(), 2);
  Value *Sent = B.CreateBitCast(Call.getArgOperand(1), Pair), *Received = Constant::getNullValue(Pair);
  for (uint64_t I = 0; I < (usesUpperHalf(Call) ? 2 : 1); ++I) {
    Value *One = B.CreateFPExt(B.CreateExtractElement(Sent, I), B.getFloatTy());
    One = shuffled(B, One, (Rule.drop_back(StringRef("bf16x2").size()) + "f32").str(), Operands);
    Received = B.CreateInsertElement(Received, B.CreateFPTrunc(One, B.getBFloatTy()), I);
  }
  Call.replaceAllUsesWith(B.CreateBitCast(Received, Call.getType()));
  Call.eraseFromParent();
}

// The double whose bits these are; null where they are something else's.
Value *doubleOf(Value *Bits) {
  while (auto *Cast = dyn_cast<BitCastInst>(Bits))
    Bits = Cast->getOperand(0);
  return Bits->getType()->isDoubleTy() ? Bits : nullptr;
}

// These bits before something else took the place of the other half.
Value *beforeOther(Value *Bits, unsigned Half) {
  constexpr uint64_t Low = 0xffffffff;
  Value *Before;
  while (match(Bits, m_c_Or(m_And(m_Value(Before), m_SpecificInt(Half == 1 ? ~Low : Low)), m_Value())))
    Bits = Before;
  return Bits;
}

// Which half of which double a word is; none where it is nothing of that kind.
std::pair<Value *, unsigned> halfOf(Value *Word) {
  Value *Bits;
  ConstantInt *Index;
  if (match(Word, m_Trunc(m_LShr(m_Value(Bits), m_SpecificInt(32)))))
    return {doubleOf(beforeOther(Bits, 1)), 1};
  if (match(Word, m_Trunc(m_Value(Bits))))
    return {doubleOf(beforeOther(Bits, 0)), 0};
  if (match(Word, m_ExtractElt(m_Value(Bits), m_ConstantInt(Index))))
    return {doubleOf(Bits), Index->getZExtValue()};
  return {nullptr, 0};
}

bool asksWhoIsActive(const Value *Mask) {
  auto *Call = dyn_cast<CallInst>(Mask);
  return Call && Call->getIntrinsicID() == Intrinsic::nvvm_activemask;
}

bool isSameMove(const CallInst &A, const CallInst &B) {
  const Value *Masks[] = {A.getArgOperand(0), B.getArgOperand(0)};
  return A.getCalledFunction() == B.getCalledFunction() && (Masks[0] == Masks[1] || all_of(Masks, asksWhoIsActive)) &&
         A.getArgOperand(2) == B.getArgOperand(2) && A.getArgOperand(3) == B.getArgOperand(3);
}

} // namespace

bool isIntegerShuffle(StringRef Name) { return Name.starts_with("llvm.nvvm.shfl.sync.") && Name.ends_with(".i32"); }

std::string shuffleRule(CallInst &Call, StringRef Name) {
  StringRef Way = Name;
  if (Way.consume_front("llvm.nvvm.shfl.sync.") && Way.consume_back(".f32"))
    return ("shfl_" + Way + "_f32").str();
  if (isIntegerShuffle(Name)) {
    Bits Kind = bitsMoved(*Call.getArgOperand(1), Call);
    Way.consume_back(".i32");
    return Kind == Bits::Float    ? ("shfl_" + Way + "_f32").str()
           : Kind == Bits::Halves ? ("shfl_" + Way + "_f16x2").str()
           : Kind == Bits::Brains ? ("shfl_" + Way + "_bf16x2").str()
                                  : "";
  }
  return StringSwitch<std::string>(Name)
      .Case("_Z11__shfl_syncjdii", "shfl_idx_f64")
      .Case("_Z14__shfl_up_syncjdji", "shfl_up_f64")
      .Case("_Z16__shfl_down_syncjdji", "shfl_down_f64")
      .Case("_Z15__shfl_xor_syncjdii", "shfl_bfly_f64")
      .Default("");
}

void replaceShuffle(CallInst &Call, StringRef Rule) {
  if (Rule.ends_with("bf16x2"))
    return replaceShuffleOfBrains(Call, Rule);
  IRBuilder<> B(&Call);
  Type *T = Rule.ends_with("f16x2")         ? FixedVectorType::get(B.getHalfTy(), 2)
            : Call.getType()->isIntegerTy() ? B.getFloatTy()
                                            : Call.getType();
  Value *Operands[] = {Call.getArgOperand(0), Call.getArgOperand(2), controlOperand(B, Call, Rule)};
  Value *Received = shuffled(B, B.CreateBitCast(Call.getArgOperand(1), T), Rule, Operands);
  Call.replaceAllUsesWith(B.CreateBitCast(Received, Call.getType()));
  Call.eraseFromParent();
}

void joinHalves(BasicBlock &Block) {
  SmallVector<CallInst *> Open; // of which only one half was met
  for (Instruction &I : make_early_inc_range(Block)) {
    auto *Call = dyn_cast<CallInst>(&I);
    if (!Call || !Call->getCalledFunction() || !isIntegerShuffle(Call->getCalledFunction()->getName()))
      continue;
    auto [Number, Index] = halfOf(Call->getArgOperand(1));
    if (!Number)
      continue;
    auto *Other = find_if(Open, [&, Number = Number, Index = Index](CallInst *Each) {
      return isSameMove(*Each, *Call) && halfOf(Each->getArgOperand(1)) == std::pair(Number, 1 - Index);
    });
    if (Other == Open.end()) {
      Open.push_back(Call);
      continue;
    }
    IRBuilder<> B(*Other);
    StringRef Way = Call->getCalledFunction()->getName();
    Way.consume_front("llvm.nvvm.shfl.sync.");
    Way.consume_back(".i32");
    Value *Operands[] = {(*Other)->getArgOperand(0), Call->getArgOperand(2), Call->getArgOperand(3)};
    Value *Bits = B.CreateBitCast(shuffled(B, Number, ("shfl_" + Way + "_f64").str(), Operands), B.getInt64Ty());
    Value *Halves[] = {B.CreateTrunc(Bits, B.getInt32Ty()), B.CreateTrunc(B.CreateLShr(Bits, 32), B.getInt32Ty())};
    (*Other)->replaceAllUsesWith(Halves[1 - Index]);
    Call->replaceAllUsesWith(Halves[Index]);
    (*Other)->eraseFromParent();
    Call->eraseFromParent();
    Open.erase(Other);
  }
}

} // namespace adgen
