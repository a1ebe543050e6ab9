// Inline PTX becomes instructions: CUDA's headers write half and bfloat16 that way, loads with hints for the caches,
// atomics in a scope, and CUB its shuffles; people write approximate functions and reads of registers. What is not
// understood as a whole stays assembly, which is refused later by its place. On every target, text without an
// instruction, which keeps a compiler from moving or splitting values, gives what it takes; a maximum or minimum of the
// processor's, as Eigen has them, becomes a choice.
#include "Import/PtxTranslation.h"
#include "Support/Pass.h"

#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicsNVPTX.h"

using namespace llvm;

namespace adgen {

// The statements of the text; braces around them are scopes and mean nothing, those inside are vectors.
static SmallVector<StringRef> statementsOf(StringRef Text) {
  SmallVector<StringRef> Found;
  while (true) {
    Text = Text.ltrim(" \t\r\n;{}");
    if (Text.empty())
      return Found;
    if (Text.starts_with("//")) {
      Text = Text.split('\n').second;
      continue;
    }
    auto [Next, Rest] = Text.split(';');
    Found.push_back(Next.trim());
    Text = Rest;
  }
}

void PtxTranslation::run() {
  Instruction *Before = Call.getPrevNode();
  Value *Result = nullptr;
  if (translateAll() && (Call.getType()->isVoidTy() || (Result = result()))) {
    if (Result)
      Call.replaceAllUsesWith(Result);
    Call.eraseFromParent();
    separate();
    return;
  }
  while (Call.getPrevNode() != Before) // what was made in vain
    Call.getPrevNode()->eraseFromParent();
}

bool PtxTranslation::translateAll() {
  auto *Assembly = cast<InlineAsm>(Call.getCalledOperand());
  SmallVector<StringRef> Statements = statementsOf(Assembly->getAsmString());
  return !Statements.empty() && bindOperands(*Assembly) &&
         all_of(Statements, [&](StringRef S) { return translate(S); });
}

bool PtxTranslation::translate(StringRef Statement) {
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
    return accessed(Words, Operands, Condition);
  if (Words[0] == "shfl")
    return Condition.empty() && shuffled(Words, Operands);
  if (Words[0] == "elect")
    return Condition.empty() && elected(Words, Operands);
  if (Words[0] == "mma" || Words[0] == "ldmatrix")
    return Condition.empty() && ofTensorCores(Words, Operands);
  if (isOfBytes(Words)) {
    Value *Converted = Condition.empty() ? ofBytes(Words, Operands) : nullptr;
    return Converted && write(Operands[0], Converted);
  }
  bool Directed = any_of(Words, [](StringRef W) { return is_contained({"rz", "rm", "rp", "volatile"}, W); });
  if (Directed && Words[0] != "cvt")
    return false;
  Type *T = typeNamed(Words.back());
  Value *New = T ? value(Words, Operands, T) : nullptr;
  New = New ? clamped(Words, New) : nullptr;
  return New && write(Operands[0], Condition.empty() ? New : chosen(Condition, New, Operands[0]));
}

Value *PtxTranslation::clamped(ArrayRef<StringRef> Words, Value *X) {
  Type *T = X->getType();
  bool Saturates = is_contained(Words, "sat"), Rectifies = is_contained(Words, "relu");
  if (!Saturates && !Rectifies)
    return X;
  if (!T->isFPOrFPVectorTy())
    return Words[0] == "cvt" ? X : nullptr;
  Constant *Zero = ConstantFP::get(T, 0.0);
  if (Rectifies)
    return B.CreateSelect(B.CreateFCmpOLT(X, Zero), Zero, X);
  Value *Positive = B.CreateSelect(B.CreateFCmpOGT(X, Zero), X, Zero);
  Constant *One = ConstantFP::get(T, 1.0);
  return B.CreateSelect(B.CreateFCmpOLT(Positive, One), Positive, One);
}

bool PtxTranslation::fenced(ArrayRef<StringRef> Words) {
  bool Known = Words[0] == "membar" || (Words.size() == 3 && is_contained({"sc", "acq_rel"}, Words[1])) ||
               (Words.size() > 1 && is_contained({"proxy", "mbarrier_init"}, Words[1]));
  if (Known)
    B.CreateFence(AtomicOrdering::SequentiallyConsistent);
  return Known;
}

bool PtxTranslation::waited(ArrayRef<StringRef> Words, ArrayRef<StringRef> Operands) {
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

Value *PtxTranslation::chosen(StringRef Condition, Value *New, StringRef Register) {
  Value *P = conditionNamed(Condition), *Old = Registers.lookup(Register) ? read(Register, New->getType()) : nullptr;
  return P && Old ? B.CreateSelect(P, New, Old) : nullptr;
}

namespace {

// Assembly without an instruction: an output is the input that is tied to it, memory stays as it is.
class EmptyAssembly {
public:
  explicit EmptyAssembly(CallInst &Call) : Call(Call), B(&Call) {}

  static bool isEmpty(StringRef Text) {
    Text = Text.trim();
    return Text.empty() || ((Text.starts_with("#") || Text.starts_with("//")) && !Text.contains('\n'));
  }

  bool run() {
    Value *Result = nullptr;
    if (!readOperands() || !(Call.getType()->isVoidTy() || (Result = result())))
      return false;
    for (const Output &O : Outputs)
      if (O.Address && O.Given)
        B.CreateStore(O.Given, O.Address);
    if (Result)
      Call.replaceAllUsesWith(Result);
    Call.eraseFromParent();
    return true;
  }

private:
  struct Output {
    Value *Address; // null of a register
    Value *Given = nullptr;
  };

  CallInst &Call;
  IRBuilder<> B;
  SmallVector<Output> Outputs;

  bool readOperands() {
    unsigned Argument = 0;
    for (const InlineAsm::ConstraintInfo &C : cast<InlineAsm>(Call.getCalledOperand())->ParseConstraints()) {
      if (C.Type == InlineAsm::isLabel)
        return false;
      if (C.Type == InlineAsm::isOutput)
        Outputs.push_back({C.isIndirect ? Call.getArgOperand(Argument++) : nullptr});
      if (C.Type == InlineAsm::isInput && !tie(C, Call.getArgOperand(Argument++)))
        return false;
    }
    return true;
  }

  bool tie(const InlineAsm::ConstraintInfo &C, Value *Given) {
    const auto &Codes = C.isMultipleAlternative ? C.multipleAlternatives.front().Codes : C.Codes;
    unsigned Tied = 0;
    if (Codes.empty() || StringRef(Codes.front()).getAsInteger(10, Tied))
      return true; // read, and left
    if (Tied < Outputs.size())
      Outputs[Tied].Given = Given;
    return Tied < Outputs.size();
  }

  Value *result() {
    SmallVector<Value *> Found;
    for (const Output &O : Outputs)
      if (!O.Address)
        Found.push_back(O.Given);
    auto *Struct = dyn_cast<StructType>(Call.getType());
    Value *Whole = Struct ? PoisonValue::get(Struct) : Found.front();
    for (unsigned I = 0; I < Found.size(); ++I) {
      if (!Found[I] || Found[I]->getType() != (Struct ? Struct->getElementType(I) : Call.getType()))
        return nullptr; // whatever the register holds
      if (Struct)
        Whole = B.CreateInsertValue(Whole, Found[I], I);
    }
    return Whole;
  }
};

// A maximum or minimum of an x86 processor, whose instructions choose the source where a number is NaN or both are
// zero: people write them as assembly to keep that order. Operands stand in AT&T's order, the destination last.
class ProcessorChoice {
public:
  explicit ProcessorChoice(CallInst &Call) : Call(Call), Assembly(*cast<InlineAsm>(Call.getCalledOperand())) {}

  bool run() {
    StringRef Text = StringRef(Assembly.getAsmString()).trim();
    auto [Name, Rest] = Text.split(Text.contains('\t') ? '\t' : ' ');
    const bool HasThree = Name.consume_front("v");
    const bool IsMaximum = Name.consume_front("max");
    Type *T = Call.getType();
    if ((!IsMaximum && !Name.consume_front("min")) || !isa<FixedVectorType>(T) ||
        !(Name == "pd" ? T->getScalarType()->isDoubleTy() : Name == "ps" && T->getScalarType()->isFloatTy()) ||
        Assembly.getDialect() != InlineAsm::AD_ATT)
      return false;
    SmallVector<StringRef> Words;
    Rest.split(Words, ',');
    if (Words.size() != (HasThree ? 3 : 2) || Words.back().trim() != "$0")
      return false;
    Value *Source = read(Words[0].trim()), *Other = read(Words[1].trim());
    if (!Source || !Other)
      return false;
    IRBuilder<> B(&Call);
    Value *Keeps = IsMaximum ? B.CreateFCmpOGT(Other, Source) : B.CreateFCmpOLT(Other, Source);
    Call.replaceAllUsesWith(B.CreateSelect(Keeps, Other, Source));
    Call.eraseFromParent();
    return true;
  }

private:
  CallInst &Call;
  InlineAsm &Assembly;

  // What an operand of the text holds before the instruction: an output that which is tied to it.
  Value *read(StringRef Word) const {
    unsigned Number = 0;
    if (!Word.consume_front("$") || Word.getAsInteger(10, Number))
      return nullptr;
    unsigned Operand = 0, Argument = 0;
    for (const InlineAsm::ConstraintInfo &C : Assembly.ParseConstraints()) {
      if (C.isIndirect || C.Type == InlineAsm::isLabel)
        return nullptr;
      const bool IsInput = C.Type == InlineAsm::isInput;
      unsigned Tied = 0;
      const bool IsTied = IsInput && !C.Codes.empty() && !StringRef(C.Codes.front()).getAsInteger(10, Tied);
      if (IsInput && (IsTied ? Tied : Operand) == Number) {
        Value *Given = Call.getArgOperand(Argument);
        return Given->getType() == Call.getType() ? Given : nullptr;
      }
      Argument += IsInput;
      ++Operand;
    }
    return nullptr;
  }
};

} // namespace

ADGEN_DECLARE_PASS(RaiseInlineAsm);

PreservedAnalyses RaiseInlineAsm::run(Module &M, ModuleAnalysisManager &) {
  SmallVector<CallInst *> Calls;
  for (Function &F : M)
    for (Instruction &I : instructions(F))
      if (auto *Call = dyn_cast<CallInst>(&I); Call && Call->isInlineAsm())
        Calls.push_back(Call);
  for (CallInst *Call : Calls) {
    StringRef Text = cast<InlineAsm>(Call->getCalledOperand())->getAsmString();
    bool Raised = EmptyAssembly::isEmpty(Text) && EmptyAssembly(*Call).run();
    if (!Raised && M.getTargetTriple().isNVPTX())
      PtxTranslation(*Call).run();
    else if (!Raised)
      ProcessorChoice(*Call).run();
  }
  return PreservedAnalyses::none();
}

} // namespace adgen
