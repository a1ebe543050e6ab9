// Local structs that hold floating point and something else, and an array that is indexed by a computed number, become one variable for
// each member. Enzyme takes the index to be one past the end too, where a loop ends, and finds a number where another member is.
#include "Passes.h"

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"

using namespace llvm;

namespace adgen {
namespace {

bool hasLeaf(Type *T, function_ref<bool(Type *)> Wanted) {
  if (isa<StructType, ArrayType>(T))
    return any_of(T->subtypes(), [&](Type *Part) { return hasLeaf(Part, Wanted); });
  return Wanted(T);
}

bool mixes(StructType *T) {
  return hasLeaf(T, [](Type *Leaf) { return Leaf->isFPOrFPVectorTy(); }) &&
         hasLeaf(T, [](Type *Leaf) { return !Leaf->isFPOrFPVectorTy(); });
}

bool isComputed(const Value *Pointer) {
  return any_of(Pointer->users(), [](const User *U) {
    auto *Address = dyn_cast<GetElementPtrInst>(U);
    return Address && (!Address->hasAllConstantIndices() || isComputed(Address));
  });
}

bool isWhole(const Value *Length, const AllocaInst &Local) {
  auto *Bytes = dyn_cast<ConstantInt>(Length);
  return Bytes && Bytes->getZExtValue() == Local.getAllocationSize(Local.getDataLayout())->getFixedValue();
}

// The member of the struct that an address leads into; none where that is not known from its type.
std::optional<unsigned> memberOf(const GetElementPtrInst &Address, StructType *Struct) {
  Type *From = Address.getSourceElementType();
  auto *First = dyn_cast<ConstantInt>(*Address.idx_begin());
  if (From == Struct && First && First->isZero() && Address.getNumIndices() > 1)
    return cast<ConstantInt>(Address.getOperand(2))->getZExtValue();
  for (Type *Inner = Struct->getElementType(0);; Inner = Inner->getContainedType(0)) { // the address of the struct is its first member's
    if (Inner == From)
      return 0;
    if (!isa<StructType, ArrayType>(Inner))
      return std::nullopt;
  }
}

// Reads or writes the beginning of the first member.
bool accessesFirst(const User *U, const AllocaInst &Local) {
  const DataLayout &Layout = Local.getDataLayout();
  uint64_t Most = Layout.getTypeStoreSize(cast<StructType>(Local.getAllocatedType())->getElementType(0));
  if (auto *Load = dyn_cast<LoadInst>(U))
    return Layout.getTypeStoreSize(Load->getType()) <= Most;
  auto *Store = dyn_cast<StoreInst>(U);
  return Store && Store->getValueOperand() != &Local && Layout.getTypeStoreSize(Store->getValueOperand()->getType()) <= Most;
}

bool isSplittable(AllocaInst &Local) {
  auto *Struct = dyn_cast<StructType>(Local.getAllocatedType());
  if (!Struct || !Local.isStaticAlloca() || !mixes(Struct) || !isComputed(&Local))
    return false;
  return all_of(Local.users(), [&](User *U) {
    if (auto *Memory = dyn_cast<AnyMemIntrinsic>(U))
      return !Memory->isVolatile() && isWhole(Memory->getLength(), Local);
    if (auto *Address = dyn_cast<GetElementPtrInst>(U))
      return memberOf(*Address, Struct).has_value();
    return accessesFirst(U, Local) || isa<LifetimeIntrinsic>(U);
  });
}

using Members = SmallVector<AllocaInst *>;

Members variablesFor(AllocaInst &Local) {
  Members Made;
  IRBuilder<> B(&Local);
  for (Type *Member : cast<StructType>(Local.getAllocatedType())->elements()) {
    Made.push_back(B.CreateAlloca(Member, Local.getAddressSpace(), nullptr, Local.getName()));
    Made.back()->setAlignment(Local.getAlign()); // what copies of the whole say of it holds
  }
  return Made;
}

void redirect(GetElementPtrInst &Address, StructType *Struct, const Members &To) {
  AllocaInst *Member = To[*memberOf(Address, Struct)];
  if (Address.getSourceElementType() != Struct) {
    Address.setOperand(0, Member);
    return;
  }
  SmallVector<Value *> Indices{Address.getOperand(1)};
  append_range(Indices, drop_begin(Address.indices(), 2));
  Value *New = Member;
  if (Indices.size() > 1)
    New = IRBuilder<>(&Address).CreateGEP(Member->getAllocatedType(), Member, Indices, Address.getName(), Address.getNoWrapFlags());
  Address.replaceAllUsesWith(New);
  Address.eraseFromParent();
}

// A copy or a fill of the whole, member by member.
void divide(AnyMemIntrinsic &Whole, const AllocaInst &Local, const Members &To) {
  IRBuilder<> B(&Whole);
  auto *Copy = dyn_cast<AnyMemTransferInst>(&Whole);
  const StructLayout &Layout = *Local.getDataLayout().getStructLayout(cast<StructType>(Local.getAllocatedType()));
  for (auto [Index, Member] : enumerate(To)) {
    Type *T = Member->getAllocatedType();
    uint64_t Size = Local.getDataLayout().getTypeAllocSize(T);
    if (!Copy) {
      B.CreateMemSet(Member, cast<AnyMemSetInst>(Whole).getValue(), Size, Member->getAlign());
      continue;
    }
    auto Place = [&](Value *Of) { return Of == &Local ? Member : B.CreateStructGEP(Local.getAllocatedType(), Of, Index); };
    Value *From = Place(Copy->getRawSource()), *Target = Place(Copy->getRawDest());
    uint64_t Offset = Layout.getElementOffset(Index);
    Align FromAlign = commonAlignment(Copy->getSourceAlign().valueOrOne(), Offset);
    Align TargetAlign = commonAlignment(Copy->getDestAlign().valueOrOne(), Offset);
    if (T->isSingleValueType())
      B.CreateAlignedStore(B.CreateAlignedLoad(T, From, FromAlign), Target, TargetAlign);
    else
      B.CreateMemMove(Target, TargetAlign, From, FromAlign, Size);
  }
  Whole.eraseFromParent();
}

// The variables that take its place.
Members split(AllocaInst &Local) {
  auto *Struct = cast<StructType>(Local.getAllocatedType());
  Members Made = variablesFor(Local);
  for (User *U : make_early_inc_range(Local.users()))
    if (auto *Whole = dyn_cast<AnyMemIntrinsic>(U))
      divide(*Whole, Local, Made);
    else if (auto *Address = dyn_cast<GetElementPtrInst>(U))
      redirect(*Address, Struct, Made);
    else if (isa<LifetimeIntrinsic>(U))
      cast<Instruction>(U)->eraseFromParent();
    else
      U->replaceUsesOfWith(&Local, Made.front());
  Local.eraseFromParent();
  return Made;
}

} // namespace

PreservedAnalyses SplitLocals::run(Module &M, ModuleAnalysisManager &) {
  for (Function &F : M) {
    SmallVector<AllocaInst *> Locals;
    for (Instruction &I : instructions(F))
      if (auto *Local = dyn_cast<AllocaInst>(&I))
        Locals.push_back(Local);
    while (!Locals.empty())
      if (AllocaInst *Local = Locals.pop_back_val(); isSplittable(*Local))
        append_range(Locals, split(*Local));
  }
  return PreservedAnalyses::none();
}

} // namespace adgen
