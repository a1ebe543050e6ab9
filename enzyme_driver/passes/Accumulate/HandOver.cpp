#include "Accumulate/HandOver.h"
#include "Analysis/Accumulation.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Analysis/ValueTracking.h"

using namespace llvm;

namespace adgen {

constexpr size_t Counts[] = {16, 9, 8, 7, 6, 5, 4, 3, 2, 1}; // that rules/accumulate.cu has

CallInst *callTogether(IRBuilder<> &B, StringRef Name, Type *Result, ArrayRef<Value *> Arguments) {
  CallInst *Call = callRule(B, Name, Result, Arguments);
  Call->setConvergent();
  return Call;
}

static Value *asNumber(IRBuilder<> &B, Value *V) {
  Type *Int64 = B.getInt64Ty();
  return V->getType()->isPointerTy() ? B.CreatePtrToInt(V, Int64) : B.CreateZExt(V, Int64);
}

Value *alikeLanes(IRBuilder<> &B, Value *Active, Value *V, bool InParts) {
  return callTogether(B, "adgen_alike", B.getInt32Ty(), {Active, asNumber(B, V), B.getInt1(InParts)});
}

Value *alikeNeighbours(IRBuilder<> &B, Value *Active, Value *V, unsigned Lanes) {
  return callTogether(B, "adgen_alike_by", B.getInt32Ty(), {Active, asNumber(B, V), B.getInt32(Lanes)});
}

Value *alikeInColumn(IRBuilder<> &B, Value *Active, Value *V) {
  return callTogether(B, "adgen_alike_in_column", B.getInt32Ty(), {Active, asNumber(B, V)});
}

Value *areAlike(IRBuilder<> &B, Value *Active, Value *V) {
  return B.CreateICmpEQ(alikeLanes(B, Active, V, false), Active);
}

static std::pair<const Value *, int64_t> placeOf(const AtomicRMWInst &Accumulation) {
  int64_t Offset = 0;
  const Value *Pointer = Accumulation.getPointerOperand();
  const Value *Base = GetPointerBaseWithConstantOffset(Pointer, Offset, Accumulation.getDataLayout());
  return {Base, Offset};
}

const Value *baseOf(const AtomicRMWInst &Accumulation) { return placeOf(Accumulation).first; }

int64_t distanceOf(const AtomicRMWInst &Accumulation) { return placeOf(Accumulation).second; }

// As many as the rule's name says.
static void handOverAtOnce(IRBuilder<> &B, StringRef Lanes, ArrayRef<AtomicRMWInst *> Members, Value *Active,
                           Value *Alike, Value *Alone) {
  Type *Number = Members.front()->getType();
  IRBuilder<> Start(&*B.GetInsertBlock()->getParent()->getEntryBlock().getFirstInsertionPt());
  Type *Pointers = ArrayType::get(B.getPtrTy(), Members.size()), *Numbers = ArrayType::get(Number, Members.size());
  Value *Elements = Start.CreateAlloca(Pointers), *Values = Start.CreateAlloca(Numbers);
  for (auto [Index, Member] : enumerate(Members)) {
    Value *Element = B.CreateAddrSpaceCast(Member->getPointerOperand(), B.getPtrTy());
    B.CreateStore(Element, B.CreateConstInBoundsGEP2_64(Pointers, Elements, 0, Index));
    B.CreateStore(Member->getValOperand(), B.CreateConstInBoundsGEP2_64(Numbers, Values, 0, Index));
  }
  std::string Name = ("adgen_add_" + Lanes + (Number->isFloatTy() ? "_f32_" : "_f64_") + Twine(Members.size())).str();
  callTogether(B, Name, B.getVoidTy(), {Elements, Values, Active, Alike, Alone});
}

void handOver(IRBuilder<> &B, StringRef Lanes, ArrayRef<AtomicRMWInst *> Members, Value *Active, Value *Alike,
              function_ref<Value *(ArrayRef<AtomicRMWInst *>)> Alone) {
  for (ArrayRef<AtomicRMWInst *> Rest = Members; !Rest.empty();) {
    ArrayRef<AtomicRMWInst *> Next = Rest.take_front(*find_if(Counts, [&](size_t N) { return N <= Rest.size(); }));
    handOverAtOnce(B, Lanes, Next, Active, Alike, Alone(Next));
    Rest = Rest.drop_front(Next.size());
  }
  for (AtomicRMWInst *Member : Members)
    Member->eraseFromParent();
}

} // namespace adgen
