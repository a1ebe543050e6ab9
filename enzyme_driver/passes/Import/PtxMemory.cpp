// Loads, stores and atomic operations of inline PTX.
#include "Analysis/Accumulation.h"
#include "Import/PtxTranslation.h"

#include "llvm/ADT/StringSwitch.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

#include <algorithm>

using namespace llvm;

namespace adgen {

bool PtxTranslation::isPlainAccess(ArrayRef<StringRef> Words) {
  bool Atomic = Words[0] == "atom" || Words[0] == "red";
  return all_of(Words.drop_front().drop_back(), [&](StringRef Word) {
    return is_contained({"global", "shared", "cta", "ca", "cg", "cs", "lu", "cv", "wb", "wt", "nc", "weak", "relaxed",
                         "acquire", "release", "acq_rel", "volatile", "gpu", "sys"},
                        Word) ||
           Word.starts_with("L1::") || Word.starts_with("L2::") || is_contained({"v2", "v4", "v8"}, Word) ||
           (Atomic &&
            is_contained({"add", "min", "max", "and", "or", "xor", "exch", "inc", "dec", "cas", "noftz"}, Word));
  });
}

bool PtxTranslation::accessed(ArrayRef<StringRef> Written, ArrayRef<StringRef> Operands, StringRef Condition) {
  SmallVector<StringRef> Words(Written); // red.global.v2.f32.add is red.global.add.v2.f32
  std::stable_partition(Words.begin(), Words.end(), [&](StringRef Word) { return !typeNamed(Word); });
  StringRef Code = Words[0];
  Type *T = typeNamed(Words.back());
  bool First = Code == "st" || Code == "red", Atomic = Code == "atom" || Code == "red";
  StringRef Place = Operands[First ? 0 : 1];
  Value *When = Condition.empty() ? nullptr : conditionNamed(Condition);
  if (!T || (!Condition.empty() && (!When || Atomic)) || !isPlainAccess(Words))
    return false;
  Value *Pointer = is_contained(Words, "shared") ? sharedAddress(Place) : address(Place);
  if (!Pointer)
    return false;
  if (is_contained(Words, "cas"))
    return comparedAndSwapped(Words, Operands, Pointer, T);
  if (Atomic)
    return atomics(Words, Operands.drop_front(First ? 1 : 2), Pointer, T, First ? StringRef() : Operands[0]);
  SmallVector<StringRef> Registers = listed(Operands[First ? 1 : 0]);
  bool Volatile = is_contained(Words, "volatile");
  for (auto [Index, Register] : enumerate(Registers)) {
    Value *At = element(Pointer, T, Index);
    if (!First) {
      if (!loaded(Register, T, At, Volatile, When))
        return false;
      continue;
    }
    Value *Stored = read(Register, T);
    if (!Stored)
      return false;
    StoreInst *Store = B.CreateAlignedStore(Stored, At, Align(T->getPrimitiveSizeInBits() / 8), Volatile);
    if (When)
      Conditionals.push_back({Store, When, nullptr});
  }
  return true;
}

bool PtxTranslation::loaded(StringRef Register, Type *T, Value *Pointer, bool Volatile, Value *Condition) {
  Value *Before = Condition && Registers.lookup(Register) ? read(Register, T) : nullptr;
  if (Condition && !Before)
    return false; // whatever the register holds where nothing is loaded
  LoadInst *Load = B.CreateAlignedLoad(T, Pointer, Align(T->getPrimitiveSizeInBits() / 8), Volatile);
  if (Condition)
    Conditionals.push_back({Load, Condition, Before});
  return write(Register, Load);
}

Value *PtxTranslation::conditionNamed(StringRef Condition) {
  bool Negative = Condition.consume_front("!");
  Value *P = read(Condition, B.getInt1Ty());
  return P && Negative ? B.CreateNot(P) : P;
}

void PtxTranslation::separate() {
  for (const Conditional &C : Conditionals) {
    Instruction *Then = SplitBlockAndInsertIfThen(C.Condition, C.Access->getIterator(), false);
    BasicBlock *Skipped = Then->getParent()->getSinglePredecessor();
    BasicBlock *Behind = Then->getSuccessor(0);
    if (C.Otherwise) {
      PHINode *Either = PHINode::Create(C.Access->getType(), 2, "", Behind->begin());
      C.Access->replaceAllUsesWith(Either);
      Either->addIncoming(C.Access, Then->getParent());
      Either->addIncoming(C.Otherwise, Skipped);
    }
    C.Access->moveBefore(Then->getIterator());
  }
}

// atom.cas.b32 old, [address], expected, new
bool PtxTranslation::comparedAndSwapped(ArrayRef<StringRef> Words, ArrayRef<StringRef> Operands, Value *Pointer,
                                        Type *T) {
  if (Words[0] != "atom" || Operands.size() != 4 || !T->isIntegerTy())
    return false;
  Value *Expected = read(Operands[2], T), *New = read(Operands[3], T);
  if (!Expected || !New)
    return false;
  AtomicOrdering Order =
      is_contained(Words, "relaxed") ? AtomicOrdering::Monotonic : AtomicOrdering::SequentiallyConsistent;
  AtomicCmpXchgInst *Swap = B.CreateAtomicCmpXchg(Pointer, Expected, New, {}, Order, Order);
  return write(Operands[0], B.CreateExtractValue(Swap, 0));
}

bool PtxTranslation::atomics(ArrayRef<StringRef> Words, ArrayRef<StringRef> Operands, Value *Pointer, Type *T,
                             StringRef Results) {
  SmallVector<StringRef> Values = Operands.size() == 1 ? listed(Operands[0]) : SmallVector<StringRef>();
  SmallVector<StringRef> Olds = Results.empty() ? SmallVector<StringRef>(Values.size(), "_") : listed(Results);
  return !Values.empty() && Values.size() == Olds.size() && all_of(enumerate(zip(Values, Olds)), [&](auto Each) {
    auto [V, Old] = Each.value();
    return atomic(Words, V, element(Pointer, T, Each.index()), T, Old);
  });
}

bool PtxTranslation::atomic(ArrayRef<StringRef> Words, StringRef Given, Value *Pointer, Type *T, StringRef Result) {
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
  for (unsigned I = 0; I < Pair->getNumElements(); ++I) {
    auto *Each = One(element(Pointer, Pair->getElementType(), I), B.CreateExtractElement(Operand, I));
    if (I == 0)
      Each->setMetadata(BeginsWordMark, MDNode::get(Each->getContext(), {}));
    Old = B.CreateInsertElement(Old, Each, I);
  }
  return write(Result, Old);
}

} // namespace adgen
