#include "Analysis/Keys.h"

#include "Analysis/Layout.h"
#include "Support/Adgen.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Operator.h"

using namespace llvm;

namespace adgen {
namespace {

// All accesses to it are in the function.
bool isOwn(const Value &Object) {
  auto *Local = dyn_cast<AllocaInst>(&Object);
  return Local ? Local->getModule()->getTargetTriple().isNVPTX() : isSharedMemory(Object);
}

// A barrier, which LowerCollectivesToRules gives a pointer to shared memory.
bool onlyWaits(const CallBase &Call) {
  StringRef Name = Call.getCalledFunction() ? Call.getCalledFunction()->getName() : "";
  return Name.starts_with(RulePrefix) && (Name.ends_with("barrier") || Name.ends_with("_turn"));
}

class Search {
public:
  explicit Search(const DataLayout &DL) : DL(DL) {}

  // Follows what is read there, and the memory to which that goes.
  bool findsKeys(const Value &Pointer) {
    if (!addObjects(Pointer))
      return false;
    for (unsigned I = 0; I < Work.size(); ++I) {
      const Value &V = *Work[I];
      const bool IsAddress = V.getType()->isPointerTy();
      for (const Use &U : V.uses())
        if (!(IsAddress ? accesses(U) : keeps(U)))
          return false;
    }
    return true;
  }

private:
  bool addObjects(const Value &Pointer) {
    SmallVector<const Value *> Objects;
    getUnderlyingObjects(&Pointer, Objects, nullptr, /*MaxLookup=*/0);
    Work.insert_range(Objects);
    return all_of(Objects, [](const Value *Object) { return isOwn(*Object); });
  }

  // In arrays of integers that the user gives, they are integers to everyone.
  bool staysIn(Value &Pointer) {
    std::optional<Place> At = placeOf(&Pointer, DL);
    return At && !isOwn(*getUnderlyingObject(&Pointer, /*MaxLookup=*/0)) ? !At->Memory->holdsFloats()
                                                                         : addObjects(Pointer);
  }

  bool follow(const Value &V) {
    Work.insert(&V);
    return true;
  }

  static bool isInteger(const Type &T) { return T.isIntOrIntVectorTy(); }

  bool accesses(const Use &Address) {
    const User &By = *Address.getUser();
    if (isa<GEPOperator, AddrSpaceCastOperator, PHINode, SelectInst>(By))
      return follow(By);
    if (isa<ICmpInst, MemSetInst>(By))
      return true;
    if (auto *Load = dyn_cast<LoadInst>(&By))
      return isInteger(*Load->getType()) && follow(By);
    if (auto *Store = dyn_cast<StoreInst>(&By))
      return Address.getOperandNo() == StoreInst::getPointerOperandIndex() &&
             isInteger(*Store->getValueOperand()->getType());
    if (auto *Atomic = dyn_cast<AtomicRMWInst>(&By))
      return isInteger(*Atomic->getType()) && follow(By);
    if (auto *Known = dyn_cast<IntrinsicInst>(&By))
      return Known->isAssumeLikeIntrinsic();
    auto *Call = dyn_cast<CallBase>(&By);
    return Call && onlyWaits(*Call);
  }

  // A number that is converted has no derivative.
  bool keeps(const Use &Key) {
    auto &By = *cast<Instruction>(Key.getUser());
    if (isa<ICmpInst, SwitchInst, GetElementPtrInst, UIToFPInst, SIToFPInst>(By))
      return true;
    if (auto *Store = dyn_cast<StoreInst>(&By))
      return staysIn(*Store->getPointerOperand());
    if (auto *Atomic = dyn_cast<AtomicRMWInst>(&By))
      return staysIn(*Atomic->getPointerOperand());
    auto *Known = dyn_cast<IntrinsicInst>(&By);
    const bool IsStep =
        isa<BinaryOperator, PHINode, SelectInst, FreezeInst, TruncInst, ZExtInst, SExtInst, BitCastInst>(By) ||
        (Known && !Known->mayReadOrWriteMemory());
    return IsStep && isInteger(*By.getType()) && follow(By);
  }

  const DataLayout &DL;
  SmallSetVector<const Value *, 16> Work;
};

} // namespace

bool holdsKeys(const Value &Pointer, const DataLayout &DL) { return Search(DL).findsKeys(Pointer); }

} // namespace adgen
