// Asynchronous copies into shared memory (cp.async, in CUDA's headers and in people's code inline PTX) become copies
// where they are begun, and what waits for them goes: a copy may be done at any time before it is waited for. In the
// functions whose names begin as the option says; the kernel itself goes on copying beside its threads. What is not
// understood stays, and is refused later by its place.
#include "Import/Addresses.h"
#include "Support/Pass.h"

#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/PatternMatch.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

#include <optional>

using namespace llvm;

namespace adgen {
namespace {

constexpr StringLiteral Asynchronous = "cp.async.";

bool isWait(StringRef Name) { return Name.starts_with("commit") || Name.starts_with("wait"); }

class Copy {
public:
  explicit Copy(CallInst &Call) : Call(Call), B(&Call) {}

  void run() {
    auto *Assembly = dyn_cast<InlineAsm>(Call.getCalledOperand());
    bool Done = Assembly ? translate(Assembly->getAsmString()) : translateIntrinsic();
    if (Done)
      Call.eraseFromParent();
  }

private:
  // ".reg .pred p; setp.ne.b32 p, $0, 0; @p copy;", as CUTLASS writes it: the condition, and what is left is the copy.
  // Null where it is written otherwise.
  Value *conditionOf(StringRef &Text) {
    SmallVector<StringRef, 4> Statements;
    Text.split(Statements, ';');
    if (Statements.size() != 3)
      return nullptr;
    StringRef Declared = Statements[0].trim(), Compared = Statements[1].trim(), Done = Statements[2].trim();
    if (!Declared.consume_front(".reg .pred") || !Compared.consume_front("setp.ne.b32") || !Done.consume_front("@"))
      return nullptr;
    StringRef Name = Declared.trim();
    SmallVector<StringRef, 4> Operands;
    Compared.split(Operands, ',');
    bool Known = Operands.size() == 3 && Operands[0].trim() == Name && Operands[2].trim() == "0" &&
                 Done.consume_front(Name) && Done.starts_with(" ");
    Value *Given = Known ? registerOf(Operands[1].trim()) : nullptr;
    if (!Given || !Given->getType()->isIntegerTy(32))
      return nullptr;
    Text = Done.trim();
    return B.CreateIsNotNull(Given);
  }

  // "cp.async.ca.shared.global [to], [from], bytes[, bytes that are read];", or one that waits. A number is a constant,
  // or in a register; of the last one, all or none.
  bool translate(StringRef Text) {
    Text = Text.split("//").first.trim(" \t\r\n;{}");
    Value *When = Text.contains('@') ? conditionOf(Text) : nullptr;
    if (!Text.consume_front(Asynchronous) || Text.contains(';') || Text.contains('@'))
      return false;
    auto [Name, Rest] = Text.split(' ');
    if (isWait(Name) || Name.starts_with("mbarrier.arrive"))
      return !When;
    if (Name.starts_with("bulk"))
      return !When && inBulk(Name, Rest);
    SmallVector<StringRef, 4> Operands;
    Rest.split(Operands, ',');
    if (!Name.contains(".shared") || !Name.contains(".global") || Name.contains("cache_hint") || Operands.size() < 3 ||
        Operands.size() > 4)
      return false;
    std::optional<uint64_t> Bytes = numberOf(Operands[2]), Read = numberOf(Operands.back());
    Value *To = registerOf(Operands[0].trim(" []\t")), *From = registerOf(Operands[1].trim(" []\t"));
    if (!To || !From || !Bytes)
      return false;
    if (Read) {
      To = pointerBehind(B, To), From = pointerBehind(B, From);
      if (When && To && From)
        B.SetInsertPoint(SplitBlockAndInsertIfThen(When, Call.getIterator(), false));
      return copy(To, From, *Bytes, std::min(*Bytes, *Read));
    }
    if (When)
      return false;
    Value *All = allOrNothing(registerOf(Operands.back().trim()), *Bytes);
    return All && copyIf(All, pointerBehind(B, To), pointerBehind(B, From), *Bytes);
  }

  // "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [to], [from], bytes, [barrier];" of one thread,
  // or the same to global memory. Of tensors, and to several blocks at once, nothing is understood.
  bool inBulk(StringRef Name, StringRef Rest) {
    if (Name.starts_with("bulk.commit_group") || Name.starts_with("bulk.wait_group"))
      return true;
    bool Here = Name == "bulk.shared::cluster.global.mbarrier::complete_tx::bytes" ||
                Name == "bulk.shared::cta.global.mbarrier::complete_tx::bytes";
    SmallVector<StringRef, 4> Operands;
    Rest.split(Operands, ',');
    if ((!Here && Name != "bulk.global.shared::cta.bulk_group") || Operands.size() != (Here ? 4 : 3))
      return false;
    Value *To = registerOf(Operands[0].trim(" []\t")), *From = registerOf(Operands[1].trim(" []\t"));
    Value *Bytes = registerOf(Operands[2].trim());
    To = To ? pointerBehind(B, To) : nullptr, From = From ? pointerBehind(B, From) : nullptr;
    if (!To || !From || !Bytes)
      return false;
    B.CreateMemCpy(withoutSpace(B, To), Align(16), withoutSpace(B, From), Align(16), Bytes);
    return true;
  }

