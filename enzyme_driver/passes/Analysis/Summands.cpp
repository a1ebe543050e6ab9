#include "Analysis/Summands.h"

#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/Instructions.h"

using namespace llvm;

namespace adgen {
namespace {

// The loads, or the stores, of the array; nothing where something else happens to a pointer to it.
template <class Access> std::optional<SmallVector<const Access *>> accessesOf(const Argument &Array) {
  SmallVector<const Access *> Found;
  SmallVector<const Value *> Pointers{&Array};
  while (!Pointers.empty()) {
    const Value *Pointer = Pointers.pop_back_val();
    for (const User *U : Pointer->users()) {
      auto *Known = dyn_cast<Access>(U);
      if (Known && Known->isSimple() && Known->getPointerOperand() == Pointer)
        Found.push_back(Known);
      else if (auto *Place = dyn_cast<GetElementPtrInst>(U); Place && Pointer == &Array)
        Pointers.push_back(Place);
      else
        return std::nullopt;
    }
  }
  return Found;
}

bool isSameElement(const Value *Place, const Argument &Array, const Value *Other, const Argument &OtherArray) {
  if (Place == &Array || Other == &OtherArray)
    return Place == &Array && Other == &OtherArray;
  auto *One = cast<GetElementPtrInst>(Place), *Two = cast<GetElementPtrInst>(Other);
  return One->getSourceElementType() == Two->getSourceElementType() && equal(One->indices(), Two->indices());
}

// Where a value goes that is added to others and then stored; null if something else happens to it.
const StoreInst *storeOfSum(const Value *Summand) {
  while (Summand->hasOneUse()) {
    const Use &Only = *Summand->use_begin();
    const User *U = Only.getUser();
    if (auto *Store = dyn_cast<StoreInst>(U))
      return Only.getOperandNo() == 0 ? Store : nullptr;
    bool Added =
        isa<Instruction>(U) && (cast<Instruction>(U)->getOpcode() == Instruction::FAdd ||
                                (cast<Instruction>(U)->getOpcode() == Instruction::FSub && Only.getOperandNo() == 0));
    if (!Added)
      return nullptr;
    Summand = U;
  }
  return nullptr;
}

const Argument *arrayOf(const StoreInst &Store) {
  const Value *Place = Store.getPointerOperand();
  if (auto *Element = dyn_cast<GetElementPtrInst>(Place))
    Place = Element->getPointerOperand();
  return dyn_cast<Argument>(Place);
}

} // namespace

const Argument *addedTo(const Argument &Array) {
  auto Loads = Array.getType()->isPointerTy() ? accessesOf<LoadInst>(Array) : std::nullopt;
  const Argument *Output = nullptr;
  SmallPtrSet<const StoreInst *, 8> Reached;
  for (const LoadInst *Load : Loads ? *Loads : SmallVector<const LoadInst *>()) {
    const StoreInst *Store = storeOfSum(Load);
    const Argument *Stored = Store ? arrayOf(*Store) : nullptr;
    if (!Stored || (Output && Output != Stored) || !Reached.insert(Store).second ||
        !isSameElement(Load->getPointerOperand(), Array, Store->getPointerOperand(), *Stored))
      return nullptr;
    Output = Stored;
  }
  auto Stores = Output ? accessesOf<StoreInst>(*Output) : std::nullopt;
  return Stores && Stores->size() == Reached.size() ? Output : nullptr;
}

} // namespace adgen
