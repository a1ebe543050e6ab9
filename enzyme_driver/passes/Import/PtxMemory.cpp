// Loads, stores and atomic operations of inline PTX.
#include "Analysis/Accumulation.h"
#include "Import/PtxTranslation.h"

#include "llvm/ADT/StringSwitch.h"

using namespace llvm;

namespace adgen {

bool PtxTranslation::isPlainAccess(ArrayRef<StringRef> Words) {
  bool Atomic = Words[0] == "atom" || Words[0] == "red";
  return all_of(Words.drop_front().drop_back(), [&](StringRef Word) {
    return is_contained({"global", "ca", "cg", "cs", "lu", "cv", "wb", "wt", "nc", "weak", "relaxed", "acquire",
                         "release", "acq_rel", "volatile", "cta", "gpu", "sys"},
                        Word) ||
           Word.starts_with("L1::") || Word.starts_with("L2::") || is_contained({"v2", "v4"}, Word) ||
           (Atomic && is_contained({"add", "min", "max", "and", "or", "xor", "exch", "inc", "dec", "noftz"}, Word));
  });
}

bool PtxTranslation::accessed(ArrayRef<StringRef> Words, ArrayRef<StringRef> Operands) {
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