  // Whether all bytes are read, where it is either all or none that a register says.
  Value *allOrNothing(Value *Read, uint64_t Bytes) {
    using namespace PatternMatch;
    Value *Condition = nullptr;
    const APInt *Factor = nullptr;
    if (!Read)
      return nullptr;
    if (match(Read, m_Select(m_Value(Condition), m_SpecificInt(Bytes), m_Zero())))
      return Condition;
    if (match(Read, m_Select(m_Value(Condition), m_Zero(), m_SpecificInt(Bytes))))
      return B.CreateNot(Condition);
    bool Shifted = match(Read, m_Shl(m_ZExt(m_Value(Condition)), m_APInt(Factor)));
    if (Shifted || match(Read, m_Mul(m_ZExt(m_Value(Condition)), m_APInt(Factor)))) {
      uint64_t Times = Shifted ? uint64_t(1) << Factor->getLimitedValue(63) : Factor->getLimitedValue();
      return Condition->getType()->isIntegerTy(1) && Times == Bytes ? Condition : nullptr;
    }
    return nullptr;
  }

  // All bytes are copied, or zeros written.
  bool copyIf(Value *All, Value *To, Value *From, uint64_t Bytes) {
    if (!To || !From)
      return false;
    Instruction *Then = nullptr, *Else = nullptr;
    SplitBlockAndInsertIfThenElse(All, &Call, &Then, &Else);
    B.SetInsertPoint(Then);
    copy(To, From, Bytes, Bytes);
    B.SetInsertPoint(Else);
    B.CreateMemSet(withoutSpace(B, To), B.getInt8(0), Bytes, Align(Bytes));
    return true;
  }

  bool translateIntrinsic() {
    auto *Known = dyn_cast<IntrinsicInst>(&Call);
    StringRef Name = Known ? Known->getCalledFunction()->getName() : "";
    if (!Name.consume_front("llvm.nvvm.") || !Name.consume_front(Asynchronous))
      return false;
    if (isWait(Name))
      return true;
    uint64_t Bytes = 0;
    auto [Kind, Size] = Name.split(".shared.global.");
    return Call.arg_size() == 2 && !Size.getAsInteger(10, Bytes) &&
           copy(Call.getArgOperand(0), Call.getArgOperand(1), Bytes, Bytes);
  }

  // What is copied, and zeros behind it.
  bool copy(Value *To, Value *From, uint64_t Bytes, uint64_t Read) {
    if (!To || !From)
      return false;
    To = withoutSpace(B, To), From = withoutSpace(B, From);
    if (Read)
      B.CreateMemCpy(To, Align(Bytes), From, Align(Bytes), Read);
    if (Read < Bytes)
      B.CreateMemSet(B.CreateConstInBoundsGEP1_64(B.getInt8Ty(), To, Read), B.getInt8(0), Bytes - Read, Align(1));
    return true;
  }

  std::optional<uint64_t> numberOf(StringRef Operand) {
    uint64_t Number = 0;
    Operand = Operand.trim();
    if (!Operand.getAsInteger(0, Number))
      return Number;
    auto *Given = dyn_cast_or_null<ConstantInt>(registerOf(Operand));
    return Given ? std::optional(Given->getZExtValue()) : std::nullopt;
  }

  // "$1", where nothing is an output.
  Value *registerOf(StringRef Operand) const {
    unsigned Index = 0;
    bool Known = Operand.consume_front("$") && !Operand.getAsInteger(10, Index) && Index < Call.arg_size() &&
                 Call.getType()->isVoidTy();
    return Known ? Call.getArgOperand(Index) : nullptr;
  }

  CallInst &Call;
  IRBuilder<> B;
};

bool isAsynchronous(const CallInst &Call) {
  if (auto *Assembly = dyn_cast<InlineAsm>(Call.getCalledOperand()))
    return StringRef(Assembly->getAsmString()).contains(Asynchronous);
  return Call.getCalledFunction() && Call.getCalledFunction()->getName().contains("nvvm.cp.async.");
}

SmallVector<CallInst *> asynchronousIn(Function &F) {
  SmallVector<CallInst *> Found;
  for (Instruction &I : instructions(F))
    if (auto *Call = dyn_cast<CallInst>(&I); Call && isAsynchronous(*Call))
      Found.push_back(Call);
  return Found;
}

} // namespace

ADGEN_DECLARE_PASS_WITH_OPTION(LowerAsyncCopies);

PreservedAnalyses LowerAsyncCopies::run(Module &M, ModuleAnalysisManager &) {
  for (Function &F : M)
    if (F.getName().starts_with(Option))
      for (CallInst *Call : asynchronousIn(F))
        Copy(*Call).run();
  return PreservedAnalyses::none();
}

} // namespace adgen
