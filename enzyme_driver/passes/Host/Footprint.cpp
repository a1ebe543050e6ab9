#include "Host/Footprint.h"
#include "Analysis/AccessRanges.h"
#include "Host/AccumulatedShadows.h"
#include "Host/HostArguments.h"

#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/InstIterator.h"

using namespace llvm;

namespace adgen {

Constant *makeFootprint(Function &Thread, Function &F, uint64_t Shadows, ScalarEvolution &SE) {
  Module &M = *F.getParent();
  const HostArguments Arguments(M);
  LLVMContext &Context = M.getContext();
  auto *Pointer = PointerType::getUnqual(Context);
  Type *Int32 = Type::getInt32Ty(Context);
  Constant *None = ConstantPointerNull::get(Pointer);
  if (Shadows == 0 || Shadows == NotApart)
    return None;
  auto *Signature =
      FunctionType::get(Type::getVoidTy(Context), {Pointer, Pointer, Int32, Int32, Int32, Pointer}, false);
  auto *Made = Function::Create(Signature, GlobalValue::InternalLinkage, namesOf(F).entry() + "_footprint", &M);
  IRBuilder<> B(BasicBlock::Create(Context, "entry", Made));
  SmallVector<Value *> Extents = Arguments.loadExtents(B, Made->getArg(0));
  auto Known = [&](const Argument &A) -> std::optional<Interval> {
    if (!A.getType()->isIntegerTy())
      return std::nullopt;
    auto Wide = [&](Value *V, bool Signed) { return B.CreateIntCast(V, B.getInt64Ty(), Signed); };
    if (A.getArgNo() < F.arg_size()) {
      Value *Given = Wide(Arguments.loadArgument(B, F, A.getArgNo(), Made->getArg(1)), true);
      return Interval{Given, Given};
    }
    unsigned Register = A.getArgNo() - F.arg_size(); // in the order of Registers
    if (Register < 3)
      return Interval{B.getInt64(0), B.CreateSub(Wide(Extents[Register], false), B.getInt64(1))};
    Value *Same = Wide(Register < 6 ? Made->getArg(Register - 1) : Extents[Register - 6], false);
    return Interval{Same, Same};
  };
  AccessRange Area(B, SE, Known);
  DenseMap<unsigned, Interval> Ranges;
  for (Instruction &I : instructions(Thread)) {
    auto *A = isAtomic(I) ? dyn_cast<Argument>(getUnderlyingObject(I.getOperand(0), 0)) : nullptr;
    if (!A || A->getArgNo() >= 64 || !(Shadows >> A->getArgNo() & 1))
      continue;
    std::optional<Interval> Range = Area.of(I, I.getOperand(0));
    if (!Range) {
      Made->eraseFromParent();
      return None;
    }
    auto [Entry, IsFirst] = Ranges.try_emplace(A->getArgNo(), *Range);
    if (!IsFirst)
      Entry->second = Area.both(Entry->second, *Range);
  }
  unsigned Number = 0;
  for (unsigned I = 0; I < 64; ++I)
    if (Shadows >> I & 1)
      for (Value *End : {B.CreateSelect(Area.valid(), Ranges[I].Begin, B.getInt64(INT64_MIN)),
                         B.CreateSelect(Area.valid(), Ranges[I].End, B.getInt64(INT64_MAX))})
        B.CreateStore(End, B.CreateConstInBoundsGEP1_64(B.getInt64Ty(), Made->getArg(5), Number++));
  B.CreateRetVoid();
  return Made;
}

} // namespace adgen
