#include "Import/OrderTiles.h"
#include "Analysis/Uniformity.h"

#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsNVPTX.h"

using namespace llvm;

namespace adgen {
namespace {

bool isBarrier(const Instruction &I) {
  auto *Call = dyn_cast<CallInst>(&I);
  const Function *Callee = Call ? Call->getCalledFunction() : nullptr;
  if (!Callee)
    return false;
  auto *Mask = Callee->getIntrinsicID() == Intrinsic::nvvm_bar_warp_sync ? dyn_cast<ConstantInt>(Call->getArgOperand(0))
                                                                         : nullptr;
  return waitsForBlock(I) || (Mask && Mask->isMinusOne());
}

// The array that is accessed; null where it is not known.
const Value *objectOf(const Value *Pointer) {
  const Value *Object = getUnderlyingObject(Pointer, /*MaxLookup=*/0);
  return isa<Argument, GlobalVariable, AllocaInst>(Object) ? Object : nullptr;
}

class Order {
public:
  explicit Order(Instruction &Tile)
      : Tile(Tile), Array(objectOf(cast<CallInst>(Tile).getArgOperand(0))), Writes(Tile.getType()->isVoidTy()) {}

  bool needsBarrier(bool Before) {
    SmallVector<BasicBlock *> Work;
    SmallPtrSet<BasicBlock *, 16> Seen;
    auto Enter = [&](BasicBlock *Block) {
      if (Before)
        append_range(Work, predecessors(Block));
      else
        append_range(Work, successors(Block));
    };
    State Found = Before ? scan(make_range(std::next(Tile.getReverseIterator()), Tile.getParent()->rend()))
                         : scan(make_range(std::next(Tile.getIterator()), Tile.getParent()->end()));
    if (Found == State::Open)
      Enter(Tile.getParent());
    while (Found != State::Conflicts && !Work.empty()) {
      BasicBlock *Block = Work.pop_back_val();
      if (!Seen.insert(Block).second)
        continue;
      Found = Before ? scan(reverse(*Block)) : scan(make_range(Block->begin(), Block->end()));
      if (Found == State::Open)
        Enter(Block);
    }
    return Found == State::Conflicts;
  }

private:
  enum class State { Open, Ordered, Conflicts };

  template <class Range> State scan(Range Instructions) {
    for (Instruction &I : Instructions)
      if (isBarrier(I))
        return State::Ordered;
      else if (conflicts(I))
        return State::Conflicts;
    return State::Open;
  }

  bool conflicts(Instruction &I) const {
    if (&I == &Tile) // in another iteration
      return Writes;
    if (!I.mayReadOrWriteMemory() || !(Writes || I.mayWriteToMemory()))
      return false;
    if (const Value *Pointer = getLoadStorePointerOperand(&I))
      return mayBeArray(Pointer);
    auto *Call = dyn_cast<CallInst>(&I);
    if (!Call)
      return !isa<AtomicRMWInst>(I) || mayBeArray(cast<AtomicRMWInst>(I).getPointerOperand());
    return !Call->onlyAccessesInaccessibleMemory() &&
           any_of(Call->args(), [&](const Use &A) { return A->getType()->isPointerTy() && mayBeArray(A); });
  }

  bool mayBeArray(const Value *Pointer) const {
    const Value *Object = objectOf(Pointer);
    bool IsOwn = isa_and_nonnull<AllocaInst>(Object); // which other lanes do not see
    return Object == Array || (!IsOwn && (!Object || !Array));
  }

  Instruction &Tile;
  const Value *Array;
  bool Writes;
};

void meet(Instruction *Before) {
  IRBuilder<> B(Before);
  CallInst *Call = B.CreateIntrinsic(Intrinsic::nvvm_bar_warp_sync, {B.getInt32(~0u)});
  Call->addFnAttr(Attribute::Convergent);
}

} // namespace

bool accessesTile(const Instruction &I) {
  auto *Call = dyn_cast<CallInst>(&I);
  const Function *Callee = Call ? Call->getCalledFunction() : nullptr;
  if (!Callee)
    return false;
  StringRef Name = Callee->getName();
  return Name.starts_with("llvm.nvvm.ldmatrix.") ||
         (Name.starts_with("llvm.nvvm.wmma.") && (Name.contains(".load.") || Name.contains(".store.")));
}

void orderTiles(Function &Body) {
  SmallVector<Instruction *> Tiles;
  for (Instruction &I : instructions(Body))
    if (accessesTile(I))
      Tiles.push_back(&I);
  for (Instruction *Tile : Tiles) {
    if (Order(*Tile).needsBarrier(/*Before=*/true))
      meet(Tile);
    if (Order(*Tile).needsBarrier(/*Before=*/false))
      meet(Tile->getNextNode());
  }
}

} // namespace adgen
