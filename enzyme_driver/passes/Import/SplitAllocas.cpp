// Local structs of more than floating point, with an array that is indexed by a computed number, become one variable
// for each member. Enzyme takes the index to be one past the end too, where a loop ends, and finds a number where
// another member is; and in memory of which one member keeps the bits of numbers, all might be some.
#include "Import/StructArrays.h"
#include "Support/Pass.h"

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/PatternMatch.h"

using namespace llvm;
using namespace llvm::PatternMatch;

namespace adgen {
namespace {

bool hasLeaf(Type *T, function_ref<bool(Type *)> Wanted) {
  if (isa<StructType, ArrayType>(T))
    return any_of(T->subtypes(), [&](Type *Part) { return hasLeaf(Part, Wanted); });
  return Wanted(T);
}

bool holdsNothingButNumbers(StructType *T) {
  return !hasLeaf(T, [](Type *Leaf) { return !Leaf->isFPOrFPVectorTy(); });
}

bool isComputed(const Value *Pointer) {
  return any_of(Pointer->users(), [](const User *U) {
    auto *Address = dyn_cast<GetElementPtrInst>(U);
    return Address && (!Address->hasAllConstantIndices() || isComputed(Address));
  });
}

// What begins where one of type `T` does, outermost first.
SmallVector<Type *> beginningAt(Type *T) {
  SmallVector<Type *> Found{T};
  while (isa<StructType, ArrayType>(Found.back()) && !Found.back()->subtypes().empty())
    Found.push_back(Found.back()->getContainedType(0));
  return Found;
}

// A step of so many bytes, which leaves what begins there.
bool leaves(const GetElementPtrInst &Address, Type *At) {
  const DataLayout &Layout = Address.getDataLayout();
  APInt Offset(Layout.getIndexTypeSizeInBits(Address.getType()), 0);
  return !Address.accumulateConstantOffset(Layout, Offset) || Offset.uge(Layout.getTypeAllocSize(At).getFixedValue());
}

// Whether nothing steps from a member that is no array to the next one, as (&v.x)[axis] does. `At` is what begins at
// the pointer, `Element` what the array consists of in which that is.
bool staysInMembers(const Value *Pointer, Type *At, Type *Element = nullptr) {
  return all_of(Pointer->users(), [&](const User *U) {
    auto *Address = dyn_cast<GetElementPtrInst>(U);
    if (!Address)
      return Element || !isa<PHINode, SelectInst>(U);
    Type *From = Address->getSourceElementType();
    SmallVector<Type *> Here = beginningAt(At);
    bool InArray =
        Element == From || any_of(Here, [&](Type *T) { return T->isArrayTy() && T->getArrayElementType() == From; });
    if (Address->getNumIndices() == 1)
      return InArray ? staysInMembers(Address, From, From) : !leaves(*Address, At) && !isComputed(Address);
    if (!InArray && !(match(Address->idx_begin()->get(), m_Zero()) && is_contained(Here, From)))
      return false;
    SmallVector<Value *> Indices(Address->indices());
    Type *To = GetElementPtrInst::getIndexedType(From, Indices),
         *Around = GetElementPtrInst::getIndexedType(From, ArrayRef(Indices).drop_back());
    return staysInMembers(Address, To, Around->isArrayTy() ? To : nullptr);
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
  return is_contained(beginningAt(Struct->getElementType(0)), From) ? std::optional(0u)
                                                                    : std::nullopt; // its address is the struct's
}

// Reads or writes the beginning of the first member.
bool accessesFirst(const User *U, const AllocaInst &Local) {
  const DataLayout &Layout = Local.getDataLayout();
  uint64_t Most = Layout.getTypeStoreSize(cast<StructType>(Local.getAllocatedType())->getElementType(0));
  if (auto *Load = dyn_cast<LoadInst>(U))
    return Layout.getTypeStoreSize(Load->getType()) <= Most;
  auto *Store = dyn_cast<StoreInst>(U);
  return Store && Store->getValueOperand() != &Local &&
         Layout.getTypeStoreSize(Store->getValueOperand()->getType()) <= Most;
}

bool isSplittable(AllocaInst &Local) {
  auto *Struct = dyn_cast<StructType>(Local.getAllocatedType());
  if (!Struct || !Local.isStaticAlloca() || holdsNothingButNumbers(Struct) || !isComputed(&Local) ||
      !staysInMembers(&Local, Struct))
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
    New = IRBuilder<>(&Address).CreateGEP(Member->getAllocatedType(), Member, Indices, Address.getName(),
                                          Address.getNoWrapFlags());
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
    auto Place = [&](Value *Of) {
      return Of == &Local ? Member : B.CreateStructGEP(Local.getAllocatedType(), Of, Index);
    };
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

// A number of 16 bits that is copied from one of two variables (x > y ? x : y, of a struct that holds it) is read and
// stored, by which both become values: the optimiser leaves a copy in memory.
void copyAsWord(AnyMemCpyInst &Copy) {
  constexpr uint64_t Bytes = 2;
  auto *From = dyn_cast<SelectInst>(Copy.getRawSource());
  auto *Length = dyn_cast<ConstantInt>(Copy.getLength());
  if (!From || !Length || Length->getZExtValue() != Bytes || Copy.isVolatile() ||
      !isa<AllocaInst>(From->getTrueValue()) || !isa<AllocaInst>(From->getFalseValue()))
    return;
  IRBuilder<> B(&Copy);
  Value *Word = B.CreateAlignedLoad(B.getInt16Ty(), From, Copy.getSourceAlign());
  B.CreateAlignedStore(Word, Copy.getRawDest(), Copy.getDestAlign());
  Copy.eraseFromParent();
}

} // namespace

ADGEN_DECLARE_PASS(SplitAllocas);

PreservedAnalyses SplitAllocas::run(Module &M, ModuleAnalysisManager &) {
  for (Function &F : M) {
    for (Instruction &I : make_early_inc_range(instructions(F)))
      if (auto *Copy = dyn_cast<AnyMemCpyInst>(&I))
        copyAsWord(*Copy);
    SmallVector<AllocaInst *> Locals;
    for (Instruction &I : instructions(F))
      if (auto *Local = dyn_cast<AllocaInst>(&I))
        Locals.push_back(Local);
    while (!Locals.empty())
      if (AllocaInst *Local = Locals.pop_back_val(); isSplittable(*Local))
        append_range(Locals, split(*Local));
      else
        splitStructArray(*Local);
  }
  return PreservedAnalyses::none();
}

} // namespace adgen
