#include "Host/HostArguments.h"

using namespace llvm;

namespace adgen {

static constexpr Align SharedAlignment = Align::Constant<64>(); // as host_runtime/shared_memory.cpp has it

EntryNames namesOf(const Function &F) {
  return {symbolOf(F), isDerivative(F) ? suffixOf(F) : StringRef("__primal"), isDerivative(F)};
}

Value *HostArguments::loadArgument(IRBuilder<> &B, Function &F, unsigned I, Value *Arguments) const {
  Value *Slot = B.CreateConstInBoundsGEP1_64(Pointer, Arguments, I);
  Value *Address = B.CreateLoad(Pointer, Slot);
  return isStructByValue(F, I) ? Address : B.CreateLoad(F.getArg(I)->getType(), Address);
}

bool HostArguments::isStructByValue(const Function &F, unsigned I) const { return structSize(F, I) != 0; }

uint64_t HostArguments::structSize(const Function &F, unsigned I) const {
  SmallVector<Activity> Activities = activitiesOf(F);
  if (Activities.empty() || I < Activities.size())
    return structBytes(F, I);
  unsigned Shadow = Activities.size();
  for (auto [Index, A] : enumerate(Activities)) {
    if (A == Activity::Const)
      continue;
    if (I == Shadow++)
      return A == Activity::Duplicated ? directionsOf(F) * structBytes(F, Index) : 0;
  }
  return 0;
}

SharedLayout HostArguments::sharedLayout(const Function &F) const {
  SharedLayout Layout;
  SmallVector<GlobalVariable *> Arrays;
  for (StringRef Name : sharedNames(F))
    Arrays.push_back(M.getNamedGlobal(Name));
  for (GlobalVariable *Array : Arrays) {
    Layout.Bytes = alignTo(Layout.Bytes, std::max(Array->getAlign().valueOrOne(), Align(16)));
    Layout.Offsets.push_back(Layout.Bytes);
    if (!Array->isDeclaration())
      Layout.Bytes += M.getDataLayout().getTypeAllocSize(Array->getValueType());
  }
  for (auto [Offset, Array] : zip(Layout.Offsets, Arrays))
    if (!Array->isDeclaration())
      Array->setLinkage(GlobalValue::InternalLinkage); // MakeBodies kept it
    else
      Offset = alignTo(Layout.Bytes, SharedAlignment);
  return Layout;
}

ThreadArguments HostArguments::loadArguments(IRBuilder<> &B, Function &F, Value *Launch, Value *Arguments,
                                             function_ref<Value *()> Shared) const {
  ThreadArguments Loaded;
  bool HasShadows = namesOf(F).HasShadows;
  SharedLayout Layout = sharedLayout(F);
  unsigned Own = F.arg_size() - (HasShadows ? 2 : 1) * Layout.Offsets.size();
  for (unsigned I = 0; I < Own; ++I) {
    Value *V = loadArgument(B, F, I, Arguments);
    if (isStructByValue(F, I)) {
      Loaded.Copies.push_back({I, V});
      V = createCopy(B, structSize(F, I));
    }
    Loaded.Values.push_back(V);
  }
  if (Layout.Offsets.empty())
    return Loaded;
  auto Place = [&](Value *Begin) {
    for (uint64_t Offset : Layout.Offsets)
      Loaded.Values.push_back(B.CreateConstInBoundsGEP1_64(B.getInt8Ty(), Begin, Offset));
  };
  Value *Begin = Shared();
  Place(Begin);
  if (HasShadows)
    Place(B.CreateInBoundsGEP(B.getInt8Ty(), Begin, sharedBytes(B, Launch, Layout)));
  return Loaded;
}

Value *HostArguments::createCopy(IRBuilder<> &B, uint64_t Bytes) {
  BasicBlock &Entry = B.GetInsertBlock()->getParent()->getEntryBlock();
  auto *Copy = IRBuilder<>(&Entry, Entry.getFirstInsertionPt()).CreateAlloca(ArrayType::get(B.getInt8Ty(), Bytes));
  Copy->setAlignment(Align(16));
  return Copy;
}

Value *HostArguments::sharedBytes(IRBuilder<> &B, Value *Launch, const SharedLayout &Layout) const {
  Value *Dynamic = B.CreateLoad(B.getInt64Ty(), B.CreateConstInBoundsGEP1_64(B.getInt8Ty(), Launch, 24));
  Value *Up = B.CreateAdd(Dynamic, B.getInt64(SharedAlignment.value() - 1));
  Value *Padded = B.CreateAnd(Up, B.getInt64(~(SharedAlignment.value() - 1)));
  return B.CreateAdd(Padded, B.getInt64(alignTo(Layout.Bytes, SharedAlignment)));
}

void HostArguments::copyStructs(IRBuilder<> &B, Function &F, const ThreadArguments &Loaded) const {
  for (auto &[Index, Original] : Loaded.Copies)
    B.CreateMemCpy(Loaded.Values[Index], Align(16), Original, Align(1), structSize(F, Index));
}

SmallVector<Value *> HostArguments::loadExtents(IRBuilder<> &B, Value *Launch) const { // block x y z, grid x y z
  SmallVector<Value *> Extents;
  for (unsigned I : {3, 4, 5, 0, 1, 2})
    Extents.push_back(B.CreateLoad(Int32, B.CreateConstInBoundsGEP1_64(Int32, Launch, I)));
  return Extents;
}

} // namespace adgen
