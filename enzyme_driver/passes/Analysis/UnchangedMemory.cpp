#include "Analysis/UnchangedMemory.h"

#include "Analysis/ArrayRoots.h"
#include "Analysis/EnzymeCaches.h"
#include "Support/OpenMP.h"

#include "llvm/Analysis/AliasAnalysis.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"

using namespace llvm;

namespace adgen {

bool UnchangedMemory::isReadBy(const LoadInst &Load) {
  const UnderlyingObjects::Set &From = Memory.of(Load.getPointerOperand());
  return Load.isSimple() &&
         ((!From.empty() && all_of(From, [&](const Value *Object) { return stays(Object); })) || isInStruct(Load));
}

// A parameter of an entry of that kind, and not the shadow of one.
bool UnchangedMemory::isParameter(const Value *Object) const {
  auto *A = dyn_cast_or_null<Argument>(Object);
  return A && A->getParent()->getName().starts_with(Prefix) && !A->hasAttribute(ShadowAttribute) &&
         !A->hasAttribute(SharedShadowAttribute);
}

// Parameters to which nothing may write that their entry reaches; what other entries do is not known to it, and does
// not matter. Nobody writes to constant memory.
bool UnchangedMemory::stays(const Value *Object) {
  if (auto *Variable = dyn_cast_or_null<GlobalVariable>(Object); Variable && Variable->hasMetadata(ConstantMetadata))
    return true;
  return isParameter(Object) && !Memory.written().contains(Object) && knowsWrites(*cast<Argument>(Object)->getParent());
}

bool UnchangedMemory::knowsWrites(const Function &Entry) {
  auto [Known, IsNew] = Entries.try_emplace(&Entry, true);
  if (IsNew && Memory.written().contains(nullptr))
    Known->second = !firstReached(Entry, [&](const Instruction &I) { return Memory.writtenBy(I).contains(nullptr); });
  return Known->second;
}

// Neither written to nor handed on to who may keep it.
static bool isOnlyRead(const Argument &A) {
  SmallVector<const Value *> Pointers{&A};
  while (!Pointers.empty())
    for (const Use &U : Pointers.pop_back_val()->uses()) {
      const User *By = U.getUser();
      auto *Call = dyn_cast<CallBase>(By);
      bool OnlyRead = Call && Call->isArgOperand(&U) && Call->onlyReadsMemory(Call->getArgOperandNo(&U)) &&
                      Call->doesNotCapture(Call->getArgOperandNo(&U));
      if (isa<GetElementPtrInst, AddrSpaceCastInst>(By))
        Pointers.push_back(By);
      else if (!isa<LoadInst>(By) && !OnlyRead)
        return false;
    }
  return true;
}

// Structs by value, which nobody but the thread itself can change, and the arrays that their pointers lead to.
bool UnchangedMemory::isInStruct(const LoadInst &Load) {
  SmallVector<const Value *> Objects;
  getUnderlyingObjects(Load.getPointerOperand(), Objects, nullptr, 0);
  return !Objects.empty() && all_of(Objects, [&](const Value *Object) {
    if (std::optional<MemberArray> Member = memberArray(Object)) {
      const Targets &Changed = writtenIn(*Load.getFunction());
      return isParameter(Member->Struct) && isOnlyRead(*Member->Struct) && !Changed.Unknown &&
             !is_contained(Changed.Members, *Member);
    }
    auto *A = dyn_cast<Argument>(Object);
    return isParameter(A) && isStructByValue(*A) && isOnlyRead(*A);
  });
}

// The pointers through which something may be written; false where they are not all known.
static bool pointersWritten(const Instruction &I, SmallVectorImpl<const Value *> &Pointers) {
  if (auto *Store = dyn_cast<StoreInst>(&I))
    Pointers.push_back(Store->getPointerOperand());
  else if (isa<AtomicRMWInst, AtomicCmpXchgInst>(I))
    Pointers.push_back(I.getOperand(0));
  else if (auto *Block = dyn_cast<MemIntrinsic>(&I))
    Pointers.push_back(Block->getRawDest());
  auto *Call = dyn_cast<CallBase>(&I);
  if (!Call || isa<MemIntrinsic, DbgInfoIntrinsic>(I) || Call->onlyAccessesInaccessibleMemory() ||
      I.isLifetimeStartOrEnd())
    return true;
  for (const Use &Operand : Call->args())
    if (Operand->getType()->isPointerTy() && !Call->onlyReadsMemory(Call->getArgOperandNo(&Operand)))
      Pointers.push_back(Operand);
  const Function *Callee = Call->getCalledFunction();
  bool IsRule = Callee && Callee->getName().starts_with(RulePrefix) && !Callee->getName().starts_with(RegionRulePrefix);
  return Callee && Callee->isDeclaration() && (Callee->isIntrinsic() || IsRule); // these move numbers only
}

const UnchangedMemory::Targets &UnchangedMemory::writtenIn(const Function &F) {
  auto [Found, IsNew] = Written.try_emplace(&F);
  Targets &To = Found->second;
  if (!IsNew)
    return To;
  std::optional<ArrayRoots> Roots;
  if (F.hasFnAttribute(ActivityAttribute) && F.getName().starts_with(GradientPrefix))
    Roots.emplace(F);
  for (const Instruction &I : instructions(F)) {
    if (!I.mayWriteToMemory() || isOfCache(I))
      continue;
    SmallVector<const Value *> Pointers, Objects;
    To.Unknown |= !pointersWritten(I, Pointers);
    for (const Value *Pointer : Pointers)
      getUnderlyingObjects(Pointer, Objects);
    for (const Value *Object : Objects)
      if (std::optional<MemberArray> Member = memberArray(Object))
        To.Members.push_back(*Member);
      else
        To.Unknown |= !isa<Argument, AllocaInst, GlobalVariable, UndefValue>(Object) && !isNoAliasCall(Object) &&
                      !(Roots && Roots->of(*Object)); // of shadows in structs
  }
  return To;
}

} // namespace adgen
